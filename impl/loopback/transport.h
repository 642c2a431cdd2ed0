// The loopback implementation: the required members of the contract and nothing else, over one machine's memory.
//
// This implementation is for tests. All operations use it, also those to targets on the node, and it uses all the
// freedom of the contract. A thread takes the part of the network card. A get moves data only at its test, at a flush,
// or when the card reaches it. A put reads its buffer at its test, no earlier, and takes effect at a flush or when the
// card reaches it. Waiting operations take effect in reverse order. A program that is correct here does not rely on
// luck; a core that is correct here needs no optional member.
//
// Thread safety: all members by any thread.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "impl/runtime/transport.h"

namespace armci::loopback {

class Transport {
 public:
  struct Key {};
  // The number of an operation; 0: none.
  struct Completion {
    std::uint64_t number = 0;
  };
  static constexpr runtime::TransportTraits kTraits = {.name = "loopback",
                                                       .reaches_nodes = true,
                                                       .wants_on_node = true,
                                                       .in_order = false,
                                                       .atomicity = runtime::Atomicity::kTransport};

  Status initialise(const runtime::World& world);
  void finalise();
  Status register_memory(void*, std::size_t, Key*) { return kSuccess; }
  void deregister_memory(const Key&) {}
  Status put(int target, const Key&, void* remote, const void* local, std::size_t bytes, Completion* completion);
  Status get(int target, const Key&, const void* remote, void* local, std::size_t bytes, Completion* completion);
  Status atomic64(int target, const Key&, void* remote, runtime::AtomicOp op, std::int64_t operand,
                  std::int64_t compare, std::int64_t* before);
  Status test(Completion* completion, bool* done);
  Status flush(int target);
  void progress() {}

 private:
  struct Operation {
    int target;
    void* to;
    const void* from;
    std::size_t bytes;
    bool is_put;
    std::vector<char> taken;  // the data, once a put has left its buffer
  };
  void postpone(Operation operation, Completion* completion);

  void run_card();
  // Executes the latest waiting operation, of `target` unless it is kAnyTarget; false: there is none. Holds mutex_.
  static constexpr int kAnyTarget = -1;
  bool execute_latest(int target);

  std::mutex mutex_;
  std::condition_variable work_;
  std::thread card_;
  bool leaving_ = false;
  std::unordered_map<std::uint64_t, Operation> waiting_;
  std::vector<std::uint64_t> order_;  // numbers in the order of issue, some of them done
  std::uint64_t next_ = 1;
};

static_assert(runtime::Transport<Transport>);

}  // namespace armci::loopback

namespace armci {
using SelectedTransport = loopback::Transport;
}
