// Runtime<T>: sets of mutexes. Included by runtime.h.
//
// In a group whose members all reach it by the CPU a mutex is a NodeMutex. In any other it is the tail of a queue at
// the same place, see runtime_mutex_queue.h, or a mutex that the transport makes itself (MakesMutexes).
#pragma once

#include "impl/runtime/runtime.h"
#include "impl/runtime/runtime_mutex_queue.h"

namespace armci::runtime {

template <class T>
Status Runtime<T>::create_mutexes(Group& group, int count, std::unique_ptr<MutexSet>* out) {
  auto set = std::make_unique<MutexSet>();
  set->group = &group;
  set->counts.resize(static_cast<std::size_t>(group.size()));
  ARMCI_RETURN_IF_ERROR(allgather(group, count, set->counts.data()));
  for (int r = 0; r < group.size(); ++r) {
    const int wanted = set->counts[static_cast<std::size_t>(r)];
    if (wanted < 0) {
      return fail(Code::kLength, "MUTEX-1", "argument n = %d of process %d is negative; pass 0 or more", wanted,
                  group.absolute_id(r));
    }
  }
  set->number();
  const std::size_t bytes = mutex_part_bytes(*set, group.rank());
  ARMCI_RETURN_IF_ERROR(allocate_region(group, static_cast<std::int64_t>(bytes), &set->region));
  if (bytes > 0) {
    // All bits zero is a free mutex in both forms.
    std::memset(set->region->parts[static_cast<std::size_t>(group.rank())].base, 0, bytes);
  }
  ARMCI_RETURN_IF_ERROR(create_own_mutexes(*set));
  // No process may lock before all mutexes are free. An allgather, since the fence of a barrier may fail on one
  // process.
  std::vector<int> ready(static_cast<std::size_t>(group.size()));
  ARMCI_RETURN_IF_ERROR(allgather(group, 1, ready.data()));
  ++group.mutex_sets;
  if (is_verbose(Verbosity::kObjects) && group.rank() == 0) {
    log_line("made %zu mutexes of %d processes, %d here", set->first.back(), group.size(), count);
  }
  {
    const std::lock_guard lock(mutex_sets_lock_);
    mutex_sets_.push_back(set.get());
  }
  *out = std::move(set);
  return kSuccess;
}

template <class T>
Status Runtime<T>::create_own_mutexes([[maybe_unused]] MutexSet& set) {
  if constexpr (MakesMutexes<T>) {
    if (!uses_queues(*set.group) || set.region == nullptr) return kSuccess;
    const Status made = transport_.create_mutexes({set.group->comm(), set.group->rank()}, set.counts, &set.own);
    if (!made.ok()) dispose(regions_.remove(set.region->id), set.group->is_master());
    return made;
  }
  return kSuccess;
}

// The first mutex of this process that is held, or -1.
template <class T>
int Runtime<T>::find_held(const MutexSet& set) {
  const int own = set.group->rank();
  for (int m = 0; m < set.counts[static_cast<std::size_t>(own)]; ++m) {
    const char* place = mutex_place(set, m, own);
    if (!uses_queues(*set.group)) {
      if (!node::mutex_is_free(reinterpret_cast<const node::NodeMutex*>(place))) return m;
    } else if (set.own != nullptr) {
      bool free = true;
      if constexpr (MakesMutexes<T>) (void)set.own->is_free(m, &free);  // on failure the mutex counts as free
      if (!free) return m;
    } else {
      auto* tail = const_cast<std::int64_t*>(reinterpret_cast<const std::int64_t*>(place));
      if (std::atomic_ref(*tail).load() != 0) return m;
    }
  }
  return -1;
}

template <class T>
bool Runtime<T>::is_holder(const MutexSet& set, int mutex, int group_rank) const {
  if (!uses_queues(*set.group)) {
    const auto* place = reinterpret_cast<const node::NodeMutex*>(mutex_place(set, mutex, group_rank));
    return place->owner.load(std::memory_order_relaxed) == rank_ + 1;
  }
  const std::size_t number = set.first[static_cast<std::size_t>(group_rank)] + static_cast<std::size_t>(mutex);
  return queue_node(set, number, set.group->rank())->owner.load(std::memory_order_relaxed) != std::thread::id();
}

template <class T>
template <class Visit>
bool Runtime<T>::visit_held(Visit visit) {
  const std::unique_lock lock(mutex_sets_lock_, std::try_to_lock);
  if (!lock.owns_lock()) return false;
  for (const MutexSet* set : mutex_sets_) {
    for (int host = 0; host < set->group->size(); ++host) {
      for (int mutex = 0; mutex < set->counts[static_cast<std::size_t>(host)]; ++mutex) {
        if (is_holder(*set, mutex, host)) visit(mutex, set->group->absolute_id(host));
      }
    }
  }
  return true;
}

// Only after the barrier is a mutex that is held one that its holder has forgotten.
template <class T>
Status Runtime<T>::destroy_mutexes(std::unique_ptr<MutexSet>* mutexes) {
  MutexSet& set = **mutexes;
  Group& group = *set.group;
  const Status fenced = barrier(group);
  std::vector<int> held(static_cast<std::size_t>(group.size()));
  ARMCI_RETURN_IF_ERROR(allgather(group, find_held(set), held.data()));
  for (int r = 0; r < group.size(); ++r) {
    if (const int mutex = held[static_cast<std::size_t>(r)]; mutex >= 0) {
      return fail(Code::kMutex, "MUTEX-1", "mutex %d of process %d is held; unlock it first", mutex, r);
    }
  }
  {
    const std::lock_guard lock(mutex_sets_lock_);
    std::erase(mutex_sets_, &set);
  }
  if constexpr (MakesMutexes<T>) {
    if (set.own != nullptr) transport_.destroy_mutexes(set.own);
  }
  if (set.region != nullptr) dispose(regions_.remove(set.region->id), group.is_master());
  mutexes->reset();
  if (--group.mutex_sets == 0 && group.forgotten()) ARMCI_RETURN_IF_ERROR(destroy_resources(group));
  return fenced;
}

template <class T>
Status Runtime<T>::check_mutex(const MutexSet& set, int mutex, int group_rank) const {
  if (group_rank < 0 || group_rank >= set.group->size()) [[unlikely]] {
    return fail(Code::kProc, "MUTEX-8", "argument proc = %d is outside 0..%d; pass a rank of the group", group_rank,
                set.group->size() - 1);
  }
  const int count = set.counts[static_cast<std::size_t>(group_rank)];
  if (mutex < 0 || mutex >= count) [[unlikely]] {
    return fail(Code::kMutex, "MUTEX-8", "argument mutex = %d: process %d hosts %d mutexes (0..%d); pass one of them",
                mutex, group_rank, count, count - 1);
  }
  return kSuccess;
}

template <class T>
char* Runtime<T>::mutex_place(const MutexSet& set, int mutex, int group_rank) const {
  return set.region->parts[static_cast<std::size_t>(group_rank)].base +
         static_cast<std::size_t>(mutex) * sizeof(node::NodeMutex);
}

template <class T>
Status Runtime<T>::lock(MutexSet& set, int mutex, int group_rank) {
  ARMCI_RETURN_IF_ERROR(check_mutex(set, mutex, group_rank));
  if (!uses_queues(*set.group)) [[likely]] {
    auto* place = reinterpret_cast<node::NodeMutex*>(mutex_place(set, mutex, group_rank));
    if (!node::mutex_take_free(place, rank_)) [[unlikely]]
      wait_for_mutex(place, set.group->absolute_id(group_rank), mutex);
    return kSuccess;
  }
  if constexpr (!kNodeOnly) return queue_lock(set, mutex, group_rank);
  return kSuccess;
}

template <class T>
[[gnu::noinline]] void Runtime<T>::wait_for_mutex(node::NodeMutex* place, int host, int mutex) {
  const node::MutexWait waiting(mutex, host, &place->owner);
  node::mutex_lock_slow(place, rank_, handoff_us_);
}

template <class T>
Status Runtime<T>::try_lock(MutexSet& set, int mutex, int group_rank, bool* taken) {
  ARMCI_RETURN_IF_ERROR(check_mutex(set, mutex, group_rank));
  if (!uses_queues(*set.group)) {
    *taken = node::mutex_try_lock(reinterpret_cast<node::NodeMutex*>(mutex_place(set, mutex, group_rank)), rank_);
    return kSuccess;
  }
  if constexpr (!kNodeOnly) return queue_try_lock(set, mutex, group_rank, taken);
  return kSuccess;
}

template <class T>
Status Runtime<T>::unlock(MutexSet& set, int mutex, int group_rank) {
  ARMCI_RETURN_IF_ERROR(check_mutex(set, mutex, group_rank));
  if (!uses_queues(*set.group)) [[likely]] {
    auto* place = reinterpret_cast<node::NodeMutex*>(mutex_place(set, mutex, group_rank));
    return node::mutex_unlock(place, rank_) ? kSuccess : not_the_owner(mutex, group_rank);
  }
  if constexpr (!kNodeOnly) return queue_unlock(set, mutex, group_rank);
  return kSuccess;
}

}  // namespace armci::runtime
