#include "impl/mpi-rma/exposed_regions.h"

#include <gtest/gtest.h>

#include <array>

namespace armci::rma {
namespace {

TEST(ExposedRegionsTest, AnAddressBelongsToThePartAroundIt) {
  ExposedRegions regions;
  std::array<char, 300> memory{};
  Window first;
  Window second;
  regions.add(&first, &memory[100], 50);
  regions.add(&second, &memory[150], 50);
  EXPECT_EQ(regions.find(&memory[99]), nullptr);
  EXPECT_EQ(regions.find(&memory[100]), &first);
  EXPECT_EQ(regions.find(&memory[149]), &first);
  EXPECT_EQ(regions.find(&memory[150]), &second);
  EXPECT_EQ(regions.find(&memory[200]), nullptr);
}

TEST(ExposedRegionsTest, ARegionWithoutMemoryHereIsNotFound) {
  ExposedRegions regions;
  Window window;
  const char byte = 0;
  regions.add(&window, &byte, 0);
  EXPECT_EQ(regions.find(&byte), nullptr);
}

TEST(ExposedRegionsTest, ARemovedRegionLeavesItsNeighbours) {
  ExposedRegions regions;
  std::array<char, 200> memory{};
  Window first;
  Window second;
  regions.add(&first, &memory[0], 100);
  regions.add(&second, &memory[100], 100);
  regions.remove(&first);
  EXPECT_EQ(regions.find(&memory[0]), nullptr);
  EXPECT_EQ(regions.find(&memory[100]), &second);
}

}  // namespace
}  // namespace armci::rma
