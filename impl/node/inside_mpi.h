// InsideMpi: a scope in which a thread of the program is inside a call of MPI that waits. MPI serves the other
// processes in such a call, so the progress thread of mpi-rma polls seldom meanwhile:
//
//   program           computes ....... | MPI_Recv, waits ............ | computes .....
//   threads inside    0                | 1                            | 0
//   progress thread   poll  poll  poll |   .     .     .     poll     | .   poll  poll
//
// mpi_calls.cc of mpi-rma has the scopes of the program's own calls, mpi_wait.cc of impl/runtime those of the
// library's waits for messages.
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
  static bool any(State state) { return state % kEntry != 0; }
  static bool any() { return any(state()); }

 private:
  // Threads inside in the lower half, entries so far in the upper one.
  static constexpr State kEntry = State{1} << 32;
  static inline std::atomic<State> state_{0};
};

}  // namespace armci::node
