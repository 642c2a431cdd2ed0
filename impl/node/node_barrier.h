// Barrier among the processes of one node that belong to a group, in node memory.
//
// Thread safety: one thread of each process at a time.
#pragma once

#include <atomic>
#include <cstdint>

namespace armci::node {

struct Barrier {
  alignas(64) std::atomic<std::uint32_t> arrived;
  alignas(64) std::atomic<std::uint32_t> generation;
  std::atomic<std::uint32_t> sleepers;
  std::atomic<std::uint32_t> leavers;  // members that have left for good: the last one releases the memory
};

// All `members` processes of the node enter; the last one opens it.
//
// Memory ordering: the stores of any member before are visible to every member afterwards.
void barrier_wait(Barrier* barrier, int members);

// The two halves, for a group on several nodes. The node's master waits in gather() until the others of its node have
// entered barrier_follow(). It then does the part between nodes, and opens with release().
void barrier_follow(Barrier* barrier);
void barrier_gather(Barrier* barrier, int members);
void barrier_release(Barrier* barrier);

}  // namespace armci::node
