// Definitions of the functions that a foreign library does not have (see third_party/foreign): they may be linked,
// but a benchmark that calls one cannot go on.
#include <cstdio>
#include <cstdlib>

extern "C" {
[[noreturn]] void ConformanceMissingFunction(const char* name);
int ConformanceNoteMissingFunction(const char* name);
}

void ConformanceMissingFunction(const char* name) {
  std::fprintf(stderr, "bench: the library has no %s\n", name);
  std::abort();
}

int ConformanceNoteMissingFunction(const char*) { return 0; }
