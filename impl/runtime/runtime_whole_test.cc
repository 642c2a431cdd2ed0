// The optional members of a transport that move data: which one is called, with which arguments, in which order, and
// what becomes of its failures.

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "impl/testing/fake_shapes.h"
#include "impl/testing/runtime_world.h"

namespace armci::runtime::whole_test {

using testing::AtOnceTransport;
using testing::FakeCall;
using testing::FakeCallKind;
using testing::FakeNetwork;
using testing::FindingTransport;
using testing::ShapesTransport;
using testing::Whole;

using Word = std::int64_t;
using AtOnceJob = RuntimeForTest<AtOnceTransport>;
using Job = RuntimeForTest<ShapesTransport<>>;

void expect_injected(Status status) {
  EXPECT_EQ(status.code(), Code::kLayerBelow);
  EXPECT_NE(std::string(last_cause().text).find(FakeNetwork::kInjected), std::string::npos) << last_cause().text;
}

// Put, fence and get to process 1 work.
template <class AnyJob>
void expect_usable(AnyJob& job) {
  Word* const place = job.template at<Word>(1, 500);
  Word seen = 0;
  EXPECT_TRUE(job->put_value(Word{77}, place, 1).ok());
  EXPECT_TRUE(job->fence(1).ok());
  EXPECT_EQ(*place, 77);
  EXPECT_TRUE(job->get_value(place, 1, &seen).ok());
  EXPECT_EQ(seen, 77);
  EXPECT_EQ(job.outstanding(), 0u);
}

std::vector<FakeCallKind> kinds(const FakeNetwork& network) {
  std::vector<FakeCallKind> all;
  for (const FakeCall& call : network.calls()) all.push_back(call.kind);
  return all;
}
using Kinds = std::vector<FakeCallKind>;

// --- put_now, get_now

TEST(AtOnceTest, ABlockingPutIsOneCall) {
  AtOnceJob job({0, 1});
  ASSERT_TRUE(job->put_value(Word{5}, job.at<Word>(1, 0), 1).ok());
  EXPECT_EQ(kinds(job.network()), Kinds{FakeCallKind::kPutNow});
  EXPECT_EQ(job.network().calls()[0].remote, job.memory(1));
  EXPECT_EQ(job.network().calls()[0].bytes, sizeof(Word));
}

TEST(AtOnceTest, ABlockingGetIsOneCall) {
  AtOnceJob job({0, 1});
  *job.at<Word>(1, 0) = 6;
  Word seen = 0;
  ASSERT_TRUE(job->get_value(job.at<Word>(1, 0), 1, &seen).ok());
  EXPECT_EQ(seen, 6);
  EXPECT_EQ(kinds(job.network()), Kinds{FakeCallKind::kGetNow});
}

TEST(AtOnceTest, NonBlockingTransfersHaveACompletion) {
  AtOnceJob job({0, 1});
  armci_hdl_t handle{};
  Word words[2] = {1, 2};
  ASSERT_TRUE(job->contiguous<Kind::kPut>(&words[0], job.memory(1), 8, 1, through(&handle)).ok());
  ASSERT_TRUE(job->contiguous<Kind::kGet>(job.memory(1) + 8, &words[1], 8, 1, through(&handle)).ok());
  EXPECT_EQ(job.outstanding(), 2u);
  ASSERT_TRUE(job->wait(&handle).ok());
  EXPECT_EQ(job.network().count(FakeCallKind::kPutNow) + job.network().count(FakeCallKind::kGetNow), 0);
}

TEST(AtOnceTest, APutIsUnflushedUntilAFence) {
  AtOnceJob job({0, 1});
  ASSERT_TRUE(job->put_value(Word{5}, job.at<Word>(1, 0), 1).ok());
  EXPECT_TRUE(job->has_unflushed_stores(1));
  EXPECT_EQ(*job.at<Word>(1, 0), 0);
  ASSERT_TRUE(job->fence(1).ok());
  EXPECT_FALSE(job->has_unflushed_stores(1));
  EXPECT_EQ(*job.at<Word>(1, 0), 5);
  ASSERT_TRUE(job->fence(1).ok());
  EXPECT_EQ(job.network().flushed(), std::vector<int>{1});
}

TEST(AtOnceTest, AGetIsNotUnflushed) {
  AtOnceJob job({0, 1});
  Word seen = 0;
  ASSERT_TRUE(job->get_value(job.at<Word>(1, 0), 1, &seen).ok());
  EXPECT_FALSE(job->has_unflushed_stores(1));
}

TEST(AtOnceTest, AGetAfterAnUnflushedPutComesAfterAFlush) {
  AtOnceJob job({0, 1});
  Word seen = 0;
  ASSERT_TRUE(job->put_value(Word{5}, job.at<Word>(1, 0), 1).ok());
  ASSERT_TRUE(job->put_value(Word{6}, job.at<Word>(1, 1), 1).ok());
  ASSERT_TRUE(job->get_value(job.at<Word>(1, 1), 1, &seen).ok());
  EXPECT_EQ(seen, 6);
  EXPECT_EQ(kinds(job.network()), (Kinds{FakeCallKind::kPutNow, FakeCallKind::kFlush, FakeCallKind::kPutNow,
                                         FakeCallKind::kFlush, FakeCallKind::kGetNow}));
}

TEST(AtOnceTest, APutThatFails) {
  AtOnceJob job({0, 1});
  job.network().fail_call(FakeCallKind::kPutNow, 1);
  expect_injected(job->put_value(Word{1}, job.at<Word>(1, 0), 1));
  expect_usable(job);
  EXPECT_EQ(*job.at<Word>(1, 0), 0);
}

TEST(AtOnceTest, AGetThatFails) {
  AtOnceJob job({0, 1});
  Word seen = -1;
  job.network().fail_call(FakeCallKind::kGetNow, 1);
  expect_injected(job->get_value(job.at<Word>(1, 0), 1, &seen));
  EXPECT_EQ(seen, -1);
  expect_usable(job);
}

TEST(AtOnceTest, AnAccumulateWhoseTransferFailsGivesTheLockBack) {
  for (const FakeCallKind kind : {FakeCallKind::kPutNow, FakeCallKind::kGetNow}) {
    AtOnceJob job({0, 1});
    const Word one = 1;
    job.network().fail_call(kind, 1);
    expect_injected(job->contiguous<Kind::kAcc>(&one, job.memory(1), 8, 1, kBlocking, {node::AccType::kLong, &one}));
    EXPECT_EQ(job.accumulate_lock(1), 0);
    expect_usable(job);
    EXPECT_EQ(*job.at<Word>(1, 0), 0);
  }
}

// --- whole descriptors: three words, which lie 16 bytes apart here and 64 there

constexpr std::size_t kWords = 3;
constexpr Strided kToThere{1, {8, kWords}, {16}, {64}};
constexpr Strided kFromThere{1, {8, kWords}, {64}, {16}};
const Word kTwo = 2;
const node::AccSpec kTwice{node::AccType::kLong, &kTwo};

// Both sides of a transfer: process `proc`'s memory, and the words of the caller.
struct Sides {
  std::array<Word, 2 * kWords> local{1, 0, 2, 0, 3, 0};
  std::array<void*, kWords> here{};
  std::array<void*, kWords> there{};

  template <class AnyJob>
  Sides(AnyJob& job, int proc) {
    for (std::size_t i = 0; i < kWords; ++i) {
      here[i] = &local[2 * i];
      there[i] = job.memory(proc) + 64 * i;
    }
  }
  Word remote(std::size_t i) const { return *static_cast<Word*>(there[i]); }
  void set_remote(Word first) {
    for (std::size_t i = 0; i < kWords; ++i) *static_cast<Word*>(there[i]) = first + static_cast<Word>(i);
  }
};

struct Way {
  const char* name;
  FakeCallKind kind;
  bool get;
  bool list;
  bool adds;
};
constexpr Way kWays[] = {{"PutStrided", FakeCallKind::kPutStrided, false, false, false},
                         {"GetStrided", FakeCallKind::kGetStrided, true, false, false},
                         {"AccStrided", FakeCallKind::kAccStrided, false, false, true},
                         {"PutList", FakeCallKind::kPutList, false, true, false},
                         {"GetList", FakeCallKind::kGetList, true, true, false},
                         {"AccList", FakeCallKind::kAccList, false, true, true}};

template <class AnyJob>
Status start(AnyJob& job, const Way& way, Sides* sides, int proc, How how) {
  void* const here = sides->here[0];
  void* const there = sides->there[0];
  const Segments to_there{sides->here.data(), sides->there.data(), 8, kWords};
  const Segments from_there{sides->there.data(), sides->here.data(), 8, kWords};
  if (way.get && way.list) return job->template vector<Kind::kGet>(&from_there, 1, proc, how);
  if (way.get) return job->template strided<Kind::kGet>(there, here, kFromThere, proc, how);
  if (way.adds && way.list) return job->template vector<Kind::kAcc>(&to_there, 1, proc, how, kTwice);
  if (way.adds) return job->template strided<Kind::kAcc>(here, there, kToThere, proc, how, kTwice);
  if (way.list) return job->template vector<Kind::kPut>(&to_there, 1, proc, how);
  return job->template strided<Kind::kPut>(here, there, kToThere, proc, how);
}

class WholeTest : public ::testing::TestWithParam<Way> {
 protected:
  Status start_to(int proc, How how) { return start(job_, way_, &sides_, proc, how); }

  const Way way_ = GetParam();
  Job job_{std::vector<int>{0, 1}};
  Sides sides_{job_, 1};
  armci_hdl_t handle_{};
};
INSTANTIATE_TEST_SUITE_P(Ways, WholeTest, ::testing::ValuesIn(kWays),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(WholeTest, IsOneCallWithTheCallersDescriptor) {
  ASSERT_TRUE(start_to(1, kBlocking).ok());
  EXPECT_EQ(kinds(job_.network()), Kinds{way_.kind});
  ASSERT_EQ(job_->transport().wholes().size(), 1u);
  const Whole& whole = job_->transport().wholes()[0];
  EXPECT_EQ(whole.target, 1);
  const std::vector<void*> here(sides_.here.begin(), sides_.here.end());
  const std::vector<void*> there(sides_.there.begin(), sides_.there.end());
  if (way_.list) {
    EXPECT_EQ(whole.src_list, way_.get ? there : here);
    EXPECT_EQ(whole.dst_list, way_.get ? here : there);
    EXPECT_EQ(whole.bytes, 8u);
  } else {
    const Strided& shape = way_.get ? kFromThere : kToThere;
    EXPECT_EQ(whole.src, way_.get ? there[0] : here[0]);
    EXPECT_EQ(whole.dst, way_.get ? here[0] : there[0]);
    EXPECT_EQ(whole.shape.levels, 1);
    EXPECT_EQ(whole.shape.count[0], shape.count[0]);
    EXPECT_EQ(whole.shape.count[1], shape.count[1]);
    EXPECT_EQ(whole.shape.src_stride[0], shape.src_stride[0]);
    EXPECT_EQ(whole.shape.dst_stride[0], shape.dst_stride[0]);
  }
  if (way_.adds) {
    EXPECT_EQ(whole.acc.type, node::AccType::kLong);
    EXPECT_EQ(whole.acc.scale, &kTwo);
  }
}

TEST_P(WholeTest, BlockingNeedsNoCompletion) {
  ASSERT_TRUE(start_to(1, kBlocking).ok());
  EXPECT_FALSE(job_->transport().wholes().at(0).has_completion);
  EXPECT_EQ(job_.network().count(FakeCallKind::kTest), 0);
  EXPECT_EQ(job_.outstanding(), 0u);
}

TEST_P(WholeTest, NonBlockingIsCompletedByItsHandle) {
  sides_.set_remote(10);
  ASSERT_TRUE(start_to(1, through(&handle_)).ok());
  EXPECT_TRUE(job_->transport().wholes().at(0).has_completion);
  EXPECT_EQ(job_.outstanding(), 1u);
  ASSERT_TRUE(job_->wait(&handle_).ok());
  EXPECT_EQ(job_.outstanding(), 0u);
  if (way_.get) {
    EXPECT_EQ(sides_.local[4], 12);
  }
}

TEST_P(WholeTest, MovesTheData) {
  sides_.set_remote(10);
  ASSERT_TRUE(start_to(1, kBlocking).ok());
  ASSERT_TRUE(job_->fence(1).ok());
  for (std::size_t i = 0; i < kWords; ++i) {
    const Word before = 10 + static_cast<Word>(i);
    const Word mine = 1 + static_cast<Word>(i);
    EXPECT_EQ(sides_.remote(i), way_.get ? before : way_.adds ? before + 2 * mine : mine);
    EXPECT_EQ(sides_.local[2 * i], way_.get ? before : mine);
  }
}

TEST_P(WholeTest, AStoreIsUnflushedUntilAFenceAndAGetIsNot) {
  ASSERT_TRUE(start_to(1, kBlocking).ok());
  EXPECT_EQ(job_->has_unflushed_stores(1), !way_.get);
  EXPECT_EQ(sides_.remote(0), 0);
  ASSERT_TRUE(job_->fence(1).ok());
  EXPECT_FALSE(job_->has_unflushed_stores(1));
  EXPECT_EQ(job_.network().count(FakeCallKind::kFlush), way_.get ? 0 : 1);
}

TEST_P(WholeTest, BlockingDoesNotOvertakeAnUnflushedStore) {
  ASSERT_TRUE(job_->put_value(Word{9}, job_.at<Word>(1, 100), 1).ok());
  job_.network().forget_calls();
  ASSERT_TRUE(start_to(1, kBlocking).ok());
  EXPECT_EQ(kinds(job_.network()), (Kinds{FakeCallKind::kFlush, way_.kind}));
}

TEST_P(WholeTest, OfNonBlockingOnesGetsAloneWaitForUnflushedStores) {
  ASSERT_TRUE(job_->put_value(Word{9}, job_.at<Word>(1, 100), 1).ok());
  job_.network().forget_calls();
  ASSERT_TRUE(start_to(1, through(&handle_)).ok());
  EXPECT_EQ(kinds(job_.network()), way_.get ? (Kinds{FakeCallKind::kFlush, way_.kind}) : Kinds{way_.kind});
  EXPECT_TRUE(job_->wait(&handle_).ok());
}

TEST_P(WholeTest, OnTheNodeOnlyAccumulatesAreHandedDownAndFlushed) {
  for (const How how : {kBlocking, through(&handle_)}) {
    Job job({0, 0});
    Sides sides(job, 1);
    ASSERT_TRUE(start(job, way_, &sides, 1, how).ok());
    EXPECT_EQ(kinds(job.network()), way_.adds ? (Kinds{way_.kind, FakeCallKind::kFlush}) : Kinds{});
    EXPECT_EQ(job.outstanding(), 0u);
    EXPECT_FALSE(job->has_unflushed_stores(1));
    if (way_.adds) {
      EXPECT_FALSE(job->transport().wholes().at(0).has_completion);
      EXPECT_EQ(sides.remote(2), 6);  // the CPU may read it now
    }
  }
}

TEST_P(WholeTest, ATransportThatWantsTheNodeIsNotFlushedForIt) {
  RuntimeForTest<ShapesTransport<true>> job({0, 0});
  Sides sides(job, 1);
  ASSERT_TRUE(start(job, way_, &sides, 1, kBlocking).ok());
  EXPECT_EQ(kinds(job.network()), Kinds{way_.kind});
}

TEST_P(WholeTest, ThatCannotStartIsReported) {
  for (const How how : {kBlocking, through(&handle_)}) {
    Job job({0, 1});
    Sides sides(job, 1);
    sides.set_remote(10);
    job.network().fail_call(way_.kind, 1);
    expect_injected(start(job, way_, &sides, 1, how));
    EXPECT_EQ(job.outstanding(), 0u);
    EXPECT_TRUE(job->wait(&handle_).ok());
    expect_usable(job);
    EXPECT_EQ(sides.remote(0), 10);
    EXPECT_EQ(sides.local[0], 1);
    EXPECT_TRUE(start(job, way_, &sides, 1, kBlocking).ok());
  }
}

TEST_P(WholeTest, ThatFailsOnTheWayIsReportedByItsWait) {
  ASSERT_TRUE(start_to(1, through(&handle_)).ok());
  job_.network().fail_call(FakeCallKind::kTest, 1);
  expect_injected(job_->wait(&handle_));
  EXPECT_EQ(job_.outstanding(), 0u);
  EXPECT_TRUE(job_->wait(&handle_).ok());
  expect_usable(job_);
}

TEST_P(WholeTest, IsNotStartedWhereEarlierStoresCannotBeFlushed) {
  ASSERT_TRUE(job_->put_value(Word{9}, job_.at<Word>(1, 100), 1).ok());
  job_.network().fail_call(FakeCallKind::kFlush, 1);
  expect_injected(start_to(1, kBlocking));
  EXPECT_EQ(job_.network().count(way_.kind), 0);
  EXPECT_TRUE(job_->has_unflushed_stores(1));
  expect_usable(job_);
  EXPECT_EQ(*job_.at<Word>(1, 100), 9);
}

TEST(WholeOnNodeTest, AnAccumulateWhoseFlushFailsStaysUnflushed) {
  Job job({0, 0});
  Sides sides(job, 1);
  job.network().fail_call(FakeCallKind::kFlush, 1);
  expect_injected(job->strided<Kind::kAcc>(sides.here[0], sides.there[0], kToThere, 1, kBlocking, kTwice));
  EXPECT_TRUE(job->has_unflushed_stores(1));
  ASSERT_TRUE(job->fence(1).ok());
  EXPECT_EQ(sides.remote(2), 6);
}

// --- lists whose segments lie in several parts

class RunsTest : public WholeTest {
 protected:
  // Two words of one region, one of another, and one of the first again.
  static constexpr std::size_t kCount = 4;

  Status start_list(How how) {
    char* const other = job_.add_region({0, 64})->parts[1].base;
    there_ = {job_.memory(1), job_.memory(1) + 64, other, job_.memory(1) + 8};
    for (std::size_t i = 0; i < kCount; ++i) here_[i] = &local_[i];
    const Segments to_there{here_.data(), there_.data(), 8, kCount};
    const Segments from_there{there_.data(), here_.data(), 8, kCount};
    if (way_.get) return job_->vector<Kind::kGet>(&from_there, 1, 1, how);
    if (way_.adds) return job_->vector<Kind::kAcc>(&to_there, 1, 1, how, kTwice);
    return job_->vector<Kind::kPut>(&to_there, 1, 1, how);
  }
  Word remote(std::size_t i) const { return *static_cast<Word*>(there_[i]); }

  std::array<Word, kCount> local_{1, 2, 3, 4};
  std::array<void*, kCount> here_{};
  std::array<void*, kCount> there_{};
};
INSTANTIATE_TEST_SUITE_P(Ways, RunsTest, ::testing::Values(kWays[3], kWays[4], kWays[5]),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(RunsTest, AreHandedDownByPart) {
  ASSERT_TRUE(start_list(kBlocking).ok());
  std::vector<std::vector<void*>> runs;
  for (const Whole& whole : job_->transport().wholes()) {
    EXPECT_EQ(whole.kind, way_.kind);
    EXPECT_EQ(whole.src_list.size(), whole.dst_list.size());
    runs.push_back(way_.get ? whole.src_list : whole.dst_list);
  }
  EXPECT_EQ(runs, (std::vector<std::vector<void*>>{{there_[0], there_[1]}, {there_[2]}, {there_[3]}}));
}

TEST_P(RunsTest, NonBlockingBelongToOneHandle) {
  ASSERT_TRUE(start_list(through(&handle_)).ok());
  EXPECT_EQ(job_.outstanding(), 3u);
  ASSERT_TRUE(job_->wait(&handle_).ok());
  EXPECT_EQ(job_.outstanding(), 0u);
  ASSERT_TRUE(job_->fence(1).ok());
  for (std::size_t i = 0; i < kCount; ++i) {
    const Word mine = 1 + static_cast<Word>(i);
    EXPECT_EQ(way_.get ? local_[i] : remote(i), way_.get ? 0 : way_.adds ? 2 * mine : mine);
  }
}

TEST_P(RunsTest, OneThatFailsEndsTheCall) {
  job_.network().fail_call(way_.kind, 2);
  expect_injected(start_list(through(&handle_)));
  EXPECT_EQ(job_.network().count(way_.kind), 2);
  EXPECT_EQ(job_.outstanding(), 1u);
  ASSERT_TRUE(job_->wait(&handle_).ok());
  expect_usable(job_);
}

// --- findings

TEST(FindingsTest, AreThoseOfTheTransport) {
  RuntimeForTest<FindingTransport> job({0, 1});
  ASSERT_EQ(job->findings().size(), 2u);
  EXPECT_STREQ(job->findings()[1].name, "odd");
}

TEST(FindingsTest, ATransportWithoutFindingsHasNone) {
  Job job({0, 1});
  EXPECT_TRUE(job->findings().empty());
}

TEST(ChoicesTest, AreThoseOfTheTransport) {
  RuntimeForTest<FindingTransport> job({0, 1});
  ASSERT_EQ(job->choices().size(), 1u);
  EXPECT_STREQ(job->choices()[0].value, "fake0");
}

TEST(ChoicesTest, ATransportWithOneWayHasNone) {
  Job job({0, 1});
  EXPECT_TRUE(job->choices().empty());
}

}  // namespace armci::runtime::whole_test
