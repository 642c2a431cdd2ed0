#include "bench/session/session.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "armci.h"
#include "bench/common/compute.h"
#include "bench/common/environment.h"
#include "bench/common/report.h"
#include "bench/session/targets.h"

// Declared here, weak, and not taken from armcix.h: the benchmarks link with any ARMCI, which may not have it.
extern "C" const char* ARMCIX_Implementation(void) __attribute__((weak));
// By bench/session/missing.cc, with a library of another repository only.
extern "C" bool BenchIsMissing(const char* name) __attribute__((weak));

namespace armci::bench {
namespace {

constexpr int kWakeTag = 1;
constexpr double kCoreWaitAcceptable = 0.03;
constexpr double kComputeSeconds = 0.1;
constexpr long kSleepLeastNs = 20'000;
constexpr long kSleepMostNs = 2'000'000;

// Waits asleep in the kernel, looking at the request ever more rarely: MPI's own waiting would take a core from the
// process that is being timed.
void SleepUntilComplete(MPI_Request* request, const std::function<void()>& meanwhile = {}) {
  long interval_ns = kSleepLeastNs;
  for (int done = 0; done == 0;) {
    MPI_Test(request, &done, MPI_STATUS_IGNORE);
    if (done != 0) return;
    if (meanwhile) meanwhile();
    const timespec interval = {0, interval_ns};
    nanosleep(&interval, nullptr);
    interval_ns = std::min(interval_ns * 3 / 2, kSleepMostNs);
  }
}

[[noreturn]] void Leave(int status) {
  ARMCI_Finalize();
  MPI_Finalize();
  exit(status);
}

std::string MpiLibrary() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string version(text, static_cast<size_t>(length));
  return version.substr(0, version.find('\n'));
}

}  // namespace

bool LibraryHas(const char* function) { return BenchIsMissing == nullptr || !BenchIsMissing(function); }

void Require(bool ok, const char* what) {
  if (ok) return;
  std::fprintf(stderr, "bench: %s failed\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
  abort();
}

Case WholeCase(CaseLabel label, std::function<std::vector<Action>()> actions, std::function<std::string()> verify) {
  Case made = {std::move(label), Crew::kTogether, std::move(actions), std::move(verify)};
  made.whole = true;
  return made;
}

Session::Session(int argc, char** argv, Question question) : question_(question) {
  MPI_Init(&argc, &argv);
  Require(ARMCI_Init() == 0, "ARMCI_Init");
  MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
  const std::string text = std::string(question.text) + " (" + std::to_string(question.ranks) + " processes)";
  const std::optional<int> status = ReadOptions(argc, argv, question.name, text, root(), &options_);
  if (status) Leave(*status);
  if (size_ < question.ranks) {
    if (root()) std::fprintf(stderr, "bench: %s needs %d processes, not %d\n", question.name, question.ranks, size_);
    Leave(2);
  }
  RequirePlaces();
}

// Leaves where the processes are not on such nodes as the question is about.
void Session::RequirePlaces() const {
  for (int other = 0; other < size_; ++other) {
    const bool is_near = armci_domain_same_id(ARMCI_DOMAIN_SMP, other) != 0;
    const char* fault = nullptr;
    if (!is_near && !question_.between_nodes) fault = "compares with raw memory and needs all ranks on one node";
    if (is_near && question_.apart && other != rank_) fault = "needs each rank on a node of its own";
    if (fault != nullptr) Refuse(fault);
  }
}

void Session::Refuse(const char* why) const {
  if (root()) std::fprintf(stderr, "bench: %s %s\n", question_.name, why);
  Leave(2);
}

Session::~Session() {
  MPI_Comm_free(&comm_);
  ARMCI_Finalize();
  MPI_Finalize();
}

void Session::StartTogether() const {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(comm_, &request);
  SleepUntilComplete(&request);
  // All have arrived, or are about to wake: the tight barrier that aligns the starts is now short.
  MPI_Barrier(comm_);
}

Session::Sample Session::Agree(int active, double start, double end, double core_wait) const {
  const double never = -1e300;
  const bool acted = rank_ < active;
  const double mine[3] = {acted ? end : never, acted ? -start : never, acted ? core_wait : never};
  double outermost[3];
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(mine, outermost, 3, MPI_DOUBLE, MPI_MAX, comm_, &request);
  SleepUntilComplete(&request);
  return {outermost[0] + outermost[1], outermost[2]};
}

bool Session::Undisturbed(int active, const Sample& sample) const {
  if (active > sysconf(_SC_NPROCESSORS_ONLN)) return true;  // they share cores in any case
  return sample.core_wait_s <= kCoreWaitAcceptable * sample.span_s;
}

void Session::SleepUntilRootIsDone(const std::function<void()>& meanwhile) const {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(nullptr, 0, MPI_BYTE, 0, kWakeTag, comm_, &request);
  SleepUntilComplete(&request, meanwhile);
}

void Session::ServeUntilRootIsDone() const { MPI_Recv(nullptr, 0, MPI_BYTE, 0, kWakeTag, comm_, MPI_STATUS_IGNORE); }

// Rarely inside MPI, which would serve others there.
void Session::ComputeUntilRootIsDone() const {
  for (int done = 0; done == 0;) {
    Compute(kComputeSeconds);
    MPI_Iprobe(0, kWakeTag, comm_, &done, MPI_STATUS_IGNORE);
  }
  ServeUntilRootIsDone();
}

void Session::WakeTheOthers() const {
  for (int other = 1; other < size_; ++other) MPI_Send(nullptr, 0, MPI_BYTE, other, kWakeTag, comm_);
}

SamplingPlan Session::PlanFor(const Case& one, size_t cases) const {
  SamplingPlan plan = PlanOf(options_, cases);
  // Together actions report the time of one call by one process, a share of what the sample takes.
  if (one.crew == Crew::kTogether && !one.whole) plan.budget_s /= size_;
  plan.sample_s = one.sample_s;
  if (one.whole) {
    plan.rounds_min = options_.quick ? 1 : 3;
    plan.sample_s = 0;
    plan.calibration_repeats = plan.warm_up_rounds = 0;
  }
  return plan;
}

void Session::ActAlone(Crew crew, const std::function<void()>& act, const std::function<void()>& meanwhile) const {
  MPI_Barrier(comm_);
  if (root()) {
    act();
    WakeTheOthers();
  } else if (crew == Crew::kServed && !options_.target_sleeps) {
    ServeUntilRootIsDone();
  } else if (crew == Crew::kComputing) {
    ComputeUntilRootIsDone();
  } else {
    SleepUntilRootIsDone(meanwhile);
  }
}

// By the ranks that act.
void Session::Measure(const Case& one, size_t cases) {
  const double start = NowSeconds();
  double core_wait = -SecondsWithoutCore();
  std::vector<Series> series = SampleInterleaved(one.actions(), PlanFor(one, cases));
  core_wait += SecondsWithoutCore();
  if (one.crew == Crew::kTogether) MPI_Allreduce(MPI_IN_PLACE, &core_wait, 1, MPI_DOUBLE, MPI_MAX, comm_);
  const double share = core_wait / (NowSeconds() - start);
  if (one.verify) Judge(one.label, one.verify());
  if (!root()) return;
  results_.push_back(Compare(one.label, FindTarget(one.label.target_key), std::move(series)));
  results_.back().core_wait_share = share;
}

void Session::RunOne(const Case& one, size_t cases) {
  if (options_.progress && root()) {
    std::fprintf(stderr, "bench: %s: %s %s\n", question_.name, one.label.name.c_str(), one.label.size.c_str());
  }
  if (one.crew == Crew::kTogether) {
    MPI_Barrier(comm_);
    Measure(one, cases);
  } else {
    ActAlone(
        one.crew, [&] { Measure(one, cases); }, one.meanwhile);
  }
}

void Session::Run(const std::vector<Case>& cases) {
  std::vector<const Case*> chosen;
  for (const Case& one : cases) {
    if (Wants(one.label)) chosen.push_back(&one);
  }
  for (const Case* one : chosen) RunOne(*one, chosen.size());
}

void Session::Count(CaseLabel label, double value) {
  if (!root() || !Wants(label)) return;
  const Target target = FindTarget(label.target_key);
  results_.push_back(CountedCase(std::move(label), target, value));
}

void Session::Judge(const CaseLabel& label, const std::string& fault) {
  if (fault.empty()) return;
  ++wrong_;
  std::fprintf(stderr, "bench: rank %d: %s %s: wrong data: %s\n", rank_, label.name.c_str(), label.size.c_str(),
               fault.c_str());
}

bool Session::WriteJson() const {
  const char* const implementation = ARMCIX_Implementation != nullptr ? ARMCIX_Implementation() : "unknown";
  return WriteResults(options_, {question_.name, question_.text, implementation, MpiLibrary(), size_}, notes_,
                      results_);
}

void Session::WarnOfDisturbance() const {
  if (size_ > sysconf(_SC_NPROCESSORS_ONLN)) return;  // sharing cores is what such a benchmark is about
  const CaseResult* worst = nullptr;
  for (const CaseResult& result : results_) {
    if (worst == nullptr || result.core_wait_share > worst->core_wait_share) worst = &result;
  }
  if (worst == nullptr || worst->core_wait_share < kCoreWaitAcceptable) return;
  std::printf("note: other programs were running: in \"%s %s\" a process waited for a core %.0f %% of the time\n",
              worst->label.name.c_str(), worst->label.size.c_str(), 100 * worst->core_wait_share);
}

int Session::Finish() {
  MPI_Allreduce(MPI_IN_PLACE, &wrong_, 1, MPI_INT, MPI_SUM, comm_);
  int status = wrong_ > 0 ? 1 : 0;
  if (!root()) return status;
  const auto count = [this](Verdict verdict) {
    return std::count_if(results_.begin(), results_.end(), [&](const auto& one) { return one.verdict == verdict; });
  };
  const auto misses = count(Verdict::kMiss);
  std::printf("%s: %s\n%s%td ok, %td miss, %td without a target\n", question_.name, question_.text,
              FormatTable(results_).c_str(), count(Verdict::kOk), misses, count(Verdict::kInfo));
  WarnOfDisturbance();
  std::fflush(stdout);
  if (!options_.json_path.empty() && !WriteJson()) status = 1;
  if (options_.strict && misses > 0) status = 1;
  return status;
}

RegisteredBuffer::RegisteredBuffer(size_t bytes)
    : data_(static_cast<char*>(ARMCI_Malloc_local(static_cast<armci_size_t>(bytes)))) {
  Require(data_ != nullptr, "ARMCI_Malloc_local");
}

RegisteredBuffer::~RegisteredBuffer() { ARMCI_Free_local(data_); }

Mirror MirrorOf(char* local, char* remote, size_t bytes, int target) {
  const int length = static_cast<int>(bytes);
  const auto store = [=] {
    Require(ARMCI_Put(local, remote, length, target) == 0, "ARMCI_Put");
    ARMCI_Fence(target);
  };
  const auto load = [=] {
    ARMCI_Fence(target);
    Require(ARMCI_Get(remote, local, length, target) == 0, "ARMCI_Get");
  };
  return {reinterpret_cast<double*>(local), bytes / sizeof(double), store, load};
}

Region::Region(const Session& session, size_t bytes)
    : rank_(session.rank()), bases_(static_cast<size_t>(session.size())) {
  Require(ARMCI_Malloc(bases_.data(), static_cast<armci_size_t>(bytes)) == 0, "ARMCI_Malloc");
}

Region::~Region() { ARMCI_Free(bases_[static_cast<size_t>(rank_)]); }

}  // namespace armci::bench
