#include "tools/prof/profile.h"

#include <gtest/gtest.h>

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
  char here[8], there[8];
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

}  // namespace
}  // namespace armci::prof
