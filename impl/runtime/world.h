// World: the processes of the job and the node of each.
//
// One per process, filled at init and constant until finalize. Ranks here are the absolute ids of the public API.
// Nodes are numbered 0.. in the order of their lowest rank; node 0's processes need not be consecutive. A node is a
// set of processes that share memory (MPI_COMM_TYPE_SHARED), or, with ARMCI_NODE_SIZE=k, each k consecutive ranks of
// such a set (a simulated node).
//
// Thread safety: read-only between init and finalize.
#pragma once

#include <mpi.h>

#include <vector>

#include "impl/base/status.h"

namespace armci::runtime {

struct Node {
  std::vector<int> ranks;  // absolute ids, ascending; ranks[0] is the node's master
};

class World {
 public:
  // Collective over `parent`, which is duplicated: the library never communicates on a communicator of the program.
  // node_size 0: real nodes; k > 0: simulated nodes of k consecutive ranks.
  Status initialise(MPI_Comm parent, int node_size);
  // Collective. Frees the communicators.
  void finalise();

  MPI_Comm comm() const { return comm_; }                  // every process of the world
  MPI_Comm machine_comm() const { return machine_comm_; }  // the processes that really share memory with this one
  int rank() const { return rank_; }
  int size() const { return size_; }

  int node_count() const { return static_cast<int>(nodes_.size()); }
  const Node& node(int id) const { return nodes_[static_cast<size_t>(id)]; }
  int node_of(int rank) const { return node_of_[static_cast<size_t>(rank)]; }
  int my_node() const { return my_node_; }
  bool same_node(int rank) const { return node_of_[static_cast<size_t>(rank)] == my_node_; }
  // True when every process of the world shares memory (simulated nodes make no difference).
  bool one_machine() const { return machine_count_ == 1; }
  bool simulated() const { return simulated_; }
  // Processes on this machine, and the CPUs in the union of their affinity masks; equal on all of them. Both decide how
  // long waits spin, and whether calls of the message layer wait inside MPI (mpi_wait.h).
  int machine_processes() const { return machine_processes_; }
  int machine_cpus() const { return machine_cpus_; }

 private:
  friend class WorldForTest;

  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Comm machine_comm_ = MPI_COMM_NULL;
  int rank_ = -1;
  int size_ = 0;
  int my_node_ = -1;
  int machine_count_ = 0;
  int machine_processes_ = 0;
  int machine_cpus_ = 0;
  bool simulated_ = false;
  std::vector<Node> nodes_;
  std::vector<int> node_of_;
};

// The process's world; rank() is -1 outside init..finalize.
World& world();

}  // namespace armci::runtime
