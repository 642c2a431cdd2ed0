// main() of every conformance program: each rank runs the same tests and all agree on each verdict.

#include <gtest/gtest.h>
#include <mpi.h>
#include <time.h>

#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "armci.h"
#include "conformance/harness/child_job.h"
#include "conformance/harness/options.h"
#include "conformance/harness/recording.h"
#include "conformance/harness/runner.h"
#include "conformance/harness/session_internal.h"
#include "conformance/harness/stacks.h"
#include "conformance/harness/watchdog.h"

namespace conformance {
namespace {

// Hands this rank's failed assertions to the runner; everything else GoogleTest would say is silenced.
class FailureListener : public ::testing::EmptyTestEventListener {
 public:
  explicit FailureListener(Runner* runner) : runner_(runner) {}
  void OnTestIterationStart(const ::testing::UnitTest&, int iteration) override { runner_->BeginIteration(iteration); }
  void OnTestPartResult(const ::testing::TestPartResult& result) override {
    if (!result.failed()) return;
    const std::string file = result.file_name() == nullptr ? "" : result.file_name();
    RecordEvent("fail", result.message());
    runner_->NoteFailure(file + ":" + std::to_string(result.line_number()) + ": " + result.message());
  }

 private:
  Runner* const runner_;
};

int MpiLevel(const std::string& name) {
  static const std::map<std::string, int> levels{{"single", MPI_THREAD_SINGLE},
                                                 {"funneled", MPI_THREAD_FUNNELED},
                                                 {"serialized", MPI_THREAD_SERIALIZED},
                                                 {"multiple", MPI_THREAD_MULTIPLE}};
  return levels.at(name);
}

int ListClauses() {
  for (const TestCase& test : SortedTests()) {
    if (!IsChosen(test)) continue;
    std::printf("%s", test.FullName().c_str());
    for (const std::string& clause : test.spec.clauses) std::printf(" %s", clause.c_str());
    std::printf("\n");
  }
  return 0;
}

// Threads and descriptors that MPI keeps from its first window on are not the library's: they are there before
// ARMCI_Init, when INIT-5 counts. Nothing is asked of an MPI that has no windows.
void StartWindows(MPI_Comm comm) {
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  int word = 0;
  MPI_Win window = MPI_WIN_NULL;
  if (MPI_Win_create(&word, sizeof word, 1, MPI_INFO_NULL, comm, &window) == MPI_SUCCESS) {
    MPI_Win_lock_all(0, window);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
  }
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
}

void StartMpi(int* argc, char*** argv) {
  Session& session = TheSession();
  session.initialized_before_mpi = ARMCI_Initialized();
  MPI_Init_thread(argc, argv, MpiLevel(session.options.thread_level), &session.thread_level);
  MPI_Comm_rank(MPI_COMM_WORLD, &session.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &session.size);
  MPI_Comm_dup(MPI_COMM_WORLD, &session.agreement);
  MPI_Comm_dup(MPI_COMM_WORLD, &session.comm);
  unsigned long long seed = session.options.seed;
  if (!session.options.seed_given) {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    seed = static_cast<unsigned long long>(now.tv_sec) * 1000 + static_cast<unsigned long long>(now.tv_nsec) / 1000000;
  }
  MPI_Bcast(&seed, 1, MPI_UNSIGNED_LONG_LONG, 0, session.agreement);
  session.options.seed = seed;
  StartWindows(session.agreement);
  MeasureMeetings();
}

int RunTests(Runner* runner) {
  Session& session = TheSession();
  const std::vector<TestCase> tests = SortedTests();
  if (RegisterChosen(runner, tests) == 0) {
    if (session.rank == 0) std::fprintf(stderr, "conformance: no test matches the filter\n");
    return kExitUsage;
  }
  if (session.rank == 0) {
    std::printf("conformance: %d ranks, seed %llu\n", session.size,
                static_cast<unsigned long long>(session.options.seed));
    std::fflush(stdout);
  }
  // GoogleTest's own verdict knows this rank only; Finish() has the collective one.
  const int own_code = RUN_ALL_TESTS();
  runner->FinishArmci();
  const int code = runner->Finish();
  return code != 0 ? code : own_code;
}

}  // namespace

int Main(int argc, char** argv) {
  Session& session = TheSession();
  int exit_code = 0;
  if (!ParseOptions(argc, argv, &session.options, &exit_code)) return exit_code;
  if (session.options.list_clauses) return ListClauses();
  if (!session.options.child.empty()) return RunChildCase(session.options.child, session.options.child_argument);
  StartMpi(&argc, &argv);
  InstallStackSignal();
  InstallCrashReport(session.rank);
  {
    Watchdog watchdog(session.rank);
    Runner runner(&watchdog);
    ::testing::InitGoogleTest();
    auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    delete listeners.Release(listeners.default_xml_generator());
    listeners.Append(new FailureListener(&runner));
    GTEST_FLAG_SET(repeat, session.options.repeat);
    exit_code = RunTests(&runner);
  }
  MPI_Finalize();
  // The last moment at which INIT-3 speaks.
  if (ARMCI_Initialized() != 0) {
    std::fprintf(stderr, "conformance: ARMCI_Initialized is not 0 after MPI_Finalize [INIT-3]\n");
    return kExitFailed;
  }
  return exit_code;
}

}  // namespace conformance

int main(int argc, char** argv) { return conformance::Main(argc, argv); }
