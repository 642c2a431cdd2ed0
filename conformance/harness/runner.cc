#include "conformance/harness/runner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <regex>

#include "armci.h"
#include "conformance/harness/child_job.h"
#include "conformance/harness/pending.h"
#include "conformance/harness/recording.h"
#include "conformance/harness/session_internal.h"

extern char** environ;

namespace conformance {
namespace {

// Seconds that starting or ending the library may take before the watchdog speaks.
constexpr double kLifeCycleSeconds = 60;

bool Matches(const TestCase& test, const std::string& pattern) {
  const std::regex regex(pattern);
  if (std::regex_search(test.FullName(), regex)) return true;
  return std::any_of(test.spec.clauses.begin(), test.spec.clauses.end(),
                     [&](const std::string& clause) { return std::regex_match(clause, regex); });
}

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// The settings that the run depends on, as words before a command.
std::string ArmciEnvironment() {
  std::string text;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (std::string(*entry).rfind("ARMCI_", 0) == 0) text += std::string(*entry) + " ";
  }
  return text;
}

std::string Launcher() { return Joined(LaunchWords()); }

double DeadlineOf(const TestCase& test) {
  const Options& options = TheSession().options;
  return test.spec.deadline_s > 0 ? test.spec.deadline_s * options.deadline_scale() : options.deadline_s;
}

}  // namespace

bool IsChosen(const TestCase& test) {
  const Options& options = TheSession().options;
  if (options.finished.count(test.FullName()) > 0) return false;
  if (!options.filter.empty() && !Matches(test, options.filter)) return false;
  return options.exclude.empty() || !Matches(test, options.exclude);
}

Runner::Runner(Watchdog* watchdog) : watchdog_(watchdog) {}

std::string Runner::RerunLine(const TestCase& test) const {
  const Options& options = TheSession().options;
  std::string line = ArmciEnvironment() + Launcher() + " " + std::to_string(Np()) + " " + options.program +
                     " --filter '^" + test.FullName() + "$' --seed " + std::to_string(TheSession().iteration_seed);
  if (options.quick) line += " --quick";
  if (options.thread_level != Options().thread_level) line += " --thread-level " + options.thread_level;
  return line;
}

std::string Runner::Obstacle(const TestCase& test) const {
  if (Np() < test.spec.min_ranks) return "needs " + std::to_string(test.spec.min_ranks) + " ranks";
  if (test.spec.needs_thread_multiple && ThreadLevel() < MPI_THREAD_MULTIPLE) return "needs MPI_THREAD_MULTIPLE";
  if (test.spec.starts_child_jobs && !TheSession().options.child_jobs) return "skipped by --no-child-jobs";
  return "";
}

void Runner::EnterPhase(Phase phase) {
  Session& session = TheSession();
  const bool never_started = session.initialized_before_init < 0;
  if ((phase == Phase::kRunning && !session.armci_running) || (phase == Phase::kAfterFinalize && never_started)) {
    watchdog_->Arm("ARMCI_Init", kLifeCycleSeconds, "(start of the run)");
    session.initialized_before_init = ARMCI_Initialized();
    session.before_init = ReadProcessState();
    if (Me() == 0) {
      std::printf("conformance: ARMCI_Init begins\n");
      std::fflush(stdout);
    }
    if (const int code = ARMCI_Init(); code != 0) {
      std::fprintf(stderr, "conformance: rank %d: ARMCI_Init returned %d\n", Me(), code);
      MPI_Abort(session.agreement, kExitFailed);
    }
    if (Me() == 0) std::printf("conformance: ARMCI_Init is done\n");
    session.armci_running = true;
    watchdog_->Disarm();
  }
  if (phase == Phase::kAfterFinalize) FinishArmci();
}

void Runner::FinishArmci() {
  Session& session = TheSession();
  if (!session.armci_running) return;
  watchdog_->Arm("ARMCI_Finalize", kLifeCycleSeconds, "(end of the run)");
  if (const int code = ARMCI_Finalize(); code != 0) {
    std::fprintf(stderr, "conformance: rank %d: ARMCI_Finalize returned %d\n", Me(), code);
    MPI_Abort(session.agreement, kExitFailed);
  }
  session.armci_running = false;
  watchdog_->Disarm();
}

void Runner::RunBody(const TestCase& test) {
  Session& session = TheSession();
  try {
    Agree();
    test.body();
  } catch (const TestAborted&) {
  } catch (const Skipped&) {
  } catch (const std::exception& error) {
    ADD_FAILURE() << "exception: " << error.what();
  }
  const bool failed = FinalAgreement();
  RecordEvent("end");
  // Operations that a test left pending must not reach into the next one.
  if (session.armci_running) {
    const PendingNote inside({.what = "ARMCI_Barrier", .how = "at the end of the test"});
    ARMCI_Barrier();
  }
  if (failed) MPI_Comm_dup(session.agreement, &session.comm);
}

void Runner::BeginIteration(int iteration) {
  iteration_ = iteration;
  Session& session = TheSession();
  session.iteration_seed = session.options.seed + static_cast<std::uint64_t>(iteration);
}

bool Runner::RunsInThisIteration(const TestCase& test) const {
  // The library is started and ended once, for any number of repeats.
  if (test.spec.phase == Phase::kBeforeInit) return iteration_ == 0;
  if (test.spec.phase == Phase::kAfterFinalize) return iteration_ + 1 == TheSession().options.repeat;
  return true;
}

void Runner::Run(const TestCase& test) {
  if (!RunsInThisIteration(test)) return;
  Session& session = TheSession();
  // The count is the same on every rank, so all stop together.
  if (session.options.fail_fast && failed_ > 0) return;
  TestResult result{test.suite, test.name, test.spec.clauses, Verdict::kPassed, 0, Obstacle(test), RerunLine(test), {}};
  if (!result.message.empty()) {
    result.verdict = Verdict::kSkipped;
    return Conclude(std::move(result));
  }
  if (Me() == 0) {
    // The log of a job that died without a message shows the test that it died in.
    std::printf("RUN   %s\n", test.FullName().c_str());
    std::fflush(stdout);
  }
  EnterPhase(test.spec.phase);
  failures_.clear();
  const double deadline_s = DeadlineOf(test);
  BeginTest(test.FullName(), deadline_s);
  RecordEvent("test", test.FullName());
  SetCrashContext(test.FullName(), result.rerun);
  watchdog_->Arm(test.FullName(), deadline_s, result.rerun);
  const double start = SharedClock();
  RunBody(test);
  result.seconds = SharedClock() - start;
  watchdog_->Disarm();
  SetCrashContext("after " + test.FullName(), result.rerun);

  // Most tests have neither failures nor facts, and then nothing more is exchanged.
  const int mine[] = {failures_.empty() ? 0 : 1, session.facts.empty() ? 0 : 1};
  int any[] = {0, 0};
  MPI_Allreduce(mine, any, 2, MPI_INT, MPI_MAX, session.agreement);
  if (any[1] != 0) result.facts = GatherFacts(session.facts, session.agreement);
  // Where a function is missing, a failure may only say that its effect did not come.
  if (any[0] != 0 && session.missing_function.empty()) {
    result.verdict = Verdict::kFailed;
    result.message = GatherFailures();
  } else if (!session.skip_reason.empty()) {
    result.verdict = Verdict::kSkipped;
    result.message = session.skip_reason;
  }
  Conclude(std::move(result));
}

std::string Runner::GatherFailures() const {
  std::string mine;
  for (const std::string& failure : failures_) mine += failure + '\0';
  const std::vector<std::string> texts = GatherTexts(mine, TheSession().agreement);

  // The same failure on several ranks is shown once.
  std::vector<std::pair<std::string, std::string>> by_text;
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    for (std::size_t at = 0; at < texts[rank].size();) {
      const std::string text(texts[rank].c_str() + at);
      at += text.size() + 1;
      auto known = std::find_if(by_text.begin(), by_text.end(), [&](const auto& entry) { return entry.first == text; });
      if (known == by_text.end()) {
        by_text.emplace_back(text, std::to_string(rank));
      } else if (known->second.substr(known->second.rfind(',') + 1) != std::to_string(rank)) {
        known->second += "," + std::to_string(rank);
      }
    }
  }
  std::string message;
  for (const auto& [text, ranks] : by_text) message += "[rank " + ranks + "] " + text + "\n";
  return message;
}

void Runner::Conclude(TestResult result) {
  const char* word = "PASS";
  switch (result.verdict) {
    case Verdict::kPassed:
      ++passed_;
      break;
    case Verdict::kFailed:
      ++failed_;
      word = "FAIL";
      break;
    case Verdict::kSkipped:
      ++skipped_;
      word = "SKIP";
      break;
  }
  if (Me() == 0) {
    for (const auto& [key, value] : result.facts) {
      std::printf("INFO  %s.%s  %s = %s\n", result.suite.c_str(), result.name.c_str(), key.c_str(), value.c_str());
    }
    std::printf("%s  %s.%s  [%s]  %.3f s%s%s\n", word, result.suite.c_str(), result.name.c_str(),
                Joined(result.clauses).c_str(), result.seconds, result.verdict == Verdict::kSkipped ? "  " : "",
                result.verdict == Verdict::kSkipped ? result.message.c_str() : "");
    if (result.verdict == Verdict::kFailed) {
      std::printf("%s  rerun: %s\n", result.message.c_str(), result.rerun.c_str());
    }
    std::fflush(stdout);
  }
  results_.push_back(std::move(result));
}

int Runner::Finish() {
  const Session& session = TheSession();
  if (Me() == 0) {
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(version, &length);
    const RunFacts facts{Np(), std::to_string(session.options.seed), version, session.options.thread_level};
    if (!session.options.junit.empty() && !WriteJUnit(session.options.junit, facts, results_)) {
      std::fprintf(stderr, "conformance: cannot write %s\n", session.options.junit.c_str());
      ++failed_;
    }
    for (const TestResult& result : results_) {
      if (result.verdict == Verdict::kFailed) {
        std::printf("failed: %s.%s\n  rerun: %s\n", result.suite.c_str(), result.name.c_str(), result.rerun.c_str());
      }
    }
    std::printf("%d passed, %d failed, %d skipped (np %d, seed %llu)\n", passed_, failed_, skipped_, Np(),
                static_cast<unsigned long long>(session.options.seed));
    std::fflush(stdout);
  }
  int exit_code = failed_ > 0 ? kExitFailed : 0;
  MPI_Bcast(&exit_code, 1, MPI_INT, 0, session.agreement);
  return exit_code;
}

namespace {

class CollectiveTest : public ::testing::Test {
 public:
  CollectiveTest(Runner* runner, const TestCase* test) : runner_(runner), test_(test) {}
  void TestBody() override { runner_->Run(*test_); }

 private:
  Runner* const runner_;
  const TestCase* const test_;
};

}  // namespace

int RegisterChosen(Runner* runner, const std::vector<TestCase>& tests) {
  int chosen = 0;
  for (const TestCase& test : tests) {
    if (!IsChosen(test)) continue;
    ++chosen;
    const TestCase* kept = &test;
    // GoogleTest runs all tests of a suite together; the phases must stay apart.
    static constexpr const char* kPhaseNames[] = {"before.", "", "after."};
    const std::string suite = kPhaseNames[static_cast<int>(test.spec.phase)] + test.suite;
    ::testing::RegisterTest(suite.c_str(), test.name.c_str(), nullptr, nullptr, test.file, test.line,
                            [=]() -> ::testing::Test* { return new CollectiveTest(runner, kept); });
  }
  return chosen;
}

}  // namespace conformance
