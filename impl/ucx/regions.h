// Regions: the memory of their members, and the keys of all parts until the region is destroyed.
//
// All members of a region register their parts at once, since packed keys have no fixed length; memory that one process
// allocates alone is registered by that process, and its key has to fit into a PackedKey.
//
// Thread safety: all members by any thread, but collective ones as MPI requires.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "impl/base/status.h"
#include "impl/engine/client.h"
#include "impl/runtime/transport.h"
#include "impl/ucx/client_wire.h"
#include "impl/ucx/exposed_memory.h"
#include "impl/ucx/packed_key.h"

namespace armci::ucx {

class Regions {
 public:
  Regions(const Context& context, MappedMemory* mapped, engine::Client* client, ClientWire* wire)
      : memory_(context, mapped), client_(*client), wire_(*wire) {}

  Status register_memory(void* base, std::size_t bytes, PackedKey* key);
  void deregister(const PackedKey& key) { memory_.deregister(key.number); }

  // Collective over the group.
  Status register_all(const runtime::GroupView& group, std::span<const runtime::Exposed> parts,
                      std::span<PackedKey> keys);
  void deregister_all(const PackedKey& key);

 private:
  struct Region {
    std::uint32_t mine = 0;                            // 0: this process has no part
    std::vector<std::pair<int, std::uint32_t>> parts;  // processes and the numbers of their memory
  };

  ExposedMemory memory_;
  engine::Client& client_;
  ClientWire& wire_;  // with the lock of the client
  std::mutex mutex_;
  std::unordered_map<std::uint32_t, Region> regions_;
  std::uint32_t last_ = 0;
};

}  // namespace armci::ucx
