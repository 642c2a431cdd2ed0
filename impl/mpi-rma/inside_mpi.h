// InsideMpi: whether some thread of the program is in a call of MPI that serves the other processes as well.
//
//   program    compute ....... | MPI_Recv, waits ............ | compute .....
//   inside                     1                              0
//   progress   look look look |   .    .      .      look    | .  look look look     seldom where somebody else does
//
// Said by mpi_calls.cc, of the calls that wait.
//
// Thread safety: all of it by any thread.
#pragma once

#include <atomic>

namespace armci::rma {

class InsideMpi {
 public:
  InsideMpi() { threads_.fetch_add(1, std::memory_order_relaxed); }
  ~InsideMpi() { threads_.fetch_sub(1, std::memory_order_relaxed); }
  InsideMpi(const InsideMpi&) = delete;
  InsideMpi& operator=(const InsideMpi&) = delete;

  static bool anybody() { return threads_.load(std::memory_order_relaxed) > 0; }

 private:
  static inline std::atomic<int> threads_{0};
};

}  // namespace armci::rma
