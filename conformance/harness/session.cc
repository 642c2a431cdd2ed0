#include "conformance/harness/session.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "armci.h"
#include "conformance/harness/missing.h"
#include "conformance/harness/pending.h"
#include "conformance/harness/recording.h"
#include "conformance/harness/session_internal.h"

namespace conformance {
namespace {

// The contribution of a rank to a meeting point. The line is 0 for a rank at the end of the body, and not 0 inside.
struct Ticket {
  int failed;
  int line_max;
  int minus_line_min;
};

// Waits for a collective without taking the core from ranks that still work: polls closely for a moment, then sleeps in
// between. An MPI library that spins would make everything slow with more ranks than cores.
void WaitPatiently(MPI_Request* request) {
  constexpr int kClosePolls = 300;
  const timespec pause{0, 50000};
  int done = 0;
  for (int poll = 0; done == 0; ++poll) {
    MPI_Test(request, &done, MPI_STATUS_IGNORE);
    if (done != 0) return;
    if (poll > kClosePolls) {
      nanosleep(&pause, nullptr);
    } else if (poll % 16 == 15) {
      sched_yield();
    }
  }
}

// Returns true if all ranks are to leave the test. Both outcomes are the same on every rank.
bool Meet(int line) {
  RecordEvent("meet");
  Session& session = TheSession();
  const int failed = ::testing::Test::HasFailure() || !session.missing_function.empty() ? 1 : 0;
  const Ticket mine{failed, line, -line};
  Ticket all{};
  MPI_Request request;
  MPI_Iallreduce(&mine, &all, 3, MPI_INT, MPI_MAX, session.agreement, &request);
  WaitPatiently(&request);
  const bool some_finished = all.minus_line_min == 0 && all.line_max > 0;
  if (some_finished && all.failed == 0) {
    ADD_FAILURE() << "some ranks finished the test while others wait at line " << all.line_max
                  << ": the test's ranks disagree about its meeting points";
  }
  session.test_aborted = all.failed != 0 || some_finished;
  return session.test_aborted;
}

}  // namespace

Session& TheSession() {
  static Session session;
  return session;
}

int Me() { return TheSession().rank; }
int Np() { return TheSession().size; }
bool Quick() { return TheSession().options.quick; }
MPI_Comm Comm() { return TheSession().comm; }
int ThreadLevel() { return TheSession().thread_level; }
Rng& MyRng() { return TheSession().my_rng; }
Rng& SharedRng() { return TheSession().shared_rng; }
std::string SeedText() { return " (seed " + std::to_string(Seed()) + ")"; }
std::uint64_t Seed() { return TheSession().iteration_seed; }
const std::string& ArtifactsFolder() { return TheSession().options.artifacts; }
int InitializedBeforeMpi() { return TheSession().initialized_before_mpi; }
int InitializedBeforeInit() { return TheSession().initialized_before_init; }
const ProcessState& StateBeforeInit() { return TheSession().before_init; }

int Rounds(int full, int quick) {
  // Up to this a loop keeps its count.
  constexpr double kQuickMeeting = 50e-6;
  const double slower = std::max(1.0, TheSession().meeting_s / kQuickMeeting);
  return std::max(10, static_cast<int>(Scaled(full, quick) / slower));
}

void MeasureMeetings() {
  Session& session = TheSession();
  constexpr int kMeetings = 40;
  MPI_Barrier(session.agreement);
  const double start = SharedClock();
  for (int i = 0; i < kMeetings; ++i) MPI_Barrier(session.agreement);
  const double mine = (SharedClock() - start) / kMeetings;
  MPI_Allreduce(&mine, &session.meeting_s, 1, MPI_DOUBLE, MPI_MAX, session.agreement);
}

void Agree(const std::source_location& where) {
  const PendingNote inside("meeting of all ranks", where);
  if (TheSession().test_aborted || Meet(static_cast<int>(where.line()))) throw TestAborted{};
}

void AgreeQuietly(const std::source_location& where) noexcept {
  const PendingNote inside("meeting of all ranks", where);
  if (!TheSession().test_aborted) Meet(static_cast<int>(where.line()));
}

void Sync(const std::source_location& where) {
  Agree(where);
  const PendingNote inside("ARMCI_Barrier", where);
  ARMCI_Barrier();
}

void SkipTest(const std::string& reason) {
  TheSession().skip_reason = reason;
  throw Skipped{};
}

bool AllAgreeOn(bool mine) {
  Agree();
  int in = mine ? 1 : 0;
  int out = 0;
  MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_MIN, Comm());
  return out == 1;
}

void Report(const std::string& key, const std::string& value) {
  const auto one_line = [](const std::string& text) {
    std::string line(text.c_str());
    std::replace(line.begin(), line.end(), '\n', ' ');
    return line;
  };
  AddFact(&TheSession().facts, one_line(key), one_line(value));
}

namespace {

// Said at once as well: a rank that waits for this one may meet its deadline before the verdict comes. The load and the
// time without a look tell a starved machine from a library that forgot.
bool GiveUp(const std::string& what, double seconds, double longest_gap) {
  double load = 0;
  getloadavg(&load, 1);
  char text[160];
  std::snprintf(text, sizeof text, "waited %.0f s in vain (load %.1f, not running for up to %.1f s) for: ", seconds,
                load, longest_gap);
  dprintf(STDERR_FILENO, "conformance: rank %d %s%s\n", Me(), text, what.c_str());
  RecordEvent("gave_up", what);
  ADD_FAILURE() << text << what << SeedText();
  return false;
}

}  // namespace

bool WaitUntil(const std::function<bool()>& condition, const std::string& what, double seconds) {
  const double limit = seconds > 0 ? seconds : 0.6 * TheSession().deadline_s;
  const double start = SharedClock();
  const PendingNote inside({.what = "WaitUntil", .detail = what.c_str()});
  double longest_gap = 0;
  double last = start;
  for (int look = 0;; ++look) {
    const double now = SharedClock();
    longest_gap = std::max(longest_gap, now - last);
    last = now;
    if (condition()) return true;
    if (now - start > limit) return GiveUp(what, limit, longest_gap);
    // More ranks than cores is normal: the rank that makes the condition true needs this core.
    if (look > 100) sched_yield();
  }
}

double SharedClock() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

bool ClockIsShared() {
  char boot[40] = "";
  if (std::FILE* file = std::fopen("/proc/sys/kernel/random/boot_id", "r")) {
    if (std::fgets(boot, sizeof boot, file) == nullptr) boot[0] = '\0';
    std::fclose(file);
  }
  char first[sizeof boot];
  std::memcpy(first, boot, sizeof boot);
  MPI_Bcast(first, sizeof first, MPI_CHAR, 0, Comm());
  return AllAgreeOn(boot[0] != '\0' && std::memcmp(first, boot, sizeof boot) == 0);
}

void BeginTest(const std::string& full_name, double deadline_s) {
  Session& session = TheSession();
  const std::uint64_t base = session.iteration_seed ^ HashName(full_name);
  session.shared_rng = Rng(base);
  session.my_rng = Rng(base + 0x632BE59BD9B4E019u * (static_cast<std::uint64_t>(session.rank) + 1));
  session.test_aborted = false;
  session.skip_reason.clear();
  session.facts.clear();
  session.children = 0;
  session.missing_function.clear();
  session.deadline_s = deadline_s;
}

namespace {

// Makes the missing function of the lowest rank that left for one the reason on all ranks.
void ShareMissingFunction() {
  Session& session = TheSession();
  const int mine = session.missing_function.empty() ? session.size : session.rank;
  int teller = 0;
  MPI_Allreduce(&mine, &teller, 1, MPI_INT, MPI_MIN, session.agreement);
  if (teller == session.size) return;
  int length = static_cast<int>(session.missing_function.size());
  MPI_Bcast(&length, 1, MPI_INT, teller, session.agreement);
  session.missing_function.resize(static_cast<std::size_t>(length));
  MPI_Bcast(session.missing_function.data(), length, MPI_CHAR, teller, session.agreement);
  session.skip_reason = MissingText(session.missing_function);
}

}  // namespace

bool FinalAgreement() {
  const PendingNote inside({.what = "meeting at the end of the test"});
  if (!TheSession().test_aborted) Meet(0);
  ShareMissingFunction();
  const int mine = ::testing::Test::HasFailure() ? 1 : 0;
  int any = 0;
  MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, TheSession().agreement);
  return any != 0 || !TheSession().missing_function.empty();
}

}  // namespace conformance
