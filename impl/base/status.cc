#include "impl/base/status.h"

#include <mpi.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "impl/base/thread_block.h"

namespace armci {
namespace {

constexpr int kTextBytes = 1024;

struct Recorded {
  Code code = Code::kOk;
  const char* clause = nullptr;
  char text[kTextBytes] = "";
};

// One for all threads that have no memory left, or end: their texts may mix.
Recorded shared;

Recorded& recorded() {
  Recorded* const mine = ThreadBlock<Recorded>::get();
  return mine != nullptr ? *mine : shared;
}

std::atomic<int> rank_for_messages{-1};

void write_line(const char* format, ...) {
  char line[kTextBytes + 256];
  va_list arguments;
  va_start(arguments, format);
  int length = std::vsnprintf(line, sizeof line - 1, format, arguments);
  va_end(arguments);
  if (length < 0) return;
  if (length > static_cast<int>(sizeof line) - 2) length = sizeof line - 2;
  line[length++] = '\n';
  // One write, so that lines of several ranks do not mix; a failing stderr has nowhere to be reported.
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, line, static_cast<size_t>(length));
}

const char* rank_text(char (&buffer)[16]) {
  const int rank = rank_for_messages.load(std::memory_order_relaxed);
  if (rank < 0) return "-";
  std::snprintf(buffer, sizeof buffer, "%d", rank);
  return buffer;
}

}  // namespace

Status fail(Code code, const char* clause, const char* format, ...) {
  Recorded& record = recorded();
  record.code = code;
  record.clause = clause;
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(record.text, sizeof record.text, format, arguments);
  va_end(arguments);
  return Status(code);
}

Status note(Status status, const char* format, ...) {
  char context[kTextBytes];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(context, sizeof context, format, arguments);
  va_end(arguments);
  char whole[2 * kTextBytes + 4];
  Recorded& record = recorded();
  std::snprintf(whole, sizeof whole, "%s: %s", context, record.text);
  std::snprintf(record.text, sizeof record.text, "%.*s", kTextBytes - 1, whole);
  return status;
}

Status fail_errno(int error, const char* format, ...) {
  char context[kTextBytes / 2];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(context, sizeof context, format, arguments);
  va_end(arguments);
  const bool resource =
      error == ENOMEM || error == ENOSPC || error == EMFILE || error == ENFILE || error == EAGAIN || error == EDQUOT;
  return fail(resource ? Code::kMemory : Code::kLayerBelow, nullptr, "%s: %s (errno %d)", context, strerror(error),
              error);
}

Status fail_mpi(int mpi_error, const char* function) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(mpi_error, text, &length);
  return fail(Code::kLayerBelow, "ERR-3",
              "%.200s failed: %.400s; see MPI's own messages, or set ARMCI_VERBOSE=3 for the calls before", function,
              text);
}

Cause last_cause() {
  const Recorded& record = recorded();
  return {record.code, record.clause, record.text};
}

void print_failure(const char* call, const Cause& cause) {
  char rank[16];
  if (cause.clause != nullptr) {
    write_line("armci: rank %s: %s: %s [%s]", rank_text(rank), call, cause.text, cause.clause);
  } else {
    write_line("armci: rank %s: %s: %s", rank_text(rank), call, cause.text);
  }
}

void warn(const char* format, ...) {
  char text[kTextBytes];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  char rank[16];
  write_line("armci: rank %s: warning: %s", rank_text(rank), text);
}

void set_message_rank(int rank) { rank_for_messages.store(rank, std::memory_order_relaxed); }
int message_rank() { return rank_for_messages.load(std::memory_order_relaxed); }

}  // namespace armci
