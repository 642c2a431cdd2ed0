#include "conformance/harness/registry.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <tuple>

namespace conformance {
namespace {

std::vector<TestCase>& Tests() {
  static std::vector<TestCase> tests;
  return tests;
}

}  // namespace

bool AddTest(TestCase test) {
  if (test.spec.clauses.empty()) {
    std::fprintf(stderr, "conformance: test %s names no clause\n", test.FullName().c_str());
    std::abort();
  }
  Tests().push_back(std::move(test));
  return true;
}

std::vector<TestCase> SortedTests() {
  std::vector<TestCase> tests = Tests();
  // Link order decides the order of static initialisers; sorting by file keeps every rank and every build alike.
  std::stable_sort(tests.begin(), tests.end(), [](const TestCase& a, const TestCase& b) {
    return std::make_tuple(static_cast<int>(a.spec.phase), std::string(a.file), a.line) <
           std::make_tuple(static_cast<int>(b.spec.phase), std::string(b.file), b.line);
  });
  return tests;
}

}  // namespace conformance
