// The harness's own view of a session; tests include session.h only.
#ifndef CONFORMANCE_HARNESS_SESSION_INTERNAL_H_
#define CONFORMANCE_HARNESS_SESSION_INTERNAL_H_

#include <string>

#include "conformance/harness/facts.h"
#include "conformance/harness/options.h"
#include "conformance/harness/session.h"

namespace conformance {

struct Session {
  Options options;
  int rank = 0;
  int size = 1;
  int thread_level = 0;
  MPI_Comm agreement = MPI_COMM_NULL;  // meeting points and verdicts
  MPI_Comm comm = MPI_COMM_NULL;       // the tests' own messages; fresh after a failed test
  bool armci_running = false;
  int initialized_before_mpi = -1;
  int initialized_before_init = -1;
  ProcessState before_init;
  double meeting_s = 0;  // the time of an MPI_Barrier
  // Of the running test.
  double deadline_s = 0;
  std::uint64_t iteration_seed = 0;
  Rng my_rng{0};
  Rng shared_rng{0};
  bool test_aborted = false;
  std::string skip_reason;
  Facts facts;
  int children = 0;              // see RunsNextChild
  std::string missing_function;  // a function that the library lacks; see missing.h
};

Session& TheSession();

// Thrown by SkipTest.
struct Skipped {};

// Finds out what a meeting costs here (collective).
void MeasureMeetings();
// Sets up the random streams and flags for a test.
void BeginTest(const std::string& full_name, double deadline_s);
// The last meeting point of a test. Returns whether any rank failed. Where one left for a function that the library
// does not have, the test becomes skipped.
bool FinalAgreement();

}  // namespace conformance

#endif  // CONFORMANCE_HARNESS_SESSION_INTERNAL_H_
