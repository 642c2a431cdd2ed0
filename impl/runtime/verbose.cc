#include "impl/runtime/verbose.h"

#include <cstdarg>
#include <cstdio>

#include "impl/base/status.h"

namespace armci::runtime {

// One write for the whole line: lines of several processes and threads do not mix, and none is lost in a crash.
void log_line(const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  std::fprintf(stderr, "armci: rank %d: %s\n", message_rank(), text);
}

void log_call_begin(const char* name, int peer) {
  if (peer >= 0) return log_line("%s to process %d begins", name, peer);
  log_line("%s begins", name);
}

void log_call_end(const char* name, const Usage& usage, std::int64_t nanoseconds) {
  const double microseconds = static_cast<double>(nanoseconds) * 1e-3;
  if (usage.bytes == 0) return log_line("%s ends after %.1f us", name, microseconds);
  log_line("%s ends after %.1f us: %llu bytes, process %d", name, microseconds,
           static_cast<unsigned long long>(usage.bytes), usage.peer);
}

}  // namespace armci::runtime
