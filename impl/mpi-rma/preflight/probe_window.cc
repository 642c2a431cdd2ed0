// Windows of each kind: does contiguous data arrive where it should, through them and back?
//
// Each process's memory, in slots of kSlotBytes:
//   0          what a source puts here (kWords numbers)
//   1          what a source gets from here
//   2          what a source accumulates to here
//   3          what a source does an atomic on (dynamic and shared windows)
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
constexpr std::size_t kSlots = 4;

// A number that tells who wrote it and where.
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

// One round of put, get, accumulate, fetch_and_op and compare_and_swap; true when all were right.
bool moves_data(const ProbeWindow& window, int rank, const Partners& partners, Swap with_swap) {
  std::vector<std::int64_t> given(kWords);
  std::vector<std::int64_t> got(kWords);
  const std::vector<std::int64_t> ones(kWords, 1);
  fill(given.data(), rank);
  std::fill_n(window.at<std::int64_t>(0), kWords, 0);
  fill(window.at<std::int64_t>(kSlotBytes), rank);
  fill(window.at<std::int64_t>(2 * kSlotBytes), rank);
  fill(window.at<std::int64_t>(3 * kSlotBytes), rank);
  window.meet();

  const int target = partners.target;
  const int count = static_cast<int>(kWords);
  const auto slot = [&](std::size_t index) { return window.displacement(target, index * kSlotBytes); };
  const std::int64_t compare = number(target, 0) + 5;
  const std::int64_t swap = -7;
  const std::int64_t five = 5;
  std::int64_t before_add = 0;
  std::int64_t before_swap = with_swap == Swap::kYes ? 0 : compare;
  bool well = went_well(MPI_Put(given.data(), count, MPI_INT64_T, target, slot(0), count, MPI_INT64_T, window.win())) &&
              went_well(MPI_Get(got.data(), count, MPI_INT64_T, target, slot(1), count, MPI_INT64_T, window.win())) &&
              went_well(MPI_Accumulate(ones.data(), count, MPI_INT64_T, target, slot(2), count, MPI_INT64_T, MPI_SUM,
                                       window.win())) &&
              went_well(MPI_Fetch_and_op(&five, &before_add, MPI_INT64_T, target, slot(3), MPI_SUM, window.win())) &&
              went_well(MPI_Win_flush(target, window.win()));
  if (with_swap == Swap::kYes) {
    well = went_well(MPI_Compare_and_swap(&swap, &compare, &before_swap, MPI_INT64_T, target, slot(3), window.win())) &&
           well;
  }
  well = went_well(MPI_Win_flush(target, window.win())) && well;
  window.meet();

  return well && holds(window.at<std::int64_t>(0), partners.source, 0) && holds(got.data(), target, 0) &&
         holds(window.at<std::int64_t>(2 * kSlotBytes), rank, 1) && before_add == number(target, 0) &&
         before_swap == compare &&
         *window.at<std::int64_t>(3 * kSlotBytes) == (with_swap == Swap::kYes ? swap : number(rank, 0) + five);
}

// A window where every process has another size: one of them next to nothing, as when an array is distributed unevenly.
bool works_with_unequal_sizes(const Neighbourhood& around) {
  const std::size_t mine = kSlots * kSlotBytes * static_cast<std::size_t>(1 + around.rank() % 3);
  const ProbeWindow window(around, WindowKind::kAllocate, mine);
  if (!window.ok()) return false;
  // The last slots, which the shorter ones do not have, must be there and not be another process's.
  std::fill_n(window.memory(), mine, static_cast<std::byte>(around.rank() + 1));
  window.meet();
  const bool own = std::all_of(window.memory(), window.memory() + mine,
                               [&](std::byte one) { return one == static_cast<std::byte>(around.rank() + 1); });
  window.meet();
  bool well = own;
  for (const Partners& partners : around.rounds()) {
    well = moves_data(window, around.rank(), partners, Swap::kNo) && well;
  }
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
      found->add(fault);
      continue;
    }
    const Swap with_swap = kind == WindowKind::kAllocate ? Swap::kNo : Swap::kYes;
    for (const Partners& partners : around.rounds()) {
      if (!moves_data(window, around.rank(), partners, with_swap)) found->add(fault);
    }
  }
  if (!works_with_unequal_sizes(around)) found->add(Fault::kAllocateUnequal);
}

}  // namespace armci::rma
