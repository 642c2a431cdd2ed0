#include "impl/runtime/process_barrier.h"

#include "impl/runtime/message_collectives.h"

namespace armci::runtime {

// A master that cannot have the masters' communicator opens its own node. The other nodes wait for it: MPI has failed.
Status barrier_between_nodes(Group& group) {
  if (!group.is_master()) {
    node::barrier_follow(group.barrier);
    return kSuccess;
  }
  node::barrier_gather(group.barrier, static_cast<int>(group.on_node().size()));
  MPI_Comm masters = MPI_COMM_NULL;
  Status status = group.scope_comm(Scope::kMasters, &masters);
  if (status.ok()) status = barrier_by_messages(node::WaitKind::kOtherNodes, masters);
  node::barrier_release(group.barrier);
  return status;
}

}  // namespace armci::runtime
