// Runtime<T>: everything that implementations share, over one transport T. One object per process.
//
// A call comes down from its entry point (entry.h), is checked, and finds its region. It is routed once: a target on
// the same node goes to node memory (impl/node), any other to the transport. Operations that the transport does not
// offer are built here from its required members. The parts of the class live in runtime_*.h, one file per chapter of
// the API.
//
// Thread safety: transfers, completion, fences, RMW and locks by any thread [THR-1]; collective calls by one thread at
// a time per group.
#pragma once

#include <atomic>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "armcix.h"
#include "impl/base/status.h"
#include "impl/node/accumulate.h"
#include "impl/node/copy.h"
#include "impl/node/mpi_progress.h"
#include "impl/node/node_accumulate.h"
#include "impl/node/node_atomics.h"
#include "impl/node/node_exchange.h"
#include "impl/node/node_memory.h"
#include "impl/node/node_mutex.h"
#include "impl/node/signal.h"
#include "impl/node/waiter.h"
#include "impl/runtime/aggregates.h"
#include "impl/runtime/background_thread.h"
#include "impl/runtime/check.h"
#include "impl/runtime/config.h"
#include "impl/runtime/groups.h"
#include "impl/runtime/handles.h"
#include "impl/runtime/process_barrier.h"
#include "impl/runtime/region_table.h"
#include "impl/runtime/segment_check.h"
#include "impl/runtime/shapes.h"
#include "impl/runtime/transport.h"
#include "impl/runtime/usage.h"
#include "impl/runtime/verbose.h"
#include "impl/runtime/world.h"

namespace armci::runtime {

inline constexpr std::size_t kPartAlignment = 64;  // [MEM-5]; also keeps parts of two processes off one cache line

// How a transfer ends: before the call returns, or through a handle (nullptr: the implicit one).
struct How {
  bool blocking = true;
  armci_hdl_t* handle = nullptr;
};
inline constexpr How kBlocking{};
constexpr How through(armci_hdl_t* handle) { return {false, handle}; }

struct QueueNode;

template <class T>
class Runtime {
  static_assert(Transport<T>, "T does not fulfil the contract of impl/runtime/transport.h");

 public:
  using Key = typename T::Key;
  using Completion = typename T::Completion;
  using RegionType = Region<Key>;
  using Part = typename RegionType::Part;

  // One collectively created set of mutexes.
  struct MutexSet {
    Group* group;
    RegionType* region;              // nullptr: no process hosts a mutex
    std::vector<int> counts;         // by group rank
    std::vector<std::size_t> first;  // by group rank: number of its first mutex in the set; behind the last: how many
    typename MutexesOf<T>::type* own = nullptr;  // the transport's; nullptr: Runtime's own

    void number() {
      first.assign(1, 0);
      for (int count : counts) first.push_back(first.back() + static_cast<std::size_t>(count));
    }
  };

  // Regions of the program in which this process takes part.
  struct RegionUsage {
    std::uint64_t live = 0;
    std::uint64_t bytes = 0;
    std::uint64_t bytes_max = 0;
  };

  // --- start and end (runtime_lifecycle.h)
  Status initialise(MPI_Comm parent);
  Status finalise();
  // After an init that failed on some process: destroys the objects of this one. Called by all processes.
  void abandon();
  const RegionUsage& region_usage() const { return region_usage_; }
  // For reports, which wait for nothing: pending operations, and whether stores to a process await a fence.
  // visit(mutex, host) is called for each mutex that this process holds. False: sets are being made or destroyed.
  std::size_t pending_operations() const { return handles_.total(); }
  // visit(process, operations), as HandleTable::try_visit().
  template <class Visit>
  bool visit_pending(Visit visit) const {
    return handles_.try_visit(visit);
  }
  bool has_unflushed_stores(int proc) const { return !unflushed(proc).stores.is_flushed(); }
  template <class Visit>
  bool visit_held(Visit visit);

  // --- memory (runtime_memory.h, runtime_memget.h). Collective over the group unless it says otherwise.
  Status allocate(Group& group, std::int64_t bytes, void** ptr);
  Status release(Group& group, void* base);
  Status set_mode(Group& group, void* base, AccessMode mode);
  Status memget(std::size_t bytes, armci_meminfo_t* info);        // not collective
  Status memattach(const armci_meminfo_t& info, void** address);  // not collective
  Status memdetach(const armci_meminfo_t& info);
  Status memdelete(const armci_meminfo_t& info);
  // Memory of this process alone, for local buffers: hints for the transport.
  void note_local(void* base, std::size_t bytes);
  void forget_local(void* base);

  // --- transfers (runtime_transfer.h)
  template <Kind kind>
  Status contiguous(const void* src, void* dst, std::size_t bytes, int proc, How how,
                    const node::AccSpec& acc = node::kNoAccumulate);
  template <Kind kind>
  Status strided(const void* src, void* dst, const Strided& shape, int proc, How how,
                 const node::AccSpec& acc = node::kNoAccumulate);
  // The frequent case of strided(), tried before it.
  template <Kind kind>
  bool move_rows(const void* src, std::ptrdiff_t src_stride, void* dst, std::ptrdiff_t dst_stride, std::size_t bytes,
                 std::size_t rows, int proc);
  template <Kind kind>
  Status vector(const Segments* list, std::size_t length, int proc, How how,
                const node::AccSpec& acc = node::kNoAccumulate);
  template <class Value>
  Status put_value(Value value, void* dst, int proc);
  // The put is unordered, as other non-blocking puts are. The value is copied at return.
  template <class Value>
  Status nb_put_value(Value value, void* dst, int proc);
  template <class Value>
  Status get_value(const void* src, int proc, Value* value);
  // Stores a flag. A process that reads the flag also sees all earlier stores of this process to proc [ORD-5].
  template <class Word>
  Status put_flag(Word value, Word* flag, int proc);

  // --- completion and fences (runtime_sync.h)
  Status wait(armci_hdl_t* handle);
  Status test(armci_hdl_t* handle, bool* done);
  // Issues the batch of an aggregate handle, whose operations still need a wait.
  Status flush_batch(const HandleBits& handle);
  Status wait_proc(int proc);
  Status wait_all();
  Status fence(int proc);
  Status fence_all();
  Status fence_group(const Group& group);
  Status barrier(Group& group);
  void progress() { transport_.progress(); }
  // One pass over the transport, and over MPI where this thread may call it [PROG-5].
  void poll() {
    transport_.progress();
    if (node::may_poll_mpi()) node::poll_mpi_progress();
  }
  // The memory of the transport for messages to and from other nodes.
  std::size_t buffer_bytes() {
    if constexpr (HasBuffers<T>) return transport_.buffer_bytes();
    return 0;
  }
  // The faults that the transport works around; until finalise().
  std::span<const Finding> findings() const {
    if constexpr (HasFindings<T>) return transport_.findings();
    return {};
  }

  // The choices of the transport; until finalise().
  std::span<const Choice> choices() const {
    if constexpr (HasChoices<T>) return transport_.choices();
    return {};
  }

  // --- atomics (runtime_atomics.h)
  template <std::integral Value>
  Status rmw(node::RmwOp op, void* remote, Value operand, Value compare, Value* before, int proc, How how = kBlocking);
  Status notify(int proc);
  Status notify_wait(int proc, int* count);
  // A blocking put of 0 bytes or more, then the change of a word, which lies in a region of the target. op: not
  // kClearIfEqual.
  Status put_signal(const void* src, void* dst, std::size_t bytes, std::uint64_t* word, std::uint64_t value,
                    node::SignalOp op, int proc);
  // Returns when changed() holds, which reads words of this process. woken: a signal of the same node or a server wakes
  // this thread after each change.
  template <class Changed>
  void await_signal(node::WaitKind kind, bool woken, Changed changed);

  // --- mutexes (runtime_mutex.h)
  Status create_mutexes(Group& group, int count, std::unique_ptr<MutexSet>* out);
  // Resets *set, also on failure, unless a mutex is held.
  Status destroy_mutexes(std::unique_ptr<MutexSet>* set);
  Status lock(MutexSet& set, int mutex, int group_rank);
  Status try_lock(MutexSet& set, int mutex, int group_rank, bool* taken);
  Status unlock(MutexSet& set, int mutex, int group_rank);

  // Creates the barrier and the exchange slots of a new group in node memory. Collective over the group.
  Status create_resources(Group& group);
  // Frees them and destroys the group. Called by all members, waits for none.
  Status destroy_resources(Group& group);
  static std::size_t group_area_bytes(int members) {
    return sizeof(node::Barrier) + node::exchange_area_bytes(members);
  }

  static constexpr TransportTraits traits() { return T::kTraits; }
  RegionTable<Key>& regions() { return regions_; }
  T& transport() { return transport_; }
  std::unique_ptr<MutexSet> world_mutexes;
  // An address that can be loaded and stored directly, or nullptr.
  void* direct_pointer(int proc, const void* address);

  // Whether [address, address + bytes) lies in a region of proc; `name` is the argument's, for the message.
  Status check_remote(const char* name, const void* address, std::size_t bytes, int proc) {
    ARMCI_RETURN_IF_ERROR(check_proc(proc));
    if (address == nullptr) return fail(Code::kNull, "ERR-1", "argument %s is NULL; pass a valid address", name);
    return regions_.find(proc, address, bytes) != nullptr ? kSuccess : bad_address(proc, name, address, bytes);
  }
  Status check_proc(int proc) const {
    if (static_cast<unsigned>(proc) < static_cast<unsigned>(size_)) [[likely]]
      return kSuccess;
    return fail(Code::kProc, "ERR-1", "argument proc = %d is outside 0..%d; pass a rank of the world", proc, size_ - 1);
  }

 private:
  template <class>
  friend class RuntimeForTest;
  struct Service;  // the memory of the runtime itself in every process

  // Routing, decided once. Data of a same-node target is moved by this CPU unless the transport wants it.
  bool on_node(int proc) const {
    if constexpr (!T::kTraits.reaches_nodes) return true;
    return (path_flags_[static_cast<std::size_t>(proc)] & kCpuCopies) != 0;
  }
  bool cpu_atomics(int proc) const {
    if constexpr (!T::kTraits.reaches_nodes) return true;
    return (path_flags_[static_cast<std::size_t>(proc)] & kCpuAtomics) != 0;
  }
  bool same_node(int proc) const { return path_flags_[static_cast<std::size_t>(proc)] != 0; }
  static constexpr unsigned char kSameNode = 1;
  static constexpr unsigned char kCpuCopies = 2;
  static constexpr unsigned char kCpuAtomics = 4;
  static constexpr bool kNodeOnly = !T::kTraits.reaches_nodes;

  // Whether signals go through the transport, between nodes of this job.
  bool has_signals() const {
    if constexpr (SignalsInSomeJobs<T>) {
      return transport_.has_signals();
    } else {
      return Signals<T>;
    }
  }
  // Whether each signal wakes the threads that wait for it, also one of another node.
  bool servers_wake() const { return kNodeOnly || has_signals(); }

  Status choose_provider(MPI_Comm parent);
  void prepare(const World& job);  // the part of initialise() without communication

  template <class Record>
  Status allgather(Group& group, const Record& mine, Record* all);

  // memory
  struct Layout {
    std::vector<std::size_t> offset;  // of each group rank's part in its node's block
    std::vector<std::size_t> bytes_of_node;
  };
  Status allgather_sizes(Group& group, std::int64_t bytes, std::vector<std::int64_t>* sizes, std::int64_t* id);
  static constexpr std::size_t kLargestBlock = std::size_t{1} << 60;
  Layout lay_out(const Group& group, const std::vector<std::int64_t>& sizes, Status* status) const;
  Status take_blocks(Group& group, const Layout& layout, RegionType* region);
  Status make_on_nodes(Group& group, const std::vector<std::int64_t>& sizes, RegionType* region);
  Status make_by_transport(Group& group, RegionType* region);
  Status check_limit(std::size_t bytes) const;
  Status commit_part(const Part& part, Key* key);
  Status commit_and_register(Group& group, RegionType* region);
  Status expose(Group& group, RegionType* region);
  Status allocate_region(Group& group, std::int64_t bytes, RegionType** out);
  Status agree_on_region(Group& group, void* base, std::int64_t* id);
  void dispose(std::unique_ptr<RegionType> region, bool give_back);
  void deregister(const RegionType& region);
  void await_deregistered(Group& group);

  // completion
  bool idle() const;
  Status wait_for_pending(armci_hdl_t* handle);
  Status fence_pending(int proc);

  // transfers
  [[gnu::cold]] Status bad_address(int proc, const char* name, const void* address, std::size_t bytes) const;
  Status check_buffers(const void* src, const void* dst) const;
  template <Kind kind>
  Status contiguous_checked(const void* src, void* dst, std::size_t bytes, int proc, How how, const node::AccSpec& acc);
  Status check_accumulate(const node::AccSpec& acc, const char* length_name, std::size_t bytes, const void* dst,
                          std::uintptr_t alignment) const;
  template <Kind kind>
  Status locate_vector(const Segments& segments, int proc, std::uintptr_t* dst_bits);
  template <Kind kind>
  Status locate_segments(void* const* remotes, void* const* locals, const Segments& segments, int proc,
                         std::uintptr_t* dst_bits);
  template <Kind kind>
  Status observe(const RegionType& region, std::size_t bytes, int proc) const;
  template <Kind kind>
  Status move_contiguous(const Part& part, const void* src, void* dst, std::size_t bytes, int proc, How how,
                         const node::AccSpec& acc);
  template <Kind kind>
  Status check_contiguous(const void* src, const void* dst, std::size_t bytes, int proc, const Part** part);
  template <Kind kind>
  Status move_to_other_node(const Part& part, const void* src, void* dst, std::size_t bytes, int proc, How how,
                            const node::AccSpec& acc);
  template <Kind kind>
  Status issue_to_other_node(const Part& part, const void* src, void* dst, std::size_t bytes, int proc, How how,
                             const node::AccSpec& acc);
  template <Kind kind>
  Status move_vector(const Segments* list, std::size_t length, std::uintptr_t dst_bits, int proc, How how,
                     const node::AccSpec& acc);

  // aggregate handles (runtime_aggregate.h)
  template <Kind kind>
  bool is_coalesced(How how, std::size_t bytes, int proc) const;
  template <Kind kind>
  Status coalesce(const Part& part, const void* src, void* dst, std::size_t bytes, int proc, How how,
                  const node::AccSpec& acc);
  bool flush_batch_step(const HandleBits& handle, Status* status);
  template <class Wanted>
  Status flush_batches(Wanted wanted);
  Status flush_taken();
  Status issue_next_list();
  template <Kind kind>
  Status issue_list(const Segments& segments, int proc, How how, const node::AccSpec& acc);

  // atomics
  node::WakeUp* wake_up_of(int proc) const;
  void set_wake_ups();
  Status remote_put_signal(const void* src, void* dst, std::size_t bytes, std::uint64_t* word, std::uint64_t value,
                           node::SignalOp op, int proc);
  Status set_word(int proc, const Part& part, std::uint64_t* word, std::uint64_t value);
  Status issue_signal(int proc, const Part& part, const node::Signal& signal);
  Status check_rmw(const void* remote, std::size_t bytes, int proc, const Part** part);
  template <std::integral Value>
  Status checked_rmw(node::RmwOp op, void* remote, Value operand, Value compare, Value* before, int proc, How how);
  static constexpr bool kExecutesAllRmw = ExecutesRmw<T> && !ExecutesSomeRmw<T>;
  static constexpr bool executes(node::RmwOp op);
  Status issue_rmw(const Part& part, void* remote, const Rmw& rmw, void* before, int proc, How how);
  template <std::integral Value>
  Status remote_rmw(const Part& part, node::RmwOp op, void* remote, Value operand, Value compare, Value* before,
                    int proc);
  template <class Word, std::integral Value>
  Status rmw_in_word(const Part& part, node::RmwOp op, void* remote, Value operand, Value compare, Value* before,
                     int proc);

  // the way to other nodes (runtime_remote.h)
  Status issue_put(const Part& part, void* remote, const void* local, std::size_t bytes, int proc, How how);
  Status remote_put(const Part& part, void* remote, const void* local, std::size_t bytes, int proc, How how);
  Status remote_get(const Part& part, const void* remote, void* local, std::size_t bytes, int proc, How how);
  template <Kind kind, class Issue>
  Status issue_whole(int proc, How how, Issue issue);
  template <Kind kind>
  Status remote_list(const Segments& segments, int proc, How how, const node::AccSpec& acc);
  template <Kind kind>
  static constexpr bool kTakesShapes = kind == Kind::kAcc ? Accumulates<T> : MovesShapes<T>;
  template <Kind kind>
  Status remote_strided(const Part& part, const void* src, void* dst, const Strided& shape, int proc, How how,
                        const node::AccSpec& acc);
  Status locked_accumulate(const Part& part, void* remote, const void* local, std::size_t bytes, int proc,
                           const node::AccSpec& acc);
  Status take_accumulate_lock(int proc);
  Status drop_accumulate_lock(int proc);
  Status atomic64(int proc, const Part& part, void* remote, AtomicOp op, std::int64_t operand, std::int64_t compare,
                  std::int64_t* before);
  template <class Word>
  Status atomic(int proc, const Part& part, void* remote, AtomicOp op, Word operand, Word compare, Word* before);
  Status order_after_stores(int proc);
  Completion completion_for(How how) const;
  Status finish(Completion completion, int proc, How how);
  Status complete(Completion& completion);
  bool ended(Completion& completion, Status* status);
  template <class Complete>
  void await_completion(Complete complete);
  void wait_for_each(std::span<const Completion> completions, Status* status);
  Status flush(int proc);
  Status flush_all();
  struct Unflushed;
  struct Covered;
  Unflushed& unflushed(int proc) { return unflushed_[static_cast<std::size_t>(proc)]; }
  const Unflushed& unflushed(int proc) const { return unflushed_[static_cast<std::size_t>(proc)]; }
  bool has_unflushed(int proc) const;
  void note_store(int proc) { unflushed(proc).stores.note_issued(); }
  Covered issued_to(int proc) const;
  void note_flushed(int proc, const Covered& covered);
  void flush_if_unflushed(int proc, Status* status);
  template <class Wanted>
  Status complete_pending(Wanted wanted);
  template <class Wanted>
  Status complete_all_pending(Wanted wanted);

  // mutexes over atomic64 (runtime_mutex_queue.h)
  struct Queue;
  Status check_mutex(const MutexSet& set, int mutex, int group_rank) const;
  int find_held(const MutexSet& set);
  bool is_holder(const MutexSet& set, int mutex, int group_rank) const;
  void wait_for_mutex(node::NodeMutex* place, int host, int mutex);
  char* mutex_place(const MutexSet& set, int mutex, int group_rank) const;
  bool uses_queues(const Group& group) const;
  std::size_t mutex_part_bytes(const MutexSet& set, int group_rank) const;
  QueueNode* queue_node(const MutexSet& set, std::size_t number, int group_rank) const;
  Queue queue_of(const MutexSet& set, int mutex, int group_rank) const;
  void take_turn(QueueNode& node);
  Status create_own_mutexes(MutexSet& set);
  Status queue_lock(const MutexSet& set, int mutex, int group_rank);
  Status queue_try_lock(const MutexSet& set, int mutex, int group_rank, bool* taken);
  Status queue_unlock(const MutexSet& set, int mutex, int group_rank);
  Status enter_queue(const Queue& queue);
  Status try_queue(const Queue& queue, bool* taken);
  Status leave_queue(const Queue& queue);
  Status queue_up(const Queue& queue);
  Status stand_behind(const Queue& queue, std::int64_t mine, std::int64_t ahead, bool* released);
  Status free_tail(const Queue& queue, bool* freed);
  Status release_turn(const Queue& queue, int* successor);
  Status hand_over(const Queue& queue, int successor);
  template <class Word>
  Status read_word(int proc, const Part& part, const void* remote, Word* value);

  // Stores or signals to one process: how many were issued, and how many of those the last finished flush covers. Two
  // counts and not a flag: a thread must not take another thread's unfinished flush for its own [THR-1].
  struct IssuedCount {
    std::atomic<std::uint64_t> issued{0};
    std::atomic<std::uint64_t> flushed{0};

    // After the call that issued it, so that a flush that covers the count covers the store.
    void note_issued() { issued.fetch_add(1, std::memory_order_release); }
    bool is_flushed() const {
      return flushed.load(std::memory_order_acquire) >= issued.load(std::memory_order_relaxed);
    }
    void note_flushed(std::uint64_t covered) {
      std::uint64_t before = flushed.load(std::memory_order_relaxed);
      while (before < covered && !flushed.compare_exchange_weak(before, covered, std::memory_order_release)) {
      }
    }
  };
  // Signals count by themselves: an unlock needs a flush after stores, and none after the signal of the last unlock.
  struct Unflushed {
    IssuedCount stores;
    IssuedCount signals;
  };
  struct Covered {
    std::uint64_t stores;
    std::uint64_t signals;
  };

  T transport_;
  RegionTable<Key> regions_;
  HandleTable<Completion> handles_;
  Aggregates aggregates_;
  std::mutex flushing_;
  AggregateBatch taken_;  // being flushed
  RegionType* service_ = nullptr;
  bool transport_started_ = false;
  bool several_nodes_ = false;
  std::vector<unsigned char> path_flags_;                  // by absolute id: kSameNode, and what the CPU does there
  std::vector<Unflushed> unflushed_;                       // by absolute id
  std::vector<std::atomic<std::uint64_t>> notifications_;  // by absolute id: consumed by notify_wait
  std::vector<std::uint64_t> notified_;                    // by absolute id: sent to other nodes
  std::atomic<std::int64_t> next_region_{0};
  RegionUsage region_usage_;
  std::mutex usage_mutex_;
  std::vector<const MutexSet*> mutex_sets_;  // that exist
  std::mutex mutex_sets_lock_;
  std::mutex notify_mutex_;
  int size_ = 0;
  int rank_ = -1;
  std::int64_t handoff_us_ = 0;
};

}  // namespace armci::runtime

#include "impl/runtime/runtime_aggregate.h"
#include "impl/runtime/runtime_atomics.h"
#include "impl/runtime/runtime_lifecycle.h"
#include "impl/runtime/runtime_memget.h"
#include "impl/runtime/runtime_memory.h"
#include "impl/runtime/runtime_mutex.h"
#include "impl/runtime/runtime_mutex_queue.h"
#include "impl/runtime/runtime_remote.h"
#include "impl/runtime/runtime_sync.h"
#include "impl/runtime/runtime_transfer.h"
