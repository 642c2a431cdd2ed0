// The command line of a conformance program.
//
// Every rank parses the same arguments; only rank 0 prints. Immutable after Parse().
#ifndef CONFORMANCE_HARNESS_OPTIONS_H_
#define CONFORMANCE_HARNESS_OPTIONS_H_

#include <cstdint>
#include <set>
#include <string>

namespace conformance {

struct Options {
  static constexpr double kDeadlineS = 30;

  std::string filter;              // regular expression: searched in the test's name, or equal to one of its clauses
  std::string exclude;             // the same, for tests to leave out
  std::set<std::string> finished;  // whole names, to leave out: an earlier launch has their verdicts
  std::uint64_t seed = 0;          // of iteration 0; iteration i uses seed + i
  bool seed_given = false;         // otherwise rank 0 draws one and tells the others
  double deadline_s = kDeadlineS;  // for tests that declare none; declared ones, and child jobs', scale with it
  std::string junit;               // file name, empty: none
  std::string artifacts;           // folder for what failing tests write, empty: they print it
  int repeat = 1;
  bool quick = false;
  bool child_jobs = true;  // run tests that start child jobs
  bool fail_fast = false;  // end after the first test that failed
  bool list_clauses = false;
  std::string thread_level = "multiple";  // the level to request of MPI_Init_thread
  std::string child;                      // run this child case instead of the tests
  std::string child_argument;
  std::string program;  // argv[0]

  double deadline_scale() const { return deadline_s / kDeadlineS; }
};

// Returns true to go on. On false the process ends with *exit_code (help was printed, or the usage was wrong).
bool ParseOptions(int argc, char** argv, Options* options, int* exit_code);

}  // namespace conformance

#endif  // CONFORMANCE_HARNESS_OPTIONS_H_
