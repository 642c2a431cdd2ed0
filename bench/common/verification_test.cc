// Transfers between two arrays of this process, good ones and broken ones.
#include "bench/common/verification.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace armci::bench {
namespace {

class Verification : public testing::Test {
 protected:
  void Put(size_t count) { std::copy_n(local_.begin(), count, remote_.begin()); }
  void Get(size_t count) { std::copy_n(remote_.begin(), count, local_.begin()); }
  void Add(double scale) {
    for (size_t i = 0; i < kCount; ++i) remote_[i] += scale * local_[i];
  }

  static constexpr size_t kCount = 5000;
  std::vector<double> local_ = std::vector<double>(kCount);
  std::vector<double> remote_ = std::vector<double>(kCount);
  Mirror mirror_ = {local_.data(), kCount, [this] { Put(kCount); }, [this] { Get(kCount); }};
};

TEST_F(Verification, GoodTransfersHaveNoFault) {
  EXPECT_EQ(VerifyPut(mirror_, [this] { Put(kCount); }), "");
  EXPECT_EQ(VerifyGet(mirror_, [this] { Get(kCount); }), "");
  EXPECT_EQ(VerifyAccumulate(mirror_, [this] { Add(1); }), "");
}

TEST_F(Verification, WhatDoesNothingIsNoticedEachTime) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_NE(VerifyPut(mirror_, [] {}), "");
    EXPECT_NE(VerifyGet(mirror_, [] {}), "");
    EXPECT_NE(VerifyAccumulate(mirror_, [] {}), "");
    EXPECT_EQ(VerifyPut(mirror_, [this] { Put(kCount); }), "");
  }
}

TEST_F(Verification, TheFirstDoubleThatIsWrongIsNamed) {
  const std::string fault = VerifyPut(mirror_, [this] { Put(kCount - 1); });
  EXPECT_EQ(fault.find("double 4999 of 5000 after a put"), 0u) << fault;
}

TEST_F(Verification, PiecesInTheWrongPlaceAreNoticed) {
  EXPECT_NE(VerifyGet(mirror_,
                      [this] {
                        Get(kCount);
                        std::swap_ranges(local_.begin(), local_.begin() + 1024, local_.begin() + 2048);
                      }),
            "");
}

TEST_F(Verification, AnAccumulateThatPutsOrAddsTwiceIsNoticed) {
  EXPECT_NE(VerifyAccumulate(mirror_, [this] { Put(kCount); }), "");
  EXPECT_NE(VerifyAccumulate(mirror_, [this] { Add(2); }), "");
}

}  // namespace
}  // namespace armci::bench
