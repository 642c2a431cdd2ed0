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

// Installs a handler that prints the report, and the stack of the thread that receives the signal, on stderr; the
// program goes on. A signal that the program handles or ignores stays the program's; a handler of the MPI library is
// called afterwards. 0: none.
Status start_signal_reports(int signal_number);

// Restores the former handler, unless the program has installed its own since.
void stop_signal_reports();

}  // namespace armci::runtime
