#include "impl/engine/routes.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace armci::engine {

Routes::Routes(std::vector<int> server_of, int servers, int cluster)
    : server_of_(std::move(server_of)), servers_(servers), cluster_(std::clamp(cluster, 1, std::max(servers, 1))) {}

int Routes::size_of(int server) const { return std::min(cluster_, servers_ - first_of(server)); }

int Routes::entry(int process, int server) const { return first_of(server) + process % size_of(server); }

std::vector<int> Routes::neighbours(int server) const {
  std::vector<int> all;
  for (int other = first_of(server); other < first_of(server) + size_of(server); ++other) {
    if (other != server) all.push_back(other);
  }
  return all;
}

std::vector<int> Routes::clients(int server) const {
  std::vector<int> all;
  for (int process = 0; process < processes(); ++process) {
    // A process accesses its own node without its server.
    const bool sends = size_of(server) > 1 || server_of(process) != server;
    if (sends && entry(process, server) == server) all.push_back(process);
  }
  return all;
}

int best_cluster(int servers) { return std::max(1, static_cast<int>(std::lround(std::sqrt(servers)))); }

}  // namespace armci::engine
