// The benchmark "transfers" by OpenSHMEM, another one-sided interface, where the MPI library has it: the same cases
// under the same names, put to the last process and got from it, and fetch-and-add beside.
//
// Open MPI's OpenSHMEM may crash when it ends (in its own destructors), so this program ends by MPI_Finalize and
// without them.
#include <mpi.h>
#include <shmem.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "bench/common/comparison.h"
#include "bench/common/report.h"
#include "bench/common/sampler.h"
#include "bench/session/options.h"

namespace armci::bench {
namespace {

constexpr const char* kName = "transfers";
constexpr const char* kText = "time of contiguous transfers by their length";
constexpr size_t kLargest = size_t{64} << 20;
constexpr int kWindow = 64;
constexpr size_t kRateBytes = 8;
constexpr unsigned kNapUs = 1000;
constexpr int kRoundsMin = 11;
constexpr int kQuickRoundsMin = 5;

struct Sides {
  char* local;
  char* remote;  // the same address on each process
  int target;
};

struct Case {
  CaseLabel label;
  Action action;
};

Case Of(const char* name, size_t bytes, std::function<void()> body) {
  return {{name, FormatBytes(bytes), ""}, Loop("OpenSHMEM", Role::kSubject, std::move(body))};
}

// As of the same benchmark by ARMCI.
std::vector<size_t> Lengths(bool quick) {
  std::vector<size_t> lengths;
  for (size_t bytes = 8; bytes < (quick ? kLargest / 16 : kLargest); bytes *= quick ? 8 : 4) lengths.push_back(bytes);
  if (!quick) lengths.push_back(kLargest);
  return lengths;
}

std::vector<Case> Cases(bool quick, const Sides& at) {
  std::vector<Case> cases;
  const auto add = [&](const char* name, auto transfer) {
    for (size_t bytes : Lengths(quick)) cases.push_back(Of(name, bytes, [=] { transfer(bytes); }));
  };
  add("put", [=](size_t bytes) { shmem_putmem(at.remote, at.local, bytes, at.target); });
  add("put + fence", [=](size_t bytes) {
    shmem_putmem(at.remote, at.local, bytes, at.target);
    shmem_quiet();
  });
  add("get", [=](size_t bytes) { shmem_getmem(at.local, at.remote, bytes, at.target); });
  add("nb put + wait", [=](size_t bytes) {
    shmem_putmem_nbi(at.remote, at.local, bytes, at.target);
    shmem_quiet();
  });
  add("nb get + wait", [=](size_t bytes) {
    shmem_getmem_nbi(at.local, at.remote, bytes, at.target);
    shmem_quiet();
  });
  cases.push_back({{"put rate", "64 x 8 B", ""}, Loop("OpenSHMEM", Role::kSubject, [=] {
                     for (int k = 0; k < kWindow; ++k) {
                       shmem_putmem_nbi(at.remote + k * kRateBytes, at.local + k * kRateBytes, kRateBytes, at.target);
                     }
                     shmem_quiet();
                   })});
  cases.push_back(Of("fetch-and-add", sizeof(long),
                     [=] { shmem_long_atomic_fetch_add(reinterpret_cast<long*>(at.remote), 1, at.target); }));
  return cases;
}

std::vector<CaseResult> Measure(const Options& options, std::vector<Case> cases) {
  std::erase_if(cases, [&](const Case& one) { return !IsChosen(options, one.label); });
  std::vector<CaseResult> results;
  for (const Case& one : cases) {
    if (options.progress) {
      std::fprintf(stderr, "bench: %s: %s %s\n", kName, one.label.name.c_str(), one.label.size.c_str());
    }
    SamplingPlan plan;
    plan.budget_s = options.seconds / static_cast<double>(cases.size());
    plan.rounds_min = options.quick ? kQuickRoundsMin : kRoundsMin;
    plan.seed = options.seed;
    results.push_back(Compare(one.label, {}, SampleInterleaved({one.action}, plan)));
  }
  return results;
}

int Run(int argc, char** argv) {
  const int me = shmem_my_pe();
  const int all = shmem_n_pes();
  Options options;
  if (const auto status = ReadOptions(argc, argv, kName, kText, me == 0, &options)) return *status;
  if (all < 2) {
    std::fprintf(stderr, "bench: %s needs 2 processes, not %d\n", kName, all);
    return 2;
  }
  char* const remote = static_cast<char*>(shmem_calloc(kLargest, 1));
  auto* const done = static_cast<long*>(shmem_calloc(1, sizeof(long)));
  if (remote == nullptr || done == nullptr) {
    std::fprintf(stderr, "bench: shmem_calloc of %zu bytes failed; give more with SHMEM_SYMMETRIC_SIZE\n", kLargest);
    return 1;
  }
  std::vector<char> local(kLargest);
  shmem_barrier_all();
  int status = 0;
  if (me == 0) {
    const std::vector<CaseResult> results = Measure(options, Cases(options.quick, {local.data(), remote, all - 1}));
    std::printf("%s: %s, by OpenSHMEM\n%s", kName, kText, FormatTable(results).c_str());
    std::fflush(stdout);
    if (!options.json_path.empty() &&
        !WriteResults(options, {kName, kText, "openshmem", "OpenSHMEM", all}, {}, results)) {
      status = 1;
    }
    for (int other = 1; other < all; ++other) shmem_long_atomic_set(done, 1, other);
    shmem_quiet();
  }
  // Asleep, looking now and then: the core belongs to who measures.
  while (me != 0 && shmem_long_atomic_fetch(done, me) == 0) usleep(kNapUs);
  shmem_barrier_all();
  return status;
}

}  // namespace
}  // namespace armci::bench

int main(int argc, char** argv) {
  shmem_init();
  const int status = armci::bench::Run(argc, argv);
  MPI_Finalize();
  _exit(status);
}
