// Vector transfers of more segments than some MPI libraries allow outstanding operations (requests-limited).
//
//   long_vector_test METHOD     of ARMCI_RMA_VECTOR
//
// Every process works on the memory of the next one; all of it is compared, what lies between the segments included.
// Status 1 when a check fails.
#include <mpi.h>

#include <cstddef>
#include <cstdlib>
#include <vector>

#include "armci.h"
#include "impl/testing/job.h"

namespace {

using namespace armci::runtime::testing;

constexpr int kSegments = 25003;
constexpr int kStep = 7919;  // a prime that does not divide it: the segments come in no order
static_assert(kSegments > 2 * 10000 && kSegments % kStep != 0);
constexpr int kWords = 2 * kSegments;  // every other one is a segment

// Which word segment i is.
int word_of(int i) { return 2 * static_cast<int>(static_cast<long>(i) * kStep % kSegments) + 1; }

long* part_of(const std::vector<void*>& parts, int proc) {
  return static_cast<long*>(parts[static_cast<std::size_t>(proc)]);
}

struct Lists {
  std::vector<long> local = std::vector<long>(kWords, -1);
  std::vector<void*> here = std::vector<void*>(kSegments);
  std::vector<void*> there = std::vector<void*>(kSegments);

  explicit Lists(long* remote) {
    for (int i = 0; i < kSegments; ++i) {
      const auto at = static_cast<std::size_t>(i);
      here[at] = &local[2 * at];
      there[at] = remote + word_of(i);
    }
  }
  long& value(int i) { return local[2 * static_cast<std::size_t>(i)]; }
  armci_giov_t to_there() { return {here.data(), there.data(), sizeof(long), kSegments}; }
  armci_giov_t from_there() { return {there.data(), here.data(), sizeof(long), kSegments}; }
};

// That segment i of the own part holds expected(i), and that nothing lies between.
template <class Expected>
bool holds(const long* mine, Expected expected) {
  for (int i = 0; i < kSegments; ++i) {
    if (mine[word_of(i)] != expected(i) || mine[word_of(i) - 1] != 0) return false;
  }
  return true;
}

void check_transfers(Lists* lists, const long* mine, int next, long from) {
  for (int i = 0; i < kSegments; ++i) lists->value(i) = 1000000L * rank + i;
  armci_giov_t to = lists->to_there();
  armci_giov_t back = lists->from_there();
  check(ARMCI_PutV(&to, 1, next) == 0, "put");
  ARMCI_Barrier();
  check(holds(mine, [&](int i) { return 1000000L * from + i; }), "what was put is there, each word at its place");

  long scale = 3;
  check(ARMCI_AccV(ARMCI_ACC_LNG, &scale, &to, 1, next) == 0, "accumulate");
  ARMCI_Barrier();
  check(holds(mine, [&](int i) { return 4 * (1000000L * from + i); }), "every element was added once");

  lists->local.assign(kWords, -1);
  check(ARMCI_GetV(&back, 1, next) == 0, "get");
  bool right = true;
  for (int i = 0; i < kSegments; ++i) {
    right = right && lists->value(i) == 4 * (1000000L * rank + i) && (&lists->value(i))[1] == -1;
  }
  check(right, "what was got is here, each word at its place");
  ARMCI_Barrier();
}

void check_nonblocking(Lists* lists, const long* mine, int next, long from) {
  for (int i = 0; i < kSegments; ++i) lists->value(i) = 7 + rank - i;
  armci_giov_t to = lists->to_there();
  armci_hdl_t handle;
  ARMCI_INIT_HANDLE(&handle);
  check(ARMCI_NbPutV(&to, 1, next, &handle) == 0 && ARMCI_Wait(&handle) == 0, "non-blocking put");
  ARMCI_Barrier();
  check(holds(mine, [&](int i) { return 7 + from - i; }), "what was put by a handle is there");
}

// More outstanding operations than some MPI libraries allow, in lists of a usual length.
void check_many_handles(Lists* lists, const long* mine, int next, long from) {
  constexpr int kHandles = 50;
  constexpr int kLength = 5000;
  static_assert(kHandles * kLength > 200000);
  for (int i = 0; i < kSegments; ++i) lists->value(i) = 7 + rank - i;
  std::vector<armci_hdl_t> handles(kHandles);
  bool right = true;
  for (armci_hdl_t& handle : handles) {
    ARMCI_INIT_HANDLE(&handle);
    armci_giov_t to = lists->to_there();
    to.ptr_array_len = kLength;
    right = ARMCI_NbPutV(&to, 1, next, &handle) == 0 && right;
  }
  for (armci_hdl_t& handle : handles) right = ARMCI_Wait(&handle) == 0 && right;
  check(right, "many non-blocking puts");
  ARMCI_Barrier();
  check(holds(mine, [&](int i) { return 7 + from - i; }), "what was put by many handles is there");
}

// All segments of the list are three words: no datatype may be made of such a list.
void check_overlap(Lists* lists, const long* mine, int next, long from) {
  for (int i = 0; i < kSegments; ++i) {
    lists->value(i) = 1;
    lists->there[static_cast<std::size_t>(i)] = lists->there[static_cast<std::size_t>(i % 3)];
  }
  armci_giov_t to = lists->to_there();
  long scale = 1;
  check(ARMCI_AccV(ARMCI_ACC_LNG, &scale, &to, 1, next) == 0, "accumulate on few words");
  ARMCI_Barrier();
  check(holds(mine, [&](int i) { return 7 + from - i + (i < 3 ? (kSegments - i + 2) / 3 : 0); }),
        "every element was added to its word");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) setenv("ARMCI_RMA_VECTOR", argv[1], 1);
  MPI_Init(&argc, &argv);
  read_rank();
  if (ARMCI_Init() != 0) MPI_Abort(MPI_COMM_WORLD, 2);
  std::vector<void*> parts(static_cast<std::size_t>(size));
  check(ARMCI_Malloc(parts.data(), kWords * sizeof(long)) == 0, "memory is there");
  long* const mine = part_of(parts, rank);
  for (int i = 0; i < kWords; ++i) mine[i] = 0;
  ARMCI_Barrier();
  const int next = (rank + 1) % size;
  const long from = (rank + size - 1) % size;
  Lists lists(part_of(parts, next));
  check_transfers(&lists, mine, next, from);
  check_nonblocking(&lists, mine, next, from);
  check_many_handles(&lists, mine, next, from);
  check_overlap(&lists, mine, next, from);
  ARMCI_Barrier();
  check(ARMCI_Free(mine) == 0, "memory goes");
  ARMCI_Finalize();
  return verdict();
}
