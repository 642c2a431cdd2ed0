// Runs the chosen tests on every rank and reports one collective verdict for each.
#ifndef CONFORMANCE_HARNESS_RUNNER_H_
#define CONFORMANCE_HARNESS_RUNNER_H_

#include <memory>
#include <string>
#include <vector>

#include "conformance/harness/junit.h"
#include "conformance/harness/registry.h"
#include "conformance/harness/watchdog.h"

namespace conformance {

// Brings ARMCI up and down at the right places between the tests' phases, runs one test at a time, gathers the
// failures of all ranks at rank 0 and prints them. Collective throughout: every rank runs the same tests in the same
// order.
class Runner {
 public:
  explicit Runner(Watchdog* watchdog);

  // Runs the body of one test; called from within the GoogleTest test of the same name.
  void Run(const TestCase& test);
  // Finalizes ARMCI if a test has not done so yet.
  void FinishArmci();
  // Prints the summary; returns the exit code, the same on every rank.
  int Finish();

  // Iteration 0, 1, ... of --repeat begins: the seed moves on.
  void BeginIteration(int iteration);
  // A failed assertion of this rank in the running test.
  void NoteFailure(const std::string& text) { failures_.push_back(text); }

 private:
  void EnterPhase(Phase phase);
  void RunBody(const TestCase& test);
  bool RunsInThisIteration(const TestCase& test) const;
  // The reason why the test cannot run here, empty if it can.
  std::string Obstacle(const TestCase& test) const;
  // All ranks' failures as text, on rank 0.
  std::string GatherFailures() const;
  // Counts and prints the verdict.
  void Conclude(TestResult result);
  std::string RerunLine(const TestCase& test) const;

  Watchdog* const watchdog_;
  std::vector<std::string> failures_;
  std::vector<TestResult> results_;
  int iteration_ = 0;
  int failed_ = 0;
  int skipped_ = 0;
  int passed_ = 0;
};

// Registers the tests that the options choose with GoogleTest; `tests` must outlive the run. Returns how many.
int RegisterChosen(Runner* runner, const std::vector<TestCase>& tests);

// Whether filter and exclude of the options let the test through.
bool IsChosen(const TestCase& test);

}  // namespace conformance

#endif  // CONFORMANCE_HARNESS_RUNNER_H_
