// ACC: accumulate of six types, its atomicity and its arithmetic.

#include <climits>
#include <cmath>
#include <complex>
#include <deque>
#include <string>
#include <vector>

#include "conformance/harness/table.h"
#include "conformance/harness/test.h"

namespace conformance {
namespace {

CLAUSE_TEST(ACC, ACC1_each_type_scales_and_adds, "ACC-1", "XFER-1", "XFER-4") {
  for (const AccType& type : kAccTypes) {
    Arena arena(70000);
    for (int target = 0; target < Np(); ++target) {
      arena.Refill(&MyRng(), target, &type);
      for (std::size_t elements : {1u, 2u, 3u, 4u, 5u, 7u, 8u, 9u, 15u, 16u, 17u, 33u, 255u, 511u, 1025u, 4000u}) {
        const std::size_t shift = kGuard + type.align * MyRng().Below(16);
        if (!CheckAcc(&arena, ContiguousPlan(elements * type.bytes), Mode::kBlocking, target, type, shift, kGuard))
          return;
        if (!CheckAcc(&arena, ContiguousPlan(elements * type.bytes), Mode::kBlocking, target, type, kGuard, shift))
          return;
      }
    }
    arena.VerifyByOwners();
  }
}

// 64 zero bytes of the caller's own at each kind of target.
void OnEachTarget(void (*test)(char*, int)) {
  Region region(64 * static_cast<std::size_t>(Np()));
  for (int target : TableTargets()) test(region.At(target, 64 * static_cast<std::size_t>(Me())), target);
}

// Written out, independently of the harness's model.
void ComplexScales(char* to, int target) {
  std::complex<double> start(1, 2);
  std::complex<double> source(3, -4);
  std::complex<double> scale(0, 5);
  EXPECT_EQ(ARMCI_Put(&start, to, sizeof start, target), 0);
  EXPECT_EQ(ARMCI_Acc(ARMCI_ACC_DCP, &scale, &source, to, sizeof source, target), 0);
  EXPECT_EQ(ARMCI_Get(to, &start, sizeof start, target), 0);
  // (1 + 2i) + 5i (3 - 4i) = (1 + 2i) + (20 + 15i)
  EXPECT_EQ(start.real(), 21);
  EXPECT_EQ(start.imag(), 17);

  std::complex<float> start_f(-1, 1);
  std::complex<float> source_f(2, 3);
  std::complex<float> scale_f(4, -1);
  EXPECT_EQ(ARMCI_Put(&start_f, to, sizeof start_f, target), 0);
  EXPECT_EQ(ARMCI_Acc(ARMCI_ACC_CPL, &scale_f, &source_f, to, sizeof source_f, target), 0);
  EXPECT_EQ(ARMCI_Get(to, &start_f, sizeof start_f, target), 0);
  // (-1 + i) + (4 - i)(2 + 3i) = (-1 + i) + (11 + 10i)
  EXPECT_EQ(start_f.real(), 10);
  EXPECT_EQ(start_f.imag(), 11);
}

CLAUSE_TEST(ACC, ACC1_complex_scale_multiplies_as_complex, "ACC-1") { OnEachTarget(ComplexScales); }

void ZeroAndNegativeScales(char* to, int target) {
  for (int scale : {0, 1, -1, 7, -1000}) {
    int start = 100;
    int source = 11;
    EXPECT_EQ(ARMCI_Put(&start, to, sizeof start, target), 0);
    EXPECT_EQ(ARMCI_Acc(ARMCI_ACC_INT, &scale, &source, to, sizeof source, target), 0);
    EXPECT_EQ(ARMCI_GetValueInt(to, target), 100 + scale * 11);
    double start_d = 0.5;
    double source_d = 0.25;
    double scale_d = scale;
    EXPECT_EQ(ARMCI_Put(&start_d, to, sizeof start_d, target), 0);
    EXPECT_EQ(ARMCI_Acc(ARMCI_ACC_DBL, &scale_d, &source_d, to, sizeof source_d, target), 0);
    EXPECT_EQ(ARMCI_GetValueDouble(to, target), 0.5 + scale * 0.25);
  }
}

CLAUSE_TEST(ACC, ACC1_zero_and_negative_scales, "ACC-1") { OnEachTarget(ZeroAndNegativeScales); }

// Numbers that need every byte of the type, and sums beyond its limits.
void AllBits(char* to, int target) {
  struct IntCase {
    int start, scale, source, sum;
  };
  for (const IntCase& one : {IntCase{INT_MAX, 1, 1, INT_MIN}, IntCase{INT_MIN, 1, -1, INT_MAX},
                             IntCase{0, 65536, 65536, 0}, IntCase{5, INT_MAX, 2, 3}}) {
    int scale = one.scale;
    int source = one.source;
    EXPECT_EQ(ARMCI_PutValueInt(one.start, to, target), 0);
    EXPECT_EQ(ARMCI_Acc(ARMCI_ACC_INT, &scale, &source, to, sizeof source, target), 0);
    EXPECT_EQ(ARMCI_GetValueInt(to, target), one.sum) << one.start << " + " << scale << " * " << source;
    EXPECT_EQ(ARMCI_GetValueInt(to + 4, target), 0) << "a carry into the next element";
  }
  struct LongCase {
    long start, scale, source, sum;
  };
  for (const LongCase& one : {LongCase{LONG_MAX, 1, 1, LONG_MIN}, LongCase{LONG_MIN, 1, -1, LONG_MAX},
                              LongCase{1, 1, 0x0123456789abcdef, 0x0123456789abcdf0},
                              LongCase{0, 0x100000001, 3, 0x300000003}, LongCase{0, 1L << 32, 1L << 32, 0}}) {
    long scale = one.scale;
    long source = one.source;
    EXPECT_EQ(ARMCI_PutValueLong(one.start, to + 8, target), 0);
    EXPECT_EQ(ARMCI_Acc(ARMCI_ACC_LNG, &scale, &source, to + 8, sizeof source, target), 0);
    EXPECT_EQ(ARMCI_GetValueLong(to + 8, target), one.sum) << one.start << " + " << scale << " * " << source;
  }
}

CLAUSE_TEST(ACC, ACC1_integers_use_all_their_bits_and_wrap_around, "ACC-1") { OnEachTarget(AllBits); }

// One type in every shape and mode; what the suite draws at random comes below.
void EveryWayOfType(const AccType& type) {
  Arena arena(40960 + 2 * kGuard);
  for (int target : TableTargets()) {
    for (const Way& way : WaysThat([](const Way& each) { return each.op == Op::kAcc; })) {
      // Fresh values: sums of many products would leave the range in which floats are exact.
      arena.Refill(&MyRng(), target, &type);
      for (std::size_t elements : {1u, 5u, 130u, 2050u}) {
        const Plan plan = PlanOfSize(way.shape, elements * type.bytes, type.bytes);
        if (!CheckAcc(&arena, plan, way.mode, target, type, kGuard, kGuard, way.width)) return;
      }
    }
  }
  arena.VerifyByOwners();
}

bool RegisterTypes() {
  for (const AccType& type : kAccTypes) {
    AddTest({"ACC", std::string("ACC3_") + type.name + "_in_every_shape_and_mode",
             MakeSpec("ACC-3", "ACC-1", "ACC-4", "XFER-4", DeadlineSeconds(60)), [&type] { EveryWayOfType(type); },
             __FILE__, __LINE__});
  }
  return true;
}

const bool registered [[maybe_unused]] = RegisterTypes();

CLAUSE_TEST(ACC, ACC3_strided_vector_and_modes, "ACC-3", "ACC-1", "XFER-5", "XFER-6", DeadlineSeconds(90)) {
  for (const AccType& type : kAccTypes) {
    Arena arena(16384 + 4 * kGuard);
    for (int target = 0; target < Np(); ++target) {
      for (int i = 0; i < Scaled(40, 10); ++i) {
        // Fresh values: sums of many products would leave the range in which floats are exact.
        arena.Refill(&MyRng(), target, &type);
        const Shape shape = kShapes[MyRng().Below(3)];
        const Plan plan = RandomPlan(&MyRng(), shape, 16384, type.bytes);
        const std::size_t src_shift = kGuard + type.align * MyRng().Below(8);
        const std::size_t dst_shift = kGuard + type.align * MyRng().Below(8);
        // Elements in the slot start at multiples of the element size from its begin.
        const std::size_t aligned_dst = dst_shift / type.bytes * type.bytes;
        const std::size_t aligned_src = src_shift / type.bytes * type.bytes;
        if (!CheckAcc(&arena, plan, kModes[MyRng().Below(4)], target, type, aligned_src, aligned_dst)) return;
      }
    }
    arena.VerifyByOwners();
  }
}

CLAUSE_TEST(ACC, ACC3_overlapping_local_segments_are_each_read, "ACC-3") {
  for (const AccType& type : kAccTypes) {
    Arena arena(4096);
    const int step = static_cast<int>(type.bytes);
    std::vector<Segment> segments;
    for (int i = 0; i < 5; ++i) segments.push_back({step * (i % 2), 4 * step * i, 3 * type.bytes});
    for (int target : TableTargets()) {
      for (Mode mode : kModes) {
        arena.Refill(&MyRng(), target, &type);
        CheckAcc(&arena, StridedPlan({6 * step, 5}, {step}, {8 * step}), mode, target, type, kGuard, kGuard);
        CheckAcc(&arena, StridedPlan({6 * step, 5}, {0}, {8 * step}), mode, target, type, kGuard, kGuard);
        CheckAcc(&arena, VectorPlan({segments}), mode, target, type, kGuard, kGuard);
      }
    }
  }
}

constexpr std::size_t kContended = 300;

// Accumulates made ready beforehand, so that the race is between the library's calls and nothing else. Every second one
// goes to the same single element, the others are of any shape.
struct Volley {
  Volley(const AccType& type, std::size_t calls) : plans(calls), first(calls, 0), times(calls, 0) {
    for (std::size_t i = 0; i < calls; ++i) {
      const Shape shape = kShapes[MyRng().Below(3)];
      plans[i] =
          i % 2 == 0 ? ContiguousPlan(type.bytes) : RandomPlan(&MyRng(), shape, kContended * type.bytes, type.bytes);
      if (i % 2 != 0) first[i] = MyRng().Below(kContended / 4);
      transfers.emplace_back(plans[i], Op::kAcc, kModes[MyRng().Below(3)]);
      transfers.back().SetAcc(type, UnitScale(type));
    }
  }

  std::vector<Plan> plans;
  std::vector<std::size_t> first;  // element at which the plan's destination starts
  std::vector<long> times;         // how often it was used
  std::deque<Transfer> transfers;
};

// All processes (the target too) add into the same elements at once; sums of T are exact.
template <typename T>
void Contend(const AccType& type) {
  // Beyond this a float could no longer hold the sums.
  constexpr long kStepsMax = 200000;
  Region region(kContended * sizeof(T) * 2);
  std::vector<T> source(kContended * 2);
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = T(static_cast<int>(i % 5) + 1);
  for (int target = 0; target < Np(); ++target) {
    std::fill_n(region.As<T>(Me()), kContended * 2, T(0));
    Volley volley(type, 32);
    Race race(AllRanks());
    while (race.GoOn() && race.steps() < kStepsMax) {
      const std::size_t i = static_cast<std::size_t>(race.steps()) % volley.plans.size();
      char* to = reinterpret_cast<char*>(region.As<T>(target, volley.first[i]));
      EXPECT_EQ(volley.transfers[i].Start(reinterpret_cast<char*>(source.data()), to, target), 0);
      EXPECT_EQ(volley.transfers[i].Wait(), 0);
      ++volley.times[i];
    }
    std::vector<long> added(kContended * 2, 0);
    for (std::size_t i = 0; i < volley.plans.size(); ++i) {
      for (const Segment& segment : volley.plans[i].segments) {
        for (std::size_t at = 0; at < segment.bytes; at += sizeof(T)) {
          const std::size_t from = (static_cast<std::size_t>(segment.src) + at) / sizeof(T);
          const std::size_t to = volley.first[i] + (static_cast<std::size_t>(segment.dst) + at) / sizeof(T);
          added[to] += volley.times[i] * (static_cast<long>(from % 5) + 1);
        }
      }
    }
    Sync();
    const std::vector<long> total = SumOverRanks(added);
    std::vector<T> result(kContended * 2);
    EXPECT_EQ(ARMCI_Get(region.At(target), result.data(), static_cast<int>(result.size() * sizeof(T)), target), 0);
    for (std::size_t i = 0; i < result.size(); ++i) {
      ASSERT_EQ(result[i], T(static_cast<double>(total[i]))) << type.name << " element " << i << SeedText();
    }
    Sync();
  }
}

CLAUSE_TEST(ACC, ACC2_int_sums_are_exact_under_contention, "ACC-2", DeadlineSeconds(90)) { Contend<int>(kAccTypes[0]); }
CLAUSE_TEST(ACC, ACC2_long_sums_are_exact_under_contention, "ACC-2", DeadlineSeconds(90)) {
  Contend<long>(kAccTypes[1]);
}
CLAUSE_TEST(ACC, ACC2_float_sums_are_exact_under_contention, "ACC-2", "ACC-4", DeadlineSeconds(90)) {
  Contend<float>(kAccTypes[2]);
}
CLAUSE_TEST(ACC, ACC2_double_sums_are_exact_under_contention, "ACC-2", "ACC-4", DeadlineSeconds(90)) {
  Contend<double>(kAccTypes[3]);
}
CLAUSE_TEST(ACC, ACC2_complex_sums_are_exact_under_contention, "ACC-2", "ACC-4", DeadlineSeconds(90)) {
  Contend<std::complex<float>>(kAccTypes[4]);
}
CLAUSE_TEST(ACC, ACC2_dcomplex_sums_are_exact_under_contention, "ACC-2", "ACC-4", DeadlineSeconds(90)) {
  Contend<std::complex<double>>(kAccTypes[5]);
}

CLAUSE_TEST(ACC, ACC2_large_accumulates_meet_small_ones, "ACC-2", DeadlineSeconds(90)) {
  // Large contiguous accumulates of some processes run across many small ones of others, on the same elements.
  constexpr int kElements = 65536;
  Region region(kElements * 8);
  const int target = Np() - 1;
  const bool large = Me() % 2 == 0;
  long one = 1;
  std::vector<long> ones(kElements, 1);
  Race race(AllRanks(), Scaled(400L, 40L));
  long rounds = 0;
  for (; race.GoOn(); ++rounds) {
    if (large) {
      EXPECT_EQ(ARMCI_Acc(ARMCI_ACC_LNG, &one, ones.data(), region.At(target), kElements * 8, target), 0);
      continue;
    }
    for (int i = 0; i < kElements; i += 64) {
      long* to = region.As<long>(target, static_cast<std::size_t>(i));
      EXPECT_EQ(ARMCI_Acc(ARMCI_ACC_LNG, &one, ones.data(), to, 64 * 8, target), 0);
    }
  }
  Sync();
  const long total = SumOverRanks(rounds);
  std::vector<long> result(kElements);
  EXPECT_EQ(ARMCI_Get(region.At(target), result.data(), kElements * 8, target), 0);
  for (int i = 0; i < kElements; ++i) ASSERT_EQ(result[static_cast<std::size_t>(i)], total) << "element " << i;
}

CLAUSE_TEST(ACC, ACC4_rounding_stays_within_any_order_of_the_additions, "ACC-4") {
  constexpr int kElements = 200;
  constexpr int kRounds = 50;
  Region region(kElements * 8);
  std::vector<double> source(kElements);
  std::vector<double> sum(kElements, 0);
  for (int round = 0; round < kRounds; ++round) {
    double scale = 0.1 + 0.01 * Me();
    for (int i = 0; i < kElements; ++i) {
      source[static_cast<std::size_t>(i)] = static_cast<double>(MyRng().Next() >> 11) * 0x1p-53;
      sum[static_cast<std::size_t>(i)] += scale * source[static_cast<std::size_t>(i)];
    }
    EXPECT_EQ(ARMCI_Acc(ARMCI_ACC_DBL, &scale, source.data(), region.At(0), kElements * 8, 0), 0);
  }
  const std::vector<double> total = SumOverRanks(sum);
  Sync();
  std::vector<double> result(kElements);
  EXPECT_EQ(ARMCI_Get(region.At(0), result.data(), kElements * 8, 0), 0);
  // n additions of positive terms, in any order, differ by less than n units in the last place of the sum; both
  // sides are such sums, with one rounding of the product each.
  const double tolerance = 2.0 * (kRounds * Np() + 1) * 0x1p-52;
  for (std::size_t i = 0; i < kElements; ++i) {
    EXPECT_LE(std::abs(result[i] - total[i]), tolerance * total[i]) << "element " << i;
  }
}

// Only the bytes of the accumulated elements need to be elements; the rest is a guard band.
bool AccumulateAt(std::size_t at, const AccType& type, int target, Arena* arena) {
  const std::string text = std::string(type.name) + " at " + std::to_string(at) + " modulo 64";
  arena->Refill(&MyRng(), target);
  Bytes local(2048);
  FillElements(&MyRng(), type, local.data() + at, 10 * type.bytes);
  Bytes start(10 * type.bytes);
  FillElements(&MyRng(), type, start.data(), start.size());
  const std::size_t to = kGuard + 64 - at;
  std::copy(start.begin(), start.end(), arena->Image(target) + to);
  EXPECT_EQ(ARMCI_Put(start.data(), arena->Slot(target) + to, static_cast<int>(start.size()), target), 0);
  const Scale scale = SmallScale(&MyRng(), type);
  ModelAcc(ContiguousPlan(10 * type.bytes), type, scale.bytes, local.data() + at, arena->Image(target) + to);
  EXPECT_EQ(ARMCI_Acc(type.code, const_cast<char*>(scale.bytes), local.data() + at, arena->Slot(target) + to,
                      static_cast<int>(10 * type.bytes), target),
            0)
      << text;
  return arena->Verify(target, text);
}

CLAUSE_TEST(ACC, ACC5_alignment_to_the_type_is_enough, "ACC-5") {
  for (const AccType& type : kAccTypes) {
    Arena arena(2048);
    for (int target : TableTargets()) {
      for (std::size_t at = 0; at < 64; at += type.align) {
        if (!AccumulateAt(at, type, target, &arena)) return;
      }
    }
  }
}

}  // namespace
}  // namespace conformance
