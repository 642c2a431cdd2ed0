#include "tools/prof/profile.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

// The program links without the library: this is what its header refers to.
extern "C" const int armci_abi_version_1 = 1;

namespace armci::prof {
namespace {

TEST(ClassTest, EachHasEightTimesTheOneBefore) {
  EXPECT_EQ(class_of(0), 0);
  EXPECT_EQ(class_of(1), 0);
  EXPECT_EQ(class_of(8), 0);
  EXPECT_EQ(class_of(9), 1);
  EXPECT_EQ(class_of(64), 1);
  EXPECT_EQ(class_of(65), 2);
  EXPECT_EQ(class_of(512), 2);
  EXPECT_EQ(class_of(2 << 20), 6);
  EXPECT_EQ(class_of((2 << 20) + 1), 7);
  EXPECT_EQ(class_of(~std::uint64_t{0}), 7);
}

TEST(DescribeTest, BytesPeerAndAddressOfEachShape) {
  char here[8]{}, there[8]{};
  int strides[] = {64, 640};
  int count[] = {16, 3, 2};
  const auto put = Describe<ApiId::ARMCI_Put>{}(here, there, 100, 3);
  EXPECT_EQ(put.bytes, 100U);
  EXPECT_EQ(put.peer, 3);
  EXPECT_EQ(put.remote, there);
  const auto get =
      Describe<ApiId::ARMCI_NbGetS>{}(there, strides, here, strides, count, 2, 1, static_cast<armci_hdl_t*>(nullptr));
  EXPECT_EQ(get.bytes, 96U);
  EXPECT_EQ(get.remote, there);
  const auto add = Describe<ApiId::ARMCI_AccS>{}(ARMCI_ACC_DBL, here, here, strides, there, strides, count, 1, 2);
  EXPECT_EQ(add.bytes, 48U);
  EXPECT_EQ(add.peer, 2);
  EXPECT_EQ(add.remote, there);
  void* sources[] = {here, here};
  void* targets[] = {there, there};
  armci_giov_t list[2] = {};
  for (armci_giov_t& one : list) {
    one.src_ptr_array = sources;
    one.dst_ptr_array = targets;
    one.bytes = 8;
    one.ptr_array_len = 2;
  }
  EXPECT_EQ((Describe<ApiId::ARMCI_PutV>{}(list, 2, 0).bytes), 32U);
  EXPECT_EQ((Describe<ApiId::ARMCI_PutV>{}(list, 2, 0).remote), there);
  EXPECT_EQ((Describe<ApiId::ARMCI_GetV>{}(list, 1, 0).remote), here);
  EXPECT_EQ((Describe<ApiId::ARMCI_Rmw>{}(ARMCI_SWAP_LONG, here, there, 0, 5).bytes), sizeof(long));
  EXPECT_EQ((Describe<ApiId::ARMCI_PutValueInt>{}(7, there, 5).bytes), sizeof(int));
  EXPECT_EQ((Describe<ApiId::ARMCI_Barrier>{}().bytes), 0U);
  EXPECT_EQ((Describe<ApiId::ARMCIX_Put>{}(here, there, std::size_t{1} << 33, 1).bytes), std::uint64_t{1} << 33);
}

TEST(DescribeTest, ExtensionsAndDirections) {
  char here[8]{}, there[8]{};
  std::uint64_t flag = 0;
  const auto rmw = Describe<ApiId::ARMCIX_Rmw>{}(ARMCIX_ADD, ARMCIX_INT32, here, here, nullptr, there, 4);
  EXPECT_EQ(rmw.bytes, 4U);
  EXPECT_EQ(rmw.peer, 4);
  EXPECT_EQ(rmw.remote, there);
  const auto put = Describe<ApiId::ARMCIX_Put_signal>{}(here, there, std::size_t{8}, &flag, 1, ARMCIX_SIGNAL_SET, 2);
  EXPECT_EQ(put.bytes, 8U);
  EXPECT_EQ(put.remote, there);
  EXPECT_FALSE(put.incoming);
  EXPECT_TRUE((Describe<ApiId::ARMCI_Get>{}(there, here, 8, 1).incoming));
  EXPECT_TRUE((Describe<ApiId::ARMCI_GetValueInt>{}(there, 1).incoming));
  EXPECT_FALSE((Describe<ApiId::ARMCI_Put>{}(here, there, 8, 1).incoming));
}

// A job of one process, which is process 0 of those that it talks to.
class ProfileTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { PMPI_Init(nullptr, nullptr); }
  static void TearDownTestSuite() { PMPI_Finalize(); }
  void SetUp() override {
    profile_.begin(MPI_COMM_SELF);
    void* parts[] = {memory_};
    const std::uint64_t length = sizeof memory_;
    profile_.add_region(parts, &length, 1, nullptr);
  }

  std::string printed() {
    char* text = nullptr;
    std::size_t length = 0;
    std::FILE* const out = open_memstream(&text, &length);
    profile_.print(out);
    std::fclose(out);
    std::string made(text, length);
    std::free(text);
    return made;
  }

  Profile profile_;
  char memory_[64];
};

TEST_F(ProfileTest, CallsSizesPeersAndRegionsAreSummedUp) {
  profile_.record(ApiId::ARMCI_Put, {8, 0, memory_ + 56}, 1000);
  profile_.record(ApiId::ARMCI_Put, {32, 0, memory_}, 3000);
  profile_.record(ApiId::ARMCI_Get, {100, 0, memory_ + 1, true}, 500);
  profile_.record(ApiId::ARMCI_Barrier, {}, 500);
  const std::string text = printed();
  EXPECT_NE(text.find("armci-prof: 1 processes"), std::string::npos) << text;
  EXPECT_NE(
      text.find("ARMCI_Put                               2         40 B       0.000004       0.000004          2.000"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("ARMCI_Put                             1          1          0"), std::string::npos) << text;
  EXPECT_NE(text.find("\n   0     140 B\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n0                  64 B        140 B\n"), std::string::npos) << text;
}

TEST_F(ProfileTest, TheShareOfTimeInCallsIsPrinted) {
  using Seconds = std::chrono::duration<double>;
  const auto start = std::chrono::steady_clock::now();
  // The time is printed in milliseconds: it has to be long enough for the share to be computed from it.
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  profile_.record(ApiId::ARMCI_Barrier, {}, 10'000'000);
  const std::string text = printed();
  const double longest = Seconds(std::chrono::steady_clock::now() - start).count();
  double elapsed = 0;
  double share = 0;
  ASSERT_EQ(std::sscanf(text.c_str(), "armci-prof: 1 processes, %lf s each, %lf %% of it in ARMCI\n", &elapsed, &share),
            2)
      << text;
  EXPECT_GE(elapsed, 0.02);
  EXPECT_LE(elapsed, longest + 0.1);
  EXPECT_NEAR(share, 1.0 / elapsed, 0.06 + 0.05 * share);  // of 0.01 s, in percent
}

TEST_F(ProfileTest, WhatLiesBehindARegionIsNotOfIt) {
  profile_.record(ApiId::ARMCI_Put, {8, 0, memory_ + sizeof memory_}, 1);
  EXPECT_NE(printed().find("\n0                  64 B          0 B\n"), std::string::npos) << printed();
}

TEST_F(ProfileTest, WhatIsFreedIsNotCredited) {
  profile_.remove_region(memory_, 0);
  profile_.record(ApiId::ARMCI_Put, {8, 0, memory_}, 1);
  EXPECT_NE(printed().find("\n0                  64 B          0 B\n"), std::string::npos) << printed();
}

TEST_F(ProfileTest, BeginsAnew) {
  profile_.record(ApiId::ARMCI_Put, {8, 0, memory_}, 1);
  profile_.begin(MPI_COMM_SELF);
  EXPECT_EQ(printed().find("ARMCI_Put"), std::string::npos) << printed();
}

}  // namespace
}  // namespace armci::prof
