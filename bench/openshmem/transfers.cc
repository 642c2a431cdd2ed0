// The benchmark "transfers" by OpenSHMEM, another one-sided interface, where the MPI library has it: the same cases
// under the same names, put to the last process and got from it. A case that ends in shmem_quiet is complete at the
// target, as one that ends in ARMCI_Fence is.
//
// Open MPI's OpenSHMEM may crash when it ends (in its own destructors), so this program ends by MPI_Finalize and
// without them.
#include <mpi.h>
#include <shmem.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "bench/common/comparison.h"
#include "bench/common/local_buffer.h"
#include "bench/common/report.h"
#include "bench/common/sampler.h"
#include "bench/common/transfer_cases.h"
#include "bench/common/verification.h"
#include "bench/session/options.h"

namespace armci::bench {
namespace {

constexpr const char* kName = "transfers";
constexpr const char* kText = "time of contiguous transfers by their length";
constexpr size_t kPage = 4096;
constexpr unsigned kNapUs = 1000;

struct Sides {
  char* local;
  char* remote;  // the same address on each process
  int target;
};

struct Case {
  CaseLabel label;
  Action action;
  std::function<std::string()> verify;
};

using Verify = std::string (*)(const Mirror& mirror, const std::function<void()>& transfer);

Case Of(CaseLabel label, const Sides& at, size_t bytes, Verify verify, const std::function<void()>& body) {
  const auto store = [=] {
    shmem_putmem(at.remote, at.local, bytes, at.target);
    shmem_quiet();
  };
  const auto load = [=] {
    shmem_quiet();
    shmem_getmem(at.local, at.remote, bytes, at.target);
  };
  const Mirror mirror = {reinterpret_cast<double*>(at.local), bytes / sizeof(double), store, load};
  return {std::move(label), Loop("OpenSHMEM", Role::kSubject, body), [=] { return verify(mirror, body); }};
}

std::vector<Case> Cases(bool quick, const Sides& at) {
  std::vector<Case> cases;
  const auto add = [&](const char* name, Verify verify, auto transfer) {
    for (size_t bytes : TransferLengths(quick)) {
      cases.push_back(Of({name, FormatBytes(bytes), ""}, at, bytes, verify, [=] { transfer(bytes); }));
    }
  };
  add("put", VerifyPut, [=](size_t bytes) { shmem_putmem(at.remote, at.local, bytes, at.target); });
  add("put + fence", VerifyPut, [=](size_t bytes) {
    shmem_putmem(at.remote, at.local, bytes, at.target);
    shmem_quiet();
  });
  add("get", VerifyGet, [=](size_t bytes) { shmem_getmem(at.local, at.remote, bytes, at.target); });
  add("nb put + fence", VerifyPut, [=](size_t bytes) {
    shmem_putmem_nbi(at.remote, at.local, bytes, at.target);
    shmem_quiet();
  });
  add("nb get + wait", VerifyGet, [=](size_t bytes) {
    shmem_getmem_nbi(at.local, at.remote, bytes, at.target);
    shmem_quiet();
  });
  cases.push_back(Of(RateLabel(), at, kRatePuts * kRateBytes, VerifyPut, [=] {
    for (size_t k = 0; k < kRatePuts; ++k) {
      shmem_putmem_nbi(at.remote + k * kRateBytes, at.local + k * kRateBytes, kRateBytes, at.target);
    }
    shmem_quiet();
  }));
  return cases;
}

std::vector<CaseResult> Measure(const Options& options, std::vector<Case> cases, bool* is_wrong) {
  std::erase_if(cases, [&](const Case& one) { return !IsChosen(options, one.label); });
  std::vector<CaseResult> results;
  for (const Case& one : cases) {
    if (options.progress) {
      std::fprintf(stderr, "bench: %s: %s %s\n", kName, one.label.name.c_str(), one.label.size.c_str());
    }
    results.push_back(Compare(one.label, {}, SampleInterleaved({one.action}, PlanOf(options, cases.size()))));
    const std::string fault = one.verify();
    if (fault.empty()) continue;
    *is_wrong = true;
    std::fprintf(stderr, "bench: %s %s: wrong data: %s\n", one.label.name.c_str(), one.label.size.c_str(),
                 fault.c_str());
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
  char* const remote = static_cast<char*>(shmem_align(kPage, kLongestTransfer));
  auto* const done = static_cast<long*>(shmem_calloc(1, sizeof(long)));
  if (remote == nullptr || done == nullptr) {
    std::fprintf(stderr, "bench: shmem_align of %zu bytes failed; give more with SHMEM_SYMMETRIC_SIZE\n",
                 kLongestTransfer);
    return 1;
  }
  const LocalBuffer local(kLongestTransfer);
  std::fill_n(local.data(), kLongestTransfer, char{0});
  std::fill_n(remote, kLongestTransfer, char{0});
  shmem_barrier_all();
  int status = 0;
  if (me == 0) {
    bool is_wrong = false;
    const std::vector<CaseResult> results =
        Measure(options, Cases(options.quick, {local.data(), remote, all - 1}), &is_wrong);
    if (is_wrong) status = 1;
    std::printf("%s: %s, by OpenSHMEM\n%s", kName, kText, FormatTable(results).c_str());
    std::fflush(stdout);
    if (!options.json_path.empty() &&
        !WriteResults(options, {kName, kText, "openshmem", "OpenSHMEM", all}, {}, results)) {
      status = 1;
    }
    for (int other = 1; other < all; ++other) shmem_long_atomic_set(done, 1, other);
    shmem_quiet();
  }
  // Asleep, with a check now and then: the core belongs to the process that measures.
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
