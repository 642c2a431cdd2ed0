// Prints the stack of every thread of this process: what a deadline or a crash leaves behind.
#ifndef CONFORMANCE_HARNESS_STACKS_H_
#define CONFORMANCE_HARNESS_STACKS_H_

namespace conformance {

// Claims the signal that asks a thread for its stack. Call once, early.
void InstallStackSignal();

// Writes the stacks of all threads of this process to stderr, each headed by "rank R thread T (name)" and the public
// function that it is inside of: "rank 1 thread 4711 (suite), inside ARMCI_Lock". A thread that
// blocks the signal is shown by its name and kernel wait channel instead. Call from an ordinary thread.
void PrintAllStacks(int rank);

// Writes the caller's own stack to stderr. Usable in a signal handler (best effort).
void PrintOwnStack();

}  // namespace conformance

#endif  // CONFORMANCE_HARNESS_STACKS_H_
