// Waits, fences, mutexes, notifications, messages and collective calls, as the detector of data races sees them.
//
// Included by race_record.h only. Thread safety: an object belongs to one call.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "impl/api/race_transfers.h"
#include "impl/runtime/messages.h"
#include "impl/runtime/reduce_ops.h"

namespace armci::runtime::recorded {

// --- completion

struct Wait {
  explicit Wait(const armci_hdl_t* handle) : handle_(handle) {}
  void done(RecordedCall& call, Status) { call.wait(handle_); }
  const armci_hdl_t* handle_;
};
struct Test {
  explicit Test(const armci_hdl_t* handle) : handle_(handle) {}
  template <class Outcome>
  void done(RecordedCall& call, const Outcome& outcome) {
    if (outcome.value == 0) call.wait(handle_);
  }
  const armci_hdl_t* handle_;
};
struct WaitFor {
  explicit WaitFor(int proc = kEveryone) : proc_(proc) {}
  void done(RecordedCall& call, Status) { call.wait_for_target(proc_); }
  int proc_;
};
struct Fence {
  explicit Fence(int proc = kEveryone) : proc_(proc) {}
  void done(RecordedCall& call, Status) { call.fence(proc_); }
  int proc_;
};

// The members of a group that the program names; none for a bad handle.
inline const std::vector<int>& members_of(const ARMCI_Group* handle) {
  static const std::vector<int> none;
  Group* group = nullptr;
  return groups().find(handle, &group).ok() ? group->members() : none;
}

struct GroupFence {
  explicit GroupFence(const ARMCI_Group* group) : group_(group) {}
  void done(RecordedCall& call, Status) {
    for (const int member : members_of(group_)) call.fence(member);
  }
  const ARMCI_Group* group_;
};

// --- mutexes and notification

struct Notify {
  explicit Notify(int proc) : proc_(proc) {}
  void done(RecordedCall& call, Status) { call.sync({.kind = SyncKind::kNotify, .peer = proc_}); }
  int proc_;
};
struct NotifyWait {
  NotifyWait(int proc, const int*) : proc_(proc) {}
  void done(RecordedCall& call, Status) { call.sync({.kind = SyncKind::kAwait, .peer = proc_}); }
  int proc_;
};

inline void lock(RecordedCall& call, std::uint64_t key, int host) {
  call.sync({.kind = SyncKind::kLock, .key = key, .number = race_detection().take_ticket(host, key)});
}

inline constexpr std::uint64_t kWorldMutexes = 0;

struct Lock {
  Lock(int mutex, int proc) : mutex_(mutex), proc_(proc) {}
  void done(RecordedCall& call, Status) { lock(call, RaceDetection::mutex_key(kWorldMutexes, mutex_, proc_), proc_); }
  int mutex_;
  int proc_;
};
struct Unlock {
  Unlock(int mutex, int proc) : key_(RaceDetection::mutex_key(kWorldMutexes, mutex, proc)) {}
  void done(RecordedCall& call, Status) { call.sync({.kind = SyncKind::kUnlock, .key = key_}); }
  std::uint64_t key_;
};

// --- messages and collective calls

inline std::vector<int> members_in(Group& group, int scope) {
  ScopeMembers found;
  std::vector<int> members;
  if (!find_scope(group, scope, &found).ok()) return members;
  for (int i = 0; i < found.size(); ++i) members.push_back(found.absolute_id(i));
  return members;
}
inline std::vector<int> members_in(const ARMCI_Group* handle, int scope) {
  Group* group = nullptr;
  return groups().find(handle, &group).ok() ? members_in(*group, scope) : std::vector<int>();
}

struct Send {
  Send(int tag, const void* buffer, int length, int to) : tag_(tag), buffer_(buffer), length_(length), to_(to) {}
  void done(RecordedCall& call, Status) {
    call.buffer(false, race_detection().local_place(buffer_), piece(static_cast<std::size_t>(length_)));
    call.sync({.kind = SyncKind::kSend, .peer = to_, .key = static_cast<std::uint64_t>(tag_)});
  }
  int tag_;
  const void* buffer_;
  int length_;
  int to_;
};
struct Receive {
  Receive(int tag, const void* buffer, int length, const int* received, int from = kEveryone)
      : tag_(tag), buffer_(buffer), length_(length), received_(received), from_(from) {}
  template <class Outcome>
  void done(RecordedCall& call, const Outcome& outcome) {
    if constexpr (!std::is_same_v<Outcome, Status>) from_ = outcome.value;  // of any process
    const int bytes = received_ != nullptr ? *received_ : length_;
    call.buffer(true, race_detection().local_place(buffer_), piece(static_cast<std::size_t>(bytes)));
    call.sync({.kind = SyncKind::kReceive, .peer = from_, .key = static_cast<std::uint64_t>(tag_)});
  }
  int tag_;
  const void* buffer_;
  int length_;
  const int* received_;
  int from_;
};

// The memory of the program that a collective call reads, and writes where its data go.
struct Moved {
  const void* buffer = nullptr;
  std::size_t bytes = 0;
};
inline Moved bytes(const void* buffer, int count) { return {buffer, static_cast<std::size_t>(std::max(count, 0))}; }
template <class Value>
Moved values(const Value* buffer, int count) {
  return {buffer, static_cast<std::size_t>(std::max(count, 0)) * sizeof(Value)};
}
inline Moved elements(const void* buffer, int count, int type) {
  Element element{};
  if (count <= 0 || !parse_element(type, &element).ok()) return {};
  return {buffer, static_cast<std::size_t>(count) * element_bytes(element)};
}

// Root kEveryone: all to all; else from the root to the others, or to it. No members: no synchronisation.
class Collective {
 public:
  explicit Collective(std::vector<int> members, int root = kEveryone, bool from_root = true, Moved moved = {})
      : members_(std::move(members)), root_(root), from_root_(from_root), moved_(moved) {}
  void done(RecordedCall& call, Status) {
    if (members_.empty()) return;
    const bool is_written = root_ == kEveryone || (root_ == world().rank()) != from_root_;
    if (moved_.bytes > 0) call.buffer(is_written, race_detection().local_place(moved_.buffer), piece(moved_.bytes));
    call.sync({.kind = SyncKind::kCollective,
               .from_root = from_root_,
               .peer = root_,
               .members = static_cast<std::int32_t>(members_.size()),
               .key = RaceDetection::key_of(members_)});
  }

 private:
  std::vector<int> members_;
  int root_;
  bool from_root_;
  Moved moved_;
};

}  // namespace armci::runtime::recorded
