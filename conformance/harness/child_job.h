// Jobs of their own, for clauses about jobs that end badly or start differently. The program starts itself again under
// the MPI launcher, with --child CASE.
//
// One process of the parent runs the child and judges it; the other ones wait at the next meeting point.
#ifndef CONFORMANCE_HARNESS_CHILD_JOB_H_
#define CONFORMANCE_HARNESS_CHILD_JOB_H_

#include <map>
#include <string>
#include <vector>

namespace conformance {

struct ChildResult {
  int status = 0;  // of the launcher: its exit code, or 128 + signal
  bool timed_out = false;
  std::vector<std::string> lines;  // stdout and stderr together

  bool HasLineWith(const std::vector<std::string>& parts) const;
  // Lines that contain `part`.
  int Count(const std::string& part) const;
  // For failure messages.
  std::string Text() const;
};

// Runs `ranks` processes of this program with --child `name` (and `argument`), in the environment of this process
// plus `environment`, less what the launcher of this job put there. Ended by force after `seconds`, which scale
// as the deadlines of tests do.
ChildResult RunChildJob(int ranks, const std::string& name, const std::string& argument = "",
                        const std::map<std::string, std::string>& environment = {}, double seconds = 40);

// Whether this process runs the next child of the test. Every process calls it, as often as the others. On one machine
// ranks 0 and 1 take turns, so that two children run at once: they mostly wait for their launchers. Else rank 0 runs
// all.
bool RunsNextChild();

// Words that start a job of this program: launcher and its options, up to the number of processes.
std::vector<std::string> LaunchWords();

// A case: gets `argument`, starts MPI and the library itself, and returns the exit status of its process.
using ChildCase = int (*)(const std::string& argument);
bool AddChildCase(const char* name, ChildCase body);
// Runs the case; 2 if there is none of that name.
int RunChildCase(const std::string& name, const std::string& argument);

// Inside a case: ends with status 99, which no case means, unless the condition holds.
void Require(bool condition, const char* what);
// Prints one line by one write.
void Say(const std::string& line);

}  // namespace conformance

// CHILD_CASE(name) { ... return 0; }
#define CHILD_CASE(name_)                                                                                           \
  static int name_##_Child(const std::string& argument);                                                            \
  static const bool name_##_child_registered [[maybe_unused]] = ::conformance::AddChildCase(#name_, name_##_Child); \
  static int name_##_Child([[maybe_unused]] const std::string& argument)

#endif  // CONFORMANCE_HARNESS_CHILD_JOB_H_
