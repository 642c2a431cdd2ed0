// The partial order of clause LC-1: which store is before which read or store, by program order and synchronisation.
//
//    rank 0:  put x --- fence ------ barrier .
//                                      |      .  the put is before the get: fenced, and the fence is before the get
//    rank 1:                ...      barrier --- get x
//
// A vector clock counts, for every step and rank, the steps of that rank that are before it. A store is ordered for
// others from the first fence behind it, which a barrier contains, or from the target's wait for the first notification
// behind it [ORD-6]. For its own rank ORD-1, ORD-3 and ORD-4 say more.
#ifndef CONFORMANCE_HISTORY_ORDER_H_
#define CONFORMANCE_HISTORY_ORDER_H_

#include <map>
#include <optional>
#include <vector>

#include "conformance/history/program.h"
#include "conformance/history/record.h"

namespace conformance::history {

// The lock steps of each mutex in the order in which they obtained it.
using LockOrder = std::map<int, std::vector<int>>;

// By the recorded times. Sections of one mutex that overlap are a violation of MUTEX-2.
struct RecordedLocks {
  LockOrder order;
  std::optional<Violation> violation;
};
RecordedLocks LocksOf(const Program& program, const History& history);

class Order {
 public:
  // A mutex that `locks` does not name orders nothing.
  Order(const Program& program, const LockOrder& locks);

  // False when the lock order contradicts the rest of the program; then nothing else may be asked.
  bool consistent() const { return consistent_; }

  // Of accesses to one location, by step.
  bool StoreBeforeStore(int a, int b) const;
  bool StoreBeforeRead(int store, int read) const;
  bool ReadBeforeStore(int read, int store) const;
  // Both by one rank: a was complete when b was issued.
  bool ReadBeforeRead(int a, int b) const;

 private:
  void Number();
  void FindFences();
  // Whether the store is remotely complete before `step`.
  bool CompleteBefore(int store, int step) const;
  void RunClocks(const LockOrder& locks);
  // The step that must be over before `step` can begin, -1 if none.
  std::vector<int> Awaited(const LockOrder& locks) const;
  bool Meet(const std::vector<std::size_t>& at, int step);

  const Step& StepAt(int step) const { return program_.steps[static_cast<std::size_t>(step)]; }
  int& Clock(int step, int rank) { return clocks_[static_cast<std::size_t>(step * program_.ranks + rank)]; }
  int Clock(int step, int rank) const { return clocks_[static_cast<std::size_t>(step * program_.ranks + rank)]; }

  const Program& program_;
  bool consistent_ = true;
  std::vector<std::vector<int>> own_;  // steps of each rank, barriers included
  std::vector<int> position_;          // of a step in the list of its rank (barriers: unused)
  std::vector<int> completed_;         // position at which it is locally complete
  std::vector<int> fenced_;            // position of the first fence behind a store
  std::vector<int> awaited_;           // position, in the list of the target, of the wait for the first notification
  std::vector<int> clocks_;            // step x rank: how many steps of the rank are before it
  std::vector<std::vector<int>> now_;  // of each rank while the clocks run
};

}  // namespace conformance::history

#endif  // CONFORMANCE_HISTORY_ORDER_H_
