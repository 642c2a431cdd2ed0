// GROUP, DOM: process groups and locality.

#include <algorithm>
#include <numeric>
#include <vector>

#include "conformance/harness/test.h"

namespace conformance {
namespace {

int RankIn(ARMCI_Group* group) {
  int rank = -2;
  EXPECT_EQ(ARMCI_Group_rank(group, &rank), 0);
  return rank;
}

int SizeOf(ARMCI_Group* group) {
  int size = -2;
  ARMCI_Group_size(group, &size);
  return size;
}

// The result that every member of a group of these absolute ids must see.
void ExpectGroup(ARMCI_Group* group, const std::vector<int>& members) {
  const auto place = std::find(members.begin(), members.end(), Me());
  if (place == members.end()) {
    EXPECT_EQ(RankIn(group), -1);
    return;
  }
  EXPECT_EQ(RankIn(group), static_cast<int>(place - members.begin()));
  EXPECT_EQ(SizeOf(group), static_cast<int>(members.size()));
  for (std::size_t rank = 0; rank < members.size(); ++rank) {
    EXPECT_EQ(ARMCI_Absolute_id(group, static_cast<int>(rank)), members[rank]);
  }
  // The communicator of the group has the same order.
  int comm_size = 0;
  int comm_rank = -1;
  MPI_Comm_size(CommunicatorOf(group), &comm_size);
  MPI_Comm_rank(CommunicatorOf(group), &comm_rank);
  EXPECT_EQ(comm_size, static_cast<int>(members.size()));
  EXPECT_EQ(comm_rank, static_cast<int>(place - members.begin()));
  if (LibraryHas("armci_group_comm")) {
    EXPECT_EQ(armci_group_comm(group), CommunicatorOf(group));
  }
  // And it works: a sum over the members only.
  int sum = Me() + 1;
  armci_msg_group_igop(&sum, 1, "+", group);
  EXPECT_EQ(sum, std::accumulate(members.begin(), members.end(), static_cast<int>(members.size())));
}

bool Contains(const std::vector<int>& members) {
  return std::find(members.begin(), members.end(), Me()) != members.end();
}

CLAUSE_TEST(GROUP, GROUP1_the_world, "GROUP-1") {
  ARMCI_Group world;
  ARMCI_Group_get_world(&world);
  std::vector<int> all(static_cast<std::size_t>(Np()));
  std::iota(all.begin(), all.end(), 0);
  ExpectGroup(&world, all);
  ARMCI_Group standard;
  ARMCI_Group_get_default(&standard);
  ExpectGroup(&standard, all);
}

CLAUSE_TEST(GROUP, GROUP1_members_only_call, "GROUP-1", NeedsRanks(2)) {
  // The others do not call, and sit in a barrier until the members are through.
  for (int left_out = 0; left_out < Np(); ++left_out) {
    std::vector<int> members;
    for (int p = 0; p < Np(); ++p) {
      if (p != left_out) members.push_back(p);
    }
    if (Contains(members)) {
      ARMCI_Group group;
      ARMCI_Group_create(static_cast<int>(members.size()), members.data(), &group);
      ExpectGroup(&group, members);
      ARMCI_Group_free(&group);
    }
    Agree();
  }
}

CLAUSE_TEST(GROUP, GROUP1_others_may_call_and_are_not_in_it, "GROUP-1", NeedsRanks(2)) {
  for (int only = 0; only < Np(); ++only) {
    std::vector<int> members{only, (only + 1) % Np()};
    ARMCI_Group group;
    ARMCI_Group_create(2, members.data(), &group);
    ExpectGroup(&group, members);
    ARMCI_Group_free(&group);
    Agree();
  }
}

CLAUSE_TEST(GROUP, GROUP1_creation_does_not_wait_for_who_does_not_call, "GROUP-1", "GROUP-2", NeedsRanks(2)) {
  // Rank 0 makes a group of itself while the others cannot call: they wait for a message it sends afterwards.
  if (Me() == 0) {
    int self = 0;
    ARMCI_Group group;
    ARMCI_Group_create(1, &self, &group);
    EXPECT_EQ(RankIn(&group), 0);
    EXPECT_EQ(SizeOf(&group), 1);
    for (int p = 1; p < Np(); ++p) MPI_Send(nullptr, 0, MPI_INT, p, 3, Comm());
    ARMCI_Group_free(&group);
  } else {
    MPI_Recv(nullptr, 0, MPI_INT, 0, 3, Comm(), MPI_STATUS_IGNORE);
  }
}

CLAUSE_TEST(GROUP, GROUP1_default_group_is_the_parent_of_create, "GROUP-1", NeedsRanks(2)) {
  // A parent in reverse order: rank 0 of the parent is the last process.
  std::vector<int> reversed(static_cast<std::size_t>(Np()));
  for (int p = 0; p < Np(); ++p) reversed[static_cast<std::size_t>(p)] = Np() - 1 - p;
  ARMCI_Group parent;
  ARMCI_Group_create(Np(), reversed.data(), &parent);
  ExpectGroup(&parent, reversed);
  ARMCI_Group_set_default(&parent);
  ARMCI_Group now;
  ARMCI_Group_get_default(&now);
  ExpectGroup(&now, reversed);
  int list[] = {0, 1};
  ARMCI_Group child;
  ARMCI_Group_create(2, list, &child);
  ExpectGroup(&child, {Np() - 1, Np() - 2});
  ARMCI_Group_free(&child);
  ARMCI_Group world;
  ARMCI_Group_get_world(&world);
  ARMCI_Group_set_default(&world);
  ARMCI_Group_create(2, list, &child);
  ExpectGroup(&child, {0, 1});
  ARMCI_Group_free(&child);
  // create_child names the parent itself.
  ARMCI_Group_create_child(2, list, &child, &parent);
  ExpectGroup(&child, {Np() - 1, Np() - 2});
  ARMCI_Group_free(&child);
  ARMCI_Group_free(&parent);
}

CLAUSE_TEST(GROUP, GROUP2_overlapping_groups_in_any_order, "GROUP-2") {
  for (int round = 0; round < Rounds(60, 20); ++round) {
    std::vector<int> all(static_cast<std::size_t>(Np()));
    std::iota(all.begin(), all.end(), 0);
    SharedRng().Shuffle(&all);
    const std::vector<int> first(all.begin(),
                                 all.begin() + static_cast<std::ptrdiff_t>(1 + SharedRng().Below(all.size())));
    SharedRng().Shuffle(&all);
    const std::vector<int> second(all.begin(),
                                  all.begin() + static_cast<std::ptrdiff_t>(1 + SharedRng().Below(all.size())));
    ARMCI_Group a;
    ARMCI_Group b;
    std::vector<int> list = first;
    if (Contains(first)) ARMCI_Group_create(static_cast<int>(list.size()), list.data(), &a);
    list = second;
    if (Contains(second)) ARMCI_Group_create(static_cast<int>(list.size()), list.data(), &b);
    if (Contains(first)) ExpectGroup(&a, first);
    if (Contains(second)) ExpectGroup(&b, second);
    if (Contains(first)) ARMCI_Group_free(&a);
    if (Contains(second)) ARMCI_Group_free(&b);
    Agree();
  }
}

CLAUSE_TEST(GROUP, GROUP2_nested_children, "GROUP-2", "GROUP-1") {
  // Each level leaves out the first member of the level above and turns the order around.
  std::vector<int> members(static_cast<std::size_t>(Np()));
  std::iota(members.begin(), members.end(), 0);
  ARMCI_Group world;
  ARMCI_Group_get_world(&world);
  std::vector<ARMCI_Group> levels{world};
  while (members.size() > 1 && Contains(members)) {
    std::vector<int> ranks;
    for (int rank = static_cast<int>(members.size()) - 1; rank >= 1; --rank) ranks.push_back(rank);
    std::vector<int> next;
    for (int rank : ranks) next.push_back(members[static_cast<std::size_t>(rank)]);
    if (!Contains(next)) break;
    ARMCI_Group child;
    ARMCI_Group_create_child(static_cast<int>(ranks.size()), ranks.data(), &child, &levels.back());
    ExpectGroup(&child, next);
    levels.push_back(child);
    members = next;
  }
  while (levels.size() > 1) {
    ARMCI_Group_free(&levels.back());
    levels.pop_back();
  }
}

CLAUSE_TEST(GROUP, GROUP2_a_thousand_cycles, "GROUP-2", DeadlineSeconds(60)) {
  const ProcessState before = ReadProcessState();
  for (int cycle = 0; cycle < Rounds(1000, 200); ++cycle) {
    std::vector<int> members;
    for (int p = 0; p < Np(); ++p) {
      if (Np() == 1 || p != cycle % Np()) members.push_back(p);
    }
    if (!Contains(members)) continue;
    ARMCI_Group group;
    ARMCI_Group_create(static_cast<int>(members.size()), members.data(), &group);
    EXPECT_EQ(SizeOf(&group), static_cast<int>(members.size()));
    std::vector<void*> ptr(members.size(), nullptr);
    if (cycle % 10 == 0) {
      EXPECT_EQ(ARMCI_Malloc_group(ptr.data(), 128, &group), 0);
      EXPECT_EQ(ARMCI_Free_group(ptr[static_cast<std::size_t>(RankIn(&group))], &group), 0);
    }
    ARMCI_Group_free(&group);
  }
  Agree();
  const ProcessState after = ReadProcessState();
  EXPECT_EQ(after.descriptors, before.descriptors);
}

CLAUSE_TEST(DOM, DOM1_counts_ids_and_inverse_maps_agree, "DOM-1") {
  const int domains = armci_domain_count(ARMCI_DOMAIN_SMP);
  int total = 0;
  std::vector<int> found(static_cast<std::size_t>(Np()), 0);
  std::vector<int> members;
  for (int id = 0; id < domains; ++id) {
    const int count = armci_domain_nprocs(ARMCI_DOMAIN_SMP, id);
    EXPECT_GT(count, 0);
    total += count;
    for (int local = 0; local < count; ++local) {
      const int p = armci_domain_glob_proc_id(ARMCI_DOMAIN_SMP, id, local);
      ASSERT_TRUE(p >= 0 && p < Np()) << p;
      ++found[static_cast<std::size_t>(p)];
      EXPECT_EQ(armci_domain_id(ARMCI_DOMAIN_SMP, p), id);
      members.push_back(p);
    }
  }
  EXPECT_EQ(total, Np());
  EXPECT_EQ(std::count(found.begin(), found.end(), 1), Np()) << "every process in exactly one domain";
  EXPECT_EQ(armci_domain_my_id(ARMCI_DOMAIN_SMP), armci_domain_id(ARMCI_DOMAIN_SMP, Me()));
  for (int own : {-1, -2}) {
    EXPECT_EQ(armci_domain_nprocs(ARMCI_DOMAIN_SMP, own),
              armci_domain_nprocs(ARMCI_DOMAIN_SMP, armci_domain_my_id(ARMCI_DOMAIN_SMP)));
  }
  for (int p = 0; p < Np(); ++p) {
    const bool same = armci_domain_id(ARMCI_DOMAIN_SMP, p) == armci_domain_my_id(ARMCI_DOMAIN_SMP);
    EXPECT_EQ(armci_domain_same_id(ARMCI_DOMAIN_SMP, p), same ? 1 : 0);
    EXPECT_EQ(ARMCI_Same_node(p), same ? 1 : 0);
  }
  // All processes have the same map, and count the members of a domain in the same order.
  for (const int p : members) EXPECT_EQ(p, FromRank(0, p));
  std::vector<int> mine;
  for (int p = 0; p < Np(); ++p) mine.push_back(armci_domain_id(ARMCI_DOMAIN_SMP, p));
  for (int p = 0; p < Np(); ++p) {
    const int domain = mine[static_cast<std::size_t>(p)];
    EXPECT_EQ(domain, FromRank(0, domain));
  }
}

CLAUSE_TEST(DOM, DOM1_domains_are_what_mpi_calls_shared, "DOM-1") {
  Agree();
  MPI_Comm node;
  if (const int simulated = SimulatedNodeSize(); simulated > 0) {
    MPI_Comm_split(Comm(), Me() / simulated, Me(), &node);
  } else {
    MPI_Comm_split_type(Comm(), MPI_COMM_TYPE_SHARED, Me(), MPI_INFO_NULL, &node);
  }
  int size = 0;
  MPI_Comm_size(node, &size);
  std::vector<int> on_node(static_cast<std::size_t>(size));
  int me = Me();
  MPI_Allgather(&me, 1, MPI_INT, on_node.data(), 1, MPI_INT, node);
  MPI_Comm_free(&node);
  EXPECT_EQ(armci_domain_nprocs(ARMCI_DOMAIN_SMP, armci_domain_my_id(ARMCI_DOMAIN_SMP)), size);
  for (int p = 0; p < Np(); ++p) {
    const bool shared = std::find(on_node.begin(), on_node.end(), p) != on_node.end();
    EXPECT_EQ(SameNode(p), shared) << "process " << p;
  }
}

}  // namespace
}  // namespace conformance
