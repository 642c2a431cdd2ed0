// Entry points: extended atomics, signals, mutex sets and group extensions.
#include <set>
#include <shared_mutex>

#include "armcix.h"
#include "impl/api/entry.h"
#include "impl/api/library.h"
#include "impl/node/waiter.h"

// The program's name for a set of mutexes.
struct armcix_mutex_set_s {
  std::unique_ptr<armci::runtime::SelectedRuntime::MutexSet> set;
  std::uint64_t number = 0;  // the same on all members; with ARMCI_CHECK=race only
};

namespace armci::runtime::api {
namespace {

// --- atomics

template <class Value>
Status typed_rmw(armcix_op_t op, void* result, const void* operand, const void* compare, void* remote, int proc,
                 How how) {
  const Value wanted = compare != nullptr ? *static_cast<const Value*>(compare) : Value{};
  return runtime().rmw<Value>(static_cast<node::RmwOp>(op), remote, *static_cast<const Value*>(operand), wanted,
                              static_cast<Value*>(result), proc, how);
}

Status extended_rmw(armcix_op_t op, armcix_type_t type, void* result, const void* operand, const void* compare,
                    void* remote, int proc, How how) {
  if (static_cast<unsigned>(op) > ARMCIX_MAX) {
    return fail(Code::kType, "ERR-1", "argument op = %d is outside 0..%d; pass a constant of armcix_op_t",
                static_cast<int>(op), ARMCIX_MAX);
  }
  if (result == nullptr || operand == nullptr || (op == ARMCIX_CAS && compare == nullptr)) {
    return fail(Code::kNull, "ERR-1", "argument %s is NULL; pass the address of a value",
                result == nullptr    ? "result"
                : operand == nullptr ? "operand"
                                     : "compare");
  }
  switch (type) {
    case ARMCIX_INT32:
      return typed_rmw<std::int32_t>(op, result, operand, compare, remote, proc, how);
    case ARMCIX_INT64:
      return typed_rmw<std::int64_t>(op, result, operand, compare, remote, proc, how);
    case ARMCIX_UINT32:
      return typed_rmw<std::uint32_t>(op, result, operand, compare, remote, proc, how);
    case ARMCIX_UINT64:
      return typed_rmw<std::uint64_t>(op, result, operand, compare, remote, proc, how);
  }
  return fail(Code::kType, "ERR-1", "argument type = %d is outside 0..3; pass a constant of armcix_type_t",
              static_cast<int>(type));
}

Status ARMCIX_Rmw(armcix_op_t op, armcix_type_t type, void* result, const void* operand, const void* compare,
                  void* remote, int proc) {
  return extended_rmw(op, type, result, operand, compare, remote, proc, kBlocking);
}
Status ARMCIX_NbRmw(armcix_op_t op, armcix_type_t type, void* result, const void* operand, const void* compare,
                    void* remote, int proc, armci_hdl_t* hdl) {
  return extended_rmw(op, type, result, operand, compare, remote, proc, through(hdl));
}

// --- signals

// `name`: the argument's.
Status check_signals(const char* name, const std::uint64_t* signals, std::size_t count, int proc) {
  if (count == 0) return kSuccess;
  if (count > SIZE_MAX / sizeof *signals) {
    return fail(Code::kLength, "EXT-4", "argument count = %zu is more than memory has; pass the number of signals",
                count);
  }
  ARMCI_RETURN_IF_ERROR(runtime().check_remote(name, signals, count * sizeof *signals, proc));
  if (reinterpret_cast<std::uintptr_t>(signals) % sizeof *signals == 0) return kSuccess;
  return fail(Code::kAlignment, "EXT-3", "argument %s = %p is not aligned to 8 bytes; pass an aligned address", name,
              static_cast<const void*>(signals));
}

Status check_signal(const std::uint64_t* signal, armcix_signal_op_t op, int proc) {
  if (op != ARMCIX_SIGNAL_SET && op != ARMCIX_SIGNAL_ADD) {
    return fail(Code::kType, "ERR-1",
                "argument op = %d is neither ARMCIX_SIGNAL_SET nor ARMCIX_SIGNAL_ADD; pass one of them",
                static_cast<int>(op));
  }
  return check_signals("signal", signal, 1, proc);
}

Status ARMCIX_Put_signal(const void* src, void* dst, std::size_t bytes, std::uint64_t* signal, std::uint64_t value,
                         armcix_signal_op_t op, int proc) {
  ARMCI_RETURN_IF_ERROR(check_signal(signal, op, proc));
  const auto how = op == ARMCIX_SIGNAL_SET ? node::SignalOp::kSet : node::SignalOp::kAdd;
  return runtime().put_signal(src, dst, bytes, signal, value, how, proc);
}
// The signal must follow the data, so the put is completed here, and the handle is unused.
Status ARMCIX_NbPut_signal(const void* src, void* dst, std::size_t bytes, std::uint64_t* signal, std::uint64_t value,
                           armcix_signal_op_t op, int proc, armci_hdl_t*) {
  return api::ARMCIX_Put_signal(src, dst, bytes, signal, value, op, proc);
}

bool compares(armcix_cmp_t cmp, std::uint64_t left, std::uint64_t right) {
  switch (cmp) {
    case ARMCIX_CMP_EQ:
      return left == right;
    case ARMCIX_CMP_NE:
      return left != right;
    case ARMCIX_CMP_GT:
      return left > right;
    case ARMCIX_CMP_GE:
      return left >= right;
    case ARMCIX_CMP_LT:
      return left < right;
    case ARMCIX_CMP_LE:
      return left <= right;
  }
  return false;
}

Status check_waited_signals(const char* name, const std::uint64_t* signals, std::size_t count, armcix_cmp_t cmp) {
  if (static_cast<unsigned>(cmp) > ARMCIX_CMP_LE) {
    return fail(Code::kType, "EXT-4", "argument cmp = %d is outside 0..%d; pass a constant of armcix_cmp_t",
                static_cast<int>(cmp), ARMCIX_CMP_LE);
  }
  return check_signals(name, signals, count, world().rank());
}

std::uint64_t read_signal(std::uint64_t& signal) { return std::atomic_ref(signal).load(std::memory_order_acquire); }

Status ARMCIX_Signal_test(std::uint64_t* signal, armcix_cmp_t cmp, std::uint64_t value, std::uint64_t* seen,
                          int* satisfied) {
  ARMCI_RETURN_IF_ERROR(check_waited_signals("signal", signal, 1, cmp));
  if (satisfied == nullptr)
    return fail(Code::kNull, "ERR-1", "argument satisfied is NULL; pass the address for the result");
  runtime().progress();
  const std::uint64_t now = read_signal(*signal);
  if (seen != nullptr) *seen = now;
  *satisfied = compares(cmp, now, value) ? 1 : 0;
  return kSuccess;
}

// A put or an atomic may change the word, and wakes no thread, so the wait also reads it in growing intervals [EXT-4].
template <class Condition>
void await_signals(Condition condition) {
  runtime().await_signal(node::WaitKind::kSignal, false, condition);
}

Status ARMCIX_Signal_wait(std::uint64_t* signal, armcix_cmp_t cmp, std::uint64_t value, std::uint64_t* seen) {
  ARMCI_RETURN_IF_ERROR(check_waited_signals("signal", signal, 1, cmp));
  std::uint64_t now = 0;
  await_signals([&] {
    now = read_signal(*signal);
    return compares(cmp, now, value);
  });
  if (seen != nullptr) *seen = now;
  return kSuccess;
}

Status ARMCIX_Signal_wait_all(std::uint64_t* signals, std::size_t count, const int* skip, armcix_cmp_t cmp,
                              std::uint64_t value) {
  ARMCI_RETURN_IF_ERROR(check_waited_signals("signals", signals, count, cmp));
  std::size_t first = 0;  // for those before, the comparison has held
  await_signals([&] {
    const auto is_over = [&](std::size_t i) {
      return (skip != nullptr && skip[i] != 0) || compares(cmp, read_signal(signals[i]), value);
    };
    while (first < count && is_over(first)) ++first;
    return first == count;
  });
  return kSuccess;
}

// Waits until the comparison holds for a signal, and calls found(i) for such ones, until that returns false.
template <class Found>
void await_one_or_more(std::uint64_t* signals, std::size_t count, const int* skip, armcix_cmp_t cmp,
                       std::uint64_t value, Found found) {
  await_signals([&] {
    bool any = false;
    bool none_counts = true;
    for (std::size_t i = 0; i < count; ++i) {
      if (skip != nullptr && skip[i] != 0) continue;
      none_counts = false;
      if (!compares(cmp, read_signal(signals[i]), value)) continue;
      any = true;
      if (!found(i)) break;
    }
    return any || none_counts;
  });
}

Status ARMCIX_Signal_wait_any(std::uint64_t* signals, std::size_t count, const int* skip, armcix_cmp_t cmp,
                              std::uint64_t value, std::size_t* which) {
  ARMCI_RETURN_IF_ERROR(check_waited_signals("signals", signals, count, cmp));
  if (which == nullptr) return fail(Code::kNull, "ERR-1", "argument which is NULL; pass the address for the result");
  *which = SIZE_MAX;
  await_one_or_more(signals, count, skip, cmp, value, [&](std::size_t i) {
    *which = i;
    return false;
  });
  return kSuccess;
}

Status ARMCIX_Signal_wait_some(std::uint64_t* signals, std::size_t count, const int* skip, armcix_cmp_t cmp,
                               std::uint64_t value, std::size_t* which, std::size_t* found) {
  ARMCI_RETURN_IF_ERROR(check_waited_signals("signals", signals, count, cmp));
  if (which == nullptr || found == nullptr) {
    return fail(Code::kNull, "ERR-1", "argument %s is NULL; pass the address for the result",
                which == nullptr ? "which" : "found");
  }
  *found = 0;
  await_one_or_more(signals, count, skip, cmp, value, [&](std::size_t i) {
    which[(*found)++] = i;
    return true;
  });
  return kSuccess;
}

// --- mutex sets

// The sets that exist, so that a handle of one that was destroyed is an error and not a wild access.
std::shared_mutex live_sets_mutex;
std::set<armcix_mutex_hdl_t> live_sets;

Status check_set(armcix_mutex_hdl_t hdl) {
  std::shared_lock lock(live_sets_mutex);
  if (live_sets.count(hdl) != 0) return kSuccess;
  if (hdl == nullptr) return fail(Code::kNull, "ERR-1", "argument hdl is NULL; pass the address of a set of mutexes");
  return fail(
      Code::kMutex, "MUTEX-8",
      "argument hdl = %p is no set of mutexes, or one that was destroyed; pass one of ARMCIX_Create_mutexes_hdl",
      static_cast<void*>(hdl));
}

Valued<armcix_mutex_hdl_t> ARMCIX_Create_mutexes_hdl(int count, ARMCI_Group* handle) {
  Group* group = nullptr;
  if (Status found = groups().find(handle, &group); !found.ok()) return {found, nullptr};
  auto made = std::make_unique<armcix_mutex_set_s>();
  Status status = runtime().create_mutexes(*group, count, &made->set);
  if (!status.ok()) return {status, nullptr};
  std::unique_lock lock(live_sets_mutex);
  live_sets.insert(made.get());
  return {status, made.release()};
}
Status ARMCIX_Destroy_mutexes_hdl(armcix_mutex_hdl_t hdl) {
  ARMCI_RETURN_IF_ERROR(check_set(hdl));
  const Status status = runtime().destroy_mutexes(&hdl->set);
  if (hdl->set != nullptr) return status;
  std::unique_lock lock(live_sets_mutex);
  live_sets.erase(hdl);
  delete hdl;
  return status;
}
Status ARMCIX_Lock_hdl(armcix_mutex_hdl_t hdl, int mutex, int proc) {
  ARMCI_RETURN_IF_ERROR(check_set(hdl));
  return runtime().lock(*hdl->set, mutex, proc);
}
Valued<int> ARMCIX_Trylock_hdl(armcix_mutex_hdl_t hdl, int mutex, int proc) {
  bool taken = false;
  Status status = check_set(hdl);
  if (status.ok()) status = runtime().try_lock(*hdl->set, mutex, proc, &taken);
  return {status, status.ok() ? (taken ? 0 : ARMCI_PENDING) : status.value()};
}
Status ARMCIX_Unlock_hdl(armcix_mutex_hdl_t hdl, int mutex, int proc) {
  ARMCI_RETURN_IF_ERROR(check_set(hdl));
  return runtime().unlock(*hdl->set, mutex, proc);
}

// --- groups

Status split(ARMCI_Group* parent, int colour, int key, ARMCI_Group* out) {
  Group* group = nullptr;
  ARMCI_RETURN_IF_ERROR(groups().find(parent, &group));
  // With no place for the result the process takes part all the same, as the one that is in no new group.
  const bool wanted = out != nullptr && colour >= 0;
  ARMCI_Group handle{};
  Group* made = nullptr;
  ARMCI_RETURN_IF_ERROR(groups().split(*group, wanted ? colour : MPI_UNDEFINED, key, &handle, &made));
  if (out == nullptr) return fail(Code::kNull, "ERR-1", "argument out is NULL; pass the address for the result");
  if (made != nullptr) ARMCI_RETURN_IF_ERROR(runtime().create_resources(*made));
  *out = handle;
  return kSuccess;
}
Status ARMCIX_Group_split(ARMCI_Group* parent, int color, int key, ARMCI_Group* out) {
  return split(parent, color, key, out);
}
Status ARMCIX_Group_dup(ARMCI_Group* parent, ARMCI_Group* out) {
  // One colour for all; equal keys keep the order of ranks.
  return split(parent, 0, 0, out);
}

}  // namespace
}  // namespace armci::runtime::api

void armci::runtime::forget_mutex_sets() {
  using namespace armci::runtime::api;
  std::unique_lock lock(live_sets_mutex);
  for (armcix_mutex_hdl_t set : live_sets) delete set;
  live_sets.clear();
}

namespace armci::runtime {

template <>
struct RaceRecord<ApiId::ARMCIX_Create_mutexes_hdl> {
  RaceRecord(int, const ARMCI_Group*) {}
  void done(race::Recorder::Call&, const Valued<armcix_mutex_hdl_t>& made) {
    made.value->number = race_detection().number_of_set(*made.value->set->group);
  }
};
// A mutex of a set, as the detector of data races knows it.
struct RecordedMutex {
  RecordedMutex(armcix_mutex_hdl_t set, int mutex, int group_rank) : set_(set), mutex_(mutex), rank_(group_rank) {}
  int host() const { return set_->set->group->absolute_id(rank_); }
  std::uint64_t key() const { return RaceDetection::mutex_key(set_->number, mutex_, host()); }
  armcix_mutex_hdl_t set_;
  int mutex_;
  int rank_;
};
template <>
struct RaceRecord<ApiId::ARMCIX_Lock_hdl> : RecordedMutex {
  using RecordedMutex::RecordedMutex;
  void done(race::Recorder::Call& call, Status) { recorded::lock(call, key(), host()); }
};
template <>
struct RaceRecord<ApiId::ARMCIX_Trylock_hdl> : RecordedMutex {
  using RecordedMutex::RecordedMutex;
  void done(race::Recorder::Call& call, const Valued<int>& outcome) {
    if (outcome.value == 0) recorded::lock(call, key(), host());
  }
};
template <>
struct RaceRecord<ApiId::ARMCIX_Unlock_hdl> : RecordedMutex {
  using RecordedMutex::RecordedMutex;
  void done(race::Recorder::Call& call, Status) { call.sync({.kind = race::SyncKind::kUnlock, .key = key()}); }
};

}  // namespace armci::runtime

ARMCI_API_EXTENSION(ARMCI_DEFINE_ENTRY)
