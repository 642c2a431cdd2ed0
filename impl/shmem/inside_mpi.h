// InsideMpi: whether some thread of the program makes MPI serve the other processes.
//
//   program    compute ....... | MPI_Recv, waits ............ | compute .....
//   inside                     1                              0
//   progress   look look look |   .    .      .      look    | .  look look look     seldom where somebody else does
//
// mpi_calls.cc of mpi-rma notes the calls of MPI that wait, process_barrier.cc of common a barrier.
//
// Thread safety: all of it by any thread.
#pragma once

#include <atomic>
#include <cstdint>

namespace armci::node {

class InsideMpi {
 public:
  InsideMpi() { state_.fetch_add(kEntry + 1, std::memory_order_relaxed); }
  ~InsideMpi() { state_.fetch_sub(1, std::memory_order_relaxed); }
  InsideMpi(const InsideMpi&) = delete;
  InsideMpi& operator=(const InsideMpi&) = delete;

  // Two equal states: the same threads were inside all the time, and none has entered.
  using State = std::uint64_t;
  static State state() { return state_.load(std::memory_order_relaxed); }
  static bool anybody(State state) { return state % kEntry != 0; }
  static bool anybody() { return anybody(state()); }

 private:
  // Threads inside in the lower half, entries so far in the upper one.
  static constexpr State kEntry = State{1} << 32;
  static inline std::atomic<State> state_{0};
};

}  // namespace armci::node
