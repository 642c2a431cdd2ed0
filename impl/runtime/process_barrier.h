// The barrier among the processes of a group: in node memory within a node, by messages between nodes.
//
// Thread safety: one thread of each process at a time.
#pragma once

#include "impl/base/status.h"
#include "impl/node/node_barrier.h"
#include "impl/runtime/groups.h"

namespace armci::runtime {

// For a group on several nodes.
Status barrier_between_nodes(Group& group);

// Collective over `group`, blocking; no fence. While a process waits, its MPI makes progress [PROG-5].
//
// Memory ordering: the stores of a process of this node before are visible to every process of the node afterwards.
inline Status process_barrier(Group& group) {
  if (!group.single_node()) return barrier_between_nodes(group);
  node::barrier_wait(group.barrier, static_cast<int>(group.on_node().size()));
  return kSuccess;
}

}  // namespace armci::runtime
