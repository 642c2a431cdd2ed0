// The server that a process sends a request to: the server of the target, or one that forwards the request.
//
// Clusters consist of consecutive servers. Each server of a cluster has the receive buffers of some of the processes,
// and receives their requests for any server of the cluster. Process p sends to the server at index p modulo cluster
// size.
//
//   cluster size 3     server: 0    1    2  |  3    4    5  |  6    7
//   process 4 sends requests for servers 0 to 2 to server 1, for 3 to 5 to server 4, for 6 and 7 to server 6
//
// Thread safety: read-only after construction.
#pragma once

#include <cstddef>
#include <vector>

namespace armci::engine {

class Routes {
 public:
  Routes() = default;
  // server_of[p]: the server of process p; cluster: servers in one, at least 1.
  Routes(std::vector<int> server_of, int servers, int cluster);

  int servers() const { return servers_; }
  int processes() const { return static_cast<int>(server_of_.size()); }
  int server_of(int process) const { return server_of_[static_cast<std::size_t>(process)]; }
  // The server that receives the requests of `process` for `server`.
  int entry(int process, int server) const;
  // The other servers of its cluster.
  std::vector<int> neighbours(int server) const;
  // The processes that may send requests to `server`.
  std::vector<int> clients(int server) const;

 private:
  int first_of(int server) const { return server / cluster_ * cluster_; }
  int size_of(int server) const;

  std::vector<int> server_of_;
  int servers_ = 0;
  int cluster_ = 1;
};

// The size of clusters that needs the fewest buffers: about the square root of the number of servers.
int best_cluster(int servers);

}  // namespace armci::engine
