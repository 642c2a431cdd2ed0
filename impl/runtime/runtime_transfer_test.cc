// Transfers of every shape to other nodes and on the node, against plain loops; and what is refused.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "impl/testing/fake_shapes.h"
#include "impl/testing/fake_transport.h"
#include "impl/testing/runtime_world.h"

namespace armci::runtime::transfer_test {

using testing::FakeCallKind;
using testing::FakeTransport;
using testing::InOrderTransport;
using testing::ReorderingTransport;

using Job = RuntimeForTest<ReorderingTransport>;
constexpr std::size_t kArea = 16384;  // bytes of local and remote memory that random transfers stay in

void fill_random(std::mt19937& random, char* memory, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) memory[i] = static_cast<char>(random());
}

// A random shape and where its bases lie, so that both sides stay inside kArea and no two destination segments overlap.
struct Placed {
  Strided shape;
  std::ptrdiff_t src;
  std::ptrdiff_t dst;
};

Placed random_shape(std::mt19937& random, std::size_t element) {
  for (;;) {
    Placed placed{};
    placed.shape.levels = static_cast<int>(random() % 4);
    placed.shape.count[0] = element * (1 + random() % 12);
    std::ptrdiff_t dst_span = static_cast<std::ptrdiff_t>(placed.shape.count[0]);
    const auto unit = static_cast<std::ptrdiff_t>(element);
    for (int l = 0; l < placed.shape.levels; ++l) {
      placed.shape.count[l + 1] = 1 + random() % 5;
      const std::ptrdiff_t sign = random() % 4 == 0 ? -1 : 1;
      placed.shape.dst_stride[l] = sign * (dst_span + unit * static_cast<std::ptrdiff_t>(random() % 4));
      // The source may overlap itself, stand still, or run backwards.
      placed.shape.src_stride[l] = unit * (static_cast<std::ptrdiff_t>(random() % 60) - 10);
      dst_span = std::abs(placed.shape.dst_stride[l]) * static_cast<std::ptrdiff_t>(placed.shape.count[l + 1]);
    }
    Extent src;
    Extent dst;
    if (!extent_of(placed.shape.count, placed.shape.src_stride, placed.shape.levels, &src).ok()) continue;
    if (!extent_of(placed.shape.count, placed.shape.dst_stride, placed.shape.levels, &dst).ok()) continue;
    const auto area = static_cast<std::ptrdiff_t>(kArea);
    if (src.high - src.low > area || dst.high - dst.low > area) continue;
    placed.src = -src.low + static_cast<std::ptrdiff_t>(random()) % (area - (src.high - src.low) + 1) / unit * unit;
    placed.dst = -dst.low + static_cast<std::ptrdiff_t>(random()) % (area - (dst.high - dst.low) + 1) / unit * unit;
    return placed;
  }
}

// The loop nest over contiguous pieces, level by level.
template <class Move>
void loop_nest(const Strided& shape, int level, const char* src, char* dst, Move move) {
  if (level < 0) return move(dst, src, shape.count[0]);
  for (std::size_t i = 0; i < shape.count[level + 1]; ++i) {
    const auto step = static_cast<std::ptrdiff_t>(i);
    loop_nest(shape, level - 1, src + step * shape.src_stride[level], dst + step * shape.dst_stride[level], move);
  }
}

template <class AnyJob>
void random_transfers(AnyJob& job, int proc, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<char> local(kArea);
  for (int round = 0; round < 300; ++round) {
    const Placed placed = random_shape(random, 1);
    Strided shape = placed.shape;
    shape.collapse();
    fill_random(random, local.data(), kArea);
    fill_random(random, job.memory(proc), kArea);
    const bool put = random() % 2 == 0;
    char* const remote = job.memory(proc);
    std::vector<char> expected(put ? remote : local.data(), (put ? remote : local.data()) + kArea);
    const char* src = put ? local.data() : remote;
    loop_nest(placed.shape, placed.shape.levels - 1, src + placed.src, expected.data() + placed.dst,
              [](char* to, const char* from, std::size_t bytes) { std::memcpy(to, from, bytes); });
    armci_hdl_t handle{};
    const How how = random() % 2 == 0 ? kBlocking : through(&handle);
    char* dst = put ? remote : local.data();
    const Status status = put ? job->template strided<Kind::kPut>(src + placed.src, dst + placed.dst, shape, proc, how)
                              : job->template strided<Kind::kGet>(src + placed.src, dst + placed.dst, shape, proc, how);
    ASSERT_TRUE(status.ok()) << last_cause().text;
    ASSERT_TRUE(job->wait(&handle).ok());
    ASSERT_TRUE(job->fence(proc).ok());
    ASSERT_EQ(std::memcmp(dst, expected.data(), kArea), 0) << "seed " << seed << " round " << round;
  }
}

TEST(TransferTest, RandomShapesToAnotherNode) {
  Job job({0, 1});
  random_transfers(job, 1, 20264);
}

TEST(TransferTest, RandomShapesOverATransportThatKeepsTheOrder) {
  RuntimeForTest<InOrderTransport> job({0, 1});
  random_transfers(job, 1, 20265);
}

TEST(TransferTest, RandomShapesOverATransportThatTakesThemWhole) {
  RuntimeForTest<testing::ShapesTransport<>> job({0, 1});
  random_transfers(job, 1, 20270);
  EXPECT_GT(job.network().count(FakeCallKind::kPutStrided), 0);
  EXPECT_GT(job.network().count(FakeCallKind::kGetStrided), 0);
}

TEST(TransferTest, RandomShapesOverATransportThatMovesAtOnce) {
  RuntimeForTest<testing::AtOnceTransport> job({0, 1});
  random_transfers(job, 1, 20271);
  EXPECT_GT(job.network().count(FakeCallKind::kPutNow), 0);
  EXPECT_GT(job.network().count(FakeCallKind::kGetNow), 0);
}

TEST(TransferTest, RandomShapesOnTheNodeNeedNoTransport) {
  Job job({0, 0});
  random_transfers(job, 1, 20266);
  random_transfers(job, 0, 20267);
  EXPECT_TRUE(job.network().calls().empty());
}

TEST(TransferTest, ATransportThatWantsTheNodeGetsIt) {
  RuntimeForTest<FakeTransport<false, Atomicity::kTransport, true>> job({0, 0});
  random_transfers(job, 1, 20268);
  EXPECT_GT(job.network().count(FakeCallKind::kPut), 0);
  EXPECT_GT(job.network().count(FakeCallKind::kGet), 0);
}

TEST(TransferTest, RandomAccumulatesToAnotherNode) {
  Job job({0, 1});
  std::mt19937 random(20269);
  std::vector<std::int64_t> local(kArea / 8);
  for (int round = 0; round < 200; ++round) {
    const Placed placed = random_shape(random, 8);
    Strided shape = placed.shape;
    shape.collapse();
    fill_random(random, reinterpret_cast<char*>(local.data()), kArea);
    fill_random(random, job.memory(1), kArea);
    const std::int64_t scale = static_cast<std::int64_t>(random()) - 1000;
    std::vector<char> expected(job.memory(1), job.memory(1) + kArea);
    const char* src = reinterpret_cast<const char*>(local.data()) + placed.src;
    loop_nest(placed.shape, placed.shape.levels - 1, src, expected.data() + placed.dst,
              [scale](char* to, const char* from, std::size_t bytes) {
                for (std::size_t i = 0; i < bytes; i += 8) {
                  std::uint64_t sum;
                  std::uint64_t addend;
                  std::memcpy(&sum, to + i, 8);
                  std::memcpy(&addend, from + i, 8);
                  sum += static_cast<std::uint64_t>(scale) * addend;
                  std::memcpy(to + i, &sum, 8);
                }
              });
    ASSERT_TRUE(
        job->strided<Kind::kAcc>(src, job.memory(1) + placed.dst, shape, 1, kBlocking, {node::AccType::kLong, &scale})
            .ok());
    ASSERT_TRUE(job->fence(1).ok());
    ASSERT_EQ(std::memcmp(job.memory(1), expected.data(), kArea), 0) << "round " << round;
    ASSERT_EQ(job.accumulate_lock(1), 0);
  }
}

TEST(TransferTest, AnAccumulateLargerThanItsBufferAddsEveryElementOnce) {
  Job job({0, 1});
  const std::size_t elements = 2 * kAccumulateChunkBytes / sizeof(double) + 5;
  std::vector<double> source(elements);
  std::iota(source.begin(), source.end(), 1.0);
  const double scale = 2.0;
  for (int round = 1; round <= 2; ++round) {
    ASSERT_TRUE(job->contiguous<Kind::kAcc>(source.data(), job.memory(1), elements * 8, 1, kBlocking,
                                            {node::AccType::kDouble, &scale})
                    .ok());
    for (std::size_t i = 0; i < elements; ++i) {
      ASSERT_EQ(*job.at<double>(1, i), 2.0 * round * source[i]) << "element " << i;
    }
  }
  EXPECT_EQ(*job.at<double>(1, elements), 0.0);
}

// The lock makes an accumulate over get and put atomic: no other process intervenes.
TEST(TransferTest, AnAccumulateHoldsTheTargetsLockFromFirstGetToLastPut) {
  Job job({0, 1});
  const std::int64_t one = 1;
  std::vector<std::int64_t> holders;
  job.network().on_visible = [&] { holders.push_back(job.accumulate_lock(1)); };
  const Strided shape{1, {8, 3}, {8}, {64}};
  const std::int64_t source[3] = {1, 2, 3};
  ASSERT_TRUE(job->strided<Kind::kAcc>(source, job.memory(1), shape, 1, kBlocking, {node::AccType::kLong, &one}).ok());
  EXPECT_EQ(holders, (std::vector<std::int64_t>{1, 1, 1}));
  EXPECT_EQ(job.accumulate_lock(1), 0);
  EXPECT_EQ(job.network().count(FakeCallKind::kAtomic), 2);
}

TEST(TransferTest, AnAccumulateWaitsForTheLocksHolder) {
  Job job({0, 1});
  const std::int64_t one = 1;
  job.set_accumulate_lock(1, 2);  // process 1 itself accumulates
  int attempts = 0;
  job.network().before_atomic = [&] {
    EXPECT_EQ(*job.at<std::int64_t>(1, 0), attempts < 5 ? 0 : 1);
    if (++attempts == 5) job.set_accumulate_lock(1, 0);
  };
  ASSERT_TRUE(job->contiguous<Kind::kAcc>(&one, job.memory(1), 8, 1, kBlocking, {node::AccType::kLong, &one}).ok());
  EXPECT_EQ(attempts, 6);  // five for the lock, one to give it back
}

TEST(TransferTest, AtomicityOfTheTransportHoldsForTheOwnNodeToo) {
  Job job({0, 0});
  const std::int64_t one = 1;
  for (int proc : {0, 1}) {
    ASSERT_TRUE(
        job->contiguous<Kind::kAcc>(&one, job.memory(proc), 8, proc, kBlocking, {node::AccType::kLong, &one}).ok());
    EXPECT_EQ(*job.at<std::int64_t>(proc, 0), 1);
  }
  EXPECT_EQ(job.network().count(FakeCallKind::kAtomic), 4);
}

TEST(TransferTest, VectorsReachSeveralRegions) {
  Job job({0, 1});
  auto* other = job.add_region({0, 256});
  std::int64_t values[4] = {1, 2, 3, 4};
  void* src[] = {&values[0], &values[1], &values[2], &values[3]};
  void* dst[] = {job.memory(1), other->parts[1].base, job.memory(1) + 64, other->parts[1].base + 248};
  const Segments segments{src, dst, 8, 4};
  ASSERT_TRUE(job->vector<Kind::kPut>(&segments, 1, 1, kBlocking).ok());
  std::int64_t seen[4] = {};
  void* back[] = {&seen[0], &seen[1], &seen[2], &seen[3]};
  const Segments reading{dst, back, 8, 4};
  ASSERT_TRUE(job->vector<Kind::kGet>(&reading, 1, 1, kBlocking).ok());
  EXPECT_TRUE(std::equal(values, values + 4, seen));
}

TEST(TransferTest, VectorsOfSeveralDescriptorsWithTheirOwnSizes) {
  Job job({0, 1});
  char small[] = "ab";
  char large[] = "cdefg";
  void* src0[] = {small};
  void* dst0[] = {job.memory(1)};
  void* src1[] = {large, large};
  void* dst1[] = {job.memory(1) + 2, job.memory(1) + 7};
  const Segments list[] = {{src0, dst0, 2, 1}, {nullptr, nullptr, 5, 0}, {nullptr, nullptr, 0, 3}, {src1, dst1, 5, 2}};
  ASSERT_TRUE(job->vector<Kind::kPut>(list, 4, 1, kBlocking).ok());
  ASSERT_TRUE(job->fence(1).ok());
  EXPECT_EQ(std::string(job.memory(1), 13), std::string("abcdefgcdefg\0", 13));
}

TEST(TransferTest, ValuesOfEveryType) {
  Job job({0, 1});
  const auto check = [&](auto value) {
    decltype(value) seen{};
    ASSERT_TRUE(job->put_value(value, job.memory(1), 1).ok());
    ASSERT_TRUE(job->get_value(job.memory(1), 1, &seen).ok());
    EXPECT_EQ(seen, value);
  };
  check(-5);
  check(std::int64_t{1} << 40);
  check(1.5f);
  check(-2.25);
}

TEST(TransferTest, EmptyTransfersTouchNothing) {
  Job job({0, 1, 0});
  for (int proc : {0, 1, 2}) {
    EXPECT_TRUE(job->contiguous<Kind::kPut>(nullptr, nullptr, 0, proc, kBlocking).ok());
    EXPECT_TRUE(job->contiguous<Kind::kGet>(nullptr, nullptr, 0, proc, kBlocking).ok());
    EXPECT_TRUE(job->strided<Kind::kPut>(nullptr, nullptr, Strided{}, proc, kBlocking).ok());
    EXPECT_TRUE(job->vector<Kind::kGet>(nullptr, 0, proc, kBlocking).ok());
  }
  EXPECT_TRUE(job.network().calls().empty());
}

// --- refused [ERR-1]: with the code, and nothing moved

struct Refusal {
  const char* what;
  Code code;
  Status (*call)(Job&, char* local);
};

const double kScale = 1;
Strided rows(std::ptrdiff_t remote_stride) {
  Strided shape{1, {8, 3}, {8}, {remote_stride}};
  return shape;
}

const Refusal kRefusals[] = {
    {"ProcTooLarge", Code::kProc,
     [](Job& j, char* l) { return j->contiguous<Kind::kPut>(l, j.memory(1), 8, 2, kBlocking); }},
    {"ProcNegative", Code::kProc,
     [](Job& j, char* l) { return j->contiguous<Kind::kGet>(j.memory(1), l, 8, -1, kBlocking); }},
    {"EmptyToNoProcess", Code::kProc,
     [](Job& j, char* l) { return j->contiguous<Kind::kPut>(l, j.memory(1), 0, 9, kBlocking); }},
    {"LocalNull", Code::kNull,
     [](Job& j, char*) { return j->contiguous<Kind::kPut>(nullptr, j.memory(1), 8, 1, kBlocking); }},
    {"RemoteNull", Code::kNull, [](Job& j, char* l) { return j->contiguous<Kind::kPut>(l, nullptr, 8, 1, kBlocking); }},
    {"BeforeTheRegion", Code::kAddress,
     [](Job& j, char* l) { return j->contiguous<Kind::kPut>(l, j.memory(1) - 1, 8, 1, kBlocking); }},
    {"PastTheRegion", Code::kAddress,
     [](Job& j, char* l) {
       return j->contiguous<Kind::kPut>(l, j.memory(1) + Job::kMemoryBytes - 7, 8, 1, kBlocking);
     }},
    {"AnotherProcesssRegion", Code::kAddress,
     [](Job& j, char* l) { return j->contiguous<Kind::kGet>(j.memory(0), l, 8, 1, kBlocking); }},
    {"HugeLength", Code::kAddress,
     [](Job& j, char* l) { return j->contiguous<Kind::kPut>(l, j.memory(1), SIZE_MAX - 8, 1, kBlocking); }},
    {"StridedPastTheRegion", Code::kAddress,
     [](Job& j, char* l) { return j->strided<Kind::kPut>(l, j.memory(1), rows(Job::kMemoryBytes / 2), 1, kBlocking); }},
    {"StridedBeforeTheRegion", Code::kAddress,
     [](Job& j, char* l) { return j->strided<Kind::kPut>(l, j.memory(1) + 15, rows(-8), 1, kBlocking); }},
    {"StridedOverflow", Code::kAddress,
     [](Job& j, char* l) { return j->strided<Kind::kPut>(l, j.memory(1), rows(PTRDIFF_MAX / 2 + 1), 1, kBlocking); }},
    {"VectorOneSegmentOutside", Code::kAddress,
     [](Job& j, char* l) {
       void* src[] = {l, l};
       void* dst[] = {j.memory(1), j.memory(0)};
       const Segments segments{src, dst, 8, 2};
       return j->vector<Kind::kPut>(&segments, 1, 1, kBlocking);
     }},
    {"VectorSecondDescriptorOutside", Code::kAddress,
     [](Job& j, char* l) {
       void* src[] = {l};
       void* good[] = {j.memory(1)};
       void* bad[] = {j.memory(0)};
       const Segments list[] = {{src, good, 8, 1}, {src, bad, 8, 1}};
       return j->vector<Kind::kPut>(list, 2, 1, kBlocking);
     }},
    {"VectorNullEntry", Code::kNull,
     [](Job& j, char* l) {
       void* src[] = {l, nullptr};
       void* dst[] = {j.memory(1), j.memory(1) + 8};
       const Segments segments{src, dst, 8, 2};
       return j->vector<Kind::kPut>(&segments, 1, 1, kBlocking);
     }},
    {"VectorNullArray", Code::kNull,
     [](Job& j, char* l) {
       void* src[] = {l};
       const Segments segments{src, nullptr, 8, 1};
       return j->vector<Kind::kPut>(&segments, 1, 1, kBlocking);
     }},
    {"AccUnknownType", Code::kType,
     [](Job& j, char* l) {
       return j->contiguous<Kind::kAcc>(l, j.memory(1), 8, 1, kBlocking, {static_cast<node::AccType>(6), &kScale});
     }},
    {"AccNoScale", Code::kNull,
     [](Job& j, char* l) {
       return j->contiguous<Kind::kAcc>(l, j.memory(1), 8, 1, kBlocking, {node::AccType::kDouble, nullptr});
     }},
    {"AccHalfAnElement", Code::kLength,
     [](Job& j, char* l) {
       return j->contiguous<Kind::kAcc>(l, j.memory(1), 12, 1, kBlocking, {node::AccType::kDouble, &kScale});
     }},
    {"AccMisaligned", Code::kAlignment,
     [](Job& j, char* l) {
       return j->contiguous<Kind::kAcc>(l, j.memory(1) + 4, 8, 1, kBlocking, {node::AccType::kDouble, &kScale});
     }},
    {"AccStridedMisaligned", Code::kAlignment,
     [](Job& j, char* l) {
       return j->strided<Kind::kAcc>(l, j.memory(1), rows(12), 1, kBlocking, {node::AccType::kDouble, &kScale});
     }},
    {"AccVectorHalfAnElement", Code::kLength,
     [](Job& j, char* l) {
       void* src[] = {l};
       void* dst[] = {j.memory(1)};
       const Segments segments{src, dst, 4, 1};
       return j->vector<Kind::kAcc>(&segments, 1, 1, kBlocking, {node::AccType::kDouble, &kScale});
     }},
};

class RefusalTest : public ::testing::TestWithParam<Refusal> {};
INSTANTIATE_TEST_SUITE_P(Calls, RefusalTest, ::testing::ValuesIn(kRefusals),
                         [](const auto& info) { return std::string(info.param.what); });

TEST_P(RefusalTest, NamesTheCauseAndMovesNothing) {
  Job job({0, 1});
  alignas(8) char local[64] = "nothing of this may arrive";
  EXPECT_EQ(GetParam().call(job, local).code(), GetParam().code);
  EXPECT_EQ(last_cause().code, GetParam().code);
  EXPECT_TRUE(job.network().calls().empty());
}

TEST_P(RefusalTest, LeavesTheLibraryUsable) {
  Job job({0, 1});
  alignas(8) char local[64] = {};
  EXPECT_FALSE(GetParam().call(job, local).ok());
  int seen = 0;
  EXPECT_TRUE(job->put_value(3, job.memory(1), 1).ok());
  EXPECT_TRUE(job->get_value(job.memory(1), 1, &seen).ok());
  EXPECT_EQ(seen, 3);
}

TEST(RefusalOnceFreedTest, ARegionThatWasFreedIsUnknown) {
  Job job({0, 1});
  auto* region = job.add_region({64, 64});
  char* base = region->parts[1].base;
  int seen = 0;
  ASSERT_TRUE(job->get_value(base, 1, &seen).ok());
  const auto gone = job->regions().remove(region->id);
  EXPECT_EQ(job->get_value(base, 1, &seen).code(), Code::kAddress);
}

}  // namespace armci::runtime::transfer_test
