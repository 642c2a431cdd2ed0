// Status: how a failure travels inside the library, from the place that saw it to the C entry point.
//
// The first to detect a failure records its exact cause with fail() (thread-local text, clause and code) and returns
// the Status; every caller passes the Status on, or adds context with note(). Only the entry layer (entry.h) turns it
// into a return code and one line on stderr. A Status is one integer: success costs nothing and carries nothing.
//
// Thread safety: the recorded cause belongs to the calling thread.
#pragma once

#include "armci_types.h"

namespace armci {

// The codes that int-valued calls return: armci_result_t of spec/armci_types.h, where each is explained.
enum class Code : int {
  kOk = ARMCI_OK,
  kState = ARMCI_ERR_STATE,
  kProc = ARMCI_ERR_PROC,
  kNull = ARMCI_ERR_NULL,
  kLength = ARMCI_ERR_LENGTH,
  kStride = ARMCI_ERR_STRIDE,
  kType = ARMCI_ERR_TYPE,
  kArgument = ARMCI_ERR_TYPE,  // any other argument outside its set of values
  kAddress = ARMCI_ERR_ADDRESS,
  kAlignment = ARMCI_ERR_ALIGNMENT,
  kHandle = ARMCI_ERR_HANDLE,
  kMutex = ARMCI_ERR_MUTEX,
  kGroup = ARMCI_ERR_GROUP,
  kMemory = ARMCI_ERR_MEMORY,
  kPromise = ARMCI_ERR_PROMISE,
  kUnsupported = ARMCI_ERR_UNSUPPORTED,
  kLayerBelow = ARMCI_ERR_SYSTEM,
};

class [[nodiscard]] Status {
 public:
  constexpr Status() = default;
  constexpr explicit Status(Code code) : code_(code) {}
  constexpr bool ok() const { return code_ == Code::kOk; }
  constexpr Code code() const { return code_; }
  constexpr int value() const { return static_cast<int>(code_); }

 private:
  Code code_ = Code::kOk;
};

inline constexpr Status kSuccess{};

// Records the cause for the calling thread and returns the failed Status. `clause` is the ID of the clause that the
// caller of the library broke, or nullptr where no clause is involved. The text names argument and value and says what
// to do; print_failure() adds call, rank and clause.
[[gnu::cold, gnu::format(printf, 3, 4)]] Status fail(Code code, const char* clause, const char* format, ...);

// Adds context in front of the recorded cause ("while attaching node memory: ...").
[[gnu::cold, gnu::format(printf, 2, 3)]] Status note(Status status, const char* format, ...);

// fail() with the text of errno `error` appended; the code is kMemory for ENOMEM, ENOSPC, EMFILE, ENFILE and EAGAIN,
// else kLayerBelow [ERR-3].
[[gnu::cold, gnu::format(printf, 2, 3)]] Status fail_errno(int error, const char* format, ...);

// fail() with MPI's own text for `mpi_error` and a next step [ERR-3].
[[gnu::cold]] Status fail_mpi(int mpi_error, const char* function);

struct Cause {
  Code code;
  const char* clause;  // nullptr: none
  const char* text;
};
// The calling thread's last recorded cause; the text stays valid until the thread's next fail() or note().
Cause last_cause();

// Prints `armci: rank R: CALL: TEXT [CLAUSE]` on stderr as one write; R is `-` before the world is known.
[[gnu::cold]] void print_failure(const char* call, const Cause& cause);

// Prints a warning in the same form, `armci: rank R: warning: TEXT`.
[[gnu::cold, gnu::format(printf, 1, 2)]] void warn(const char* format, ...);

// The rank that messages name; set by the world, -1 before.
void set_message_rank(int rank);
int message_rank();

#define ARMCI_RETURN_IF_ERROR(expression)                                               \
  do {                                                                                  \
    if (::armci::Status armci_status = (expression); !armci_status.ok()) [[unlikely]] { \
      return armci_status;                                                              \
    }                                                                                   \
  } while (false)

#define ARMCI_MPI(call)                                                              \
  do {                                                                               \
    if (int armci_mpi_error = (call); armci_mpi_error != MPI_SUCCESS) [[unlikely]] { \
      return ::armci::fail_mpi(armci_mpi_error, #call);                              \
    }                                                                                \
  } while (false)

}  // namespace armci
