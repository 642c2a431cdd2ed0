// Backtraces and the end of the job.
//
// Thread safety: every function may be called by any thread. A signal handler may call report_stack() once
// prepare_backtraces() has run, since it allocates no memory and takes no lock of this library.
#pragma once

namespace armci {

// Loads the unwinder. Otherwise the first backtrace of a process loads it, with malloc.
void prepare_backtraces();

// The stack of the calling thread, for its signal handler. Each frame outside of the handler is a line `armci: rank R:
// #N symbol+0xOFF (module+0xOFF)`, with symbols as the linker knows them.
void report_stack(int fd);

// The stacks of all threads of the process, each under a heading with its id and name. A frame is a line `  #N
// symbol+0xOFF (module+0xOFF)`; addr2line -e module 0xOFF names the source line. Interrupts each of them with a
// real-time signal; a thread that blocks that signal is listed without a stack. Not for signal handlers.
void print_all_stacks(int fd);

// The signal that print_all_stacks() uses.
int stack_signal();

// Prints the report of ARMCI_Error: message, code, rank and the caller's stack, on stderr [INIT-6].
[[gnu::cold]] void print_fatal(const char* message, int code);

// From now on die() waits for a debugger, and for the user to end the job, instead of ending it.
void freeze_on_error(bool wanted);

// From now on die() ends this process only, which is no process of the job: a child of fork [INIT-9].
void end_alone();

// Ends the whole job with a status that is never zero: MPI_Abort while MPI is active, else _exit. MPI_Abort may neither
// return nor end the process within seconds, as another thread may hang inside MPI. Then a signal ends this process,
// and with it the job [INIT-6].
[[noreturn, gnu::cold]] void die(int code);

// Prints the last failure of the calling thread, as print_failure() does, and dies with its code. For threads of the
// library, which have no caller to return a failure to.
[[noreturn, gnu::cold]] void die_of_failure(const char* where);

}  // namespace armci
