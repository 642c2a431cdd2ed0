// Definitions of the functions that a foreign library does not have (see third_party/foreign): they may be linked,
// but a benchmark that calls one cannot go on. One that has cases without it asks LibraryHas (bench/session/session.h).
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>

extern "C" {
[[noreturn]] void ConformanceMissingFunction(const char* name);
int ConformanceNoteMissingFunction(const char* name);
bool BenchIsMissing(const char* name);
}

namespace {

// The generated definitions tell their names before main begins.
std::set<std::string>& Names() {
  static std::set<std::string> names;
  return names;
}

}  // namespace

void ConformanceMissingFunction(const char* name) {
  std::fprintf(stderr, "bench: the library has no %s\n", name);
  std::abort();
}

int ConformanceNoteMissingFunction(const char* name) {
  Names().insert(name);
  return 0;
}

bool BenchIsMissing(const char* name) { return Names().contains(name); }
