#include "impl/mpi-twosided/routes.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace armci::twosided {

Routes::Routes(std::vector<int> node_of, int nodes, int cluster)
    : node_of_(std::move(node_of)), nodes_(nodes), cluster_(std::clamp(cluster, 1, std::max(nodes, 1))) {}

int Routes::size_of(int node) const { return std::min(cluster_, nodes_ - first_of(node)); }

int Routes::entry(int process, int node) const { return first_of(node) + process % size_of(node); }

std::vector<int> Routes::neighbours(int node) const {
  std::vector<int> all;
  for (int other = first_of(node); other < first_of(node) + size_of(node); ++other) {
    if (other != node) all.push_back(other);
  }
  return all;
}

std::vector<int> Routes::clients(int node) const {
  std::vector<int> all;
  for (int process = 0; process < processes(); ++process) {
    // A process accesses its own node without a server.
    const bool sends = size_of(node) > 1 || node_of(process) != node;
    if (sends && entry(process, node) == node) all.push_back(process);
  }
  return all;
}

int best_cluster(int nodes) { return std::max(1, static_cast<int>(std::lround(std::sqrt(nodes)))); }

}  // namespace armci::twosided
