// A stated amount of processor work, the same wherever and whenever it runs.
//
// Work is counted in steps of a dependent chain and not in time read from a clock: a process that loses its core in
// the middle still has the rest to do, as in a real critical section.
#ifndef ARMCI_BENCH_BASELINE_WORK_H_
#define ARMCI_BENCH_BASELINE_WORK_H_

namespace armci::bench {

// Runs `steps` steps; touches no memory.
void Work(long steps);

// How many steps take `seconds` on an undisturbed core of this machine; at least 1.
long StepsFor(double seconds);

}  // namespace armci::bench

#endif  // ARMCI_BENCH_BASELINE_WORK_H_
