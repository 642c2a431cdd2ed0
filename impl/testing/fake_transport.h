// A transport for tests: one process, and a network with every behaviour that the contract allows, also on command.
//
// The memory of all simulated processes lies in this process; a "remote" address is an ordinary one. By default
// the fake uses all the freedom of transport.h:
//
//   put    |issue|---- local buffer is read as late as possible ----|test: done|------ invisible ------|flush: visible|
//   get    |issue|------------------------------------------------|test: done, remote memory is read now|
//   flush  makes the outstanding puts of one target visible, the last issued first (or in seeded random order)
//
// A caller that reuses a buffer early, forgets a flush, or relies on the order of issue gets wrong data here every
// time. A test chooses behaviour that a correct caller must not notice. hold() keeps operations from completing,
// make_visible() delivers one put ahead of the others, and fail_call() makes the k-th call fail. before_atomic and
// on_visible let another process act at the worst moment. Every call is recorded.
//
// Thread safety: all members by any thread; hooks run in the calling thread, with no lock held.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "impl/base/status.h"
#include "impl/runtime/transport.h"

namespace armci::runtime::testing {

enum class FakeCallKind {
  kPut,
  kGet,
  kAtomic,
  kTest,
  kFlush,
  kSignal,
  kRegister,
  kDeregister,
  // The optional members (fake_shapes.h).
  kPutNow,
  kGetNow,
  kPutStrided,
  kGetStrided,
  kPutList,
  kGetList,
  kAccStrided,
  kAccList,
};

struct FakeCall {
  FakeCallKind kind;
  int target;  // -1: none
  const void* remote;
  std::size_t bytes;
  std::uint64_t operation;  // 0: none
};

// All members except the traits, which differ by type.
class FakeNetwork {
 public:
  struct Key {
    std::int32_t owner = -1;  // the process whose memory it is: a key used for another one fails the test
    std::int32_t number = 0;
  };
  // Movable only, which is all that the contract requires.
  struct Completion {
    Completion() = default;
    Completion(Completion&&) = default;
    Completion& operator=(Completion&&) = default;
    std::uint64_t operation = 0;
  };
  enum class Order { kAsIssued, kReversed, kShuffled };

  explicit FakeNetwork(bool in_order) : in_order_(in_order) {}

  // --- the contract
  Status initialise(const World&) { return kSuccess; }
  void finalise() {}
  Status register_memory(void* base, std::size_t bytes, Key* key);
  void deregister_memory(const Key& key);
  Status put(int target, const Key& key, void* remote, const void* local, std::size_t bytes, Completion* completion);
  Status get(int target, const Key& key, const void* remote, void* local, std::size_t bytes, Completion* completion);
  Status atomic64(int target, const Key& key, void* remote, AtomicOp op, std::int64_t operand, std::int64_t compare,
                  std::int64_t* before) {
    return atomic(target, key, remote, op, operand, compare, before);
  }
  Status test(Completion* completion, bool* done);
  Status flush(int target);
  void progress();

  // --- what the network does
  void set_flush_order(Order order, std::uint32_t seed = 1);
  // Operations report completion at their n-th test.
  void set_tests_until_done(int tests);
  // Operations issued from now on stay incomplete until release_held(); a flush releases the puts it makes visible.
  void hold();
  void release_held();
  // Delivers one put now, also ahead of earlier puts.
  void make_visible(std::uint64_t operation);
  // The number-th call of this kind from now on (1: the next) fails with `code` and has no effect.
  void fail_call(FakeCallKind kind, int number, Code code = Code::kLayerBelow);

  // Hooks: before an atomic takes effect; after a put became visible; at the start of a flush.
  std::function<void()> before_atomic;
  std::function<void()> on_visible;
  std::function<void(int target)> on_flush;

  // --- what happened
  std::vector<FakeCall> calls() const;
  std::vector<FakeCall> calls(FakeCallKind kind) const;
  int count(FakeCallKind kind) const { return static_cast<int>(calls(kind).size()); }
  std::vector<int> flushed() const;  // targets, in order
  // Puts in the order in which they became visible, and those that are not yet.
  std::vector<std::uint64_t> visible() const;
  std::vector<std::uint64_t> invisible(int target) const;
  std::vector<bool> sole_writers() const;  // of the signals that are held
  int progress_count() const;
  int registered() const;
  void forget_calls();

  static constexpr const char* kInjected = "the fake network fails this call";

 protected:
  struct Piece {
    void* to;
    const void* from;
    std::size_t bytes;
  };
  // A transfer of several pieces. Without a completion a store has left its buffer at return, and a get has arrived.
  // With `acc` its elements are added.
  Status start(FakeCallKind kind, int target, const Key& key, const void* remote, std::vector<Piece> pieces,
               const node::AccSpec* acc, Completion* completion);

  template <class Word>
  Status atomic(int target, const Key& key, void* remote, AtomicOp op, Word operand, Word compare, Word* before);

  // A put, and a signal that waits for deliver_signals().
  Status put_and_hold(int target, const Key& key, void* remote, const void* local, std::size_t bytes,
                      const node::Signal& signal);
  // The stores before each signal become visible first.
  void deliver_held_signals();

 private:
  struct Operation {
    std::uint64_t number = 0;
    int target = -1;
    bool put = false;  // or an accumulate
    bool held = false;
    bool done = false;  // locally complete
    bool visible = false;
    int tests = 0;
    std::vector<Piece> pieces;
    std::size_t bytes = 0;
    std::optional<node::AccType> adds;
    std::array<char, 16> scale{};
    std::vector<char> staged;  // the bytes that a locally complete put will write
  };
  struct Failure {
    FakeCallKind kind;
    int left;
    Code code;
  };

  Status record(FakeCallKind kind, int target, const void* remote, std::size_t bytes, std::uint64_t operation);
  static bool is_get(FakeCallKind kind);
  void stage(Operation* put);
  static void write(const Operation& put);
  void read(Operation* get);
  std::size_t deliver(const std::vector<std::uint64_t>& numbers);
  void deliver_in_order(int target);
  std::vector<std::uint64_t> invisible_locked(int target) const;
  void check_key(int target, const Key& key) const;
  void notify_visible(std::size_t times) const;

  struct HeldSignal {
    std::vector<std::uint64_t> before;  // stores
    node::Signal signal;
  };

  const bool in_order_;
  mutable std::mutex mutex_;
  std::vector<Operation> operations_;  // by number - 1
  std::vector<HeldSignal> signals_;
  std::vector<FakeCall> calls_;
  std::vector<Failure> failures_;
  std::vector<std::uint64_t> visible_;
  Order flush_order_ = Order::kReversed;
  std::mt19937 random_{1};
  int tests_until_done_ = 1;
  bool holding_ = false;
  int progress_count_ = 0;
  int registered_ = 0;
  std::int32_t next_key_ = 1;
};

template <bool in_order = false, Atomicity atomicity = Atomicity::kTransport, bool wants_on_node = false>
class FakeTransport : public FakeNetwork {
 public:
  static constexpr TransportTraits kTraits = {.name = "fake",
                                              .reaches_nodes = true,
                                              .wants_on_node = wants_on_node,
                                              .in_order = in_order,
                                              .atomicity = atomicity};
  FakeTransport() : FakeNetwork(in_order) {}
};

using ReorderingTransport = FakeTransport<false>;
using InOrderTransport = FakeTransport<true>;

// One that flushes all targets at once.
class FlushAllTransport : public ReorderingTransport {
 public:
  Status flush_all() {
    ++flushes_of_all;
    for (int target = 0; target < kTargets; ++target) {
      if (!invisible(target).empty()) ARMCI_RETURN_IF_ERROR(flush(target));
    }
    return kSuccess;
  }
  int flushes_of_all = 0;

 private:
  static constexpr int kTargets = 8;
};
static_assert(FlushesAll<FlushAllTransport> && !FlushesAll<ReorderingTransport>);

// A network of servers: one with signals, which arrive at once or on command, at a flush at the latest.
class SignalsTransport : public FakeTransport<true, Atomicity::kNodeCpu> {
 public:
  Status put_signal(int target, const Key& key, void* remote, const void* local, std::size_t bytes,
                    const node::Signal& signal) {
    ARMCI_RETURN_IF_ERROR(put_and_hold(target, key, remote, local, bytes, signal));
    if (!holds_signals) deliver_signals();
    return kSuccess;
  }
  Status flush(int target) {
    deliver_signals();
    return FakeNetwork::flush(target);
  }
  void deliver_signals() { deliver_held_signals(); }
  bool holds_signals = false;
};
static_assert(Signals<SignalsTransport> && !Signals<ReorderingTransport>);

// One whose jobs have signals or not.
class SometimesSignalsTransport : public SignalsTransport {
 public:
  bool has_signals() const { return job_has_signals; }
  bool job_has_signals = false;
};
static_assert(SignalsInSomeJobs<SometimesSignalsTransport> && !SignalsInSomeJobs<SignalsTransport>);

// One with atomics of 4 bytes as well.
class NarrowAtomicsTransport : public ReorderingTransport {
 public:
  Status atomic32(int target, const Key& key, void* remote, AtomicOp op, std::int32_t operand, std::int32_t compare,
                  std::int32_t* before) {
    return atomic(target, key, remote, op, operand, compare, before);
  }
};
static_assert(HasAtomic32<NarrowAtomicsTransport> && !HasAtomic32<ReorderingTransport>);
static_assert(Transport<ReorderingTransport> && Transport<InOrderTransport>);

// Executes each atomic operation itself, at once, and brings the value before as a get brings its data.
class RmwTransport : public ReorderingTransport {
 public:
  Status rmw(int target, const Key& key, void* remote, const Rmw& rmw, void* before, Completion* completion) {
    std::int64_t& value = values_.emplace_back();
    if (rmw.bytes == sizeof(std::int32_t)) {
      const auto small =
          node::rmw(rmw.op, remote, static_cast<std::int32_t>(rmw.operand), static_cast<std::int32_t>(rmw.compare));
      std::memcpy(&value, &small, sizeof small);
    } else {
      value = node::rmw(rmw.op, remote, static_cast<std::int64_t>(rmw.operand), static_cast<std::int64_t>(rmw.compare));
    }
    operations.push_back(rmw);
    return start(FakeCallKind::kGet, target, key, remote, {{before, &value, rmw.bytes}}, nullptr, completion);
  }
  std::vector<Rmw> operations;

 private:
  std::deque<std::int64_t> values_;  // stay where they are
};
static_assert(ExecutesRmw<RmwTransport> && !ExecutesRmw<ReorderingTransport>);

// Makes mutexes in a way of its own. Taking one that is held waits without any order; giving back one that is not held
// fails.
class MutexMakingTransport : public ReorderingTransport {
 public:
  struct Mutexes {
    Status lock(int mutex, int host) {
      for (bool taken = false; !taken; std::this_thread::yield()) (void)try_lock(mutex, host, &taken);
      return kSuccess;
    }
    Status try_lock(int mutex, int host, bool* taken) {
      std::lock_guard guard(lock_);
      *taken = held_.insert({mutex, host}).second;
      return kSuccess;
    }
    Status unlock(int mutex, int host) {
      if (on_unlock) on_unlock();
      std::lock_guard guard(lock_);
      return held_.erase({mutex, host}) == 1 ? kSuccess : fail(Code::kLayerBelow, nullptr, "no process holds it");
    }
    Status is_free(int mutex, bool* free) {
      std::lock_guard guard(lock_);
      *free = !held_.contains({mutex, 0});
      return kSuccess;
    }

    std::function<void()> on_unlock;

   private:
    std::mutex lock_;
    std::set<std::pair<int, int>> held_;  // mutex, host
  };

  Status create_mutexes(const GroupView&, std::span<const int>, Mutexes** out) {
    *out = made_.emplace_back(std::make_unique<Mutexes>()).get();
    return kSuccess;
  }
  void destroy_mutexes(Mutexes*) {}

 private:
  std::vector<std::unique_ptr<Mutexes>> made_;
};
static_assert(Transport<MutexMakingTransport> && MakesMutexes<MutexMakingTransport>);

}  // namespace armci::runtime::testing
