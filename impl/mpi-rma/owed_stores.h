// OwedStores: where a process has stored and not flushed since.
//
//   store   issued | note(): mark of (window, rank) set, entry listed        one entry, however many stores
//   flush            settle(): mark cleared | flush of MPI | entry gone      a store in between is listed anew
//
// The mark is set together with its entry, and the lock is held during a flush: who finds the mark set finds the entry
// as well, and who finds no entry finds it gone because a flush is over, not because another thread's is under way
// [FENCE-1].
//
// Thread safety: all members by any thread, but reset().
#pragma once

#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "impl/base/status.h"
#include "impl/mpi-rma/window.h"

namespace armci::rma {

class OwedStores {
 public:
  // For targets 0..processes-1, to none of which anything is owed.
  void reset(int processes);

  // After a store to `target`, rank `rank` of the window, was issued.
  void note(int target, Window* window, int rank);
  // Calls `flush` for each window with stores to the target; they are complete when it returns. What failed stays owed.
  Status settle(int target, const std::function<Status(Window*, int)>& flush);
  // Calls `flush_all` for each window with stores to anybody, whatever happens to the others. What failed stays owed.
  Status settle_all(const std::function<Status(Window*)>& flush_all);
  // The window is going.
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
