// The barrier among the processes of a group: in node memory within a node, by messages between nodes.
//
// Thread safety: one thread of each process at a time.
#pragma once

#include "impl/common/groups.h"
#include "impl/common/status.h"
#include "impl/shmem/node_barrier.h"

namespace armci::common {

// For a group on several nodes.
Status barrier_between_nodes(Group& group);

// Collective over `group`, blocking; no fence. While a process waits, its MPI makes progress [PROG-5].
//
// Memory ordering: what a process of this node did before is visible to every process of the node afterwards.
inline Status process_barrier(Group& group) {
  if (!group.single_node()) return barrier_between_nodes(group);
  node::barrier_wait(group.barrier, static_cast<int>(group.on_node().size()));
  return kSuccess;
}

}  // namespace armci::common
