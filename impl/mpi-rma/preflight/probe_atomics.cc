// Atomics on memory under MPI_Win_create: 4 and 8 bytes, signed and unsigned, alone and contended.
#include <array>
#include <cstdint>
#include <limits>

#include "impl/mpi-rma/preflight/probe.h"

namespace armci::rma {
namespace {

// Every process adds this often to the counter of process 0.
constexpr int kAdds = 50;
constexpr std::size_t kWindowBytes = 4096;

template <class Word>
MPI_Datatype mpi_type();
template <>
MPI_Datatype mpi_type<std::int32_t>() {
  return MPI_INT32_T;
}
template <>
MPI_Datatype mpi_type<std::uint32_t>() {
  return MPI_UINT32_T;
}
template <>
MPI_Datatype mpi_type<std::int64_t>() {
  return MPI_INT64_T;
}
template <>
MPI_Datatype mpi_type<std::uint64_t>() {
  return MPI_UINT64_T;
}

// The same operations on a word at the target and on one here must see the same.
template <class Word>
class Pair {
 public:
  Pair(const ProbeWindow& window, int target, std::size_t offset, Word start)
      : window_(window), target_(target), place_(window.displacement(target, offset)), model_(start) {}

  bool fetch(MPI_Op op, Word operand, Word after) {
    Word before = static_cast<Word>(~model_);
    const bool well =
        went_well(MPI_Fetch_and_op(&operand, &before, mpi_type<Word>(), target_, place_, op, window_.win())) &&
        went_well(MPI_Win_flush(target_, window_.win()));
    const bool right = before == model_;
    model_ = after;
    return well && right;
  }

  bool compare_and_swap(Word compare, Word swap) {
    Word before = static_cast<Word>(~model_);
    const bool well =
        went_well(MPI_Compare_and_swap(&swap, &compare, &before, mpi_type<Word>(), target_, place_, window_.win())) &&
        went_well(MPI_Win_flush(target_, window_.win()));
    const bool right = before == model_;
    if (model_ == compare) model_ = swap;
    return well && right;
  }

  Word model() const { return model_; }

 private:
  const ProbeWindow& window_;
  int target_;
  MPI_Aint place_;
  Word model_;
};

// Word `offset` of the memory is one that the source works on; its neighbours must stay.
template <class Word>
void probe_width(const Neighbourhood& around, const ProbeWindow& window, const Partners& partners, Findings* found) {
  constexpr Word kLargest = std::numeric_limits<Word>::max();
  constexpr std::size_t kOffset = 5 * sizeof(Word);
  Word* const words = window.at<Word>(0);
  for (std::size_t place = 0; place < 11; ++place) words[place] = kLargest;
  window.meet();
  Pair<Word> pair(window, partners.target, kOffset, kLargest);
  const Word far = static_cast<Word>(static_cast<Word>(around.rank() + 1) << (8 * sizeof(Word) - 12));
  bool fetched = pair.fetch(MPI_REPLACE, 41, 41);
  fetched = pair.fetch(MPI_SUM, 1, 42) && fetched;
  fetched = pair.fetch(MPI_SUM, far, static_cast<Word>(42 + far)) && fetched;
  fetched = pair.fetch(MPI_SUM, static_cast<Word>(-43), static_cast<Word>(far - 1)) && fetched;
  fetched = pair.fetch(MPI_NO_OP, 0, static_cast<Word>(far - 1)) && fetched;
  bool swapped = pair.compare_and_swap(static_cast<Word>(far - 2), 1);
  swapped = pair.compare_and_swap(static_cast<Word>(far - 1), static_cast<Word>(kLargest - 1)) && swapped;
  swapped = pair.compare_and_swap(static_cast<Word>(kLargest - 1), far) && swapped;
  window.meet();
  // What the source left here, and around it.
  const auto left = static_cast<Word>(static_cast<Word>(partners.source + 1) << (8 * sizeof(Word) - 12));
  if (!fetched) found->add(Fault::kFetchAndOp);
  if (!swapped || words[5] != left) found->add(Fault::kCompareAndSwap);
  for (std::size_t place = 0; place < 11; ++place) {
    if (place != 5 && words[place] != kLargest) found->add(Fault::kFetchAndOp);
  }
  window.meet();
}

// All add to one counter, so that each value is fetched once: the sum of those fetched shows a repeated one.
template <class Word>
bool counts(const Neighbourhood& around, const ProbeWindow& window) {
  window.at<Word>(0)[0] = 0;
  window.meet();
  const Word one = 1;
  std::int64_t sum = 0;
  bool well = true;
  for (int round = 0; round < kAdds; ++round) {
    Word before = 0;
    well = went_well(MPI_Fetch_and_op(&one, &before, mpi_type<Word>(), 0, window.displacement(0, 0), MPI_SUM,
                                      window.win())) &&
           went_well(MPI_Win_flush(0, window.win())) && well;
    sum += static_cast<std::int64_t>(before);
  }
  window.meet();
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT64_T, MPI_SUM, around.comm());
  const std::int64_t total = std::int64_t{kAdds} * around.size();
  const bool right = around.rank() != 0 || static_cast<std::int64_t>(window.at<Word>(0)[0]) == total;
  window.meet();
  return well && right && sum == total * (total - 1) / 2;
}

}  // namespace

void probe_atomics(const Neighbourhood& around, Findings* found) {
  // Where there is no such window, the probe of the windows has found that out.
  if (const ProbeWindow window(around, WindowKind::kCreate, kWindowBytes); window.ok()) {
    for (const Partners& partners : around.rounds()) {
      probe_width<std::int32_t>(around, window, partners, found);
      probe_width<std::uint32_t>(around, window, partners, found);
      probe_width<std::int64_t>(around, window, partners, found);
      probe_width<std::uint64_t>(around, window, partners, found);
    }
    const bool narrow = counts<std::int32_t>(around, window);
    const bool wide = counts<std::int64_t>(around, window);
    if (!narrow || !wide) found->add(Fault::kFetchAndOp);
  }
  const ProbeWindow window(around, WindowKind::kAllocate, kWindowBytes);
  if (!window.ok() || !counts<std::int64_t>(around, window)) found->add(Fault::kAllocateAtomics);
}

}  // namespace armci::rma
