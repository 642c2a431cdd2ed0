// The log of the library on stderr, by ARMCI_VERBOSE. Thread safety: any thread, after set_config().
#pragma once

#include <cstdint>

#include "impl/runtime/config.h"
#include "impl/runtime/usage.h"

namespace armci::runtime {

enum class Verbosity : int {
  kChoices = 1,  // the choices of init; by process 0
  kObjects =
      2,       // where processes are; regions, groups and sets of mutexes as they come and go, by the first of a group
  kCalls = 3,  // each call of each process
};

inline bool is_verbose(Verbosity level) { return config().verbose >= static_cast<int>(level); }

// Writes one line, behind `armci: rank R: `.
[[gnu::cold, gnu::format(printf, 1, 2)]] void log_line(const char* format, ...);

[[gnu::cold]] void log_call_begin(const char* name, int peer);
[[gnu::cold]] void log_call_end(const char* name, const Usage& usage, std::int64_t nanoseconds);

}  // namespace armci::runtime
