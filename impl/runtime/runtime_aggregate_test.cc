// Aggregate handles over a transport that takes lists: which transfers are coalesced, when a batch is issued,
// and that every wait covers it.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "impl/testing/fake_shapes.h"
#include "impl/testing/runtime_world.h"

namespace armci::runtime::aggregate_test {

using testing::FakeCallKind;
using testing::FakeNetwork;
using testing::ReorderingTransport;
using testing::ShapesTransport;
using testing::Whole;

using Word = std::int64_t;
using Job = RuntimeForTest<ShapesTransport<>>;

armci_hdl_t aggregate_handle() {
  armci_hdl_t handle;
  write_handle(&handle, HandleBits{0, 1, 0});
  return handle;
}

class AggregateTest : public ::testing::Test {
 protected:
  AggregateTest() {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] = 100 + static_cast<Word>(i);
  }

  // Word number i, to or from its place in the memory of `proc`.
  void put(std::size_t i, int proc = 1, std::size_t words = 1) { put(&handle_, i, proc, words); }
  void put(armci_hdl_t* handle, std::size_t i, int proc = 1, std::size_t words = 1) {
    ASSERT_TRUE(job_->contiguous<Kind::kPut>(&words_[i], place(i, proc), 8 * words, proc, through(handle)).ok());
  }
  void get(std::size_t i, int proc = 1) {
    ASSERT_TRUE(job_->contiguous<Kind::kGet>(place(i, proc), &words_[i], 8, proc, through(&handle_)).ok());
  }
  void add(std::size_t i, const Word& scale) {
    const node::AccSpec acc{node::AccType::kLong, &scale};
    ASSERT_TRUE(job_->contiguous<Kind::kAcc>(&words_[i], place(i), 8, 1, through(&handle_), acc).ok());
  }
  Word* place(std::size_t i, int proc = 1) { return job_.at<Word>(proc, i); }
  const std::vector<Whole>& lists() { return job_->transport().wholes(); }
  int calls(FakeCallKind kind) { return job_.network().count(kind); }

  Job job_{std::vector<int>{0, 1, 2}};
  std::array<Word, 4096> words_{};
  armci_hdl_t handle_ = aggregate_handle();
};

TEST_F(AggregateTest, LeavesAsOneListAtTheWait) {
  for (std::size_t i = 0; i < 20; ++i) put(i);
  EXPECT_TRUE(job_.network().calls().empty());
  ASSERT_TRUE(job_->wait(&handle_).ok());
  ASSERT_EQ(lists().size(), 1u);
  EXPECT_EQ(lists()[0].kind, FakeCallKind::kPutList);
  EXPECT_EQ(lists()[0].dst_list.size(), 20u);
  EXPECT_EQ(job_.outstanding(), 0u);
  ASSERT_TRUE(job_->fence(1).ok());
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(*place(i), words_[i]);
}

TEST_F(AggregateTest, OfGetsBringsThem) {
  for (std::size_t i = 0; i < 20; ++i) *place(i) = 7 * static_cast<Word>(i);
  for (std::size_t i = 0; i < 20; ++i) get(i);
  ASSERT_TRUE(job_->wait(&handle_).ok());
  ASSERT_EQ(lists().size(), 1u);
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(words_[i], 7 * static_cast<Word>(i));
}

TEST_F(AggregateTest, OfAccumulatesKeepsTheirScale) {
  Word scale = 3;
  for (std::size_t i = 0; i < 4; ++i) add(i, scale);
  scale = 5;  // the caller's again
  for (std::size_t i = 4; i < 8; ++i) add(i, scale);
  scale = 0;
  ASSERT_TRUE(job_->wait(&handle_).ok());
  ASSERT_TRUE(job_->fence(1).ok());
  EXPECT_EQ(lists().size(), 2u);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(*place(i), (i < 4 ? 3 : 5) * words_[i]);
}

TEST_F(AggregateTest, LeavesWhenThereAreMany) {
  for (std::size_t i = 0; i <= Aggregates::kSegmentsMax; ++i) put(i);
  ASSERT_EQ(lists().size(), 1u);
  EXPECT_EQ(lists()[0].src_list.size(), Aggregates::kSegmentsMax);
  ASSERT_TRUE(job_->wait(&handle_).ok());
  ASSERT_TRUE(job_->fence(1).ok());
  for (std::size_t i = 0; i <= Aggregates::kSegmentsMax; ++i) EXPECT_EQ(*place(i), words_[i]);
}

TEST_F(AggregateTest, LeavesWhenTheHandleComesWithSomethingElse) {
  put(0);
  put(1);
  put(0, 2);
  EXPECT_EQ(lists().size(), 1u);
  put(1, 2);
  get(9, 2);
  EXPECT_EQ(lists().size(), 2u);
  ASSERT_TRUE(job_->wait(&handle_).ok());
  ASSERT_TRUE(job_->fence_all().ok());
  for (const int proc : {1, 2}) {
    for (const std::size_t i : {0, 1}) EXPECT_EQ(*place(i, proc), words_[i]);
  }
}

TEST_F(AggregateTest, HasAListForEachRunOfOneLength) {
  for (const std::size_t i : {0, 1, 2}) put(i);
  put(10, 1, 2);
  for (const std::size_t i : {20, 30}) put(i, 1, 3);
  ASSERT_TRUE(job_->wait(&handle_).ok());
  ASSERT_EQ(lists().size(), 2u);
  EXPECT_EQ(lists()[0].bytes, 8u);
  EXPECT_EQ(lists()[1].bytes, 24u);
  EXPECT_EQ(calls(FakeCallKind::kPut), 1);
  ASSERT_TRUE(job_->fence(1).ok());
  for (const std::size_t i : {0, 1, 2, 10, 11, 20, 21, 22, 30, 31, 32}) EXPECT_EQ(*place(i), words_[i]) << i;
  EXPECT_EQ(*place(12), 0);
}

TEST_F(AggregateTest, LongTransfersGoByThemselves) {
  put(0);
  put(100, 1, Aggregates::kCoalescedBytesMax / 8 + 1);
  EXPECT_EQ(calls(FakeCallKind::kPut), 1);
  EXPECT_TRUE(lists().empty());
  ASSERT_TRUE(job_->wait(&handle_).ok());
  ASSERT_TRUE(job_->fence(1).ok());
  EXPECT_EQ(*place(0), words_[0]);
  EXPECT_EQ(*place(150), words_[150]);
}

TEST_F(AggregateTest, OtherHandlesCoalesceNothing) {
  armci_hdl_t plain{};
  put(&plain, 0);
  put(nullptr, 1);
  EXPECT_EQ(calls(FakeCallKind::kPut), 2);
}

TEST_F(AggregateTest, ATestBeginsIt) {
  put(0);
  put(1);
  bool done = false;
  ASSERT_TRUE(job_->test(&handle_, &done).ok());
  EXPECT_EQ(lists().size(), 1u);
}

TEST_F(AggregateTest, ATestBeginsOneListAtATime) {
  for (const std::size_t i : {0, 1}) put(i);
  for (const std::size_t i : {10, 20}) put(i, 1, 2);
  for (const std::size_t i : {30, 40}) put(i, 1, 3);
  bool done = false;
  for (std::size_t tests = 1; tests < 3; ++tests) {
    ASSERT_TRUE(job_->test(&handle_, &done).ok());
    EXPECT_FALSE(done);
    EXPECT_EQ(lists().size(), tests);
  }
  put(50);  // more may come in between
  for (int tests = 0; tests < 100 && !done; ++tests) ASSERT_TRUE(job_->test(&handle_, &done).ok());
  EXPECT_TRUE(done);
  EXPECT_EQ(lists().size(), 3u);
  EXPECT_EQ(job_.outstanding(), 0u);
  ASSERT_TRUE(job_->fence(1).ok());
  for (const std::size_t i : {0, 1, 10, 11, 20, 21, 30, 32, 42, 50}) EXPECT_EQ(*place(i), words_[i]) << i;
}

TEST_F(AggregateTest, IsSentOnRequest) {
  put(0);
  put(1);
  ASSERT_TRUE(job_->flush_batch(read_handle(&handle_)).ok());
  EXPECT_EQ(lists().size(), 1u);
  ASSERT_TRUE(job_->wait(&handle_).ok());
}

TEST_F(AggregateTest, IsCompletedByEveryWaitAndFenceOfItsTarget) {
  const std::vector<Status (*)(Job&)> ends = {
      [](Job& job) { return job->wait_proc(1); }, [](Job& job) { return job->wait_all(); },
      [](Job& job) { return job->fence(1); },     [](Job& job) { return job->fence_all(); },
      [](Job& job) { return job->notify(1); },    [](Job& job) { return job->fence_group(job.group()); }};
  for (std::size_t end = 0; end < ends.size(); ++end) {
    put(2 * end);
    put(2 * end + 1);
    ASSERT_TRUE(ends[end](job_).ok());
    EXPECT_EQ(lists().size(), end + 1);
    EXPECT_EQ(job_.outstanding(), 0u);
    ASSERT_TRUE(job_->wait(&handle_).ok());
    ASSERT_TRUE(job_->fence(1).ok());
    EXPECT_EQ(*place(2 * end), words_[2 * end]);
  }
}

TEST_F(AggregateTest, IsNotBegunByAFenceOfAnotherTarget) {
  put(0);
  put(1);
  ASSERT_TRUE(job_->fence(2).ok());
  ASSERT_TRUE(job_->wait_proc(2).ok());
  EXPECT_TRUE(lists().empty());
  EXPECT_EQ(job_.outstanding(), 1u);
}

TEST_F(AggregateTest, WaitOnACopyOfTheHandleCompletesIt) {
  put(0);
  armci_hdl_t copy = handle_;
  put(1);
  ASSERT_TRUE(job_->wait(&copy).ok());
  EXPECT_EQ(lists().size(), 1u);
  job_.network().hold();
  armci_hdl_t other = aggregate_handle();
  put(&other, 5);
  put(&other, 6);
  bool done = false;
  EXPECT_TRUE(job_->test(&handle_, &done).ok());  // does not take the next user of its slot for its own
  EXPECT_TRUE(done);
  EXPECT_EQ(lists().size(), 1u);
  job_.network().release_held();
}

TEST_F(AggregateTest, AHandleThatIsNoAggregateAnyMoreIsWaitedForAllTheSame) {
  put(0);
  put(1);
  HandleBits bits = read_handle(&handle_);
  bits.aggregate = 0;
  write_handle(&handle_, bits);
  put(2);
  EXPECT_EQ(calls(FakeCallKind::kPut), 1);
  ASSERT_TRUE(job_->wait(&handle_).ok());
  ASSERT_TRUE(job_->fence(1).ok());
  for (const std::size_t i : {0, 1, 2}) EXPECT_EQ(*place(i), words_[i]);
}

TEST_F(AggregateTest, ThereMayBeAnyNumberOfHandles) {
  std::vector<armci_hdl_t> handles(3 * Aggregates::kHandlesMax, aggregate_handle());
  for (int round = 0; round < 3; ++round) {
    for (std::size_t h = 0; h < handles.size(); ++h) put(&handles[h], 3 * h + static_cast<std::size_t>(round));
  }
  for (armci_hdl_t& handle : handles) ASSERT_TRUE(job_->wait(&handle).ok());
  EXPECT_EQ(job_.outstanding(), 0u);
  ASSERT_TRUE(job_->fence(1).ok());
  for (std::size_t i = 0; i < 3 * handles.size(); ++i) EXPECT_EQ(*place(i), words_[i]);
}

TEST_F(AggregateTest, ThatCannotStartIsReportedByTheWait) {
  put(0);
  put(1);
  job_.network().fail_call(FakeCallKind::kPutList, 1);
  const Status status = job_->wait(&handle_);
  EXPECT_EQ(status.code(), Code::kLayerBelow);
  EXPECT_EQ(job_.outstanding(), 0u);
  put(2);
  put(3);
  ASSERT_TRUE(job_->wait(&handle_).ok());
  ASSERT_TRUE(job_->fence(1).ok());
  EXPECT_EQ(*place(2), words_[2]);
}

TEST_F(AggregateTest, ARunThatFailsDoesNotKeepTheOthersBack) {
  for (const std::size_t i : {0, 1}) put(i);
  for (const std::size_t i : {10, 20}) put(i, 1, 2);
  job_.network().fail_call(FakeCallKind::kPutList, 1);
  EXPECT_EQ(job_->wait(&handle_).code(), Code::kLayerBelow);
  ASSERT_TRUE(job_->fence(1).ok());
  EXPECT_EQ(*place(0), 0);
  EXPECT_EQ(*place(21), words_[21]);
}

TEST_F(AggregateTest, AnAddressOutsideEveryRegionIsRefusedAtOnce) {
  put(0);
  EXPECT_EQ(job_->contiguous<Kind::kPut>(&words_[0], words_.data(), 8, 1, through(&handle_)).code(), Code::kAddress);
  ASSERT_TRUE(job_->wait(&handle_).ok());
}

template <class AnyTransport>
void expect_goes_by_itself(const std::vector<int>& nodes) {
  RuntimeForTest<AnyTransport> job(nodes);
  armci_hdl_t handle = aggregate_handle();
  const Word word = 5;
  ASSERT_TRUE(job->template contiguous<Kind::kPut>(&word, job.memory(1), 8, 1, through(&handle)).ok());
  EXPECT_EQ(job.network().count(FakeCallKind::kPut), 1);
  ASSERT_TRUE(job->wait(&handle).ok());
}

TEST(AggregateTransportsTest, WithoutListsCoalesceNothing) { expect_goes_by_itself<ReorderingTransport>({0, 1}); }

TEST(AggregateTransportsTest, CoalesceNothingForTheNode) { expect_goes_by_itself<ShapesTransport<true>>({0, 0}); }

// A wait or a fence covers a batch that another thread's fence has taken and not yet issued.
TEST(AggregateThreadsTest, WaitsAndFencesCoverTheCoalescedTransfersOfTheirThread) {
  constexpr int kThreads = 3;
  constexpr std::size_t kWords = 8;
  constexpr Word kRounds = 2000;
  Job job({0, 1});
  std::atomic<int> running{kThreads};
  std::atomic<int> missing{0};
  const auto work = [&](int self) {
    armci_hdl_t handle = aggregate_handle();
    std::array<Word, kWords> words{};
    Word* const places = job.at<Word>(1, static_cast<std::size_t>(self) * kWords);
    for (Word round = 1; round <= kRounds; ++round) {
      words.fill(round);
      for (std::size_t i = 0; i < kWords; ++i) {
        if (!job->contiguous<Kind::kPut>(&words[i], places + i, 8, 1, through(&handle)).ok()) ++missing;
      }
      if (!job->fence(1).ok()) ++missing;
      for (std::size_t i = 0; i < kWords; ++i) {
        if (std::atomic_ref<const Word>(places[i]).load() != round) ++missing;
      }
      words.fill(0);
      for (std::size_t i = 0; i < kWords; ++i) {
        if (!job->contiguous<Kind::kGet>(places + i, &words[i], 8, 1, through(&handle)).ok()) ++missing;
      }
      if (!job->wait(&handle).ok()) ++missing;
      for (const Word word : words) missing += word == round ? 0 : 1;
    }
    --running;
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) threads.emplace_back(work, t);
  while (running > 0) {
    if (!job->fence_all().ok()) ++missing;
  }
  for (std::thread& one : threads) one.join();
  EXPECT_EQ(missing, 0);
}

}  // namespace armci::runtime::aggregate_test
