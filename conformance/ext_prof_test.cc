// PROF-1, ABI-1: profiling twins and the binary interface.

#include <atomic>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <vector>

#include "conformance/harness/test.h"
#include "parmci.h"
#include "spec/api_table.h"

namespace {

// Calls of this program to the functions that it takes over below.
std::atomic<long> taken_over{0};

// No read-modify-write: that would be the memory barrier which a fence without one lacks [FENCE-1]. A count lost to
// another thread does not matter.
void Count() { taken_over.store(taken_over.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }

}  // namespace

// Counts a call for a program in which these functions are taken over already: that of the mutants.
extern "C" void ConformanceTakenOver(void) { Count(); }

// A program that defines F gets its own calls, and passes them on to PF. Weak, so that a defective library made by the
// same means can still be put in front of a right one; the program's weak definition comes before the library's.
#define TAKEN_OVER extern "C" __attribute__((weak))

TAKEN_OVER void ARMCI_AllFence(void) {
  Count();
  PARMCI_AllFence();
}
TAKEN_OVER int ARMCI_WaitAll(void) {
  Count();
  return PARMCI_WaitAll();
}
TAKEN_OVER void ARMCI_Fence(int proc) {
  Count();
  PARMCI_Fence(proc);
}
TAKEN_OVER void armci_msg_barrier(void) {
  Count();
  parmci_msg_barrier();
}
TAKEN_OVER int ARMCI_Wait(armci_hdl_t* hdl) {
  Count();
  return PARMCI_Wait(hdl);
}
#undef TAKEN_OVER

namespace conformance {
namespace {

CLAUSE_TEST(PROF, PROF1_the_program_sees_its_own_calls_and_no_others, "PROF-1") {
  Region region(4096);
  const int target = (Me() + 1) % Np();
  long before = taken_over;
  ARMCI_AllFence();
  ARMCI_Fence(target);
  EXPECT_EQ(ARMCI_WaitAll(), 0);
  armci_msg_barrier();
  armci_hdl_t handle;
  ARMCI_INIT_HANDLE(&handle);
  EXPECT_EQ(ARMCI_Wait(&handle), 0);
  EXPECT_EQ(taken_over - before, 5);
  // Calls that fence, wait and meet inside: the library must not come back through the public names.
  before = taken_over;
  ARMCI_Barrier();
  std::vector<void*> ptr(static_cast<std::size_t>(Np()), nullptr);
  EXPECT_EQ(ARMCI_Malloc(ptr.data(), 64), 0);
  long value = 1;
  EXPECT_EQ(ARMCI_NbPut(&value, region.At(target), 8, target, nullptr), 0);
  int flag_value = 1;
  EXPECT_EQ(
      ARMCI_Put_flag(&value, region.At(target), 8, reinterpret_cast<int*>(region.At(target, 64)), flag_value, target),
      0);
  EXPECT_EQ(armci_notify(target), 0);
  int count = 0;
  EXPECT_EQ(armci_notify_wait((Me() + Np() - 1) % Np(), &count), 0);
  EXPECT_EQ(ARMCI_Create_mutexes(1), 0);
  ARMCI_Lock(0, target);
  ARMCI_Unlock(0, target);
  EXPECT_EQ(ARMCI_Destroy_mutexes(), 0);
  ARMCI_Group world;
  ARMCI_Group_get_world(&world);
  ARMCI_GroupFence(&world);
  armci_msg_group_barrier(&world);
  EXPECT_EQ(ARMCI_Free(ptr[static_cast<std::size_t>(Me())]), 0);
  EXPECT_EQ(taken_over - before, 0) << "the library called a public function";
}

struct Twin {
  const char* name;
  const void* address;
};

template <typename Function>
const void* Address(Function* function) {
  return reinterpret_cast<const void*>(function);
}

#define TWIN(result, strong, weak, parameters, arguments) Twin{#strong, Address(strong)},
// That this links is most of the test.
const Twin kTwins[] = {ARMCI_API_ALL(TWIN)};
#undef TWIN

CLAUSE_TEST(PROF, PROF1_every_function_has_a_twin, "PROF-1") {
  for (const Twin& twin : kTwins) EXPECT_NE(twin.address, nullptr) << twin.name;
}

CLAUSE_TEST(PROF, PROF1_twins_do_the_same, "PROF-1") {
  Region region(256);
  const int target = (Me() + 1) % Np();
  long value = 100 + Me();
  long back = 0;
  EXPECT_EQ(PARMCI_Put(&value, region.At(target), 8, target), 0);
  EXPECT_EQ(PARMCI_Get(region.At(target), &back, 8, target), 0);
  EXPECT_EQ(back, value);
  EXPECT_EQ(ARMCI_GetValueLong(region.At(target), target), value);
  EXPECT_EQ(PARMCI_GetValueLong(region.At(target), target), value);
  long one = 1;
  EXPECT_EQ(PARMCI_Acc(ARMCI_ACC_LNG, &one, &value, region.At(target), 8, target), 0);
  EXPECT_EQ(PARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &back, region.At(target), 1, target), 0);
  EXPECT_EQ(back, 2 * value);
  EXPECT_EQ(PARMCIX_Put(&value, region.At(target), 8, target), 0);
  PARMCI_Barrier();
  EXPECT_EQ(LoadShared<long>(region.Mine()), 100 + (Me() + Np() - 1) % Np());
  EXPECT_EQ(parmci_msg_me(), Me());
  EXPECT_EQ(PARMCI_Initialized(), 1);
}

CLAUSE_TEST(PROF, PROF1_public_names_and_twins_mix, "PROF-1") {
  // One name issues and the other one completes: there is one library behind both.
  std::vector<void*> ptr(static_cast<std::size_t>(Np()), nullptr);
  Agree();
  ASSERT_EQ(ARMCI_Malloc(ptr.data(), 64), 0);
  const int target = (Me() + 1) % Np();
  long* there = static_cast<long*>(ptr[static_cast<std::size_t>(target)]);
  long value = 300 + Me();
  long back = 0;
  EXPECT_EQ(ARMCI_Put(&value, there, 8, target), 0);
  EXPECT_EQ(PARMCI_Get(there, &back, 8, target), 0);
  EXPECT_EQ(back, value);
  armci_hdl_t handle;
  PARMCI_INIT_HANDLE(&handle);
  ++value;
  EXPECT_EQ(ARMCI_NbPut(&value, there, 8, target, &handle), 0);
  EXPECT_EQ(PARMCI_Wait(&handle), 0);
  PARMCI_Fence(target);
  EXPECT_EQ(PARMCI_GetValueLong(there, target), value);
  EXPECT_EQ(PARMCI_Create_mutexes(1), 0);
  ARMCI_Lock(0, target);
  PARMCI_Unlock(0, target);
  PARMCI_Lock(0, target);
  ARMCI_Unlock(0, target);
  EXPECT_EQ(ARMCI_Destroy_mutexes(), 0);
  PARMCI_Barrier();
  EXPECT_EQ(PARMCI_Free(ptr[static_cast<std::size_t>(Me())]), 0);
}

// As a program that was compiled elsewhere has them: plain numbers, and descriptors and groups as bytes.
CLAUSE_TEST(ABI, ABI1_the_library_means_what_the_headers_say, "ABI-1") {
  Region region(256);
  const int target = (Me() + 1) % Np();
  char* there = region.At(target);
  Sync();
  long source[2] = {-41 - Me(), 42 + Me()};
  void* from[2] = {&source[0], &source[1]};
  void* to[2] = {there, there + 16};
  const struct {
    void** from;
    void** to;
    int bytes;
    int number;
  } descriptor{from, to, 8, 2};
  armci_giov_t giov;
  static_assert(sizeof giov == sizeof descriptor);
  std::memcpy(&giov, &descriptor, sizeof giov);
  EXPECT_EQ(ARMCI_PutV(&giov, 1, target), 0);
  EXPECT_EQ(ARMCI_GetValueLong(there, target), -41 - Me());
  EXPECT_EQ(ARMCI_GetValueLong(there + 16, target), 42 + Me());
  // Accumulates 1 and 3 are of long (which carries where two ints do not) and double; read-modify-writes 0 to 3 are add
  // to int and long, swap int and long.
  long scale = 2;
  EXPECT_EQ(ARMCI_Acc(1, &scale, source, there, 8, target), 0);
  EXPECT_EQ(ARMCI_GetValueLong(there, target), 3 * (-41 - Me()));
  double half = 0.5, three = 3;
  EXPECT_EQ(ARMCI_Acc(3, &half, &three, there + 32, 8, target), 0);
  EXPECT_EQ(ARMCI_GetValueDouble(there + 32, target), 1.5);
  int word = 70;
  long wide = 80;
  EXPECT_EQ(ARMCI_Rmw(2, &word, there + 48, 0, target), 0);
  EXPECT_EQ(ARMCI_Rmw(0, &word, there + 48, 5, target), 0);
  EXPECT_EQ(word, 70);
  EXPECT_EQ(ARMCI_GetValueInt(there + 48, target), 75);
  EXPECT_EQ(ARMCI_Rmw(3, &wide, there + 56, 0, target), 0);
  EXPECT_EQ(ARMCI_Rmw(1, &wide, there + 56, 5, target), 0);
  EXPECT_EQ(wide, 80);
  EXPECT_EQ(ARMCI_GetValueLong(there + 56, target), 85);
  ARMCI_Group world;
  ARMCI_Group_get_world(&world);
  MPI_Comm comm = MPI_COMM_NULL;
  std::memcpy(&comm, &world, sizeof comm);
  int same = MPI_UNEQUAL;
  MPI_Comm_compare(comm, Comm(), &same);
  EXPECT_EQ(same, MPI_CONGRUENT) << "a group begins with the communicator of its members";
}

CLAUSE_TEST(ABI, ABI1_sizes_orders_and_constants, "ABI-1") {
  EXPECT_LE(sizeof(armci_hdl_t), 8u);
  EXPECT_EQ(sizeof(ARMCI_Group), 32u);
  EXPECT_EQ(offsetof(ARMCI_Group, comm), 0u);
  EXPECT_TRUE((std::is_same_v<armci_size_t, long>));
  EXPECT_EQ(offsetof(armci_giov_t, src_ptr_array), 0u);
  EXPECT_EQ(offsetof(armci_giov_t, dst_ptr_array), 8u);
  EXPECT_EQ(offsetof(armci_giov_t, bytes), 16u);
  EXPECT_EQ(offsetof(armci_giov_t, ptr_array_len), 20u);
  EXPECT_EQ(ARMCI_ACC_INT, 0);
  EXPECT_EQ(ARMCI_ACC_LNG, 1);
  EXPECT_EQ(ARMCI_ACC_FLT, 2);
  EXPECT_EQ(ARMCI_ACC_DBL, 3);
  EXPECT_EQ(ARMCI_ACC_CPL, 4);
  EXPECT_EQ(ARMCI_ACC_DCP, 5);
  EXPECT_EQ(ARMCI_FETCH_AND_ADD, 0);
  EXPECT_EQ(ARMCI_FETCH_AND_ADD_LONG, 1);
  EXPECT_EQ(ARMCI_SWAP, 2);
  EXPECT_EQ(ARMCI_SWAP_LONG, 3);
  EXPECT_EQ(ARMCI_INT, 0);
  EXPECT_EQ(ARMCI_DOUBLE, 4);
  EXPECT_EQ(SCOPE_ALL, 0);
  EXPECT_EQ(SCOPE_NODE, 1);
  EXPECT_EQ(SCOPE_MASTERS, 2);
  EXPECT_EQ(ARMCI_DOMAIN_SMP, 0);
  EXPECT_EQ(ARMCI_MAX_STRIDE_LEVEL, 8);
  // A handle and a group are no longer than their types say: the library writes nothing behind them.
  struct Guarded {
    armci_hdl_t handle;
    long guard;
  } guarded{{}, 0x1234};
  ARMCI_INIT_HANDLE(&guarded.handle);
  ARMCI_SET_AGGREGATE_HANDLE(&guarded.handle);
  EXPECT_EQ(ARMCI_Wait(&guarded.handle), 0);
  ARMCI_UNSET_AGGREGATE_HANDLE(&guarded.handle);
  EXPECT_EQ(guarded.guard, 0x1234);
  struct GuardedGroup {
    ARMCI_Group group;
    long guard;
  } guarded_group{{}, 0x5678};
  ARMCI_Group_get_world(&guarded_group.group);
  EXPECT_EQ(guarded_group.guard, 0x5678);
}

}  // namespace
}  // namespace conformance
