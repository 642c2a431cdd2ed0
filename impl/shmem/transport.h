// The shmem implementation: all processes on one node, every byte moved by the CPU of the origin through node memory.
//
// The transport has nothing to do. The members exist because the contract requires them. Runtime never calls those that
// reach other nodes (kTraits.reaches_nodes is false; init refuses a job on several nodes).
#pragma once

#include "impl/runtime/transport.h"

namespace armci::shmem {

class Transport {
 public:
  struct Key {};
  struct Completion {};
  static constexpr runtime::TransportTraits kTraits = {.name = "shmem",
                                                       .reaches_nodes = false,
                                                       .wants_on_node = false,
                                                       .in_order = true,
                                                       .atomicity = runtime::Atomicity::kNodeCpu};

  Status initialise(const runtime::World&) { return kSuccess; }
  void finalise() {}
  Status register_memory(void*, std::size_t, Key*) { return kSuccess; }
  void deregister_memory(const Key&) {}
  Status put(int target, const Key&, void*, const void*, std::size_t, Completion*) { return no_node(target); }
  Status get(int target, const Key&, const void*, void*, std::size_t, Completion*) { return no_node(target); }
  Status atomic64(int target, const Key&, void*, runtime::AtomicOp, std::int64_t, std::int64_t, std::int64_t*) {
    return no_node(target);
  }
  Status test(Completion*, bool* done) {
    *done = true;
    return kSuccess;
  }
  Status flush(int) { return kSuccess; }
  void progress() {}

 private:
  static Status no_node(int target) {
    return fail(Code::kUnsupported, nullptr,
                "process %d is on another node, which shmem cannot reach; link another implementation", target);
  }
};

static_assert(runtime::Transport<Transport>);

}  // namespace armci::shmem

namespace armci {
using SelectedTransport = shmem::Transport;
}
