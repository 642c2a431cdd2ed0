// How much of a transfer is hidden behind computing, as computing grows?
//
// Rank 0 and the last rank, which sleeps; non-blocking get, and non-blocking put with its fence, of 64 KiB to 4 MiB.
// Computing lasts 1/4 to 4 times as long as the transfer alone. Counted, medians:
//   overlap      in percent: (transfer alone + computing - both together) / the shorter of the two
//   initiation   in percent of the transfer alone: until the non-blocking call returns
//   unhidden     part of the time of a get of 1 MiB that computing 3 and 1.5 times as long does not hide
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
constexpr int kJudged = 1 << 20;
// Where one core is free for both nodes, the transfer takes about twice as long as with two.
constexpr double kLongWork = 3;
constexpr double kShortWork = 1.5;
constexpr int kRoundsLeast = 5;
constexpr int kRoundsMost = 101;

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
  void Perform() const {
    armci_hdl_t handle;
    Begin(&handle);
    End(&handle);
  }
};

// Medians in seconds: of the call that begins it, of computing, and of all of it.
struct Times {
  double begun;
  double computing;
  double all;
};

// As many rounds as `budget_s` allows, between kRoundsLeast and kRoundsMost.
Times Measure(const Transfer& transfer, double compute_s, double budget_s) {
  std::vector<double> begun;
  std::vector<double> computing;
  std::vector<double> all;
  double spent = 0;
  for (int i = 0; i < kRoundsLeast || (i < kRoundsMost && spent < budget_s); ++i) {
    armci_hdl_t handle;
    const double start = NowSeconds();
    transfer.Begin(&handle);
    const double begins_to_compute = NowSeconds();
    begun.push_back(begins_to_compute - start);
    if (compute_s > 0) Compute(compute_s);
    computing.push_back(NowSeconds() - begins_to_compute);
    transfer.End(&handle);
    all.push_back(NowSeconds() - start);
    spent += all.back();
  }
  return {Quantile(begun, 0.5), Quantile(computing, 0.5), Quantile(all, 0.5)};
}

// The result of one transfer. Computing lasts `work` times as long; 0 means no computing.
struct Figure {
  CaseLabel label;
  double work;
  double (*value)(const Times& alone, const Times& both);
};

double Initiation(const Times& alone, const Times&) { return kPercent * alone.begun / alone.all; }

double Overlap(const Times& alone, const Times& both) {
  return kPercent * (alone.all + both.computing - both.all) / std::min(alone.all, both.computing);
}

double Unhidden(const Times& alone, const Times& both) { return (both.all - both.computing) / alone.all; }

std::string WorkText(double work) {
  char text[40];
  std::snprintf(text, sizeof text, ", work %gx", work);
  return text;
}

struct Measured {
  Transfer transfer;
  std::vector<Figure> figures;
};

std::vector<Measured> Figures(char* local, char* remote, int target) {
  std::vector<Measured> all;
  for (bool is_put : {false, true}) {
    const std::string what = is_put ? "nb put, " : "nb get, ";
    for (int bytes = 64 << 10; bytes <= kLargest; bytes *= 8) {
      const std::string size = FormatBytes(static_cast<size_t>(bytes));
      Measured& added = all.emplace_back();
      added.transfer = {local, remote, bytes, target, is_put};
      added.figures.push_back({{what + "initiation in %", size, ""}, 0, Initiation});
      for (double work : kTimesAsLong) {
        added.figures.push_back({{what + "overlap in %" + WorkText(work), size, ""}, work, Overlap});
      }
    }
  }
  Measured& judged = all.emplace_back();
  judged.transfer = {local, remote, kJudged, target, false};
  const std::string size = FormatBytes(kJudged);
  judged.figures.push_back({{"nb get, unhidden" + WorkText(kLongWork), size, "overlap"}, kLongWork, Unhidden});
  judged.figures.push_back({{"nb get, unhidden" + WorkText(kShortWork), size, ""}, kShortWork, Unhidden});
  return all;
}

void MeasureAll(Session* session, const Measured& one, double budget_s) {
  const Transfer& transfer = one.transfer;
  for (int i = 0; i < kRoundsLeast; ++i) transfer.Perform();
  const Times alone = Measure(transfer, 0, budget_s);
  for (const Figure& figure : one.figures) {
    const Times both = figure.work > 0 ? Measure(transfer, figure.work * alone.all, budget_s) : alone;
    session->Count(figure.label, figure.value(alone, both));
  }
  const Mirror mirror = MirrorOf(transfer.local, transfer.remote, static_cast<size_t>(transfer.bytes), transfer.target);
  session->Judge(one.figures.front().label,
                 (transfer.is_put ? VerifyPut : VerifyGet)(mirror, [&] { transfer.Perform(); }));
}

void Run(Session* session, std::vector<Measured> all) {
  size_t measurements = 0;
  for (Measured& one : all) {
    std::erase_if(one.figures, [&](const Figure& figure) { return !session->Wants(figure.label); });
    if (!one.figures.empty()) measurements += 1 + one.figures.size();
  }
  std::erase_if(all, [](const Measured& one) { return one.figures.empty(); });
  for (const Measured& one : all) {
    session->ActAlone(Crew::kAlone, [&] {
      MeasureAll(session, one, session->options().seconds / static_cast<double>(measurements));
    });
  }
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
    Run(&session, Figures(local.data(), region.on(target), target));
  }
  return session.Finish();
}
