// A window of non-blocking transfers and their end, as benchmarks against a raw layer measure them.
//
// Thread safety: one caller.
#ifndef ARMCI_BENCH_SESSION_WINDOW_H_
#define ARMCI_BENCH_SESSION_WINDOW_H_

#include <string>

namespace armci::bench {

// Between local memory and that of `target`, piece after piece. A window of one is blocking.
struct Window {
  bool is_put;
  char* local;
  char* remote;
  int bytes;  // of each; all together are whole doubles
  int count;
  int target;

  int total() const { return bytes * count; }
};

// All transfers; puts with the fence of the target.
void Transfer(const Window& window);

// Whether they move what they should: what is wrong with the data, empty when nothing is.
std::string Verify(const Window& window);

}  // namespace armci::bench

#endif  // ARMCI_BENCH_SESSION_WINDOW_H_
