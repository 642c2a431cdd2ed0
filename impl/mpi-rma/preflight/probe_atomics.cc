// Atomics on memory under MPI_Win_create: 4 and 8 bytes, signed and unsigned, alone and contended.
//
// The four kinds of words go through the same steps together, so that a step costs one flush.
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include "impl/mpi-rma/preflight/probe.h"

namespace armci::rma {
namespace {

// Every process adds this often to the counter of process 0.
constexpr std::size_t kAdds = 20;
constexpr std::size_t kWindowBytes = 4096;
// Each kind has so much of the window; the word under test is the one in the middle of a few.
constexpr std::size_t kPartBytes = 256;
constexpr std::size_t kWords = 11;
constexpr std::size_t kMiddle = 5;

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

// The steps; `far` has bits near the top of the word, other ones for each process.
enum class Step { kReplace, kAddOne, kAddFar, kSubtract, kRead, kSwapInVain, kSwap, kSwapBack };
constexpr Step kSteps[] = {Step::kReplace, Step::kAddOne,     Step::kAddFar, Step::kSubtract,
                           Step::kRead,    Step::kSwapInVain, Step::kSwap,   Step::kSwapBack};
constexpr bool is_swap(Step step) { return step >= Step::kSwapInVain; }

// One kind of word at the target, and what it must be.
template <class Word>
class Track {
 public:
  Track(const ProbeWindow& window, std::size_t part, int rank, const Partners& partners)
      : window_(window),
        target_(partners.target),
        far_(far_of(rank)),
        left_(far_of(partners.source)),
        words_(window.at<Word>(part * kPartBytes)),
        place_(window.displacement(target_, part * kPartBytes + kMiddle * sizeof(Word))) {
    for (std::size_t place = 0; place < kWords; ++place) words_[place] = kLargest;
  }

  bool start(Step step) {
    before_ = static_cast<Word>(~model_);
    compare_ = model_;
    switch (step) {
      case Step::kReplace:
        return fetch(MPI_REPLACE, 41);
      case Step::kAddOne:
        return fetch(MPI_SUM, 1);
      case Step::kAddFar:
        return fetch(MPI_SUM, far_);
      case Step::kSubtract:
        return fetch(MPI_SUM, static_cast<Word>(-43));
      case Step::kRead:
        return fetch(MPI_NO_OP, 0);
      case Step::kSwapInVain:
        compare_ = static_cast<Word>(model_ - 1);
        return swap(1);
      case Step::kSwap:
        return swap(static_cast<Word>(kLargest - 1));
      case Step::kSwapBack:
        return swap(far_);
    }
    return false;
  }

  // After the flush: what came back is what was there. Goes on to what must be there now.
  bool finish(Step step) {
    const bool right = before_ == model_;
    switch (step) {
      case Step::kReplace:
        model_ = operand_;
        break;
      case Step::kAddOne:
      case Step::kAddFar:
      case Step::kSubtract:
        model_ = static_cast<Word>(static_cast<std::uint64_t>(model_) + static_cast<std::uint64_t>(operand_));
        break;
      case Step::kRead:
        break;
      case Step::kSwapInVain:
      case Step::kSwap:
      case Step::kSwapBack:
        if (model_ == compare_) model_ = operand_;
    }
    return right;
  }

  // Whether the source left the right word here, and nothing around it.
  bool left_right() const {
    for (std::size_t place = 0; place < kWords; ++place) {
      if (words_[place] != (place == kMiddle ? left_ : kLargest)) return false;
    }
    return true;
  }

 private:
  static constexpr Word kLargest = std::numeric_limits<Word>::max();
  static Word far_of(int rank) {
    return static_cast<Word>(static_cast<Word>(rank % 1000 + 1) << (8 * sizeof(Word) - 12));
  }

  bool fetch(MPI_Op op, Word operand) {
    operand_ = operand;
    return went_well(MPI_Fetch_and_op(&operand_, &before_, mpi_type<Word>(), target_, place_, op, window_.win()));
  }
  bool swap(Word operand) {
    operand_ = operand;
    return went_well(
        MPI_Compare_and_swap(&operand_, &compare_, &before_, mpi_type<Word>(), target_, place_, window_.win()));
  }

  const ProbeWindow& window_;
  int target_;
  Word far_;
  Word left_;
  Word* words_;
  MPI_Aint place_;
  Word model_ = kLargest;
  Word before_ = 0;
  Word compare_ = 0;
  Word operand_ = 0;
};

void probe_words(const Neighbourhood& around, const ProbeWindow& window, const Partners& partners, Findings* found) {
  const int rank = around.rank();
  std::tuple tracks(Track<std::int32_t>(window, 0, rank, partners), Track<std::uint32_t>(window, 1, rank, partners),
                    Track<std::int64_t>(window, 2, rank, partners), Track<std::uint64_t>(window, 3, rank, partners));
  window.meet();
  for (const Step step : kSteps) {
    bool well = std::apply([&](auto&... track) { return (track.start(step) & ...); }, tracks);
    well = went_well(MPI_Win_flush(partners.target, window.win())) && well;
    well = std::apply([&](auto&... track) { return (track.finish(step) & ...); }, tracks) && well;
    if (!well) found->add(is_swap(step) ? Fault::kCompareAndSwap : Fault::kFetchAndOp);
  }
  window.meet();
  if (!std::apply([](auto&... track) { return (track.left_right() & ...); }, tracks)) {
    found->add(Fault::kFetchAndOp);
    found->add(Fault::kCompareAndSwap);
  }
  window.meet();
}

// All add to one counter, many times before a flush; each value is fetched once, so the sum of those fetched shows a
// repeated one.
template <class Word>
bool counts(const Neighbourhood& around, const ProbeWindow& window) {
  window.at<Word>(0)[0] = 0;
  window.meet();
  const Word one = 1;
  std::array<Word, kAdds> before{};
  bool well = true;
  for (Word& each : before) {
    well = went_well(
               MPI_Fetch_and_op(&one, &each, mpi_type<Word>(), 0, window.displacement(0, 0), MPI_SUM, window.win())) &&
           well;
  }
  well = went_well(MPI_Win_flush(0, window.win())) && well;
  window.meet();
  std::int64_t sum = 0;
  for (const Word each : before) sum += static_cast<std::int64_t>(each);
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT64_T, MPI_SUM, around.comm());
  const std::int64_t total = static_cast<std::int64_t>(kAdds) * around.size();
  const bool right = around.rank() != 0 || static_cast<std::int64_t>(window.at<Word>(0)[0]) == total;
  return well && right && sum == total * (total - 1) / 2;
}

}  // namespace

void probe_atomics(const Neighbourhood& around, Findings* found) {
  // Where there is no such window, the probe of the windows has found that out.
  if (const ProbeWindow window(around, WindowKind::kCreate, kWindowBytes); window.ok()) {
    for (const Partners& partners : around.rounds()) probe_words(around, window, partners, found);
    const bool narrow = counts<std::int32_t>(around, window);
    const bool wide = counts<std::int64_t>(around, window);
    if (!narrow || !wide) found->add(Fault::kFetchAndOp);
  }
  const ProbeWindow window(around, WindowKind::kAllocate, kWindowBytes);
  if (!window.ok() || !counts<std::int64_t>(around, window)) found->add(Fault::kAllocateAtomics);
}

}  // namespace armci::rma
