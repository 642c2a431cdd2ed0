// How much of a transfer is hidden behind computing, as computing grows?
//
// Rank 0 and the last rank, which sleeps; non-blocking get, and non-blocking put with its fence, of 64 KiB to 4 MiB.
// Computing lasts 1/4 to 4 times as long as the transfer alone. Counted, medians:
//   overlap      in percent: (transfer alone + computing - both together) / the shorter of the two
//   initiation   in percent of the transfer alone: until the non-blocking call returns
#include <algorithm>
#include <cstdio>
#include <string>

#include "armci.h"
#include "bench/common/clock.h"
#include "bench/common/compute.h"
#include "bench/common/report.h"
#include "bench/common/statistics.h"
#include "bench/session/session.h"

namespace armci::bench {
namespace {

constexpr int kLargest = 4 << 20;
constexpr double kTimesAsLong[] = {0.25, 0.5, 1, 2, 4};
constexpr double kPercent = 100;

struct Transfer {
  char* local;
  char* remote;
  int bytes;
  int target;
  bool is_put;

  void Begin(armci_hdl_t* handle) const {
    ARMCI_INIT_HANDLE(handle);
    if (is_put) {
      ARMCI_NbPut(local, remote, bytes, target, handle);
    } else {
      ARMCI_NbGet(remote, local, bytes, target, handle);
    }
  }
  void End(armci_hdl_t* handle) const {
    ARMCI_Wait(handle);
    if (is_put) ARMCI_Fence(target);
  }
};

// Medians of `rounds`, in seconds: of the call that begins it, of computing, and of all of it.
struct Times {
  double begun;
  double computing;
  double all;
};

Times Measure(const Transfer& transfer, double compute_s, int rounds) {
  std::vector<double> begun;
  std::vector<double> computing;
  std::vector<double> all;
  for (int i = 0; i < rounds; ++i) {
    armci_hdl_t handle;
    const double start = NowSeconds();
    transfer.Begin(&handle);
    const double begins_to_compute = NowSeconds();
    begun.push_back(begins_to_compute - start);
    if (compute_s > 0) Compute(compute_s);
    computing.push_back(NowSeconds() - begins_to_compute);
    transfer.End(&handle);
    all.push_back(NowSeconds() - start);
  }
  return {Quantile(begun, 0.5), Quantile(computing, 0.5), Quantile(all, 0.5)};
}

void Run(Session* session, const Transfer& transfer) {
  const int rounds = session->options().quick ? 15 : 101;
  const std::string what = std::string(transfer.is_put ? "nb put" : "nb get") + ", ";
  const std::string size = FormatBytes(static_cast<size_t>(transfer.bytes));
  MPI_Barrier(MPI_COMM_WORLD);
  if (!session->root()) return session->SleepUntilRootIsDone({});
  Measure(transfer, 0, rounds);
  const Times alone = Measure(transfer, 0, rounds);
  session->Count({what + "initiation in %", size, ""}, kPercent * alone.begun / alone.all);
  for (double times : kTimesAsLong) {
    const Times both = Measure(transfer, times * alone.all, rounds);
    const double hidden = alone.all + both.computing - both.all;
    char text[40];
    std::snprintf(text, sizeof text, "overlap in %%, work %gx", times);
    session->Count({what + text, size, ""}, kPercent * hidden / std::min(alone.all, both.computing));
  }
  session->WakeTheOthers();
}

}  // namespace
}  // namespace armci::bench

int main(int argc, char** argv) {
  using namespace armci::bench;
  Session session(argc, argv, {"overlap", "transfers behind computing", 2, /*between_nodes=*/true});
  {
    const int target = session.size() - 1;
    Region region(session, kLargest);
    LocalBuffer local(kLargest);
    std::fill_n(local.data(), kLargest, char{0});
    for (bool is_put : {false, true}) {
      for (int bytes = 64 << 10; bytes <= kLargest; bytes *= 8) {
        Run(&session, {local.data(), region.on(target), bytes, target, is_put});
      }
    }
  }
  return session.Finish();
}
