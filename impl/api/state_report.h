// The state report of a process: pending operations, unfenced stores and mutexes. The watchdog prints it, and so does
// the handler of the signal of ARMCI_REPORT_SIGNAL.
//
// Compiled once per implementation, like the entry points. Thread safety: print_pending() by any thread and by signal
// handlers, between init and finalize; the others by one thread, at init and finalize.
#pragma once

#include "impl/base/status.h"

namespace armci::runtime {

// Pending operations, processes that stores are not fenced to, mutexes held and waited for. Waits for nothing.
void print_pending(int fd);

// From now on this signal prints that, and the stack of the thread that gets it, on stderr; the program goes on. A
// signal that the program has a handler for, or ignores, stays the program's; a handler of the MPI library is called
// afterwards. 0: none.
Status start_signal_reports(int signal_number);

// The signal is again what it was, unless the program has taken it since.
void stop_signal_reports();

}  // namespace armci::runtime
