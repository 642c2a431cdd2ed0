// COMPAT: conventions of arguments and results that programs for other ARMCIs rely on.

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "conformance/harness/test.h"

namespace conformance {
namespace {

// Pages that a store, or a read behind their end, cannot survive. What is written to them ends where they end.
class Frozen {
 public:
  Frozen() : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    void* memory = mmap(nullptr, 2 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED) begin_ = static_cast<char*>(memory);
    next_ = page_;
  }
  ~Frozen() {
    if (begin_ != nullptr) munmap(begin_, 2 * page_);
  }
  Frozen(const Frozen&) = delete;
  Frozen& operator=(const Frozen&) = delete;

  // Copies to the place before the last copy: the first one ends with the page.
  template <typename T>
  T* Copy(const std::vector<T>& from) {
    next_ = (next_ - from.size() * sizeof(T)) / alignof(T) * alignof(T);
    std::memcpy(begin_ + next_, from.data(), from.size() * sizeof(T));
    return reinterpret_cast<T*>(begin_ + next_);
  }
  bool Freeze() {
    return begin_ != nullptr && mprotect(begin_, page_, PROT_READ) == 0 &&
           mprotect(begin_ + page_, page_, PROT_NONE) == 0;
  }

 private:
  const std::size_t page_;
  char* begin_ = nullptr;
  std::size_t next_ = 0;
};

CLAUSE_TEST(COMPAT, MSG2_a_text_may_end_where_memory_ends, "MSG-2") {
  Agree();
  for (const std::string op : {"+", "*", "max", "min", "absmax", "absmin", "or", "&&", "||", "land", "lor"}) {
    Frozen frozen;
    const char* text = frozen.Copy(std::vector<char>(op.begin(), op.end()));
    ASSERT_TRUE(frozen.Freeze());
    int x = 1;
    armci_msg_igop(&x, 1, text);
    const int expected = op == "+" ? Np() : 1;
    EXPECT_EQ(x, expected) << op;
  }
}

// One call of each shape, all of whose arrays are in read-only memory, to one target. Slots of 64 bytes.
void MoveByFrozenArrays(const Region& region, int target, char fill) {
  std::vector<char> local(64, fill), back(64, 0);
  char* const slot = region.At(target, 64 * static_cast<std::size_t>(Me()));
  Frozen frozen;
  int* const strides = frozen.Copy(std::vector<int>{16});
  int* const count = frozen.Copy(std::vector<int>{8, 2});
  void** const sources = frozen.Copy(std::vector<void*>{local.data() + 32, local.data() + 48});
  void** const remote = frozen.Copy(std::vector<void*>{slot + 32, slot + 48});
  void** const results = frozen.Copy(std::vector<void*>{back.data() + 32, back.data() + 48});
  armci_giov_t* const put = frozen.Copy(std::vector<armci_giov_t>{Descriptor(sources, remote, 8, 2)});
  armci_giov_t* const get = frozen.Copy(std::vector<armci_giov_t>{Descriptor(remote, results, 8, 2)});
  int* const zero = frozen.Copy(std::vector<int>{0});
  ASSERT_TRUE(frozen.Freeze());
  EXPECT_EQ(ARMCI_PutS(local.data(), strides, slot, strides, count, 1, target), 0);
  EXPECT_EQ(ARMCI_AccS(ARMCI_ACC_INT, zero, local.data(), strides, slot, strides, count, 1, target), 0);
  EXPECT_EQ(ARMCI_GetS(slot, strides, back.data(), strides, count, 1, target), 0);
  EXPECT_EQ(ARMCI_PutV(put, 1, target), 0);
  EXPECT_EQ(ARMCI_AccV(ARMCI_ACC_INT, zero, put, 1, target), 0);
  EXPECT_EQ(ARMCI_GetV(get, 1, target), 0);
  armci_hdl_t handle;
  ARMCI_INIT_HANDLE(&handle);
  EXPECT_EQ(ARMCI_NbPutS(local.data(), strides, slot, strides, count, 1, target, &handle), 0);
  EXPECT_EQ(ARMCI_NbPutV(put, 1, target, &handle), 0);
  EXPECT_EQ(ARMCI_Wait(&handle), 0);
  char packed[16] = {};
  armci_write_strided(local.data(), 1, strides, count, packed);
  for (std::size_t at : {0, 16, 32, 48}) {
    EXPECT_EQ(std::string(back.data() + at, 8), std::string(8, fill)) << at << " bytes into the slot";
    EXPECT_EQ(std::string(back.data() + at + 8, 8), std::string(8, '\0')) << "the hole behind it";
  }
  EXPECT_EQ(std::string(packed, 16), std::string(16, fill));
}

CLAUSE_TEST(COMPAT, COMPAT2_arrays_of_arguments_may_be_read_only, "COMPAT-2") {
  Region region(64 * static_cast<std::size_t>(Np()));
  Sync();
  for (int target = 0; target < Np(); ++target) MoveByFrozenArrays(region, target, static_cast<char>('a' + target));
  Frozen frozen;
  int* const members = frozen.Copy(AllRanks());
  ASSERT_TRUE(frozen.Freeze());
  Sync();
  ARMCI_Group group;
  ARMCI_Group_create(Np(), members, &group);
  int size = 0;
  ARMCI_Group_size(&group, &size);
  EXPECT_EQ(size, Np());
  ARMCI_Group_free(&group);
}

CLAUSE_TEST(COMPAT, COMPAT3_wait_without_a_handle_completes_the_implicit_ones, "COMPAT-3") {
  constexpr int kBytes = 1 << 14;
  Region region(2 * kBytes * static_cast<std::size_t>(Np()));
  std::memset(region.Mine(), 'g', 2 * kBytes * static_cast<std::size_t>(Np()));
  Sync();
  for (int target = 0; target < Np(); ++target) {
    std::vector<char> source(kBytes, static_cast<char>('A' + Me())), got(kBytes);
    char* const slot = region.At(target, 2 * kBytes * static_cast<std::size_t>(Me()));
    EXPECT_EQ(ARMCI_NbPut(source.data(), slot, kBytes, target, nullptr), 0);
    EXPECT_EQ(ARMCI_NbGet(slot + kBytes, got.data(), kBytes, target, nullptr), 0);
    EXPECT_EQ(ARMCI_Wait(nullptr), 0);
    EXPECT_EQ(got, std::vector<char>(kBytes, 'g')) << "the get from " << target;
    source.assign(source.size(), 'x');
  }
  Sync();
  for (int origin = 0; origin < Np(); ++origin) {
    const char* const slot = region.Mine() + 2 * kBytes * static_cast<std::size_t>(origin);
    EXPECT_EQ(std::string(slot, kBytes), std::string(kBytes, static_cast<char>('A' + origin)));
  }
  EXPECT_EQ(ARMCI_Wait(nullptr), 0) << "with nothing outstanding";
}

// As a program for another ARMCI has them.
armci_hdl_t static_handle;

CLAUSE_TEST(COMPAT, COMPAT4_a_handle_of_zero_bytes_is_an_initialised_one, "COMPAT-4", "CMPL-5") {
  Region region(64);
  Sync();
  const int target = (Me() + 1) % Np();
  std::memset(&static_handle, 0, sizeof static_handle);
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(ARMCI_Test(&static_handle), 0);
    EXPECT_EQ(ARMCI_Wait(&static_handle), 0);
    long value = 100 + round, got = 0;
    EXPECT_EQ(ARMCI_NbPut(&value, region.At(target), sizeof value, target, &static_handle), 0);
    EXPECT_EQ(ARMCI_Wait(&static_handle), 0);
    EXPECT_EQ(ARMCI_NbGet(region.At(target), &got, sizeof got, target, &static_handle), 0);
    EXPECT_EQ(ARMCI_Wait(&static_handle), 0);
    EXPECT_EQ(got, value);
  }
  armci_hdl_t aggregate;
  std::memset(&aggregate, 0, sizeof aggregate);
  ARMCI_SET_AGGREGATE_HANDLE(&aggregate);
  long value = 7;
  EXPECT_EQ(ARMCI_NbPut(&value, region.At(target, 8), sizeof value, target, &aggregate), 0);
  EXPECT_EQ(ARMCI_Wait(&aggregate), 0);
  ARMCI_UNSET_AGGREGATE_HANDLE(&aggregate);
  Sync();
  EXPECT_EQ(region.As<long>(Me())[1], 7);
}

CLAUSE_TEST(COMPAT, COMPAT5_the_length_of_a_message_may_be_null, "COMPAT-5") {
  Agree();
  const int next = (Me() + 1) % Np(), previous = (Me() + Np() - 1) % Np();
  for (int round = 0; round < 2; ++round) {
    const bool first = Me() % 2 == 0 && next != Me();
    long out = 10 * Me() + round, in = -1;
    if (first || next == Me()) armci_msg_snd(5, &out, sizeof out, next);
    if (round == 0) {
      armci_msg_rcv(5, &in, sizeof in, nullptr, previous);
    } else {
      EXPECT_EQ(armci_msg_rcvany(5, &in, sizeof in, nullptr), previous);
    }
    if (!first && next != Me()) armci_msg_snd(5, &out, sizeof out, next);
    EXPECT_EQ(in, 10 * previous + round);
    Agree();
  }
}

CLAUSE_TEST(COMPAT, COMPAT5_the_count_of_notifications_may_be_null, "COMPAT-5", "ORD-6") {
  Region region(64);
  Sync();
  const int next = (Me() + 1) % Np(), previous = (Me() + Np() - 1) % Np();
  for (long value : {1L, 2L}) {
    EXPECT_EQ(ARMCI_PutValueLong(value, region.At(next), next), 0);
    EXPECT_EQ(armci_notify(next), 0);
    EXPECT_EQ(armci_notify_wait(previous, nullptr), 0);
    EXPECT_EQ(LoadShared<long>(region.Mine()), value);
    Sync();
  }
}

CLAUSE_TEST(COMPAT, COMPAT5_init_needs_no_arguments_of_the_program, "COMPAT-5", "INIT-2") {
  Agree();
  EXPECT_EQ(ARMCI_Init_args(nullptr, nullptr), 0);
  EXPECT_EQ(ARMCI_Finalize(), 0);
  EXPECT_EQ(ARMCI_Initialized(), 1);
}

CLAUSE_TEST(COMPAT, COMPAT6_collectives_of_nothing_take_no_buffer, "COMPAT-6") {
  Agree();
  ARMCI_Group world;
  ARMCI_Group_get_world(&world);
  for (int root = 0; root < Np(); ++root) {
    armci_msg_bcast(nullptr, 0, root);
    armci_msg_brdcst(nullptr, 0, root);
    armci_msg_bcast_scope(SCOPE_ALL, nullptr, 0, root);
    armci_msg_group_bcast_scope(SCOPE_ALL, nullptr, 0, root, &world);
  }
  for (const char* op : {"+", "absmax", "or"}) {
    armci_msg_igop(nullptr, 0, op);
    armci_msg_lgop(nullptr, 0, op);
    armci_msg_llgop(nullptr, 0, op);
    armci_msg_group_igop(nullptr, 0, op, &world);
    armci_msg_gop_scope(SCOPE_ALL, nullptr, 0, op, ARMCI_LONG);
  }
  armci_msg_fgop(nullptr, 0, "max");
  armci_msg_dgop(nullptr, 0, "min");
  // Nothing of these is left for the next ones.
  long sum = 1;
  armci_msg_lgop(&sum, 1, "+");
  EXPECT_EQ(sum, Np());
}

CLAUSE_TEST(COMPAT, COMPAT6_reductions_of_nothing_take_no_buffer, "COMPAT-6") {
  Agree();
  armci_msg_reduce(nullptr, 0, "+", ARMCI_DOUBLE);
  armci_msg_reduce_scope(SCOPE_ALL, nullptr, 0, "*", ARMCI_INT);
  int one = 1;
  armci_msg_reduce(&one, 1, "+", ARMCI_INT);
  if (Me() == 0) {
    EXPECT_EQ(one, Np());
  }
}

// From process 0 to the last one.
CLAUSE_TEST(COMPAT, COMPAT6_a_message_of_no_bytes_is_one, "COMPAT-6", NeedsRanks(2)) {
  Agree();
  const int last = Np() - 1;
  long value = 17;
  if (Me() == 0) {
    armci_msg_snd(3, nullptr, 0, last);
    armci_msg_snd(3, &value, sizeof value, last);
    armci_msg_snd(3, nullptr, 0, last);
  } else if (Me() == last) {
    int length = -1;
    value = 0;
    armci_msg_rcv(3, nullptr, 0, &length, 0);
    EXPECT_EQ(length, 0);
    armci_msg_rcv(3, &value, sizeof value, &length, 0);
    EXPECT_EQ(length, static_cast<int>(sizeof value));
    EXPECT_EQ(value, 17);
    EXPECT_EQ(armci_msg_rcvany(3, &value, sizeof value, &length), 0);
    EXPECT_EQ(length, 0);
  }
}

CLAUSE_TEST(COMPAT, COMPAT7_tags_up_to_the_least_limit_of_mpi, "COMPAT-7", NeedsRanks(2)) {
  Agree();
  const int last = Np() - 1;
  for (int tag : {0, 1, 4095, 4096, 30000, 32766}) {
    int value = tag;
    if (Me() == 0) armci_msg_snd(tag, &value, sizeof value, last);
    if (Me() != last) continue;
    value = -1;
    int length = 0;
    armci_msg_rcv(tag, &value, sizeof value, &length, 0);
    EXPECT_EQ(value, tag);
  }
}

}  // namespace
}  // namespace conformance
