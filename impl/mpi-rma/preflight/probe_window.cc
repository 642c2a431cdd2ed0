// Windows of each kind: does contiguous data arrive where it should, through them and back, and do atomics work in
// them?
//
// Each process's memory, in slots of kSlotBytes:
//   0          what a source puts here (kWords numbers)
//   1          what a source gets from here
//   2          what a source accumulates to here
//   3, 4       what a source adds to, and swaps, by an atomic
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "impl/mpi-rma/preflight/probe.h"

namespace armci::rma {
namespace {

constexpr std::size_t kWords = 512;
constexpr std::size_t kSlotBytes = kWords * sizeof(std::int64_t);
constexpr std::size_t kSlots = 5;
constexpr int kUnequalTrials = 4;

// A number that tells which process wrote it, and where.
std::int64_t number(int rank, std::size_t place) {
  return (std::int64_t{rank} + 1) * 1'000'000 + static_cast<std::int64_t>(place);
}

bool holds(const std::int64_t* words, int rank, std::int64_t added) {
  for (std::size_t place = 0; place < kWords; ++place) {
    if (words[place] != number(rank, place) + added) return false;
  }
  return true;
}

void fill(std::int64_t* words, int rank) {
  for (std::size_t place = 0; place < kWords; ++place) words[place] = number(rank, place);
}

// Whether compare_and_swap may be tried: on memory of MPI_Win_allocate it ends the process with some libraries.
enum class Swap { kYes, kNo };

// The operations that gave the right data in a round.
struct Verdict {
  bool data;  // put, get and accumulate
  bool add;   // fetch_and_op
  bool swap;  // compare_and_swap, or it was not tried
};

Verdict try_operations(const ProbeWindow& window, int rank, const Partners& partners, Swap with_swap) {
  std::vector<std::int64_t> given(kWords);
  std::vector<std::int64_t> got(kWords);
  const std::vector<std::int64_t> ones(kWords, 1);
  fill(given.data(), rank);
  std::fill_n(window.at<std::int64_t>(0), kWords, 0);
  for (std::size_t slot = 1; slot < kSlots; ++slot) fill(window.at<std::int64_t>(slot * kSlotBytes), rank);
  window.meet();

  const int target = partners.target;
  const int count = static_cast<int>(kWords);
  const auto slot = [&](std::size_t index) { return window.displacement(target, index * kSlotBytes); };
  const std::int64_t compare = number(target, 0);
  const std::int64_t swap = -7;
  const std::int64_t five = 5;
  std::int64_t before_add = 0;
  std::int64_t before_swap = with_swap == Swap::kYes ? 0 : compare;
  Verdict well{};
  well.data = went_well(MPI_Put(given.data(), count, MPI_INT64_T, target, slot(0), count, MPI_INT64_T, window.win())) &&
              went_well(MPI_Get(got.data(), count, MPI_INT64_T, target, slot(1), count, MPI_INT64_T, window.win())) &&
              went_well(MPI_Accumulate(ones.data(), count, MPI_INT64_T, target, slot(2), count, MPI_INT64_T, MPI_SUM,
                                       window.win()));
  well.add = went_well(MPI_Fetch_and_op(&five, &before_add, MPI_INT64_T, target, slot(3), MPI_SUM, window.win()));
  well.swap = with_swap == Swap::kNo || went_well(MPI_Compare_and_swap(&swap, &compare, &before_swap, MPI_INT64_T,
                                                                       target, slot(4), window.win()));
  well.data = went_well(MPI_Win_flush(target, window.win())) && well.data;
  window.meet();

  well.data = well.data && holds(window.at<std::int64_t>(0), partners.source, 0) && holds(got.data(), target, 0) &&
              holds(window.at<std::int64_t>(2 * kSlotBytes), rank, 1);
  well.add =
      well.add && before_add == number(target, 0) && *window.at<std::int64_t>(3 * kSlotBytes) == number(rank, 0) + five;
  well.swap = well.swap && before_swap == compare &&
              *window.at<std::int64_t>(4 * kSlotBytes) == (with_swap == Swap::kYes ? swap : number(rank, 0));
  return well;
}

// So many numbers has each process of a window of unequal sizes: an array that is distributed unevenly.
std::size_t unequal_words(int trial, int rank) {
  constexpr std::array<std::size_t, 7> kChoices = {1, 0, 513, 7, 16384, 100, 4096};
  return kChoices[static_cast<std::size_t>(trial + 2 * rank) % kChoices.size()];
}

// Every process fills its own memory, and reads that of its targets from the first number to the last.
bool works_with_unequal_sizes(const Neighbourhood& around, int trial) {
  const std::size_t mine = unequal_words(trial, around.rank());
  const ProbeWindow window(around, WindowKind::kAllocate, mine * sizeof(std::int64_t));
  if (!window.ok()) return false;
  for (std::size_t place = 0; place < mine; ++place) window.at<std::int64_t>(0)[place] = number(around.rank(), place);
  window.meet();
  bool well = true;
  for (const Partners& partners : around.rounds()) {
    const int target = partners.target;
    const std::size_t count = unequal_words(trial, target);
    std::vector<std::int64_t> got(count + 1);
    well = went_well(MPI_Get(got.data(), static_cast<int>(count), MPI_INT64_T, target, 0, static_cast<int>(count),
                             MPI_INT64_T, window.win())) &&
           well;
    well = went_well(MPI_Win_flush(target, window.win())) && well;
    for (std::size_t place = 0; place < count; ++place) well = well && got[place] == number(target, place);
  }
  window.meet();
  for (std::size_t place = 0; place < mine; ++place) {
    well = well && window.at<std::int64_t>(0)[place] == number(around.rank(), place);
  }
  return well;
}

// Every process on a node stores into the part of the next one, by its own address of it.
bool shares_memory(const Neighbourhood& around) {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(around.comm(), MPI_COMM_TYPE_SHARED, around.rank(), MPI_INFO_NULL, &node);
  MPI_Comm_set_errhandler(node, MPI_ERRORS_RETURN);
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(node, &rank);
  MPI_Comm_size(node, &size);
  std::int64_t* mine = nullptr;
  MPI_Win window = MPI_WIN_NULL;
  bool well = went_well(MPI_Win_allocate_shared(sizeof *mine, 1, MPI_INFO_NULL, node, &mine, &window));
  if (around.all(well)) {
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    MPI_Aint bytes = 0;
    int unit = 0;
    std::int64_t* next = nullptr;
    MPI_Win_shared_query(window, (rank + 1) % size, &bytes, &unit, &next);
    *next = number(rank, 0);
    MPI_Win_sync(window);
    MPI_Barrier(node);
    MPI_Win_sync(window);
    well = *mine == number((rank + size - 1) % size, 0);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
  }
  MPI_Comm_free(&node);
  return well;
}

}  // namespace

void probe_windows(const Neighbourhood& around, Findings* found) {
  constexpr std::array<std::pair<WindowKind, Fault>, 4> kKinds = {
      {{WindowKind::kCreate, Fault::kCreateBroken},
       {WindowKind::kCreateShared, Fault::kCreateSharedBroken},
       {WindowKind::kDynamic, Fault::kDynamicBroken},
       {WindowKind::kAllocate, Fault::kAllocateBase}}};
  for (const auto& [kind, fault] : kKinds) {
    const ProbeWindow window(around, kind, kSlots * kSlotBytes);
    if (!window.ok()) {
      found->add(around.size() == 1 ? Fault::kWindowAlone : fault);
      continue;
    }
    const bool allocated = kind == WindowKind::kAllocate;
    for (const Partners& partners : around.rounds()) {
      const Verdict well = try_operations(window, around.rank(), partners, allocated ? Swap::kNo : Swap::kYes);
      // Where atomics alone are wrong, the library does without them.
      if (!well.data || (allocated && !well.add)) found->add(fault);
      if (!well.add && !allocated) found->add(Fault::kFetchAndOp);
      if (!well.swap) found->add(Fault::kCompareAndSwap);
    }
  }
  if (!shares_memory(around)) found->add(Fault::kAllocateSharedBroken);
  for (int trial = 0; trial < kUnequalTrials; ++trial) {
    if (!works_with_unequal_sizes(around, trial)) found->add(Fault::kAllocateUnequal);
  }
}

}  // namespace armci::rma
