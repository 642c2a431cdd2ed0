// UnflushedStores: the targets to which a process has issued stores that no flush covers yet.
//
//   store   issued | note(): flag of (window, rank) set, entry listed        one entry, however many stores
//   flush            flush(): flag cleared | flush of MPI | entry removed    a store meanwhile: listed anew
//
// The flag is set together with its entry, and the lock is held during a flush. A thread that finds the flag set thus
// finds the entry. A thread that finds no entry knows that the flush has ended, also when another thread issued the
// flush [FENCE-1].
//
// Thread safety: all members by any thread, except reset().
#pragma once

#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "impl/base/status.h"
#include "impl/mpi-rma/window.h"

namespace armci::rma {

class UnflushedStores {
 public:
  // For targets 0..processes-1, none of which has unflushed stores.
  void reset(int processes);

  // After a store to `target`, rank `rank` of the window, was issued.
  void note(int target, Window* window, int rank);
  bool any(int target);
  // Calls `flush_window` for each window with stores to the target; they are complete when it returns. Stores whose
  // flush fails stay unflushed.
  Status flush(int target, const std::function<Status(Window*, int)>& flush_window);
  // Calls `flush_window` for each window with stores to any target, also after a failure. Stores whose flush fails stay
  // unflushed.
  Status flush_all(const std::function<Status(Window*)>& flush_window);
  // Drops the stores to the window, which is about to be freed.
  void forget(const Window* window);

 private:
  struct Target {
    std::mutex mutex;
    std::vector<std::pair<Window*, int>> entries;
  };

  Target& to(int target) { return targets_[static_cast<std::size_t>(target)]; }

  std::vector<Target> targets_;
};

}  // namespace armci::rma
