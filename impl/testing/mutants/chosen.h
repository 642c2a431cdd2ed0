// Mutants of ports: sources in which CONFORMANCE_MUTANT=name switches a defect on (see mutate.py).
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

namespace armci {

// For defects: true once in `calls` calls; and pauses in which another process can look.
inline bool now_and_then(int calls) {
  static std::atomic<int> count{0};
  return count.fetch_add(1) % calls == calls - 1;
}
inline void linger() {
  for (volatile int i = 0; i < 20000; i = i + 1) {
  }
}
// Pauses of a defect: they make the time in which it can be seen long, and are part of no test.
inline void linger_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }
inline void linger_long() { std::this_thread::sleep_for(std::chrono::microseconds(300)); }

}  // namespace armci

namespace armci::mutants {

// Whether CONFORMANCE_MUTANT names it.
bool is_chosen(const char* name);
// A line for each mutant: name, clause, processes, traits, filter, description, separated by tabs.
const char* TableText();

}  // namespace armci::mutants

// Looks once for each place.
#define IS_MUTANT(name)                                       \
  ([] {                                                       \
    static const bool is = ::armci::mutants::is_chosen(name); \
    return is;                                                \
  }())
