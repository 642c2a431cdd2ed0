// Draws the same on every system: std's generators are exact, its distributions and std::shuffle are not.
//
// Thread safety: none, one caller.
// Invariants: what is drawn depends on the seed and on the calls alone, so that processes with one seed agree.
#ifndef ARMCI_BENCH_KERNELS_DRAW_H_
#define ARMCI_BENCH_KERNELS_DRAW_H_

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace armci::bench {

class Draw {
 public:
  explicit Draw(uint64_t seed) : bits_(seed) {}

  // A number of 0..n-1; n below 2^32, beside which what is uneven about it does not matter.
  uint64_t Below(uint64_t n) { return ((bits_() >> 32) * n) >> 32; }

  // Brings values[first..end) into another order.
  template <typename T>
  void Shuffle(std::vector<T>& values, size_t first, size_t end) {
    for (size_t left = end - first; left > 1; --left) {
      std::swap(values[first + left - 1], values[first + Below(left)]);
    }
  }

 private:
  std::mt19937_64 bits_;
};

}  // namespace armci::bench

#endif  // ARMCI_BENCH_KERNELS_DRAW_H_
