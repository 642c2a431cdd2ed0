// Completion after a flush, and operations that overtake others.
//
//   process                          target
//   put data[round]
//   fetch_and_op flag += 1           sees flag, then reads data[round]
//
// Each process is both sides at once. It looks for the flag while it calls MPI, for a limited time: a flag that is late
// proves nothing.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "impl/mpi-rma/preflight/probe.h"

namespace armci::rma {
namespace {

// Waiting for others is dear where processes share cores, so these are few.
constexpr int kRounds = 6;
// Without waiting in between.
constexpr std::size_t kPairs = 40;
constexpr std::size_t kBlockWords = 256;
constexpr double kPatienceSeconds = 0.001;

constexpr std::size_t kFlag = 0;
constexpr std::size_t kElement = 64;
constexpr std::size_t kSums = 128;
constexpr std::size_t kData = 128 + kBlockWords * sizeof(std::int64_t);
constexpr std::size_t kWindowBytes = kData + kBlockWords * sizeof(std::int64_t);

// The flag has the value, or time is up. The flag is read by loads: an atomic of our own, again and again, keeps those
// of others from it with some libraries (atomic-starvation).
bool await_flag(const Neighbourhood& around, const ProbeWindow& window, std::int64_t value) {
  const double end = MPI_Wtime() + kPatienceSeconds;
  do {
    int found = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, around.comm(), &found, MPI_STATUS_IGNORE);
    MPI_Win_sync(window.win());
    if (*static_cast<volatile std::int64_t*>(window.at<std::int64_t>(kFlag)) >= value) return true;
  } while (MPI_Wtime() < end);
  return false;
}

// A put that a later fetch_and_op to the same target overtakes.
bool overtakes(const Neighbourhood& around, const ProbeWindow& window, const Partners& partners) {
  bool seen = false;
  const std::int64_t one = 1;
  std::vector<std::int64_t> block(kBlockWords);
  window.at<std::int64_t>(kFlag)[0] = 0;
  std::fill_n(window.at<std::int64_t>(kData), kBlockWords, 0);
  window.meet();
  for (int round = 1; round <= kRounds; ++round) {
    std::fill(block.begin(), block.end(), round);
    std::int64_t before = 0;
    const int count = static_cast<int>(kBlockWords);
    MPI_Put(block.data(), count, MPI_INT64_T, partners.target, window.displacement(partners.target, kData), count,
            MPI_INT64_T, window.win());
    MPI_Fetch_and_op(&one, &before, MPI_INT64_T, partners.target, window.displacement(partners.target, kFlag), MPI_SUM,
                     window.win());
    if (await_flag(around, window, round)) {
      MPI_Win_sync(window.win());
      const std::int64_t* const data = window.at<std::int64_t>(kData);
      // The source may be a round further by now, never behind.
      seen = seen || std::any_of(data, data + kBlockWords, [&](std::int64_t word) { return word < round; });
    }
    MPI_Win_flush(partners.target, window.win());
  }
  window.meet();
  return seen;
}

// MPI_Accumulate and MPI_Fetch_and_op of one process on one element take effect in program order.
bool keeps_element_order(const ProbeWindow& window, const Partners& partners) {
  bool well = true;
  const std::int64_t one = 1;
  const MPI_Aint place = window.displacement(partners.target, kElement);
  std::array<std::int64_t, kPairs> values;
  std::array<std::int64_t, kPairs> before{};
  for (std::size_t i = 0; i < kPairs; ++i) {
    values[i] = 10 * static_cast<std::int64_t>(i + 1);
    well = went_well(MPI_Accumulate(&values[i], 1, MPI_INT64_T, partners.target, place, 1, MPI_INT64_T, MPI_REPLACE,
                                    window.win())) &&
           went_well(MPI_Fetch_and_op(&one, &before[i], MPI_INT64_T, partners.target, place, MPI_SUM, window.win())) &&
           well;
  }
  well = went_well(MPI_Win_flush(partners.target, window.win())) && well;
  window.meet();
  return well && before == values && window.at<std::int64_t>(kElement)[0] == values.back() + 1;
}

// After the flush all sums are there: the owner learns of the flush by a message and reads its memory.
bool is_there_after_flush(const Neighbourhood& around, const ProbeWindow& window, const Partners& partners) {
  std::fill_n(window.at<std::int64_t>(kSums), kBlockWords, 0);
  window.meet();
  bool well = true;
  const int count = static_cast<int>(kBlockWords);
  const std::vector<std::int64_t> ones(kBlockWords, 1);
  for (int round = 1; round <= kRounds; ++round) {
    well = went_well(MPI_Accumulate(ones.data(), count, MPI_INT64_T, partners.target,
                                    window.displacement(partners.target, kSums), count, MPI_INT64_T, MPI_SUM,
                                    window.win())) &&
           went_well(MPI_Win_flush(partners.target, window.win())) && well;
    int sent = round;
    int got = 0;
    MPI_Sendrecv(&sent, 1, MPI_INT, partners.target, 0, &got, 1, MPI_INT, partners.source, 0, around.comm(),
                 MPI_STATUS_IGNORE);
    MPI_Win_sync(window.win());
    const std::int64_t* const sums = window.at<std::int64_t>(kSums);
    well = std::all_of(sums, sums + kBlockWords, [&](std::int64_t sum) { return sum >= got; }) && well;
  }
  window.meet();
  return well;
}

// A get is complete after a local flush, though a put followed it. The buffer is looked at, which the data may not have
// reached yet, in a round without another meeting.
bool get_completes_locally(const ProbeWindow& window, const Partners& partners) {
  std::fill_n(window.at<std::int64_t>(kData), kBlockWords, 7);
  window.meet();
  bool well = true;
  const std::int64_t word = 7;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::int64_t> block(kBlockWords);
    const int count = static_cast<int>(kBlockWords);
    const MPI_Aint place = window.displacement(partners.target, kData);
    well = went_well(
               MPI_Get(block.data(), count, MPI_INT64_T, partners.target, place, count, MPI_INT64_T, window.win())) &&
           went_well(MPI_Put(&word, 1, MPI_INT64_T, partners.target, place, 1, MPI_INT64_T, window.win())) &&
           went_well(MPI_Win_flush_local(partners.target, window.win())) && well;
    well = std::all_of(block.begin(), block.end(), [](std::int64_t value) { return value == 7; }) && well;
    // The buffer goes after this.
    MPI_Win_flush(partners.target, window.win());
  }
  window.meet();
  return well;
}

}  // namespace

void probe_order(const Neighbourhood& around, Findings* found) {
  const ProbeWindow window(around, WindowKind::kCreate, kWindowBytes);
  if (!window.ok()) return;
  for (const Partners& partners : around.rounds()) {
    if (overtakes(around, window, partners)) found->add(Fault::kPutAtomicOrder);
    if (!keeps_element_order(window, partners)) found->add(Fault::kAccumulateOrder);
    if (!get_completes_locally(window, partners)) found->add(Fault::kGetFlushLocal);
    if (!is_there_after_flush(around, window, partners)) found->add(Fault::kAccumulateFlush);
  }
}

}  // namespace armci::rma
