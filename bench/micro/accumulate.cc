// What does accumulate cost, against axpy without any atomicity, and do disjoint accumulates run in parallel?
//
// Cases, into memory of rank 1:
//   accumulate         doubles, 4 KiB to 4 MiB, rank 1 asleep; the baseline is the fastest vectorised axpy
//   two processes      ranks 0 and 1 at once, each into its own half of one region of rank 1, as rate of both together
//                      over the rate of rank 0 alone
//   axpy, two          the same with plain axpy, for what the machine's memory allows; no target
#include <cstring>

#include "armci.h"
#include "bench/baseline/axpy.h"
#include "bench/common/report.h"
#include "bench/session/session.h"

namespace armci::bench {
namespace {

constexpr int kTarget = 1;
constexpr size_t kSizes[] = {4096, 16384, 65536, 262144, size_t{1} << 20, size_t{4} << 20};
constexpr size_t kHalves[] = {65536, size_t{1} << 20, size_t{4} << 20};
constexpr size_t kLargest = size_t{4} << 20;
// Small enough that a million additions of it stay far from overflow, and exact, so that sums can be checked.
constexpr double kScale = 0x1p-20;

struct Vectors {
  double* local;
  double* remote;
};

void AccumulateOnce(Vectors at, size_t bytes) {
  double scale = kScale;
  ARMCI_Acc(ARMCI_ACC_DBL, &scale, at.local, at.remote, static_cast<int>(bytes), kTarget);
}

std::string VerifySum(Vectors at, size_t bytes) {
  const size_t count = bytes / sizeof(double);
  std::memset(at.remote, 0, bytes);
  AccumulateOnce(at, bytes);
  AccumulateOnce(at, bytes);
  for (size_t i = 0; i < count; ++i) {
    if (at.remote[i] != 2 * kScale * at.local[i]) return "element " + std::to_string(i) + " has a wrong sum";
  }
  return "";
}

Case Alone(Vectors at, size_t bytes) {
  const auto actions = [=] {
    std::vector<Action> all = {Loop("ARMCI_Acc", Role::kSubject, [=] { AccumulateOnce(at, bytes); })};
    for (const AxpyRoutine& routine : AxpyRoutines()) {
      all.push_back(Loop(routine.name, Role::kBaseline,
                         [=] { routine.add(at.remote, at.local, kScale, bytes / sizeof(double)); }));
    }
    return all;
  };
  return {{"accumulate", FormatBytes(bytes), "accumulate", static_cast<double>(bytes)}, Crew::kAlone, actions, [=] {
            return VerifySum(at, bytes);
          }};
}

// `mine` is this process's half; every process passes its own.
Case Pair(const Session& session, Vectors mine, size_t bytes) {
  const auto actions = [=, &session]() -> std::vector<Action> {
    const auto body = [=] { AccumulateOnce(mine, bytes); };
    return {session.Each("both", Role::kSubject, 2, body), OfTheLibrary(session.Each("one", Role::kBaseline, 1, body))};
  };
  return {{"accumulate, two processes", "2 x " + FormatBytes(bytes), "accumulate_pair", static_cast<double>(bytes)},
          Crew::kTogether,
          actions,
          [=] { return VerifySum(mine, bytes); },
          2e-3};
}

// A figure of the machine and not of a library; it stands beside the results of the library that it was measured with.
Case RawPair(const Session& session, Vectors mine, size_t bytes) {
  const auto actions = [=, &session]() -> std::vector<Action> {
    const AxpyRoutine widest = AxpyRoutines().back();
    const auto body = [=] { widest.add(mine.remote, mine.local, kScale, bytes / sizeof(double)); };
    return {session.Each("both", Role::kSubject, 2, body), OfTheLibrary(session.Each("one", Role::kBaseline, 1, body))};
  };
  return {{"axpy, two processes", "2 x " + FormatBytes(bytes), "", static_cast<double>(bytes)},
          Crew::kTogether,
          actions,
          {},
          2e-3};
}

std::vector<Case> Cases(const Session& session, Vectors at) {
  std::vector<Case> cases;
  for (size_t bytes : kSizes) cases.push_back(Alone(at, bytes));
  for (size_t bytes : kHalves) {
    const size_t half = session.rank() == 1 ? bytes / sizeof(double) : 0;
    const Vectors mine = {at.local, at.remote + half};
    cases.push_back(Pair(session, mine, bytes));
    cases.push_back(RawPair(session, mine, bytes));
  }
  return cases;
}

}  // namespace
}  // namespace armci::bench

int main(int argc, char** argv) {
  using namespace armci::bench;
  Session session(argc, argv, {"accumulate", "accumulate of doubles against axpy, alone and in parallel", 2});
  {
    Region region(session, 2 * kLargest);
    LocalBuffer buffer(kLargest);
    auto* local = reinterpret_cast<double*>(buffer.data());
    for (size_t i = 0; i < kLargest / sizeof(double); ++i) local[i] = static_cast<double>(i % 1000 + 1);
    std::memset(region.on(session.rank()), 0, 2 * kLargest);
    session.Run(Cases(session, {local, reinterpret_cast<double*>(region.on(kTarget))}));
  }
  return session.Finish();
}
