#include "impl/runtime/verbose.h"

#include <cstdarg>
#include <cstdio>

#include "impl/base/status.h"

namespace armci::runtime {

// Written at once: lines of several processes and threads do not mix, and the last one before a crash is seen.
void tell(const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  std::fprintf(stderr, "armci: rank %d: %s\n", message_rank(), text);
}

void tell_call_begins(const char* name, int peer) {
  if (peer >= 0) return tell("%s to process %d begins", name, peer);
  tell("%s begins", name);
}

void tell_call_ends(const char* name, const Usage& usage, std::int64_t nanoseconds) {
  const double microseconds = static_cast<double>(nanoseconds) * 1e-3;
  if (usage.bytes == 0) return tell("%s ends after %.1f us", name, microseconds);
  tell("%s ends after %.1f us: %llu bytes, process %d", name, microseconds,
       static_cast<unsigned long long>(usage.bytes), usage.peer);
}

}  // namespace armci::runtime
