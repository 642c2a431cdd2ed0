#include "impl/engine/routes.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace armci::engine {
namespace {

std::vector<int> two_on_each(int nodes) {
  std::vector<int> server_of;
  for (int node = 0; node < nodes; ++node) server_of.insert(server_of.end(), 2, node);
  return server_of;
}

TEST(Routes, WithoutClustersEveryRequestGoesToItsNode) {
  const Routes routes(two_on_each(3), 3, 1);
  for (int process = 0; process < 6; ++process) {
    for (int node = 0; node < 3; ++node) EXPECT_EQ(routes.entry(process, node), node);
  }
  EXPECT_EQ(routes.clients(1), (std::vector<int>{0, 1, 4, 5}));
  EXPECT_TRUE(routes.neighbours(1).empty());
}

TEST(Routes, AClusterSharesTheProcesses) {
  const Routes routes(two_on_each(8), 8, 3);
  EXPECT_EQ(routes.entry(4, 0), 1);
  EXPECT_EQ(routes.entry(4, 2), 1);
  EXPECT_EQ(routes.entry(4, 3), 4);
  EXPECT_EQ(routes.entry(4, 7), 6) << "the last cluster has two nodes";
  EXPECT_EQ(routes.neighbours(1), (std::vector<int>{0, 2}));
  EXPECT_EQ(routes.neighbours(7), (std::vector<int>{6}));
}

TEST(Routes, EveryEntryExpectsItsClientsAndReachesTheTarget) {
  for (int nodes = 1; nodes <= 9; ++nodes) {
    for (int cluster = 1; cluster <= nodes + 1; ++cluster) {
      const Routes routes(two_on_each(nodes), nodes, cluster);
      for (int process = 0; process < routes.processes(); ++process) {
        for (int node = 0; node < nodes; ++node) {
          if (routes.server_of(process) == node) continue;
          const int entry = routes.entry(process, node);
          const std::vector<int> clients = routes.clients(entry);
          EXPECT_TRUE(std::set<int>(clients.begin(), clients.end()).contains(process));
          const std::vector<int> neighbours = routes.neighbours(entry);
          EXPECT_TRUE(entry == node || std::set<int>(neighbours.begin(), neighbours.end()).contains(node));
        }
      }
    }
  }
}

TEST(Routes, TheBestClusterIsTheSquareRoot) {
  EXPECT_EQ(best_cluster(1), 1);
  EXPECT_EQ(best_cluster(2), 1);
  EXPECT_EQ(best_cluster(4), 2);
  EXPECT_EQ(best_cluster(64), 8);
  EXPECT_EQ(best_cluster(100000), 316);
}

}  // namespace
}  // namespace armci::engine
