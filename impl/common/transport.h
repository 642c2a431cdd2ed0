// The seam between the shared core and one implementation: the contract of a transport.
//
// A transport moves bytes between processes on different nodes (and, when it asks for it, on one node) and offers one
// 64-bit atomic. Everything else - checks, regions, groups, shapes, handles, fences, accumulate, mutexes - is done by
// Runtime<T> (runtime.h) from these members.
// There are no virtual functions: Runtime<T> is instantiated once per implementation and its hot path is inlined.
//
// ## Required
//
//   struct T::Key           trivially copyable, at most kKeyBytesMax: what a remote process needs to address registered
//                           memory. Travels by MPI.
//   struct T::Completion    default-constructible, movable: one operation under way.
//   static constexpr TransportTraits kTraits
//
//   Status initialise(const World&)      Collective, after node memory is attached. Refuses with a sentence what it
//                                        cannot do here (kUnsupported).
//   void finalise()                      Collective; nothing is under way any more. Follows every initialise, also one
//                                        that failed, here or on another process.
//   Status register_memory(void* base, size_t bytes, Key*)
//                                        Local. `base` lies in node memory, committed. May fail with kMemory; the
//                                        allocation is then undone on all processes.
//   void deregister_memory(const Key&)   Local; nothing is under way on it.
//   Status put(int target, const Key&, void* remote, const void* local, size_t bytes, Completion*)
//   Status get(int target, const Key&, const void* remote, void* local, size_t bytes, Completion*)
//                                        Start a transfer without waiting for the target; bytes > 0, any alignment. The
//                                        local buffer belongs to the transport until test() said done. Naturally
//                                        aligned 4- and 8-byte elements are never torn [LC-3].
//   Status atomic64(int target, const Key&, void* remote, AtomicOp, int64_t operand, int64_t compare, int64_t* before)
//                                        Blocking, atomic against every other atomic64 of any process on that word
//                                        (8-byte aligned), effective at return. Also with target == this process.
//   Status test(Completion*, bool* done) Local completion, never blocks, advances the transfer. Order between
//                                        operations: see TransportTraits::in_order.
//                                        A failure ends the operation: its buffer is the caller's again.
//   Status flush(int target)             Returns when every put of this process to target is visible to all processes
//                                        (remote completion), without help of the target's program [FENCE-3].
//   void progress()                      Advances whatever needs this process's CPU; never blocks.
//
// What put and atomic64 wrote, the owner sees by plain loads once it is remotely complete, and they see what the owner
// stored: mutexes, counters and notifications live in registered memory [DLA-1]. A Completion may be dropped after a
// flush or after finalise without a last test().
//
// All members return errors with the layer's own text, the call and the peer recorded by fail() [ERR-3]. All may be
// called by several threads when the thread level is MPI_THREAD_MULTIPLE.
//
// ## Optional: descriptors that come whole, never cut into segments
//
// Planned, and not asked for yet: Runtime builds all of these from the required members.
//
//   put_strided / get_strided(int target, const Key&, remote base, local base, const Strided&, Completion*)
//   accumulate(int target, const Key&, remote base, local base, AccType, scale, const Strided&, Completion*)
//   rmw(int target, const Key&, remote, RmwOp, int bytes, bool is_unsigned, operand, compare, void* before)
//
// A port with only the required part passes the conformance suite, slowly: impl/loopback is one.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "impl/common/status.h"
#include "impl/common/world.h"

namespace armci::common {

enum class AtomicOp { kFetchAdd, kCompareSwap };

// Who makes accumulate, RMW and mutexes of a region atomic. One mechanism per implementation, never mixed.
enum class Atomicity {
  kNodeCpu,    // CPU atomics in node memory, by a caller on the node or by the target node's server (optional members)
  kTransport,  // the transport's atomic64, for every target, the caller's own node included
};

struct TransportTraits {
  const char* name;    // the implementation, as ARMCIX_Implementation reports it
  bool reaches_nodes;  // false: only same-node targets exist; put, get... are never called
  bool wants_on_node;  // true: same-node put and get go to the transport as well
  bool in_order;       // put, get and atomic64 of one thread to one target take effect in the order of issue;
                       // if false, Runtime flushes before an operation that must not overtake an earlier store
  Atomicity atomicity;
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

}  // namespace armci::common
