// A whole runtime of one process over a transport that allocates the memory of regions itself, or does not.

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "impl/runtime/config.h"
#include "impl/runtime/groups.h"
#include "impl/runtime/runtime.h"
#include "impl/testing/fake_transport.h"

namespace armci::runtime {
namespace {

// Its memory is the heap's.
class ProvidingTransport : public testing::FakeTransport<false, Atomicity::kTransport, true> {
 public:
  Status choose_provider(MPI_Comm, int* node_size) {
    if (refuses_to_start) return fail(Code::kUnsupported, nullptr, "no such kind");
    if (provides) *node_size = 1;
    return kSuccess;
  }
  bool provides_memory() const { return provides; }
  Status provide_region(const GroupView&, std::span<Exposed> parts, std::span<Key> keys) {
    ++calls;
    if (refuses) return fail(Code::kMemory, nullptr, "no memory");
    Exposed& part = parts[0];
    part.base = new (std::align_val_t{kPartAlignment}) char[part.bytes];
    ARMCI_RETURN_IF_ERROR(register_memory(part.base, part.bytes, &keys[0]));
    made_[keys[0].number] = part.base;
    return kSuccess;
  }
  Status register_region(const GroupView&, std::span<const Exposed> parts, std::span<Key> keys) {
    return register_memory(parts[0].base, parts[0].bytes, &keys[0]);
  }
  void deregister_region(const Key& key) {
    deregister_memory(key);
    if (made_.contains(key.number)) ::operator delete[](made_[key.number], std::align_val_t{kPartAlignment});
    made_.erase(key.number);
  }
  void set_wake_ups(std::vector<node::WakeUp*> all) { wake_ups = std::move(all); }
  std::size_t made() const { return made_.size(); }

  bool provides = true;
  bool refuses = false;
  bool refuses_to_start = false;
  int calls = 0;
  std::vector<node::WakeUp*> wake_ups;

 private:
  std::map<std::int32_t, void*> made_;
};
static_assert(Transport<ProvidingTransport> && ProvidesMemory<ProvidingTransport>);
static_assert(!ProvidesMemory<testing::ReorderingTransport>);

class RuntimeProvidedTest : public ::testing::Test {
 protected:
  void SetUp() override { set_limit(0); }
  void TearDown() override {
    if (world().rank() >= 0) {
      EXPECT_TRUE(runtime_.finalise().ok());
    }
    EXPECT_EQ(transport().made(), 0u);
    EXPECT_EQ(transport().registered(), 0);
  }

  static void set_limit(std::int64_t bytes) {
    Config settings;
    settings.shm_reserve_bytes = std::int64_t{1} << 30;
    settings.max_shm_bytes = bytes;
    set_config(settings);
  }
  void start() { ASSERT_TRUE(runtime_.initialise(MPI_COMM_WORLD).ok()) << last_cause().text; }
  ProvidingTransport& transport() { return runtime_.transport(); }
  Status allocate(std::int64_t bytes, void** base) { return runtime_.allocate(groups().world(), bytes, base); }
  static bool in_node_memory(const void* at) {
    return at >= node::node_memory().begin() && at < node::node_memory().end();
  }

  Runtime<ProvidingTransport> runtime_;
};

TEST_F(RuntimeProvidedTest, RegionsLieInTheTransportsMemoryUntilTheyAreFreed) {
  start();
  const std::size_t before = transport().made();
  EXPECT_GT(before, 0u) << "what the runtime keeps for itself";
  void* base = nullptr;
  ASSERT_TRUE(allocate(1000, &base).ok());
  EXPECT_FALSE(in_node_memory(base));
  EXPECT_EQ(transport().made(), before + 1);
  EXPECT_EQ(runtime_.direct_pointer(0, base), base);
  ASSERT_TRUE(runtime_.put_value(5, static_cast<int*>(base), 0).ok());
  int value = 0;
  EXPECT_TRUE(runtime_.get_value(static_cast<int*>(base), 0, &value).ok());
  EXPECT_EQ(value, 5);
  ASSERT_TRUE(runtime_.release(groups().world(), base).ok());
  EXPECT_EQ(transport().made(), before);
}

TEST_F(RuntimeProvidedTest, TheTransportHasTheWakeUpsOfTheNode) {
  start();
  ASSERT_EQ(transport().wake_ups.size(), 1u);
  ASSERT_NE(transport().wake_ups[0], nullptr);
  EXPECT_EQ(transport().wake_ups[0]->sleeping, 0u);
}

TEST_F(RuntimeProvidedTest, TheNodeSizeOfTheProviderIsInForce) {
  start();
  EXPECT_EQ(config().node_size, 1);
}

TEST_F(RuntimeProvidedTest, ATransportMayLeaveItToNodeMemory) {
  transport().provides = false;
  start();
  EXPECT_EQ(config().node_size, 0);
  void* base = nullptr;
  ASSERT_TRUE(allocate(1000, &base).ok());
  EXPECT_TRUE(in_node_memory(base));
  EXPECT_EQ(transport().calls, 0);
}

TEST_F(RuntimeProvidedTest, MemoryOfOneProcessAloneIsNodeMemory) {
  start();
  armci_meminfo_t info{};
  ASSERT_TRUE(runtime_.memget(1000, &info).ok());
  EXPECT_TRUE(in_node_memory(info.addr));
  EXPECT_TRUE(runtime_.memdelete(info).ok());
}

TEST_F(RuntimeProvidedTest, WhatIsRefusedLeavesNothing) {
  start();
  const std::size_t regions = runtime_.regions().count();
  transport().refuses = true;
  void* base = nullptr;
  EXPECT_EQ(allocate(1000, &base).code(), Code::kMemory);
  EXPECT_EQ(runtime_.regions().count(), regions);
  transport().refuses = false;
  EXPECT_TRUE(allocate(1000, &base).ok());
}

// [MEM-8] The layer below may not survive what it cannot serve.
TEST_F(RuntimeProvidedTest, TheTransportIsNotCalledForMoreThanIsAllowed) {
  set_limit(4096);
  start();
  const int calls = transport().calls;
  void* base = nullptr;
  EXPECT_EQ(allocate(5000, &base).code(), Code::kMemory);
  EXPECT_NE(std::string(last_cause().text).find("ARMCI_MAX_SHM"), std::string::npos) << last_cause().text;
  EXPECT_EQ(allocate(INT64_MAX, &base).code(), Code::kMemory);
  EXPECT_EQ(transport().calls, calls);
  EXPECT_TRUE(allocate(4000, &base).ok());
}

TEST_F(RuntimeProvidedTest, NoMemoryIsRequestedForEmptyParts) {
  start();
  const int calls = transport().calls;
  void* base = nullptr;
  EXPECT_TRUE(allocate(0, &base).ok());
  EXPECT_EQ(base, nullptr);
  EXPECT_EQ(transport().calls, calls);
}

TEST_F(RuntimeProvidedTest, AFailedChoiceOfTheProviderFailsTheStart) {
  transport().refuses_to_start = true;
  EXPECT_EQ(runtime_.initialise(MPI_COMM_WORLD).code(), Code::kUnsupported);
  runtime_.abandon();
  transport().refuses_to_start = false;
  start();
}

}  // namespace
}  // namespace armci::runtime
