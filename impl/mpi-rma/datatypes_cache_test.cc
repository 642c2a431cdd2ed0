// How long datatypes live: in the cache, outside of it, and when MPI fails half-way.
#include <gtest/gtest.h>
#include <mpi.h>

#include <thread>

#include "impl/mpi-rma/datatypes.h"
#include "impl/mpi-rma/datatypes_testing.h"

namespace armci::rma {
namespace {
using runtime::Strided;

Strided rows(std::size_t count) { return {1, {8, count}, {16}, {24}}; }

Datatype get(DatatypeCache& cache, const Strided& shape, Side side = Side::kSource, MPI_Datatype element = MPI_BYTE) {
  Datatype datatype;
  EXPECT_TRUE(cache.get(shape, side, element, &datatype).ok());
  return datatype;
}

using DatatypeCacheTest = DatatypesTest;

TEST_F(DatatypeCacheTest, EqualShapesShareADatatype) {
  DatatypeCache cache;
  const MPI_Datatype first = get(cache, rows(5)).type();
  EXPECT_EQ(get(cache, rows(5)).type(), first);
  // The same bytes in another notation: rows of two times four bytes, and levels that repeat once.
  const Strided other = {4, {4, 2, 1, 5, 1}, {4, 99, 16, 1}, {0, 0, 0, 0}};
  EXPECT_EQ(get(cache, other).type(), first);
  EXPECT_EQ(cache.counters().entries, 1u);
  EXPECT_EQ(cache.counters().hits, 2u);
  EXPECT_EQ(cache.counters().misses, 1u);
}

TEST_F(DatatypeCacheTest, WhatDiffersIsAnotherEntry) {
  DatatypeCache cache;
  get(cache, rows(5));
  get(cache, rows(6));
  get(cache, rows(5), Side::kDestination);
  get(cache, rows(5), Side::kSource, MPI_DOUBLE);
  get(cache, rows(5), Side::kSource, MPI_LONG);
  EXPECT_EQ(cache.counters().entries, 5u);
  EXPECT_EQ(cache.counters().hits, 0u);
}

TEST_F(DatatypeCacheTest, SidesWithoutGapsAreNotKept) {
  DatatypeCache cache;
  const Strided shape = {1, {8, 5}, {8}, {24}};
  EXPECT_EQ(get(cache, shape).type(), MPI_BYTE);
  EXPECT_EQ(get(cache, shape).count(), 40);
  EXPECT_EQ(cache.counters().entries, 0u);
}

TEST_F(DatatypeCacheTest, TheOneUnusedLongestGoes) {
  DatatypeCache cache(2);
  get(cache, rows(2));
  get(cache, rows(3));
  get(cache, rows(2));
  get(cache, rows(4));
  EXPECT_EQ(cache.counters().entries, 2u);
  EXPECT_EQ(DatatypeCalls::existing(), 2);
  const auto hits = [&] { return cache.counters().hits; };
  EXPECT_EQ(hits(), 1u);
  get(cache, rows(2));
  EXPECT_EQ(hits(), 2u);
  get(cache, rows(3));
  EXPECT_EQ(hits(), 2u);
}

TEST_F(DatatypeCacheTest, AHandleOutlivesItsEntry) {
  DatatypeCache cache(1);
  const Strided shape = rows(5);
  TestBuffer buffer(shape, Side::kSource, 1);
  const Datatype held = get(cache, shape);
  get(cache, rows(6));
  EXPECT_EQ(DatatypeCalls::existing(), 2);
  cache.clear();
  EXPECT_EQ(DatatypeCalls::existing(), 1);
  const Datatype copy = held;
  EXPECT_EQ(pack(buffer.lowest(), copy), pack_by_loop(shape, Side::kSource, buffer.base()));
}

TEST_F(DatatypeCacheTest, ClearFreesEverythingAndTheCacheGoesOn) {
  DatatypeCache cache;
  for (std::size_t i = 2; i < 100; ++i) get(cache, rows(i));
  EXPECT_EQ(cache.counters().entries, 64u);
  EXPECT_EQ(DatatypeCalls::existing(), 64);
  cache.clear();
  EXPECT_EQ(DatatypeCalls::existing(), 0);
  get(cache, rows(5));
  EXPECT_EQ(cache.counters().entries, 1u);
}

TEST_F(DatatypeCacheTest, MayHoldNoEntry) {
  DatatypeCache cache(0);
  const Datatype datatype = get(cache, rows(5));
  EXPECT_TRUE(datatype.is_derived());
  EXPECT_EQ(cache.counters().entries, 0u);
}

TEST_F(DatatypeCacheTest, AgreesWithThePlainLoopWhileEntriesComeAndGo) {
  DatatypeCache cache(8);
  std::vector<Strided> shapes;
  for (int i = 0; i < 16; ++i) shapes.push_back(random_shape(random_, 8, false));
  for (int round = 0; round < 3000; ++round) {
    const Strided& shape = shapes[std::min<std::size_t>(random_() % 16, random_() % 16)];
    const Side side = random_() % 2 == 0 ? Side::kSource : Side::kDestination;
    TestBuffer buffer(shape, side, 1);
    const Datatype datatype = get(cache, shape, side, random_() % 2 == 0 ? MPI_BYTE : MPI_LONG);
    ASSERT_EQ(pack(buffer.lowest(), datatype), pack_by_loop(shape, side, buffer.base())) << "round " << round;
  }
  EXPECT_GT(cache.counters().hits, 300u);
  EXPECT_GT(cache.counters().misses, 100u);
}

TEST_F(DatatypeCacheTest, ManyThreadsUseOneCache) {
  DatatypeCache cache(4);
  const auto work = [&](unsigned seed) {
    std::mt19937 random(seed);
    for (int round = 0; round < 2000; ++round) {
      const Strided shape = rows(2 + random() % 8);
      TestBuffer buffer(shape, Side::kSource, seed);
      ASSERT_EQ(pack(buffer.lowest(), get(cache, shape)), pack_by_loop(shape, Side::kSource, buffer.base()));
      if (random() % 500 == 0) cache.clear();
    }
  };
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 4; ++seed) threads.emplace_back(work, seed);
  for (std::thread& thread : threads) thread.join();
  const auto [entries, hits, misses] = cache.counters();
  EXPECT_LE(entries, 4u);
  EXPECT_EQ(hits + misses, 8000u);
}

TEST_F(DatatypeCacheTest, AFailureOfMpiLeavesNothingBehind) {
  const Strided shape = {2, {24, 7, 5}, {40, 1000}, {64, 1024}};
  char memory[4000] = {};
  void* addresses[20];
  for (int i = 0; i < 20; ++i) addresses[i] = &memory[(i % 5 == 0 ? 200 : 24) * i];
  for (const DatatypeOptions& options : {DatatypeOptions{.int_max = 3}, DatatypeOptions{.subarray = true}}) {
    int failures[2] = {};
    for (int calls = 0; calls < 60; ++calls) {
      DatatypeCache cache(64, options);
      Datatype datatype(MPI_INT, 7);
      const auto attempt = [&](int i, auto make) {
        DatatypeCalls::fail_after(calls);
        const Status status = make();
        DatatypeCalls::fail_after(-1);
        if (status.ok()) return;
        ++failures[i];
        EXPECT_EQ(status.code(), Code::kLayerBelow);
        EXPECT_EQ(DatatypeCalls::existing(), 0);
        EXPECT_EQ(cache.counters().entries, 0u);
        EXPECT_EQ(datatype.count(), 7);
      };
      attempt(0, [&] { return cache.get(shape, Side::kDestination, MPI_LONG, &datatype); });
      cache.clear();
      datatype = Datatype(MPI_INT, 7);
      attempt(1, [&] { return list_datatype(addresses, 20, 24, memory, MPI_LONG, options, &datatype); });
    }
    EXPECT_GT(failures[0], 0);
    EXPECT_GT(failures[1], 0);
    EXPECT_LT(failures[0], 60);
    EXPECT_LT(failures[1], 60);
  }
}

}  // namespace
}  // namespace armci::rma
