// The seam between the shared core and one implementation: the contract of a transport.
//
// A transport moves bytes between processes on different nodes (and, with wants_on_node, on one node) and offers one
// 64-bit atomic. Everything else - checks, regions, groups, shapes, handles, fences, accumulate, mutexes - is done by
// Runtime<T> (runtime.h) from these members.
// There are no virtual functions: Runtime<T> is instantiated once per implementation and its hot path is inlined.
//
// ## Required
//
//   struct T::Key           trivially copyable, at most kKeyBytesMax: names registered memory to a remote
//                           process. Sent by MPI.
//   struct T::Completion    default-constructible, movable: one pending operation. Runtime may move or
//                           destroy it while the operation is pending: no thread or callback may write into it.
//   static constexpr TransportTraits kTraits
//
//   Status initialise(const World&)      Collective, after node memory is attached. Fails with kUnsupported and the
//                                        reason if the transport cannot work in this job.
//   void finalise()                      Collective; no process has a pending operation. Follows every
//                                        initialise, also one that failed, here or on another process. Other
//                                        processes may have finalised: a connection that they closed is no error.
//   Status register_memory(void* base, size_t bytes, Key*)
//                                        Local. `base` lies in node memory, committed. May fail with kMemory; the
//                                        allocation is then undone on all processes.
//   void deregister_memory(const Key&)   Local; no operation on it is pending.
//   Status put(int target, const Key&, void* remote, const void* local, size_t bytes, Completion*)
//   Status get(int target, const Key&, const void* remote, void* local, size_t bytes, Completion*)
//                                        Start a transfer; bytes > 0, any alignment. May wait for a
//                                        buffer, a queue entry or a credit that the network or a thread of the port
//                                        frees, never for the target's program or a later call of this process; may be
//                                        complete at return.
//                                        The Completion is a new one, never null. `remote` is an address of the target;
//                                        the target may be this process where wants_on_node is true. The buffer belongs
//                                        to the transport until test() reports done. Naturally aligned 4- and 8-byte
//                                        elements are never torn [LC-3].
//   Status atomic64(int target, const Key&, void* remote, AtomicOp, int64_t operand, int64_t compare, int64_t* before)
//                                        Blocking, atomic against every other atomic64 of any process on that word
//                                        (8-byte aligned), effective at return; one that failed had no effect. Also
//                                        with target == this process.
//   Status test(Completion*, bool* done) Local completion, never blocks, advances the transfer. Order between
//                                        operations: see TransportTraits::in_order.
//                                        A failure ends the operation: the origin may reuse its buffer.
//   Status flush(int target)             Returns when every put of this process to target is visible to all processes
//                                        (remote completion), without the target's program [FENCE-3].
//   void progress()                      One pass over the work that needs this process's CPU; never blocks.
//
// Mutexes, counters and notifications live in registered memory [DLA-1]. So the owner sees the data of put and atomic64
// by plain loads after remote completion, and put and atomic64 see the owner's plain stores. Runtime may destroy a
// Completion after a flush or after finalise without a last test().
//
// All members return errors with the layer's own text, the call and the peer recorded by fail() [ERR-3]. All may be
// called by several threads when the thread level is MPI_THREAD_MULTIPLE.
//
// ## Optional: used where the transport has them
//
//   static Routing T::route(const World&)
//                                        Whether the CPU copies and executes atomics on a node, in this job. Without
//                                        it the traits decide. The same result on all processes.
//   Status register_region(const GroupView&, span<const Exposed> parts, span<Key> keys)
//                                        Collective over the group: exposes the region whose part of group rank r is
//                                        parts[r] (bytes == 0: none) and makes keys[r], valid in this process. For
//                                        layers below that expose memory collectively, as MPI windows do. Succeeds or
//                                        fails on all alike. register_memory is then called only for memory that one
//                                        process allocates alone [MEM-14].
//   void deregister_region(const Key&)   Collective over the same group, with the key of any of its parts.
//
//   Status choose_provider(MPI_Comm parent, int* node_size)
//                                        For layers below that also allocate the memory of regions, in some jobs or in
//                                        all. Collective, before the world is created: decides whether this job is
//                                        one. The addresses of such memory are valid for its owner only, so
//                                        *node_size, the ARMCI_NODE_SIZE in force, is then 1. Fails on all alike.
//   bool provides_memory() const         The result of choose_provider(), the same on all processes.
//   Status provide_region(const GroupView&, span<Exposed> parts, span<Key> keys)
//                                        As register_region where memory is provided, and makes it: parts come with
//                                        their sizes and get their bases, multiples of kPartAlignment [MEM-5]. The
//                                        pages of this process's part are there at return [MEM-8]. deregister_region
//                                        ends it.
//
//   Status put_now / get_now(as put and get, without a Completion)
//                                        Return at local completion; may wait for the target's
//                                        network, never for its program. A store is complete after a flush only.
//   Status atomic32(int target, const Key&, void* remote, AtomicOp, int32_t operand, int32_t compare, int32_t* before)
//                                        As atomic64, on 4-byte words: atomic against every other atomic32 on that
//                                        word; nothing is promised against an atomic64 on the 8 bytes around it.
//                                        Without it, RMW on 4 bytes replaces the 8 bytes around them.
//
//   Status rmw(int target, const Key&, void* remote, const Rmw&, void* before, Completion*)
//                                        Any operation of node::RmwOp in one step at the target, atomic as atomic64 and
//                                        atomic32 are; the value before comes as the data of a get do. A store like a
//                                        put, visible after a flush. completion == nullptr: the call returns when the
//                                        value is there. Without it Runtime makes all operations from atomic64 and
//                                        atomic32, and they are complete at return.
//   static bool executes(node::RmwOp)    For transports whose rmw() has some operations only: whether `op` is one.
//                                        Runtime makes the others as without rmw().
//
//   Status put_signal(int target, const Key&, void* remote, const void* local, size_t bytes, const node::Signal&)
//                                        As put_now, of 0 bytes or more, and a signal (impl/node/signal.h) to a word of
//                                        the target; the key is that of the data, or without data that of the word.
//                                        The word changes after the data and after every store that this
//                                        process issued to the target before, complete or not. Needs no later call of
//                                        the origin. Complete after a flush, as a store. Without it Runtime flushes,
//                                        and changes the word by put or atomic64, which wakes no thread. May wait for
//                                        the same as put. Atomic against atomic64 unless signal.sole_writer.
//   bool has_signals() const             For transports that have put_signal in some jobs only: whether this job is
//                                        one. The same on all processes, constant from initialise() to finalise().
//                                        Without it every job with several nodes is one.
//
//   void set_wake_ups(vector<node::WakeUp*> all)
//                                        For transports whose network sets the word of a signal, and has no room for
//                                        the address of its WakeUp: that of each process of this node, by absolute id;
//                                        null for the other processes. Once, before the first signal. Their memory
//                                        stays until finalise() returns.
//
//   Status wait(const Completion&)       As test() until the operation has ended; later tests find it ended. Without it
//                                        Runtime calls test() and progress() again and again.
//
//   bool Completion::complete() const    Whether the operation was complete when it was issued. Runtime does not call
//                                        test() then.
//   bool Completion::aggregate           Set by Runtime before put, get and the members for descriptors: the operation
//                                        belongs to an aggregate handle. So the transport may keep it back until
//                                        test(), flush() or an operation that must not overtake it [AGG-1, AGG-3].
//                                        Without it Runtime coalesces short contiguous operations itself, where the
//                                        transport takes lists.
//   bool Completion::operator==          With aggregate: operations of one handle for one target that have equal
//                                        completions end together, and Runtime keeps one of them.
//   size_t buffer_bytes()                Memory for messages of and to other nodes, at this moment.
//
//   void register_local(void* base, size_t bytes) / deregister_local(void* base)
//                                        Memory of this process alone, of ARMCI_Malloc_local: local buffers of
//                                        transfers will lie there, from the first call to the second [MEM-9]. A hint.
//
//   span<const Finding> findings() const Known faults of the layer below that the transport works around, found by
//                                        initialise(), the same on all processes; until finalise().
//
//   span<const Choice> choices() const   The choices of initialise() among several ways (a device, the kind of
//                                        server), the same on all processes; until finalise(). A ChoiceList
//                                        (choice_list.h) keeps and shares them.
//
//   struct T::Mutexes                    A set of mutexes that the transport implements itself:
//   Status create_mutexes(const GroupView&, span<const int> counts, T::Mutexes**)
//                                        Collective over the group: counts[r] free mutexes at group rank r. Succeeds or
//                                        fails on all alike. Does not write the pointer, on all alike, where
//                                        Runtime shall build the mutexes from atomic64.
//   void destroy_mutexes(T::Mutexes*)    Collective over the same group; all are free. finalise() destroys those left.
//     Status lock(int mutex, int host)   `host` is a group rank. Fair; does not keep other threads from MPI. Of one
//     Status try_lock(..., bool* taken)  process, one thread at a time is between lock or try_lock and unlock of a
//     Status unlock(int mutex, int host) mutex. An unlock that failed can be repeated.
//     Status is_free(int mutex, bool*)   Of this process's own.
//                                        Neither orders memory: Runtime has the barriers, and flushes the holder's
//                                        stores before unlock() [MUTEX-2, MUTEX-3, MUTEX-6].
//
//   Status flush_all()                   flush() of every target at once, overlapped [FENCE-7]. The next call tries a
//                                        failed flush again.
//
//   void set_mode(const Key&, AccessMode)
//                                        The program promises to access the region of this part in that way only
//                                        [MODE-1]. Called on every member, with no operation pending, before any
//                                        proceeds.
//
// ## Optional: descriptors that come whole, never cut into segments
//
// Strides and addresses are of source and destination, as in the call, not of remote and local. Dimensions without gaps
// are joined already, so a shape may have fewer levels than the call's, and accumulate_strided gets shapes with none.
// All remote addresses of a list lie in the one part whose key is given. completion == nullptr: the call returns at
// local completion. Without these members Runtime makes one contiguous transfer of each segment.
//
//   Status put_strided(int target, const Key&, void* remote, const void* local, const Strided&, Completion*)
//   Status get_strided(int target, const Key&, const void* remote, void* local, const Strided&, Completion*)
//   Status put_list(int target, const Key&, const Segments&, Completion*)
//   Status get_list(int target, const Key&, const Segments&, Completion*)
//
//   Status accumulate_strided(int target, const Key&, void* remote, const void* local, const Strided&, const AccSpec&,
//                             Completion*)
//   Status accumulate_list(int target, const Key&, const Segments&, const AccSpec&, Completion*)
//                                        Every element is added atomically against every other accumulate of its type
//                                        [ACC-2]; a store like a put, visible after a flush. Without these, Runtime
//                                        reads, adds and writes back under a lock at the target.
//
// A port with only the required part passes the conformance suite, slowly: impl/loopback is one.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "impl/base/status.h"
#include "impl/node/accumulate.h"
#include "impl/node/node_atomics.h"
#include "impl/node/signal.h"
#include "impl/runtime/shapes.h"
#include "impl/runtime/world.h"

namespace armci::runtime {

enum class AtomicOp { kFetchAdd, kSwap, kCompareSwap };

// The CPU operation for it.
constexpr node::RmwOp node_op(AtomicOp op) {
  switch (op) {
    case AtomicOp::kFetchAdd:
      return node::RmwOp::kAdd;
    case AtomicOp::kSwap:
      return node::RmwOp::kSwap;
    case AtomicOp::kCompareSwap:
      break;
  }
  return node::RmwOp::kCompareSwap;
}

// An atomic operation on an aligned word. Operand and comparand have its bytes, the lowest first.
struct Rmw {
  node::RmwOp op;
  std::size_t bytes;  // 4 or 8
  std::uint64_t operand;
  std::uint64_t compare;
};
template <class Word>
constexpr Rmw rmw_of(AtomicOp op, Word operand, Word compare) {
  return {node_op(op), sizeof operand, static_cast<std::uint64_t>(operand), static_cast<std::uint64_t>(compare)};
}

// How the program promises to access a region [MODE-1].
enum class AccessMode : int { kDefault = 0, kReadOnly = 1, kAccOnly = 2, kPutOnly = 3 };

// The mechanism that makes accumulate, RMW and mutexes of a region atomic. One per implementation, never mixed.
enum class Atomicity {
  kNodeCpu,    // CPU atomics in node memory, by an origin on the node or by the target node's server (optional members)
  kTransport,  // the transport's atomic64, for every target, the origin's own node included
};

struct TransportTraits {
  const char* name;    // the implementation, as ARMCIX_Implementation reports it
  bool reaches_nodes;  // false: only same-node targets exist; put, get... are never called
  bool wants_on_node;  // true: same-node put and get go to the transport as well
  bool in_order;       // put, get and atomic64 of one thread to one target take effect in the order of issue.
                       // Non-blocking operations are unordered until test() reports them complete [ORD-3, ORD-4].
                       // If false, Runtime flushes before an operation that must not overtake an earlier store.
  Atomicity atomicity;
  bool thread_calls_mpi = false;  // a thread of the transport calls MPI: the program's MPI_Init is prepared for it
};

// Same-node targets in one job: whether the origin's CPU copies bytes, and whether it executes accumulates, RMW and
// mutexes. The latter only where no other node can reach the same memory.
struct Routing {
  bool cpu_copies;
  bool cpu_atomics;
};

// One process's part of a region.
struct Exposed {
  int proc;  // absolute id
  void* base;
  std::size_t bytes;
};

// The members of a group, as a transport sees them.
struct GroupView {
  MPI_Comm comm;
  int rank;  // this process's
};

// A known fault of the layer below, as sentences for people to read.
struct Finding {
  const char* name;
  const char* text;     // the fault
  const char* instead;  // the workaround
};

// One of several ways, for people to read.
struct Choice {
  const char* name;
  const char* value;
};

inline constexpr std::size_t kKeyBytesMax = 64;

template <class T>
concept Transport =
    std::is_trivially_copyable_v<typename T::Key> && sizeof(typename T::Key) <=
    kKeyBytesMax&& std::default_initializable<typename T::Completion>&& std::movable<typename T::Completion>&& requires(
        T t, const World& world, int target, void* remote, void* local, const void* source, std::size_t bytes,
        typename T::Key key, typename T::Completion completion, bool done, std::int64_t value) {
  { T::kTraits } -> std::convertible_to<TransportTraits>;
  { t.initialise(world) } -> std::same_as<Status>;
  { t.finalise() } -> std::same_as<void>;
  { t.register_memory(remote, bytes, &key) } -> std::same_as<Status>;
  { t.deregister_memory(key) } -> std::same_as<void>;
  { t.put(target, key, remote, source, bytes, &completion) } -> std::same_as<Status>;
  { t.get(target, key, source, local, bytes, &completion) } -> std::same_as<Status>;
  { t.atomic64(target, key, remote, AtomicOp::kFetchAdd, value, value, &value) } -> std::same_as<Status>;
  { t.test(&completion, &done) } -> std::same_as<Status>;
  { t.flush(target) } -> std::same_as<Status>;
  { t.progress() } -> std::same_as<void>;
};

template <class T>
concept RoutesByJob = requires(const World& world) {
  { T::route(world) } -> std::same_as<Routing>;
};

template <class T>
concept RegistersCollectively = requires(T t, const GroupView& group, std::span<const Exposed> parts,
                                         std::span<typename T::Key> keys) {
  { t.register_region(group, parts, keys) } -> std::same_as<Status>;
  { t.deregister_region(keys[0]) } -> std::same_as<void>;
};

template <class T>
concept ProvidesMemory = RegistersCollectively<T> &&
    requires(T t, const T same, MPI_Comm parent, int* node_size, const GroupView& group, std::span<Exposed> parts,
             std::span<typename T::Key> keys) {
  { t.choose_provider(parent, node_size) } -> std::same_as<Status>;
  { same.provides_memory() } -> std::same_as<bool>;
  { t.provide_region(group, parts, keys) } -> std::same_as<Status>;
};

template <class T>
concept TransfersAtOnce = requires(T t, int target, const typename T::Key& key, void* to, const void* from,
                                   std::size_t bytes) {
  { t.put_now(target, key, to, from, bytes) } -> std::same_as<Status>;
  { t.get_now(target, key, from, to, bytes) } -> std::same_as<Status>;
};

template <class T>
concept Signals = requires(T t, int target, const typename T::Key& key, void* to, const void* from, std::size_t bytes,
                           const node::Signal& signal) {
  { t.put_signal(target, key, to, from, bytes, signal) } -> std::same_as<Status>;
};

template <class T>
concept SignalsInSomeJobs = Signals<T> && requires(const T t) {
  { t.has_signals() } -> std::same_as<bool>;
};

template <class T>
concept WakesThreads = requires(T t, std::vector<node::WakeUp*> all) {
  { t.set_wake_ups(all) } -> std::same_as<void>;
};

template <class T>
concept FlushesAll = requires(T t) {
  { t.flush_all() } -> std::same_as<Status>;
};

template <class T>
concept AppliesModes = requires(T t, const typename T::Key& key) {
  { t.set_mode(key, AccessMode::kDefault) } -> std::same_as<void>;
};

template <class T>
concept HasAtomic32 = requires(T t, int target, const typename T::Key& key, void* remote, std::int32_t value) {
  { t.atomic32(target, key, remote, AtomicOp::kFetchAdd, value, value, &value) } -> std::same_as<Status>;
};

template <class T>
concept ExecutesRmw = requires(T t, int target, const typename T::Key& key, void* remote, const Rmw& rmw, void* before,
                               typename T::Completion* completion) {
  { t.rmw(target, key, remote, rmw, before, completion) } -> std::same_as<Status>;
};

template <class T>
concept ExecutesSomeRmw = ExecutesRmw<T> && requires(node::RmwOp op) {
  { T::executes(op) } -> std::same_as<bool>;
};

template <class T>
concept WaitsForCompletion = requires(T t, const typename T::Completion completion) {
  { t.wait(completion) } -> std::same_as<Status>;
};

template <class T>
concept ReportsCompletion = requires(const typename T::Completion completion) {
  { completion.complete() } -> std::same_as<bool>;
};

template <class T>
concept Coalesces = requires(typename T::Completion completion) {
  completion.aggregate = true;
};

template <class T>
concept HasBuffers = requires(T t) {
  { t.buffer_bytes() } -> std::same_as<std::size_t>;
};

template <class T>
concept RegistersLocal = requires(T t, void* base, std::size_t bytes) {
  { t.register_local(base, bytes) } -> std::same_as<void>;
  { t.deregister_local(base) } -> std::same_as<void>;
};

template <class T>
concept HasFindings = requires(const T t) {
  { t.findings() } -> std::same_as<std::span<const Finding>>;
};

template <class T>
concept HasChoices = requires(const T t) {
  { t.choices() } -> std::same_as<std::span<const Choice>>;
};

template <class T>
concept MovesShapes = requires(T t, int target, const typename T::Key& key, void* to, const void* from,
                               const Strided& shape, const Segments& list, typename T::Completion* completion) {
  { t.put_strided(target, key, to, from, shape, completion) } -> std::same_as<Status>;
  { t.get_strided(target, key, from, to, shape, completion) } -> std::same_as<Status>;
  { t.put_list(target, key, list, completion) } -> std::same_as<Status>;
  { t.get_list(target, key, list, completion) } -> std::same_as<Status>;
};

template <class T>
concept Accumulates = requires(T t, int target, const typename T::Key& key, void* to, const void* from,
                               const Strided& shape, const Segments& list, const node::AccSpec& acc,
                               typename T::Completion* completion) {
  { t.accumulate_strided(target, key, to, from, shape, acc, completion) } -> std::same_as<Status>;
  { t.accumulate_list(target, key, list, acc, completion) } -> std::same_as<Status>;
};

template <class T>
concept MakesMutexes = requires(T t, typename T::Mutexes* set, const GroupView& group, std::span<const int> counts,
                                int mutex, int host, bool result) {
  { t.create_mutexes(group, counts, &set) } -> std::same_as<Status>;
  { t.destroy_mutexes(set) } -> std::same_as<void>;
  { set->lock(mutex, host) } -> std::same_as<Status>;
  { set->try_lock(mutex, host, &result) } -> std::same_as<Status>;
  { set->unlock(mutex, host) } -> std::same_as<Status>;
  { set->is_free(mutex, &result) } -> std::same_as<Status>;
};

// T::Mutexes where there is one.
template <class T>
struct MutexesOf {
  struct type;
};
template <MakesMutexes T>
struct MutexesOf<T> {
  using type = typename T::Mutexes;
};

template <class T>
Routing route_of(const World& world) {
  if constexpr (RoutesByJob<T>) return T::route(world);
  return {!T::kTraits.wants_on_node, T::kTraits.atomicity == Atomicity::kNodeCpu};
}

}  // namespace armci::runtime
