// Results of a run and their JUnit XML form.
#ifndef CONFORMANCE_HARNESS_JUNIT_H_
#define CONFORMANCE_HARNESS_JUNIT_H_

#include <string>
#include <vector>

#include "conformance/harness/facts.h"

namespace conformance {

enum class Verdict { kPassed, kFailed, kSkipped };

struct TestResult {
  std::string suite;
  std::string name;
  std::vector<std::string> clauses;
  Verdict verdict = Verdict::kPassed;
  double seconds = 0;
  std::string message;  // failures of all ranks, or the reason of a skip
  std::string rerun;
  Facts facts;  // of all ranks
};

// Facts about the run, written as properties of the test suite.
struct RunFacts {
  int ranks = 1;
  std::string seed;
  std::string mpi;
  std::string thread_level;
};

// Returns false, with errno set, if the file cannot be written.
bool WriteJUnit(const std::string& file, const RunFacts& facts, const std::vector<TestResult>& results);

}  // namespace conformance

#endif  // CONFORMANCE_HARNESS_JUNIT_H_
