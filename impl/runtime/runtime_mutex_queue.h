// Runtime<T>: mutexes where the transport makes things atomic, a queue lock after Mellor-Crummey and Scott (ACM TOCS
// 9(1), 1991) over atomic64 and put. Included by runtime.h.
//
// A waiting process reads its own memory only, without load on the network or the holder. A hand-over is one signal,
// and an unlock waits for nothing but stores to the host.
//
//   P (rank 4, its turn 7)             tail, at the host       S (rank 2)
//   swap(7|5) -> 0: the holder         0 -> 7|5
//   |                                  7|5 -> 9|3              swap(9|3) -> 7|5: behind P, turn 7
//   |  P.next[1] = 7|3 <--------------------------------------  swap into P's node: S is behind turn 7
//   | holds                                                    | reads S.granted: spins, yields, sleeps
//   flush of the stores to the host                            |
//   P.next[1] names turn 7, so S is next                       |
//   signal --------------------------------------------------> S.granted = 7|5: the holder
//   |                                                          |
//   (a new turn begins)                9|3 -> 0                signal: clears the tail if it is 9|3 still; and
//                                                              S.next[1] = 9|released
//
//   A process that has swapped the tail behind S, before S cleared it, finds 9|released when it swaps S.next[1], and is
//   the holder. So S need not wait for it, nor for the tail.
//
//   S may queue up again, for turn 10, before that process has come to its node: hence the other `next`. Turn 11 may
//   use the first one again: S then has held the mutex for turn 10, behind that process.
//
// Where the transport has no signals, an unlock clears the tail by a compare-and-swap, whose result spares the second
// step, and a hand-over is a put and a flush.
//
// A word is turn|rank + 1, 32 bits each, or turn|released; 0: no process. `turn` counts how often the process has held
// this mutex, so no word is ever reset and a repeated write is harmless: `next` counts if it names the turn of its
// owner, `granted` if it is the word that was found in the tail. An unlock that failed half-way can be repeated.
//
// One thread of a process is in the queue; its other threads wait for their turn at the process, in the order of their
// calls. Each thread has its own turn in the queue, so a process with many threads delays no other process longer.
//
// impl/runtime/model/queue_lock.pml is a model of it for spin.
//
// Memory: a process has a node of 48 bytes for each mutex of the whole set, of whichever host, behind the 64 bytes of
// each mutex it hosts: it may hold any number of them at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include "impl/node/waiter.h"
#include "impl/runtime/runtime.h"

namespace armci::runtime {

inline Status not_the_owner(int mutex, int group_rank) {
  return fail(Code::kMutex, "MUTEX-8", "argument mutex = %d of process %d is not held by this process; lock it first",
              mutex, group_rank);
}

// One process's place in the queue of one mutex, in the process's own part of the region. All bits zero at the start.
struct QueueNode {
  std::int64_t next[2];                // by turn % 2: turn of this process|successor, by that one; or turn|released
  std::int64_t granted;                // written by the predecessor at hand-over: its word
  std::atomic<std::uint32_t> drawn;    // numbers that threads of this process have drawn
  std::atomic<std::uint32_t> serving;  // the number of the thread that may be in the queue
  std::atomic<std::thread::id> owner;  // the thread that holds the mutex
  std::uint32_t turn;                  // turns of this process that are over; of the thread that may be in the queue
  std::uint32_t unused;

  std::int64_t& next_of(std::uint32_t of_turn) { return next[of_turn % 2]; }
};
static_assert(sizeof(QueueNode) == 48);

namespace queue_word {
inline std::int64_t make(std::uint32_t turn, int group_rank) {
  return static_cast<std::int64_t>(std::uint64_t{turn} << 32 | static_cast<std::uint32_t>(group_rank + 1));
}
inline std::uint32_t turn(std::int64_t word) {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(word) >> 32);
}
inline int rank(std::int64_t word) { return static_cast<int>(static_cast<std::uint32_t>(word)) - 1; }
// The group rank of the successor of that turn, or a negative number.
inline int successor(std::int64_t link, std::uint32_t of_turn) { return turn(link) == of_turn ? rank(link) : -1; }
// The process has left without a successor.
inline std::int64_t released(std::uint32_t turn) {
  return static_cast<std::int64_t>(std::uint64_t{turn} << 32 | ~std::uint32_t{0});
}
}  // namespace queue_word

// The queue of one mutex, as this process sees it.
template <class T>
struct Runtime<T>::Queue {
  const MutexSet& set;
  int host;  // absolute id
  const Part& host_part;
  char* tail;
  int mutex;           // of those that the host has
  int group_rank;      // the host's
  std::size_t number;  // of the mutex, among all of the set
  QueueNode& node;     // this process's

  // Of this process's turn.
  std::int64_t word() const { return queue_word::make(node.turn, set.group->rank()); }
};

template <class T>
bool Runtime<T>::uses_queues(const Group& group) const {
  return !kNodeOnly && !(cpu_atomics(rank_) && group.single_node());
}

// Of a part of the set's region: the mutexes hosted, then the nodes.
template <class T>
std::size_t Runtime<T>::mutex_part_bytes(const MutexSet& set, int group_rank) const {
  return static_cast<std::size_t>(set.counts[static_cast<std::size_t>(group_rank)]) * sizeof(node::NodeMutex) +
         (uses_queues(*set.group) ? set.first.back() * sizeof(QueueNode) : 0);
}

template <class T>
QueueNode* Runtime<T>::queue_node(const MutexSet& set, std::size_t number, int group_rank) const {
  const int hosted = set.counts[static_cast<std::size_t>(group_rank)];
  return reinterpret_cast<QueueNode*>(mutex_place(set, hosted, group_rank)) + number;
}

template <class T>
auto Runtime<T>::queue_of(const MutexSet& set, int mutex, int group_rank) const -> Queue {
  const auto r = static_cast<std::size_t>(group_rank);
  const std::size_t number = set.first[r] + static_cast<std::size_t>(mutex);
  return {set,
          set.group->absolute_id(group_rank),
          set.region->parts[r],
          mutex_place(set, mutex, group_rank),
          mutex,
          group_rank,
          number,
          *queue_node(set, number, set.group->rank())};
}

// --- the threads of this process

// Memory ordering: acquire; the previous thread's stores before leave_turn() are visible.
template <class T>
void Runtime<T>::take_turn(QueueNode& node) {
  const std::uint32_t number = node.drawn.fetch_add(1, std::memory_order_relaxed);
  node::Waiter waiter(node::WaitKind::kMutexTurn);
  for (;;) {
    const std::uint32_t serving = node.serving.load(std::memory_order_acquire);
    if (serving == number) return;
    transport_.progress();
    waiter.step_behind(number - serving);
  }
}

inline bool try_turn(QueueNode& node) {
  const std::uint32_t number = node.serving.load(std::memory_order_acquire);
  std::uint32_t expected = number;
  return node.drawn.compare_exchange_strong(expected, number + 1, std::memory_order_relaxed);
}

// Memory ordering: release.
inline void leave_turn(QueueNode& node) { node.serving.fetch_add(1, std::memory_order_release); }

// --- one thread of each process: this queue, or the transport's

template <class T>
Status Runtime<T>::enter_queue(const Queue& queue) {
  if constexpr (MakesMutexes<T>) {
    if (queue.set.own != nullptr) {
      ARMCI_RETURN_IF_ERROR(order_after_stores(queue.host));
      // No owner to report: only the transport knows whether the mutex is free.
      const node::MutexWait waiting(queue.mutex, queue.host, nullptr);
      ARMCI_RETURN_IF_ERROR(queue.set.own->lock(queue.mutex, queue.group_rank));
      std::atomic_thread_fence(std::memory_order_acquire);
      return kSuccess;
    }
  }
  return queue_up(queue);
}

template <class T>
Status Runtime<T>::try_queue(const Queue& queue, bool* taken) {
  if constexpr (MakesMutexes<T>) {
    if (queue.set.own != nullptr) return queue.set.own->try_lock(queue.mutex, queue.group_rank, taken);
  }
  std::int64_t before = 0;
  const Status tried =
      atomic64(queue.host, queue.host_part, queue.tail, AtomicOp::kCompareSwap, queue.word(), 0, &before);
  *taken = tried.ok() && before == 0;
  return tried;
}

template <class T>
Status Runtime<T>::leave_queue(const Queue& queue) {
  if constexpr (MakesMutexes<T>) {
    if (queue.set.own != nullptr) {
      if (has_unflushed_stores(queue.host)) ARMCI_RETURN_IF_ERROR(flush(queue.host));
      return queue.set.own->unlock(queue.mutex, queue.group_rank);
    }
  }
  // Stores to the host take another path than the hand-over, so no network orders them before it.
  if (has_unflushed_stores(queue.host)) ARMCI_RETURN_IF_ERROR(flush(queue.host));
  const std::uint32_t turn = queue.node.turn;
  const std::int64_t link = std::atomic_ref(queue.node.next_of(turn)).load(std::memory_order_acquire);
  int successor = queue_word::successor(link, turn);
  if (successor < 0) {
    bool freed = false;
    ARMCI_RETURN_IF_ERROR(free_tail(queue, &freed));
    if (freed) return kSuccess;
    ARMCI_RETURN_IF_ERROR(release_turn(queue, &successor));
  }
  return successor >= 0 ? hand_over(queue, successor) : kSuccess;
}

// --- the queue of processes

template <class T>
Status Runtime<T>::queue_lock(const MutexSet& set, int mutex, int group_rank) {
  const Queue queue = queue_of(set, mutex, group_rank);
  if (!try_turn(queue.node)) {
    const node::MutexWait waiting(mutex, queue.host, nullptr);
    take_turn(queue.node);
  }
  const Status queued = enter_queue(queue);
  if (!queued.ok()) {
    leave_turn(queue.node);
    return queued;
  }
  queue.node.owner.store(std::this_thread::get_id(), std::memory_order_relaxed);
  return kSuccess;
}

// Memory ordering: acquire; the stores that the last holder made visible before its unlock are visible.
template <class T>
Status Runtime<T>::queue_up(const Queue& queue) {
  const std::int64_t mine = queue.word();
  std::int64_t ahead = 0;
  ARMCI_RETURN_IF_ERROR(order_after_stores(queue.host));
  ARMCI_RETURN_IF_ERROR(atomic64(queue.host, queue.host_part, queue.tail, AtomicOp::kSwap, mine, 0, &ahead));
  bool released = ahead == 0;
  if (!released) ARMCI_RETURN_IF_ERROR(stand_behind(queue, mine, ahead, &released));
  if (!released) {
    const node::MutexWait waiting(queue.mutex, queue.host, nullptr);
    const std::atomic_ref granted(queue.node.granted);
    await_signal(node::WaitKind::kMutexGrant, servers_wake(),
                 [&] { return granted.load(std::memory_order_acquire) == ahead; });
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  return kSuccess;
}

// Writes this process as successor into the node of the process ahead, unless that one has released the mutex. If that
// fails, this process leaves the queue. With a process behind it, leaving would block that process for ever; this
// process then repeats the write for a while. A mutex whose holder released it meanwhile is free for lock() then, and
// taken for try_lock().
template <class T>
Status Runtime<T>::stand_behind(const Queue& queue, std::int64_t mine, std::int64_t ahead, bool* released) {
  constexpr int kTriesMax = 100;
  const int rank = queue_word::rank(ahead);
  const Part& part = queue.set.region->parts[static_cast<std::size_t>(rank)];
  void* next = &queue_node(queue.set, queue.number, rank)->next_of(queue_word::turn(ahead));
  const std::int64_t link = queue_word::make(queue_word::turn(ahead), queue.set.group->rank());
  node::Waiter waiter(node::WaitKind::kMutexSuccessor);
  for (int tries = 1;; ++tries) {
    std::int64_t before = 0;
    const Status linked = atomic64(queue.set.group->absolute_id(rank), part, next, AtomicOp::kSwap, link, 0, &before);
    *released = before == queue_word::released(queue_word::turn(ahead));
    if (linked.ok() || tries == kTriesMax) return linked;
    ARMCI_RETURN_IF_ERROR(
        atomic64(queue.host, queue.host_part, queue.tail, AtomicOp::kCompareSwap, ahead, mine, &before));
    if (before == mine) return linked;
    transport_.progress();
    waiter.step();
  }
}

template <class T>
Status Runtime<T>::queue_try_lock(const MutexSet& set, int mutex, int group_rank, bool* taken) {
  const Queue queue = queue_of(set, mutex, group_rank);
  *taken = false;
  if (!try_turn(queue.node)) return kSuccess;
  const Status tried = try_queue(queue, taken);
  if (*taken) {
    std::atomic_thread_fence(std::memory_order_acquire);
    queue.node.owner.store(std::this_thread::get_id(), std::memory_order_relaxed);
  } else {
    leave_turn(queue.node);
  }
  return tried;
}

// Memory ordering: release.
template <class T>
Status Runtime<T>::queue_unlock(const MutexSet& set, int mutex, int group_rank) {
  const Queue queue = queue_of(set, mutex, group_rank);
  // Only the owner stores its own id there, so another thread never reads its own id.
  if (queue.node.owner.load(std::memory_order_relaxed) != std::this_thread::get_id()) {
    return not_the_owner(mutex, group_rank);
  }
  std::atomic_thread_fence(std::memory_order_release);
  ARMCI_RETURN_IF_ERROR(leave_queue(queue));
  // After success only: a failed unlock can be repeated.
  ++queue.node.turn;
  queue.node.owner.store(std::thread::id(), std::memory_order_relaxed);
  leave_turn(queue.node);
  return kSuccess;
}

// Clears the tail if no process has queued up behind this one. *freed: the call knows that.
template <class T>
Status Runtime<T>::free_tail(const Queue& queue, bool* freed) {
  const std::int64_t mine = queue.word();
  if constexpr (Signals<T>) {
    if (!cpu_atomics(queue.host) && has_signals()) {
      return issue_signal(queue.host, queue.host_part,
                          {reinterpret_cast<std::uint64_t*>(queue.tail), static_cast<std::uint64_t>(mine),
                           node::SignalOp::kClearIfEqual, wake_up_of(queue.host)});
    }
  }
  std::int64_t before = 0;
  ARMCI_RETURN_IF_ERROR(atomic64(queue.host, queue.host_part, queue.tail, AtomicOp::kCompareSwap, 0, mine, &before));
  *freed = before == mine;
  return kSuccess;
}

// Notes in this process's node that it has left, for a successor that is not there yet. *successor: the group rank of
// one that is; -1: none.
template <class T>
Status Runtime<T>::release_turn(const Queue& queue, int* successor) {
  const std::uint32_t turn = queue.node.turn;
  std::int64_t& next = queue.node.next_of(turn);
  const Part& part = queue.set.region->parts[static_cast<std::size_t>(queue.set.group->rank())];
  std::int64_t link = std::atomic_ref(next).load(std::memory_order_acquire);
  for (;;) {
    *successor = queue_word::successor(link, turn);
    if (*successor >= 0) return kSuccess;
    std::int64_t before = 0;
    ARMCI_RETURN_IF_ERROR(
        atomic64(rank_, part, &next, AtomicOp::kCompareSwap, queue_word::released(turn), link, &before));
    if (before == link) return kSuccess;
    link = before;
  }
}

template <class T>
Status Runtime<T>::hand_over(const Queue& queue, int successor) {
  const int proc = queue.set.group->absolute_id(successor);
  auto* granted = reinterpret_cast<std::uint64_t*>(&queue_node(queue.set, queue.number, successor)->granted);
  const auto word = static_cast<std::uint64_t>(queue.word());
  if (on_node(proc)) {
    node::apply({granted, word, node::SignalOp::kSet, wake_up_of(proc)});
    return kSuccess;
  }
  return set_word(proc, queue.set.region->parts[static_cast<std::size_t>(successor)], granted, word);
}

}  // namespace armci::runtime
