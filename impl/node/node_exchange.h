// Exchange of small records among the processes of a group on one node, through node memory: an allgather that waits as
// the node barrier does. The wait yields its core, which a message layer may spin away from the awaited processes.
//
// Two sets of slots alternate, so one barrier per exchange is enough. A process writes a set again only after all have
// entered the next exchange, and so have read the set.
//
// Thread safety: one thread of each process at a time.
#pragma once

#include <cstddef>
#include <cstring>

#include "impl/node/node_barrier.h"

namespace armci::node {

inline constexpr std::size_t kExchangeBytesMax = 128;

struct alignas(64) ExchangeSlot {
  char bytes[kExchangeBytesMax];
};

constexpr std::size_t exchange_area_bytes(int members) {
  return 2 * static_cast<std::size_t>(members) * sizeof(ExchangeSlot);
}

// `slots` has exchange_area_bytes(members); `turn` counts the exchanges of the group, equally on all members. all[i]
// receives the record of member i. Memory ordering: that of barrier_wait.
inline void exchange(ExchangeSlot* slots, Barrier* barrier, int members, int index, unsigned turn, const void* mine,
                     void* all, std::size_t bytes) {
  ExchangeSlot* set = slots + (turn % 2) * static_cast<unsigned>(members);
  std::memcpy(set[index].bytes, mine, bytes);
  barrier_wait(barrier, members);
  for (int i = 0; i < members; ++i) {
    std::memcpy(static_cast<char*>(all) + static_cast<std::size_t>(i) * bytes, set[i].bytes, bytes);
  }
}

}  // namespace armci::node
