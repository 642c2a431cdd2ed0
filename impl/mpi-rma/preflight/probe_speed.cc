// Which of two right ways is the faster one. Only process 0 measures, towards the last of its targets (on another node
// where there is one); the others wait in a barrier, where MPI serves them. The two ways take turns, and the better
// quarter of each counts.
//
// A measurement that other programs disturb chooses the slower way, never a wrong one.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <vector>

#include "impl/mpi-rma/preflight/probe.h"

namespace armci::rma {
namespace {

constexpr int kTurns = 16;
constexpr std::size_t kRows = 64;
constexpr std::size_t kRowBytes = 128;
constexpr std::size_t kRunBytes = kRows * kRowBytes;
// The other way has to be faster by this factor.
constexpr double kMargin = 1.5;

double lower_quartile(std::vector<double>* seconds) {
  const auto place = seconds->begin() + static_cast<std::ptrdiff_t>(seconds->size() / 4);
  std::nth_element(seconds->begin(), place, seconds->end());
  return *place;
}

// How many times as long `usual` takes as `other`.
template <class Usual, class Other>
double ratio(Usual usual, Other other) {
  std::vector<double> usual_seconds;
  std::vector<double> other_seconds;
  for (int turn = 0; turn < kTurns; ++turn) {
    const double begin = MPI_Wtime();
    usual();
    const double middle = MPI_Wtime();
    other();
    usual_seconds.push_back(middle - begin);
    other_seconds.push_back(MPI_Wtime() - middle);
  }
  return lower_quartile(&usual_seconds) / lower_quartile(&other_seconds);
}

// Rows with gaps on the origin, to one run of bytes at the target: by a datatype, and packed.
bool rows_are_slow(const ProbeWindow& window, int target) {
  std::vector<std::byte> rows(2 * kRunBytes);
  std::vector<std::byte> packed(kRunBytes);
  const MPI_Aint place = window.displacement(target, 0);
  constexpr int kRun = static_cast<int>(kRunBytes);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(static_cast<int>(kRows), static_cast<int>(kRowBytes), static_cast<int>(2 * kRowBytes), MPI_BYTE,
                  &type);
  MPI_Type_commit(&type);
  const double slower = ratio(
      [&] {
        MPI_Put(rows.data(), 1, type, target, place, kRun, MPI_BYTE, window.win());
        MPI_Win_flush(target, window.win());
      },
      [&] {
        for (std::size_t i = 0; i < kRows; ++i) {
          std::memcpy(&packed[i * kRowBytes], &rows[2 * i * kRowBytes], kRowBytes);
        }
        MPI_Put(packed.data(), kRun, MPI_BYTE, target, place, kRun, MPI_BYTE, window.win());
        MPI_Win_flush(target, window.win());
      });
  MPI_Type_free(&type);
  return slower > kMargin;
}

bool puts_are_slow(const ProbeWindow& window, int target) {
  std::vector<std::byte> data(kRunBytes);
  const MPI_Aint place = window.displacement(target, 0);
  const auto slower = [&](int bytes) {
    return ratio(
        [&] {
          MPI_Put(data.data(), bytes, MPI_BYTE, target, place, bytes, MPI_BYTE, window.win());
          MPI_Win_flush(target, window.win());
        },
        [&] {
          MPI_Accumulate(data.data(), bytes, MPI_BYTE, target, place, bytes, MPI_BYTE, MPI_REPLACE, window.win());
          MPI_Win_flush(target, window.win());
        });
  };
  constexpr std::array<int, 2> kBytes = {8, static_cast<int>(kRunBytes)};
  return std::all_of(kBytes.begin(), kBytes.end(), [&](int bytes) { return slower(bytes) > kMargin; });
}

}  // namespace

void probe_speed(const Neighbourhood& around, Findings* found) {
  const ProbeWindow window(around, WindowKind::kCreateShared, kRunBytes);
  if (!window.ok() || around.size() == 1) return;
  window.meet();
  if (around.rank() == 0) {
    const int target = around.rounds().back().target;
    if (rows_are_slow(window, target)) found->add(Fault::kDatatypeRows);
    if (puts_are_slow(window, target)) found->add(Fault::kPutSlow);
  }
  window.meet();
}

}  // namespace armci::rma
