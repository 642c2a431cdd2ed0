// The costly checks: kept promises are silent, broken ones are named, and buffers are free once their operation ended.

#include "impl/runtime/check.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "impl/runtime/usage.h"
#include "impl/testing/fake_transport.h"
#include "impl/testing/runtime_world.h"

namespace armci::runtime {
namespace {

using testing::ReorderingTransport;
using Job = RuntimeForTest<ReorderingTransport>;

class CheckTest : public ::testing::Test {
 protected:
  void SetUp() override { observe_flags = kObserveCheck; }
  void TearDown() override {
    (void)verify_all_buffers();
    observe_flags = 0;
  }
};

TEST_F(CheckTest, EachModeAllowsItsOperations) {
  struct Case {
    AccessMode mode;
    bool put, get, acc;
  };
  const Case cases[] = {{AccessMode::kDefault, true, true, true},
                        {AccessMode::kReadOnly, false, true, false},
                        {AccessMode::kAccOnly, false, false, true},
                        {AccessMode::kPutOnly, true, false, false}};
  for (const Case& one : cases) {
    EXPECT_EQ(check_promise(one.mode, true, false, false).ok(), one.put);
    EXPECT_EQ(check_promise(one.mode, false, true, false).ok(), one.get);
    EXPECT_EQ(check_promise(one.mode, false, false, true).ok(), one.acc);
  }
}

TEST_F(CheckTest, ABrokenPromiseNamesOperationAndMode) {
  EXPECT_EQ(check_promise(AccessMode::kReadOnly, true, false, false).code(), Code::kPromise);
  EXPECT_NE(std::string(last_cause().text).find("put on a region in mode read-only"), std::string::npos);
  EXPECT_STREQ(last_cause().clause, "MODE-1");
}

TEST_F(CheckTest, ATransferThatBreaksThePromiseDoesNotHappen) {
  Job job({0, 1});
  auto* region = job.add_region({64, 64});
  region->mode = AccessMode::kReadOnly;
  EXPECT_EQ(job->put_value(1, reinterpret_cast<int*>(region->parts[1].base), 1).code(), Code::kPromise);
  EXPECT_TRUE(job.network().calls().empty());
}

class BufferTest : public CheckTest {
 protected:
  Status put(armci_hdl_t* handle, int proc = 1) {
    return job_->contiguous<Kind::kPut>(buffer_, job_.memory(proc), sizeof buffer_, proc, through(handle));
  }
  Job job_{std::vector<int>{0, 1, 2}};
  char buffer_[16] = "contents";
  armci_hdl_t handle_{};
};

TEST_F(BufferTest, AnUnchangedBufferIsFine) {
  ASSERT_TRUE(put(&handle_).ok());
  EXPECT_TRUE(job_->wait(&handle_).ok());
}

TEST_F(BufferTest, AChangeBeforeWaitIsFound) {
  ASSERT_TRUE(put(&handle_).ok());
  buffer_[3] = 'X';
  EXPECT_EQ(job_->wait(&handle_).code(), Code::kPromise);
}

TEST_F(BufferTest, AChangeBeforeTestSaysDoneIsFound) {
  ASSERT_TRUE(put(&handle_).ok());
  buffer_[3] = 'X';
  bool done = false;
  EXPECT_EQ(job_->test(&handle_, &done).code(), Code::kPromise);
}

TEST_F(BufferTest, AChangeOfAnImplicitStoresBufferIsFoundByWaitAll) {
  ASSERT_TRUE(put(nullptr).ok());
  buffer_[3] = 'X';
  EXPECT_EQ(job_->wait_all().code(), Code::kPromise);
}

TEST_F(BufferTest, AFoundChangeIsReportedOnce) {
  ASSERT_TRUE(put(&handle_).ok());
  buffer_[3] = 'X';
  EXPECT_FALSE(job_->wait(&handle_).ok());
  EXPECT_TRUE(job_->wait(&handle_).ok());
}

TEST_F(BufferTest, AfterWaitTheBufferIsTheProgramsAgain) {
  ASSERT_TRUE(put(&handle_).ok());
  ASSERT_TRUE(job_->wait(&handle_).ok());
  buffer_[3] = 'X';
  EXPECT_TRUE(job_->wait_all().ok());
}

TEST_F(BufferTest, AfterAFenceTheBufferIsTheProgramsAgain) {
  ASSERT_TRUE(put(&handle_).ok());
  ASSERT_TRUE(put(nullptr).ok());
  ASSERT_TRUE(job_->fence(1).ok());
  buffer_[3] = 'X';
  EXPECT_TRUE(job_->wait(&handle_).ok());
  EXPECT_TRUE(job_->wait_all().ok());
}

TEST_F(BufferTest, AfterAnAllFenceTheBufferIsTheProgramsAgain) {
  ASSERT_TRUE(put(&handle_).ok());
  ASSERT_TRUE(job_->fence_all().ok());
  buffer_[3] = 'X';
  EXPECT_TRUE(job_->wait(&handle_).ok());
}

TEST_F(BufferTest, AfterWaitProcTheBufferIsTheProgramsAgain) {
  ASSERT_TRUE(put(&handle_).ok());
  ASSERT_TRUE(job_->wait_proc(1).ok());
  buffer_[3] = 'X';
  EXPECT_TRUE(job_->wait(&handle_).ok());
}

TEST_F(BufferTest, WaitProcOfAnotherProcessChangesNothing) {
  ASSERT_TRUE(put(&handle_).ok());
  ASSERT_TRUE(job_->wait_proc(2).ok());
  buffer_[3] = 'X';
  EXPECT_EQ(job_->wait(&handle_).code(), Code::kPromise);
}

TEST_F(BufferTest, AChangeBeforeAFenceIsFoundByIt) {
  ASSERT_TRUE(put(nullptr).ok());
  buffer_[3] = 'X';
  EXPECT_EQ(job_->fence(1).code(), Code::kPromise);
}

TEST_F(BufferTest, ABlockingStoresBufferIsFreeAtOnce) {
  ASSERT_TRUE(job_->contiguous<Kind::kPut>(buffer_, job_.memory(1), sizeof buffer_, 1, kBlocking).ok());
  buffer_[3] = 'X';
  EXPECT_TRUE(job_->wait_all().ok());
}

TEST_F(BufferTest, EverySegmentOfAStridedStoreIsWatchedAndNoGap) {
  char source[32] = {};
  const Strided shape{1, {4, 3}, {8}, {4}};
  for (std::size_t changed = 0; changed < 24; ++changed) {
    ASSERT_TRUE(job_->strided<Kind::kPut>(source, job_.memory(1), shape, 1, through(&handle_)).ok());
    ++source[changed];
    EXPECT_EQ(job_->wait(&handle_).ok(), changed % 8 >= 4) << "byte " << changed;
  }
}

TEST_F(BufferTest, EverySegmentOfAVectorStoreIsWatched) {
  char source[2][8] = {};
  void* src[] = {source[0], source[1]};
  void* dst[] = {job_.memory(1), job_.memory(1) + 8};
  const Segments segments{src, dst, 8, 2};
  ASSERT_TRUE(job_->vector<Kind::kPut>(&segments, 1, 1, through(&handle_)).ok());
  ++source[1][7];
  EXPECT_EQ(job_->wait(&handle_).code(), Code::kPromise);
}

TEST_F(BufferTest, AGetsBufferIsNotWatched) {
  ASSERT_TRUE(job_->contiguous<Kind::kGet>(job_.memory(1), buffer_, sizeof buffer_, 1, through(&handle_)).ok());
  EXPECT_TRUE(job_->wait(&handle_).ok());
}

TEST_F(CheckTest, OverlappingDestinationsDrawAWarning) {
  const auto warned = [](const Strided& shape, bool accumulate) {
    ::testing::internal::CaptureStderr();
    check_strided_overlap(shape, accumulate);
    return ::testing::internal::GetCapturedStderr().find("XFER-7") != std::string::npos;
  };
  EXPECT_TRUE(warned(Strided{1, {8, 3}, {8}, {4}}, false));
  EXPECT_TRUE(warned(Strided{1, {8, 3}, {8}, {0}}, false));
  EXPECT_FALSE(warned(Strided{1, {8, 3}, {8}, {4}}, true));
  EXPECT_FALSE(warned(Strided{1, {8, 3}, {4}, {8}}, false));
  EXPECT_FALSE(warned(Strided{2, {4, 2, 2}, {100, 4}, {100, 4}}, false));
  // The second level fills the gaps of the first, or does not quite.
  EXPECT_FALSE(warned(Strided{2, {4, 3, 2}, {8, 4}, {8, 4}}, false));
  EXPECT_TRUE(warned(Strided{2, {5, 3, 2}, {8, 4}, {8, 4}}, false));
  EXPECT_TRUE(warned(Strided{2, {4, 3, 2}, {8, 16}, {8, 16}}, false));
  EXPECT_TRUE(warned(Strided{2, {4, 3, 2}, {8, -8}, {8, -8}}, false));
}

TEST_F(CheckTest, OverlappingDestinationsOfAVectorDrawAWarning) {
  const auto warned = [](std::vector<std::size_t> to, std::size_t bytes) {
    static char memory[64];
    std::vector<void*> dst;
    for (std::size_t offset : to) dst.push_back(memory + offset);
    const Segments segments{dst.data(), dst.data(), bytes, dst.size()};
    ::testing::internal::CaptureStderr();
    check_vector_overlap(&segments, 1);
    return ::testing::internal::GetCapturedStderr().find("XFER-7") != std::string::npos;
  };
  EXPECT_TRUE(warned({0, 4}, 8));
  EXPECT_TRUE(warned({16, 0, 9}, 8));
  EXPECT_TRUE(warned({8, 8}, 8));
  EXPECT_FALSE(warned({16, 0, 8}, 8));
}

TEST_F(CheckTest, OverlappingSourceAndDestinationDrawAWarning) {
  const auto warned = [](std::size_t from, std::size_t to, std::size_t bytes) {
    static char memory[64];
    ::testing::internal::CaptureStderr();
    check_contiguous_overlap(memory + from, memory + to, bytes);
    return ::testing::internal::GetCapturedStderr().find("ERR-4") != std::string::npos;
  };
  EXPECT_TRUE(warned(0, 15, 16));
  EXPECT_TRUE(warned(15, 0, 16));
  EXPECT_FALSE(warned(0, 16, 16));
  EXPECT_FALSE(warned(16, 0, 16));
  EXPECT_FALSE(warned(8, 8, 16));
}

TEST(CheckOffTest, NothingIsWatched) {
  Job job({0, 1});
  char buffer[8] = "before";
  armci_hdl_t handle{};
  ASSERT_TRUE(job->contiguous<Kind::kPut>(buffer, job.memory(1), sizeof buffer, 1, through(&handle)).ok());
  buffer[0] = 'X';
  EXPECT_TRUE(job->wait(&handle).ok());
}

}  // namespace
}  // namespace armci::runtime
