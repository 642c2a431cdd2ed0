// The template port: the required members of a transport, to be filled in.
//
// A member that is not written yet returns an error that names the member and its step of docs/porting.md. The contract
// of each member is in impl/runtime/transport.h. This comment is for the network: the calls that each member uses, and
// the threads that may call them. Name the limits and the behaviour at them.
//
// Thread safety: all members by any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "impl/runtime/transport.h"

namespace armci::template_port {

class Transport {
 public:
  // The data with which a remote process addresses registered memory; copied as bytes.
  struct Key {};
  // One pending put or get: the data from which test() finds its state in the network.
  struct Completion {};
  // The values that demand least of a port; docs/porting.md gives the cost of each and the time to change it.
  static constexpr runtime::TransportTraits kTraits = {.name = "template",
                                                       .reaches_nodes = true,
                                                       .wants_on_node = true,
                                                       .in_order = false,
                                                       .atomicity = runtime::Atomicity::kTransport};

  // Level 1.
  Status initialise(const runtime::World& world);
  void finalise();
  Status register_memory(void* base, std::size_t bytes, Key* key);
  void deregister_memory(const Key& key);

  // Level 2; level 3 demands more of the same members.
  Status put(int target, const Key& key, void* remote, const void* local, std::size_t bytes, Completion* completion);
  Status get(int target, const Key& key, const void* remote, void* local, std::size_t bytes, Completion* completion);
  Status test(Completion* completion, bool* done);
  Status flush(int target);
  void progress();

  // Level 4.
  Status atomic64(int target, const Key& key, void* remote, runtime::AtomicOp op, std::int64_t operand,
                  std::int64_t compare, std::int64_t* before);
};

static_assert(runtime::Transport<Transport>);

}  // namespace armci::template_port

namespace armci {
using SelectedTransport = template_port::Transport;
}
