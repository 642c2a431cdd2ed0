// Tests of parts that need no network: keys, mapped memory, descriptions of transports.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "impl/ucx/mapped_memory.h"
#include "impl/ucx/packed_key.h"
#include "impl/ucx/used_transports.h"

namespace armci::ucx {
namespace {

PackedKey key_of(std::initializer_list<unsigned char> bytes) {
  PackedKey key;
  key.set(std::data(bytes), bytes.size());
  return key;
}

bool lacks_device(const PackedKey& key) { return has_no_device(key.bytes, key.length); }

TEST(PackedKeyTest, domains_without_keys_are_no_devices) {
  EXPECT_TRUE(lacks_device(key_of({0x03, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})));
  EXPECT_TRUE(lacks_device(key_of({0, 0, 0, 0, 0, 0, 0, 0, 0})));
}

TEST(PackedKeyTest, domain_with_a_key_is_a_device) {
  EXPECT_FALSE(lacks_device(key_of({0x01, 0, 0, 0, 0, 0, 0, 0, 0, 2, 7, 7})));
}

TEST(PackedKeyTest, key_without_room_is_left_out) {
  const unsigned char bytes[PackedKey::kBytesMax + 1] = {};
  PackedKey key;
  key.set(bytes, sizeof bytes);
  EXPECT_EQ(key.length, 0U);
  key.set(bytes, PackedKey::kBytesMax);
  EXPECT_EQ(key.length, PackedKey::kBytesMax);
}

TEST(MappedMemoryTest, holds_what_lies_in_one_piece) {
  Context context;
  ASSERT_TRUE(context.open(1, false).ok());
  MappedMemory mapped(context);
  alignas(64) char bytes[256] = {};
  ucp_mem_h first = nullptr;
  ucp_mem_h second = nullptr;
  ASSERT_TRUE(mapped.map(bytes, 64, &first).ok());
  ASSERT_TRUE(mapped.map(bytes + 128, 64, &second).ok());
  EXPECT_EQ(mapped.holding(bytes, 64), first);
  EXPECT_EQ(mapped.holding(bytes + 63, 1), first);
  EXPECT_EQ(mapped.holding(bytes + 136, 8), second);
  EXPECT_EQ(mapped.holding(bytes + 60, 8), nullptr);
  EXPECT_EQ(mapped.holding(bytes + 64, 1), nullptr);
  EXPECT_EQ(mapped.holding(bytes + 100, 64), nullptr);
  EXPECT_EQ(mapped.holding(bytes + 128, 65), nullptr);
  EXPECT_EQ(mapped.holding(bytes + 128, SIZE_MAX), nullptr);
  mapped.unmap(bytes);
  EXPECT_EQ(mapped.holding(bytes, 64), nullptr);
  EXPECT_EQ(mapped.holding(bytes + 128, 64), second);
  mapped.unmap(bytes);  // of which there is none any more
}

TEST(TransportsTest, names_each_transport_once) {
  EXPECT_EQ(transports_of("#  peer: <no debug data>\n"
                          "#     lane[0]:  3:sysv/memory.0 md[2]  -> md[2]/sysv/sysdev[255] am am_bw#0\n"
                          "#     lane[1]:  2:tcp/eth0.0 md[1] -> md[1]/tcp/sysdev[255] rma_bw#1 wireup\n"
                          "#     lane[2]:  2:tcp/eth0.1 md[1] -> md[1]/tcp/sysdev[255]\n"),
            "sysv/memory, tcp/eth0");
}

TEST(TransportsTest, tells_those_that_put_by_themselves) {
  EXPECT_TRUE(has_rdma("tcp/eth0, rc_verbs/mlx5_0:1"));
  EXPECT_TRUE(has_rdma("dc_mlx5/mlx5_0:1"));
  EXPECT_FALSE(has_rdma("ud_verbs/mlx5_0:1, sysv/memory"));
  EXPECT_FALSE(has_rdma("src_x/y"));
  EXPECT_FALSE(has_rdma(""));
}

TEST(TransportsTest, tells_the_device_where_all_goes_by_one_queue_pair) {
  const std::string lane = "#     lane[0]:  3:rc_verbs/rxe0:1.0 md[2]  -> md[2]/ib/sysdev[255] rma_bw#0 am\n";
  EXPECT_EQ(device_of_one_lane(lane), "rxe0");
  EXPECT_EQ(device_of_one_lane(lane + "#     lane[1]:  3:rc_verbs/rxe0:1.1 md[2]\n"), "") << "another path is another";
  EXPECT_EQ(device_of_one_lane(lane + "#     lane[1]:  1:sysv/memory.0 md[1]\n"), "");
  EXPECT_EQ(device_of_one_lane("#     lane[0]:  3:rc_mlx5/mlx5_0:1.0 md[2]\n"), "");
  EXPECT_EQ(device_of_one_lane(""), "");
}

TEST(TransportsTest, tells_soft_roce_by_its_file) {
  const std::filesystem::path devices = std::filesystem::path(::testing::TempDir()) / "infiniband";
  std::filesystem::create_directories(devices / "mlx5_0");
  std::filesystem::create_directories(devices / "some_name");
  std::ofstream(devices / "some_name" / "parent") << "eth0\n";
  EXPECT_TRUE(is_soft_roce("some_name", devices));
  EXPECT_FALSE(is_soft_roce("mlx5_0", devices));
  EXPECT_FALSE(is_soft_roce("none", devices));
  std::ofstream(devices / "parent") << "no device's\n";
  EXPECT_FALSE(is_soft_roce("", devices));
  std::filesystem::remove_all(devices);
}

TEST(TransportsTest, finds_none_in_other_text) {
  EXPECT_EQ(transports_of(""), "");
  EXPECT_EQ(transports_of("lane[0]"), "");
  EXPECT_EQ(transports_of("lane[0]:"), "");
}
}  // namespace
}  // namespace armci::ucx
