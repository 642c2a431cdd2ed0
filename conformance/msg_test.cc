// MSG: messages and global operations against a serial model.

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "conformance/harness/test.h"

namespace conformance {
namespace {

// Of every type.
const std::vector<std::string> kOperators{"+", "*", "max", "min", "absmax", "absmin"};

template <typename T>
std::vector<std::string> OperatorsOf() {
  std::vector<std::string> operators = kOperators;
  if (std::is_integral_v<T>) {
    for (const char* op : {"&&", "land", "||", "lor", "&", "band", "|", "bor", "or"}) operators.emplace_back(op);
  }
  return operators;
}

template <typename T>
struct TypeInfo;

#define TYPE_INFO(type, code, letters)                                            \
  template <>                                                                     \
  struct TypeInfo<type> {                                                         \
    static constexpr int kCode = code;                                            \
    static constexpr auto kGlobal = armci_msg_##letters##gop;                     \
    static constexpr auto kGroup = armci_msg_group_##letters##gop;                \
    static constexpr auto kCluster = armci_msg_clus_##letters##gop;               \
    static constexpr const char* kClusterName = "armci_msg_clus_" #letters "gop"; \
  }
TYPE_INFO(int, ARMCI_INT, i);
TYPE_INFO(long, ARMCI_LONG, l);
TYPE_INFO(long long, ARMCI_LONG_LONG, ll);
TYPE_INFO(float, ARMCI_FLOAT, f);
TYPE_INFO(double, ARMCI_DOUBLE, d);
#undef TYPE_INFO

// Element i of process p: small whole numbers of both signs, so that every order of additions and products is exact.
template <typename T>
T Element(int p, int i, std::uint64_t salt) {
  // Some are 0 everywhere, and some on a part of the processes: what logical operators tell apart.
  if ((static_cast<std::uint64_t>(i) + salt) % 11 == 0 || (p + 2 * i) % 7 == 0) return T{0};
  const int magnitude = 1 + static_cast<int>((salt + static_cast<std::uint64_t>(p * 7 + i * 13)) % 4);
  return static_cast<T>((p + i) % 2 == 0 ? magnitude : -magnitude);
}

template <typename T>
T Combine(const std::string& op, T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (op == "&&" || op == "land") return static_cast<T>(a != 0 && b != 0);
    if (op == "||" || op == "lor") return static_cast<T>(a != 0 || b != 0);
    if (op == "&" || op == "band") return a & b;
    if (op == "|" || op == "bor" || op == "or") return a | b;
  }
  if (op == "+") return a + b;
  if (op == "*") return a * b;
  if (op == "max") return std::max(a, b);
  if (op == "min") return std::min(a, b);
  const T abs_a = a < 0 ? -a : a;
  const T abs_b = b < 0 ? -b : b;
  return op == "absmax" ? std::max(abs_a, abs_b) : std::min(abs_a, abs_b);
}

template <typename T>
std::vector<T> Mine(int n, std::uint64_t salt) {
  std::vector<T> x(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) x[static_cast<std::size_t>(i)] = Element<T>(Me(), i, salt);
  return x;
}

template <typename T>
std::vector<T> Model(const std::string& op, const std::vector<int>& members, int n, std::uint64_t salt) {
  std::vector<T> result(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) {
    T all = Element<T>(members[0], i, salt);
    // A single process has nothing to combine, but these give absolute and truth values all the same.
    static const std::set<std::string> kChanging{"absmax", "absmin", "&&", "land", "||", "lor"};
    if (kChanging.count(op) > 0) all = Combine(op, all, all);
    for (std::size_t k = 1; k < members.size(); ++k) all = Combine(op, all, Element<T>(members[k], i, salt));
    result[static_cast<std::size_t>(i)] = all;
  }
  return result;
}

std::vector<int> MyNode() {
  std::vector<int> node;
  for (int p = 0; p < Np(); ++p) {
    if (SameNode(p)) node.push_back(p);
  }
  return node;
}

std::vector<int> Masters() {
  std::vector<int> masters;
  for (int id = 0; id < armci_domain_count(ARMCI_DOMAIN_SMP); ++id) {
    masters.push_back(armci_domain_glob_proc_id(ARMCI_DOMAIN_SMP, id, 0));
  }
  return masters;
}

bool In(const std::vector<int>& list) { return std::find(list.begin(), list.end(), Me()) != list.end(); }

template <typename T>
void GlobalOperations() {
  using Info = TypeInfo<T>;
  std::vector<int> reversed = AllRanks();
  std::reverse(reversed.begin(), reversed.end());
  ARMCI_Group group;
  Agree();
  ARMCI_Group_create(Np(), reversed.data(), &group);
  for (const std::string& op : OperatorsOf<T>()) {
    // The long one is more than any buffer that a library may send in one piece.
    for (int n : {1, 3, 1000, Scaled(70001, 9001)}) {
      const std::uint64_t salt = SharedRng().Next() % 1000;
      std::vector<T> x = Mine<T>(n, salt);
      Info::kGlobal(x.data(), n, op.c_str());
      EXPECT_EQ(x, Model<T>(op, AllRanks(), n, salt)) << op << " over all";
      x = Mine<T>(n, salt);
      Info::kGroup(x.data(), n, op.c_str(), &group);
      EXPECT_EQ(x, Model<T>(op, AllRanks(), n, salt)) << op << " over a group";
      if (LibraryHas(Info::kClusterName)) {
        x = Mine<T>(n, salt);
        Info::kCluster(x.data(), n, op.c_str());
        EXPECT_EQ(x, Model<T>(op, MyNode(), n, salt)) << op << " over the node";
      }
      const std::pair<int, std::vector<int>> scopes[] = {
          {SCOPE_ALL, AllRanks()}, {SCOPE_NODE, MyNode()}, {SCOPE_MASTERS, Masters()}};
      for (const auto& [scope, members] : scopes) {
        // One process has nothing to combine: see the test of that.
        if (!In(members) || members.size() == 1) continue;
        x = Mine<T>(n, salt);
        armci_msg_gop_scope(scope, x.data(), n, op.c_str(), Info::kCode);
        EXPECT_EQ(x, Model<T>(op, members, n, salt)) << op << " in scope " << scope;
      }
      x = Mine<T>(n, salt);
      armci_msg_group_gop_scope(SCOPE_ALL, x.data(), n, op.c_str(), Info::kCode, &group);
      EXPECT_EQ(x, Model<T>(op, AllRanks(), n, salt)) << op << " over a group, by scope";
    }
    Agree();
  }
  ARMCI_Group_free(&group);
}

CLAUSE_TEST(MSG, MSG1_operations_over_one_process, "MSG-1") {
  // The largest absolute value of one number is its absolute value, too.
  Agree();
  const std::pair<int, std::vector<int>> scopes[] = {{SCOPE_NODE, MyNode()}, {SCOPE_MASTERS, Masters()}};
  for (const std::string& op : OperatorsOf<int>()) {
    for (const auto& [scope, members] : scopes) {
      if (members.size() != 1 || !In(members)) continue;
      std::vector<int> x = Mine<int>(10, 1);
      armci_msg_gop_scope(scope, x.data(), 10, op.c_str(), ARMCI_INT);
      EXPECT_EQ(x, Model<int>(op, members, 10, 1)) << op << " in scope " << scope;
    }
  }
}

// The same operations to one process: the root of the tree over the scope.
template <typename T>
void Reductions() {
  Agree();
  const std::pair<int, std::vector<int>> scopes[] = {
      {SCOPE_ALL, AllRanks()}, {SCOPE_NODE, MyNode()}, {SCOPE_MASTERS, Masters()}};
  for (const std::string& op : OperatorsOf<T>()) {
    const int n = 100;
    const std::uint64_t salt = SharedRng().Next() % 1000;
    std::vector<T> x = Mine<T>(n, salt);
    armci_msg_reduce(x.data(), n, op.c_str(), TypeInfo<T>::kCode);
    if (Me() == 0) {
      EXPECT_EQ(x, Model<T>(op, AllRanks(), n, salt)) << op << " reduced over all";
    }
    for (const auto& [scope, members] : scopes) {
      if (!In(members)) continue;
      x = Mine<T>(n, salt);
      armci_msg_reduce_scope(scope, x.data(), n, op.c_str(), TypeInfo<T>::kCode);
      int root = -1, up = -1, left = -1, right = -1;
      armci_msg_bintree(scope, &root, &up, &left, &right);
      if (Me() == root) {
        EXPECT_EQ(x, Model<T>(op, members, n, salt)) << op << " reduced in scope " << scope;
      }
    }
  }
}

CLAUSE_TEST(MSG, MSG1_reductions_to_one_process, "MSG-1") {
  Reductions<int>();
  Reductions<long>();
  Reductions<long long>();
  Reductions<float>();
  Reductions<double>();
}

CLAUSE_TEST(MSG, MSG1_int_global_operations, "MSG-1") { GlobalOperations<int>(); }
CLAUSE_TEST(MSG, MSG1_long_global_operations, "MSG-1") { GlobalOperations<long>(); }
CLAUSE_TEST(MSG, MSG1_long_long_global_operations, "MSG-1") { GlobalOperations<long long>(); }
CLAUSE_TEST(MSG, MSG1_float_global_operations, "MSG-1") { GlobalOperations<float>(); }
CLAUSE_TEST(MSG, MSG1_double_global_operations, "MSG-1") { GlobalOperations<double>(); }

// Programs decide by such a result, each process by itself, whether to go on: an iteration has converged, or not.
CLAUSE_TEST(MSG, MSG1_a_floating_point_result_has_the_same_bits_everywhere, "MSG-1", NeedsRanks(3)) {
  Agree();
  for (int n : {1, 100, 3000}) {
    for (const char* op : {"+", "*"}) {
      // Of numbers so different, each order of additions has another sum.
      std::vector<double> x(static_cast<std::size_t>(n));
      for (double& value : x)
        value = std::ldexp(1.0 + static_cast<double>(MyRng().Below(1 << 30)), static_cast<int>(MyRng().Below(40)) - 50);
      armci_msg_dgop(x.data(), n, op);
      std::vector<double> first = x;
      MPI_Bcast(first.data(), n, MPI_DOUBLE, 0, Comm());
      EXPECT_TRUE(SameBytes(reinterpret_cast<char*>(first.data()), reinterpret_cast<char*>(x.data()), x.size() * 8))
          << op << " of " << n << SeedText();
    }
  }
}

CLAUSE_TEST(MSG, MSG2_names_of_operators_need_no_end, "MSG-2") {
  Agree();
  for (const std::string& op : OperatorsOf<int>()) {
    const std::string text = op + "and what happens to lie behind it";
    std::vector<int> x = Mine<int>(10, 1);
    armci_msg_igop(x.data(), 10, text.c_str());
    EXPECT_EQ(x, Model<int>(op, AllRanks(), 10, 1)) << text;
  }
}

CLAUSE_TEST(MSG, MSG1_rank_and_number, "MSG-1") {
  EXPECT_EQ(armci_msg_me(), Me());
  EXPECT_EQ(armci_msg_nproc(), Np());
  const double before = armci_timer();
  const double after = armci_timer();
  EXPECT_GE(after, before);
}

CLAUSE_TEST(MSG, MSG1_send_and_receive_in_a_ring, "MSG-1") {
  Agree();
  const int right = (Me() + 1) % Np();
  const int left = (Me() + Np() - 1) % Np();
  // A blocking send may wait for its receiver, so the ring goes round as a relay; with one process nothing is sent.
  for (int bytes : {0, 1, 1000, 100000}) {
    if (Np() == 1) break;
    Bytes token(static_cast<std::size_t>(bytes) + 1, 'g');
    int length = -1;
    if (Me() == 0) {
      std::fill_n(token.begin(), bytes, 'a');
      armci_msg_snd(100 + bytes, token.data(), bytes, right);
      std::fill(token.begin(), token.end(), 'g');
      armci_msg_rcv(100 + bytes, token.data(), bytes + 1, &length, left);
    } else {
      armci_msg_rcv(100 + bytes, token.data(), bytes + 1, &length, left);
      armci_msg_snd(100 + bytes, token.data(), bytes, right);
    }
    EXPECT_EQ(length, bytes);
    EXPECT_EQ(std::count(token.begin(), token.end(), 'a'), bytes);
    EXPECT_EQ(token.back(), 'g') << "more than was sent";
  }
}

CLAUSE_TEST(MSG, MSG1_receive_from_any_and_by_tag, "MSG-1", NeedsRanks(2)) {
  Agree();
  if (Me() == 0) {
    std::vector<int> got(static_cast<std::size_t>(Np()), 0);
    for (int i = 1; i < Np(); ++i) {
      int value = -1;
      int length = -1;
      const int from = armci_msg_rcvany(7, &value, sizeof value, &length);
      ASSERT_TRUE(from > 0 && from < Np()) << from;
      EXPECT_EQ(length, static_cast<int>(sizeof value));
      EXPECT_EQ(value, 100 + from);
      ++got[static_cast<std::size_t>(from)];
    }
    EXPECT_EQ(std::count(got.begin() + 1, got.end(), 1), Np() - 1);
    for (int p = 1; p < Np(); ++p) {
      int value = -1;
      // The second message first: tags keep them apart.
      armci_msg_rcv(9, &value, sizeof value, nullptr, p);
      EXPECT_EQ(value, 300 + p);
      armci_msg_rcv(8, &value, sizeof value, nullptr, p);
      EXPECT_EQ(value, 200 + p);
    }
  } else {
    int any = 100 + Me();
    int first = 200 + Me();
    int second = 300 + Me();
    armci_msg_snd(7, &any, sizeof any, 0);
    armci_msg_snd(8, &first, sizeof first, 0);
    armci_msg_snd(9, &second, sizeof second, 0);
  }
}

CLAUSE_TEST(MSG, MSG1_broadcasts, "MSG-1") {
  Agree();
  const std::pair<int, std::vector<int>> scopes[] = {
      {SCOPE_ALL, AllRanks()}, {SCOPE_NODE, MyNode()}, {SCOPE_MASTERS, Masters()}};
  const auto content = [](int root, int bytes) {
    return Bytes(static_cast<std::size_t>(bytes), static_cast<char>('A' + root));
  };
  for (int bytes : {0, 1, 5000, 300000}) {
    for (int root = 0; root < Np(); ++root) {
      Bytes buffer = Me() == root ? content(root, bytes) : Bytes(static_cast<std::size_t>(bytes));
      armci_msg_bcast(buffer.data(), bytes, root);
      EXPECT_EQ(buffer, content(root, bytes)) << "bcast from " << root;
      buffer = Me() == root ? content(root, bytes) : Bytes(static_cast<std::size_t>(bytes));
      armci_msg_brdcst(buffer.data(), bytes, root);
      EXPECT_EQ(buffer, content(root, bytes)) << "brdcst from " << root;
    }
    for (const auto& [scope, members] : scopes) {
      if (!In(members)) continue;
      for (int root : members) {
        Bytes buffer = Me() == root ? content(root, bytes) : Bytes(static_cast<std::size_t>(bytes));
        armci_msg_bcast_scope(scope, buffer.data(), bytes, root);
        EXPECT_EQ(buffer, content(root, bytes)) << "scope " << scope << " from " << root;
      }
    }
    if (!LibraryHas("armci_msg_clus_brdcst")) continue;
    const int first_here = MyNode().front();
    Bytes buffer = Me() == first_here ? content(first_here, bytes) : Bytes(static_cast<std::size_t>(bytes));
    armci_msg_clus_brdcst(buffer.data(), bytes);
    EXPECT_EQ(buffer, content(first_here, bytes)) << "node broadcast";
  }
}

CLAUSE_TEST(MSG, MSG1_group_forms_name_processes_by_absolute_id, "MSG-1", "COMPAT-14", NeedsRanks(2)) {
  // Moved on by one, so that no process has its absolute id as group rank.
  std::vector<int> members;
  for (int p = 0; p < Np(); ++p) members.push_back((p + 1) % Np());
  const int rank = (Me() + Np() - 1) % Np();
  ARMCI_Group group;
  Agree();
  ARMCI_Group_create(Np(), members.data(), &group);
  for (int root : members) {
    long value = Me() == root ? 1000 + root : -1;
    armci_msg_group_bcast_scope(SCOPE_ALL, &value, sizeof value, root, &group);
    EXPECT_EQ(value, 1000 + root);
  }
  if (LibraryHas("armci_exchange_address_grp")) {
    std::vector<void*> ptr(members.size(), nullptr);
    ptr[static_cast<std::size_t>(rank)] = reinterpret_cast<void*>(0x1000L * (Me() + 1));
    armci_exchange_address_grp(ptr.data(), Np(), &group);
    for (std::size_t i = 0; i < members.size(); ++i)
      EXPECT_EQ(ptr[i], reinterpret_cast<void*>(0x1000L * (members[i] + 1)));
  }
  ARMCI_Group_free(&group);
}

CLAUSE_TEST(MSG, MSG1_selection_of_a_record, "MSG-1") {
  struct Record {
    double key;
    int owner;
    char text[20];
  };
  Agree();
  for (int round = 0; round < 20; ++round) {
    const bool greatest = round % 2 == 0;
    std::vector<double> keys(static_cast<std::size_t>(Np()));
    std::vector<int> takes_part(keys.size());
    for (std::size_t p = 0; p < keys.size(); ++p) {
      keys[p] = static_cast<double>(SharedRng().Between(-5, 5));
      takes_part[p] = SharedRng().Chance(2, 3);
      // Our own headers alone define the winner among equals, and the result in x without any contribution.
      if (!HasOwnInterface()) keys[p] += static_cast<double>(p) / 100;
    }
    if (!HasOwnInterface()) takes_part[SharedRng().Below(takes_part.size())] = 1;
    int winner = -1;
    for (int p = 0; p < Np(); ++p) {
      const auto index = static_cast<std::size_t>(p);
      if (takes_part[index] == 0) continue;
      // Of equals the lowest id wins, hence the strict comparison.
      const bool better = winner < 0 || (greatest ? keys[index] > keys[static_cast<std::size_t>(winner)]
                                                  : keys[index] < keys[static_cast<std::size_t>(winner)]);
      if (better) winner = p;
    }
    Record record{keys[static_cast<std::size_t>(Me())], Me(), ""};
    std::snprintf(record.text, sizeof record.text, "from %d", Me());
    const int contribute = takes_part[static_cast<std::size_t>(Me())];
    armci_msg_sel(&record, sizeof record, greatest ? "max" : "min", ARMCI_DOUBLE, contribute);
    const int expected = winner < 0 ? Me() : winner;
    EXPECT_EQ(record.owner, expected);
    EXPECT_EQ(record.key, keys[static_cast<std::size_t>(expected)]);
    EXPECT_EQ(std::string(record.text), "from " + std::to_string(expected));

    long small = 10 * (Np() - Me());
    armci_msg_sel_scope(SCOPE_ALL, &small, sizeof small, "min", ARMCI_LONG, 1);
    EXPECT_EQ(small, 10);
  }
}

CLAUSE_TEST(MSG, MSG1_exchange_of_addresses, "MSG-1") {
  Agree();
  std::vector<void*> ptr(static_cast<std::size_t>(Np()), &ptr);
  ptr[static_cast<std::size_t>(Me())] = reinterpret_cast<void*>(0x5000L + Me());
  armci_exchange_address(ptr.data(), Np());
  for (int p = 0; p < Np(); ++p) EXPECT_EQ(ptr[static_cast<std::size_t>(p)], reinterpret_cast<void*>(0x5000L + p));
}

CLAUSE_TEST(MSG, MSG1_binary_tree_reaches_everyone_once, "MSG-1") {
  Agree();
  struct Node {
    int root, up, left, right;
  };
  Node mine{};
  armci_msg_bintree(SCOPE_ALL, &mine.root, &mine.up, &mine.left, &mine.right);
  const std::vector<Node> all = OneOfEachRank(mine);
  int children = 0;
  for (int p = 0; p < Np(); ++p) {
    const Node& node = all[static_cast<std::size_t>(p)];
    EXPECT_EQ(node.root, all[0].root);
    EXPECT_EQ(node.up == -1, p == node.root);
    for (int child : {node.left, node.right}) {
      if (child < 0) continue;
      ++children;
      ASSERT_LT(child, Np());
      EXPECT_EQ(all[static_cast<std::size_t>(child)].up, p);
    }
  }
  EXPECT_EQ(children, Np() - 1);
}

CLAUSE_TEST(MSG, MSG1_barriers_hold_everyone_back, "MSG-1", "FENCE-5") {
  // A counter raised by load and store on entry; a process that leaves must see that all have entered.
  Region region(64);
  ARMCI_Group world;
  ARMCI_Group_get_world(&world);
  for (long round = 1; round <= Rounds(300, 100); ++round) {
    long seen = 0;
    EXPECT_EQ(ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &seen, region.At(0), 1, 0), 0);
    switch (round % 3) {
      case 0:
        armci_msg_barrier();
        break;
      case 1:
        parmci_msg_barrier();
        break;
      default:
        armci_msg_group_barrier(&world);
    }
    EXPECT_GE(ARMCI_GetValueLong(region.At(0), 0), round * Np()) << "left before all had come";
  }
}

}  // namespace
}  // namespace conformance
