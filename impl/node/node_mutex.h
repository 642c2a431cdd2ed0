// NodeMutex: mutual exclusion between processes of one machine, fair, sleeping, in node memory.
//
//   state:  LOCKED   a process holds it
//           SLEEPING the head waiter sleeps on `state`: the unlock must wake it
//           HANDOFF  the head waiter has waited too long: no other may take the lock
//   queue:  waiters draw a ticket from `tail`; the one whose ticket is `head` is the head waiter
//
//   lock    free and no HANDOFF: take it, in one step, even past waiters (a running process loses no time to a
//           sleeping one)
//           else: draw a ticket, sleep until head reaches it, then as head waiter compete for `state`;
//           after `handoff_us` of waiting set HANDOFF; on success advance head and wake the next ticket
//   unlock  clear LOCKED; wake the head waiter if it sleeps
//
// Only the head waiter competes with newcomers, so a wake-up is one process. HANDOFF bounds how often newcomers may
// overtake, so no waiter starves [MUTEX-3]. No waiter holds a core [MUTEX-6].
//
// Thread safety: any thread of any process of the machine. The owner is a process. Threads of one process exclude each
// other as well, but an unlock by another thread of the owner is not noticed.
#pragma once

#include <atomic>
#include <cstdint>

namespace armci::node {

struct alignas(64) NodeMutex {
  std::atomic<std::uint32_t> state;
  std::atomic<std::int32_t> owner;  // world rank + 1; 0: none
  std::atomic<std::uint32_t> tail;
  std::atomic<std::uint32_t> head;
};
static_assert(sizeof(NodeMutex) == 64, "one cache line each: mutexes do not disturb each other");

namespace mutex_state {
inline constexpr std::uint32_t kLocked = 1;
inline constexpr std::uint32_t kSleeping = 2;
inline constexpr std::uint32_t kHandoff = 4;
}  // namespace mutex_state

// For tests: Runtime zeroes the memory of a whole set, since all bits zero is a free mutex.
inline void mutex_initialise(NodeMutex* mutex) {
  mutex->state.store(0, std::memory_order_relaxed);
  mutex->owner.store(0, std::memory_order_relaxed);
  mutex->tail.store(0, std::memory_order_relaxed);
  mutex->head.store(0, std::memory_order_relaxed);
}

// Whether no process holds it; the result stays true while no process calls lock.
inline bool mutex_is_free(const NodeMutex* mutex) {
  return (mutex->state.load(std::memory_order_relaxed) & mutex_state::kLocked) == 0;
}

// The part of lock that has to wait. handoff_us: waiting time after which newcomers may no longer overtake.
void mutex_lock_slow(NodeMutex* mutex, int rank, std::int64_t handoff_us);
void mutex_wake_head(NodeMutex* mutex);

// Never blocks. Memory ordering: acquire on success.
inline bool mutex_try_lock(NodeMutex* mutex, int rank) {
  std::uint32_t expected = mutex->state.load(std::memory_order_relaxed);
  if ((expected & (mutex_state::kLocked | mutex_state::kHandoff)) != 0) return false;
  if (!mutex->state.compare_exchange_strong(expected, expected | mutex_state::kLocked, std::memory_order_acquire,
                                            std::memory_order_relaxed)) {
    return false;
  }
  mutex->owner.store(rank + 1, std::memory_order_relaxed);
  return true;
}

// The part of lock that does not wait: false when a process holds the mutex or waits for it. Memory ordering: as
// mutex_lock() on success.
inline bool mutex_take_free(NodeMutex* mutex, int rank) {
  std::uint32_t expected = 0;
  if (!mutex->state.compare_exchange_strong(expected, mutex_state::kLocked, std::memory_order_acquire,
                                            std::memory_order_relaxed)) [[unlikely]] {
    return false;
  }
  mutex->owner.store(rank + 1, std::memory_order_relaxed);
  return true;
}

// Both parts of lock, for tests. Runtime calls the parts, so that reports of hung jobs name the mutex of the slow one.
//
// Memory ordering: acquire; the last holder's stores before its unlock are visible.
inline void mutex_lock(NodeMutex* mutex, int rank, std::int64_t handoff_us) {
  if (!mutex_take_free(mutex, rank)) [[unlikely]]
    mutex_lock_slow(mutex, rank, handoff_us);
}

// False, and nothing changed, when `rank` is not the owner [MUTEX-8]. Memory ordering: release.
inline bool mutex_unlock(NodeMutex* mutex, int rank) {
  if (mutex->owner.load(std::memory_order_relaxed) != rank + 1) return false;
  mutex->owner.store(0, std::memory_order_relaxed);
  const std::uint32_t before = mutex->state.fetch_and(~mutex_state::kLocked, std::memory_order_release);
  if ((before & mutex_state::kSleeping) != 0) [[unlikely]]
    mutex_wake_head(mutex);
  return true;
}

}  // namespace armci::node
