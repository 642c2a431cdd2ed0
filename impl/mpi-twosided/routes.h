// The server that a process sends a request to: the server of the target's node, or one that forwards the request.
//
// Clusters consist of consecutive nodes. Each server of a cluster has the receive buffers of some of the processes, and
// receives their requests for any node of the cluster. Process p sends to the server at index p modulo cluster size.
//
//   cluster size 3     node:   0    1    2  |  3    4    5  |  6    7
//   process 4 sends requests for nodes 0 to 2 to node 1, for 3 to 5 to node 4, for 6 and 7 to node 6
//
// Thread safety: read-only after construction.
#pragma once

#include <cstddef>
#include <vector>

namespace armci::twosided {

class Routes {
 public:
  Routes() = default;
  // node_of[p]: the node of process p; cluster: nodes in one, at least 1.
  Routes(std::vector<int> node_of, int nodes, int cluster);

  int nodes() const { return nodes_; }
  int processes() const { return static_cast<int>(node_of_.size()); }
  int node_of(int process) const { return node_of_[static_cast<std::size_t>(process)]; }
  // The node whose server receives the requests of `process` for `node`.
  int entry(int process, int node) const;
  // The other nodes of its cluster.
  std::vector<int> neighbours(int node) const;
  // The processes that may send requests to the server of `node`.
  std::vector<int> clients(int node) const;

 private:
  int first_of(int node) const { return node / cluster_ * cluster_; }
  int size_of(int node) const;

  std::vector<int> node_of_;
  int nodes_ = 0;
  int cluster_ = 1;
};

// The size that needs the fewest buffers: about the square root of the number of nodes.
int best_cluster(int nodes);

}  // namespace armci::twosided
