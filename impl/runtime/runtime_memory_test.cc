// A whole runtime of one process, from initialise to finalise, over a transport that refuses memory on command.

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "impl/runtime/config.h"
#include "impl/runtime/groups.h"
#include "impl/runtime/runtime.h"
#include "impl/testing/fake_transport.h"

namespace armci::runtime {
namespace {

using testing::FakeCallKind;
using testing::FakeNetwork;
using FakeRuntime = Runtime<testing::FakeTransport<false, Atomicity::kTransport, true>>;

class RuntimeMemoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Config settings;
    settings.shm_dir = "/dev/shm";
    settings.shm_reserve_bytes = std::int64_t{1} << 30;
    set_config(settings);
    ASSERT_TRUE(runtime_.initialise(MPI_COMM_WORLD).ok()) << last_cause().text;
    registered_ = network().registered();
    regions_ = runtime_.regions().count();
  }
  void TearDown() override {
    if (world().rank() >= 0) {
      EXPECT_TRUE(runtime_.finalise().ok());
    }
    EXPECT_EQ(network().registered(), 0);
  }

  FakeNetwork& network() { return runtime_.transport(); }
  Group& world_group() { return groups().world(); }
  char* allocate(std::int64_t bytes) {
    void* base = nullptr;
    EXPECT_TRUE(runtime_.allocate(world_group(), bytes, &base).ok()) << last_cause().text;
    return static_cast<char*>(base);
  }

  FakeRuntime runtime_;
  int registered_ = 0;
  std::size_t regions_ = 0;
};

TEST_F(RuntimeMemoryTest, WhatIsAllocatedIsRegisteredUntilItIsFreed) {
  char* base = allocate(1000);
  EXPECT_EQ(network().registered(), registered_ + 1);
  EXPECT_EQ(runtime_.regions().count(), regions_ + 1);
  ASSERT_TRUE(runtime_.release(world_group(), base).ok());
  EXPECT_EQ(network().registered(), registered_);
  EXPECT_EQ(runtime_.regions().count(), regions_);
}

TEST_F(RuntimeMemoryTest, WhatIsNotFreedEndsWithTheRuntime) {
  allocate(1000);
  EXPECT_TRUE(runtime_.finalise().ok());
  EXPECT_EQ(network().registered(), 0);
}

TEST_F(RuntimeMemoryTest, MemoryThatCannotBeRegisteredIsGivenBack) {
  network().fail_call(FakeCallKind::kRegister, 1, Code::kMemory);
  void* base = nullptr;
  EXPECT_EQ(runtime_.allocate(world_group(), 100000, &base).code(), Code::kMemory);
  EXPECT_NE(std::string(last_cause().text).find(FakeNetwork::kInjected), std::string::npos) << last_cause().text;
  EXPECT_EQ(runtime_.regions().count(), regions_);
  EXPECT_EQ(network().registered(), registered_);
  char* first = allocate(100000);
  ASSERT_TRUE(runtime_.release(world_group(), first).ok());
  EXPECT_EQ(allocate(100000), first);
}

// [MEM-8] A thousand failures would use up the whole reserve if a block stayed behind.
TEST_F(RuntimeMemoryTest, RepeatedFailuresLoseNothing) {
  for (int i = 0; i < 1000; ++i) {
    network().fail_call(FakeCallKind::kRegister, 1, Code::kMemory);
    void* base = nullptr;
    ASSERT_FALSE(runtime_.allocate(world_group(), 16 << 20, &base).ok());
  }
  EXPECT_NE(allocate(16 << 20), nullptr);
}

TEST_F(RuntimeMemoryTest, MoreThanThereIsIsRefusedAndTheRestWorks) {
  char* kept = allocate(1000);
  std::memset(kept, 7, 1000);
  void* base = nullptr;
  EXPECT_EQ(runtime_.allocate(world_group(), std::int64_t{1} << 40, &base).code(), Code::kMemory);
  int value = 0;
  EXPECT_TRUE(runtime_.get_value(reinterpret_cast<int*>(kept), 0, &value).ok());
  EXPECT_EQ(value, 0x07070707);
}

TEST_F(RuntimeMemoryTest, NegativeLengthsAreRefused) {
  void* base = nullptr;
  EXPECT_EQ(runtime_.allocate(world_group(), -1, &base).code(), Code::kLength);
  EXPECT_EQ(runtime_.regions().count(), regions_);
}

TEST_F(RuntimeMemoryTest, NothingIsAllocatedForZeroBytes) {
  EXPECT_EQ(allocate(0), nullptr);
  EXPECT_EQ(runtime_.regions().count(), regions_);
  EXPECT_TRUE(runtime_.release(world_group(), nullptr).ok());
}

TEST_F(RuntimeMemoryTest, OnlyABaseCanBeFreed) {
  char* base = allocate(1000);
  int local = 0;
  EXPECT_EQ(runtime_.release(world_group(), base + 64).code(), Code::kAddress);
  EXPECT_EQ(runtime_.release(world_group(), &local).code(), Code::kAddress);
  EXPECT_TRUE(runtime_.release(world_group(), base).ok());
  EXPECT_EQ(runtime_.release(world_group(), base).code(), Code::kAddress);
}

TEST_F(RuntimeMemoryTest, FreeingCompletesWhatIsUnderWayOnTheRegion) {
  char* base = allocate(1000);
  armci_hdl_t handle{};
  const int value = 5;
  ASSERT_TRUE(runtime_.contiguous<Kind::kPut>(&value, base, sizeof value, 0, through(&handle)).ok());
  ASSERT_TRUE(runtime_.release(world_group(), base).ok());
  EXPECT_TRUE(network().invisible(0).empty());
}

// The free is collective: a process that reports an error of the network still takes part.
TEST_F(RuntimeMemoryTest, AFenceThatFailsDoesNotKeepTheRegion) {
  char* base = allocate(1000);
  ASSERT_TRUE(runtime_.put_value(5, reinterpret_cast<int*>(base), 0).ok());
  network().fail_call(FakeCallKind::kFlush, 1);
  EXPECT_EQ(runtime_.release(world_group(), base).code(), Code::kLayerBelow);
  EXPECT_EQ(runtime_.regions().count(), regions_);
}

TEST_F(RuntimeMemoryTest, MemoryOfMemgetThatCannotBeRegisteredIsGivenBack) {
  armci_meminfo_t info{};
  network().fail_call(FakeCallKind::kRegister, 1);
  EXPECT_EQ(runtime_.memget(1000, &info).code(), Code::kLayerBelow);
  EXPECT_EQ(runtime_.regions().count(), regions_);
  ASSERT_TRUE(runtime_.memget(1000, &info).ok());
  EXPECT_EQ(network().registered(), registered_ + 1);
  ASSERT_TRUE(runtime_.memdelete(info).ok());
  EXPECT_EQ(network().registered(), registered_);
  EXPECT_EQ(runtime_.memdelete(info).code(), Code::kAddress);
}

TEST_F(RuntimeMemoryTest, MutexesThatCannotBeRegisteredDoNotExist) {
  std::unique_ptr<FakeRuntime::MutexSet> set;
  network().fail_call(FakeCallKind::kRegister, 1, Code::kMemory);
  EXPECT_EQ(runtime_.create_mutexes(world_group(), 3, &set).code(), Code::kMemory);
  EXPECT_EQ(set, nullptr);
  ASSERT_TRUE(runtime_.create_mutexes(world_group(), 3, &set).ok());
  EXPECT_TRUE(runtime_.lock(*set, 2, 0).ok());
  EXPECT_TRUE(runtime_.unlock(*set, 2, 0).ok());
  EXPECT_TRUE(runtime_.destroy_mutexes(&set).ok());
  EXPECT_EQ(runtime_.regions().count(), regions_);
}

TEST_F(RuntimeMemoryTest, TheRuntimeStartsAgainAfterItsEnd) {
  char* before = allocate(1000);
  ASSERT_TRUE(runtime_.finalise().ok());
  ASSERT_TRUE(runtime_.initialise(MPI_COMM_WORLD).ok());
  int value = 0;
  EXPECT_EQ(runtime_.get_value(reinterpret_cast<int*>(before), 0, &value).code(), Code::kAddress);
  EXPECT_NE(allocate(1000), nullptr);
}

TEST_F(RuntimeMemoryTest, AServiceThatCannotBeRegisteredFailsTheStart) {
  ASSERT_TRUE(runtime_.finalise().ok());
  network().fail_call(FakeCallKind::kRegister, 1);
  EXPECT_EQ(runtime_.initialise(MPI_COMM_WORLD).code(), Code::kLayerBelow);
  runtime_.abandon();
  EXPECT_FALSE(node::node_memory().attached());
  EXPECT_TRUE(runtime_.initialise(MPI_COMM_WORLD).ok());
}

}  // namespace
}  // namespace armci::runtime
