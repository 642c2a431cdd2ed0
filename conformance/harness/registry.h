// Test cases, their clauses, and how they come to be registered.
//
// A test is registered before main() by CLAUSE_TEST, or in a loop by AddTest (tests generated from tables). Names are
// Chapter.Clause_what. The registry is filled by static initialisers and read-only afterwards.
#ifndef CONFORMANCE_HARNESS_REGISTRY_H_
#define CONFORMANCE_HARNESS_REGISTRY_H_

#include <functional>
#include <string>
#include <vector>

namespace conformance {

// In which part of the library's life a test runs.
enum class Phase { kBeforeInit, kRunning, kAfterFinalize };

// The declaration of a test; see the tags below.
struct TestSpec {
  std::vector<std::string> clauses;
  int min_ranks = 1;
  double deadline_s = 0;  // 0: the default of the command line
  Phase phase = Phase::kRunning;
  bool needs_thread_multiple = false;
  bool starts_child_jobs = false;
};

struct NeedsRanks {
  explicit NeedsRanks(int n) : ranks(n) {}
  int ranks;
};
struct DeadlineSeconds {
  explicit DeadlineSeconds(double s) : seconds(s) {}
  double seconds;
};
struct NeedsThreadMultiple {};
// Rank 0 starts child jobs (child_job.h), which do not depend on the number of processes of this job.
struct StartsChildJobs {};

inline void AddTag(TestSpec* spec, const char* clause) { spec->clauses.emplace_back(clause); }
inline void AddTag(TestSpec* spec, const NeedsRanks& tag) { spec->min_ranks = tag.ranks; }
inline void AddTag(TestSpec* spec, const DeadlineSeconds& tag) { spec->deadline_s = tag.seconds; }
inline void AddTag(TestSpec* spec, Phase phase) { spec->phase = phase; }
inline void AddTag(TestSpec* spec, NeedsThreadMultiple) { spec->needs_thread_multiple = true; }
inline void AddTag(TestSpec* spec, StartsChildJobs) { spec->starts_child_jobs = true; }

template <typename... Tags>
TestSpec MakeSpec(const Tags&... tags) {
  TestSpec spec;
  (AddTag(&spec, tags), ...);
  return spec;
}

struct TestCase {
  std::string suite;
  std::string name;
  TestSpec spec;
  std::function<void()> body;
  const char* file;
  int line;

  std::string FullName() const { return suite + "." + name; }
};

// All registered tests, sorted by phase; order of registration inside a phase is that of the files and lines.
std::vector<TestCase> SortedTests();

// Registers one test; returns true so that it can initialise a static. Wrong names (no clause) end the program.
bool AddTest(TestCase test);

}  // namespace conformance

// CLAUSE_TEST(Suite, Name, "CLAUSE-1", ..., tags) { body }
#define CLAUSE_TEST(suite_, name_, ...)                                                                      \
  static void suite_##_##name_##_Body();                                                                     \
  static const bool suite_##_##name_##_registered [[maybe_unused]] = ::conformance::AddTest(                 \
      {#suite_, #name_, ::conformance::MakeSpec(__VA_ARGS__), suite_##_##name_##_Body, __FILE__, __LINE__}); \
  static void suite_##_##name_##_Body()

#endif  // CONFORMANCE_HARNESS_REGISTRY_H_
