// The call that each thread of this rank is inside of, and its operations without a wait: for the report of a passed
// deadline.
//
// Thread safety: a thread writes notes of its own, and the watchdog reads those of all threads, without locks and
// without locked instructions. A thread that is stuck holds nothing that the reader needs, and a note between two
// steps of a litmus test is no fence that would hide one the library forgot. A note may end in another thread than the
// one it began in.
//
//    thread:    serial = 0 | what, how, ... | serial = n                  serial = 0
//    watchdog:                                           n ... read ... n            a serial that moved: no note
#ifndef CONFORMANCE_HARNESS_PENDING_H_
#define CONFORMANCE_HARNESS_PENDING_H_

#include <cstddef>
#include <source_location>

namespace conformance {

namespace pending_internal {
struct Slot;
}

// A call or a wait. Texts that are not copied live as long as the process: literals, names of source files.
struct PendingCall {
  const char* what;           // "ARMCI_NbPutS"
  const char* how = nullptr;  // more about it: "aggregate"
  long bytes = -1;            // the numbers: -1 for none
  long mutex = -1;
  long proc = -1;                // the process that it needs
  const char* file = nullptr;    // of the test, where it is known
  unsigned line = 0;             //
  const char* detail = nullptr;  // its beginning is copied
};

class PendingNote {
 public:
  PendingNote() = default;
  // Inside the call until Returned or the end of the scope.
  explicit PendingNote(const PendingCall& call) { Begin(call); }
  PendingNote(const char* what, const std::source_location& where)
      : PendingNote({.what = what, .file = where.file_name(), .line = where.line()}) {}
  ~PendingNote() { End(); }
  PendingNote(const PendingNote&) = delete;
  PendingNote& operator=(const PendingNote&) = delete;

  // A note that has not ended ends here.
  void Begin(const PendingCall& call);
  // The call came back, and what it started is pending.
  void Returned();
  // The thread waits for what it started.
  void Waits();
  void End();

 private:
  pending_internal::Slot* slot_ = nullptr;
};

// Writes the notes of all threads to `file`, a line each, headed by "conformance: rank R"; a line that says so where
// there are none. Usable while other threads hold any lock.
void PrintPending(int file, int rank);

}  // namespace conformance

#endif  // CONFORMANCE_HARNESS_PENDING_H_
