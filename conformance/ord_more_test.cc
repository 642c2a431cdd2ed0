// ORD-2 to ORD-6: several targets, non-blocking stores, a process and its own operations, flags, notification.

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "conformance/harness/test.h"

namespace conformance {
namespace {

constexpr std::size_t kSizes[] = {8, 256, 4096, 40000};

CLAUSE_TEST(ORD, ORD2_a_fence_orders_stores_to_two_targets, "ORD-2", "FENCE-1", NeedsRanks(2)) {
  // Without the fence both orders are allowed and nothing could fail; with it the flag must not overtake the data.
  Region region(256);
  const int reader = Np() - 1;
  const int data_at = reader;
  const int flag_at = 0;
  Race race({0, reader});
  if (Me() == 0) {
    for (long round = 1; race.GoOn(); ++round) {
      EXPECT_EQ(ARMCI_Put(&round, region.At(data_at), 8, data_at), 0);
      ARMCI_Fence(data_at);
      EXPECT_EQ(ARMCI_Put(&round, region.At(flag_at, 128), 8, flag_at), 0);
    }
  } else if (Me() == reader) {
    while (race.GoOn()) {
      const long flag = ARMCI_GetValueLong(region.At(flag_at, 128), flag_at);
      const long data = ARMCI_GetValueLong(region.At(data_at), data_at);
      ASSERT_GE(data, flag) << "the flag overtook the fenced data" << SeedText();
    }
  }
}

CLAUSE_TEST(ORD, ORD2_without_a_fence_both_orders_are_accepted, "ORD-2", NeedsRanks(2)) {
  // Promises without a fence: each location by itself never goes back, and nothing is invented.
  Region region(256);
  const int reader = Np() - 1;
  long rounds = 0;
  long seen[2] = {0, 0};
  Race race({0, reader});
  if (Me() == 0) {
    while (race.GoOn()) {
      ++rounds;
      EXPECT_EQ(ARMCI_Put(&rounds, region.At(reader), 8, reader), 0);
      EXPECT_EQ(ARMCI_Put(&rounds, region.At(0, 128), 8, 0), 0);
    }
  } else if (Me() == reader) {
    while (race.GoOn()) {
      const long now[2] = {ARMCI_GetValueLong(region.At(reader), reader), ARMCI_GetValueLong(region.At(0, 128), 0)};
      for (int i = 0; i < 2; ++i) {
        ASSERT_GE(now[i], seen[i]) << "target " << i << " went back" << SeedText();
        seen[i] = now[i];
      }
    }
  }
  Sync();
  rounds = FromRank(0, rounds);
  for (long value : seen) EXPECT_LE(value, rounds) << "a value that was never written";
  EXPECT_EQ(ARMCI_GetValueLong(region.At(reader), reader), rounds);
  EXPECT_EQ(ARMCI_GetValueLong(region.At(0, 128), 0), rounds);
}

CLAUSE_TEST(ORD, ORD3_nonblocking_stores_end_as_one_of_the_values_until_a_fence, "ORD-3", "FENCE-1") {
  constexpr int kElements = 600;
  Region region(static_cast<std::size_t>(Np()) * kElements * 8);
  for (int target = 0; target < Np(); ++target) {
    char* slot = region.At(target, static_cast<std::size_t>(Me()) * kElements * 8);
    for (long round = 0; round < Scaled(200, 40); ++round) {
      std::vector<std::vector<long>> sources;
      for (long k = 1; k <= 4; ++k) sources.emplace_back(kElements, 10 * round + k);
      for (auto& source : sources) {
        EXPECT_EQ(ARMCI_NbPut(source.data(), slot, kElements * 8, target, nullptr), 0);
      }
      EXPECT_EQ(ARMCI_WaitProc(target), 0);
      ARMCI_Fence(target);
      std::vector<long> back(kElements);
      EXPECT_EQ(ARMCI_Get(slot, back.data(), kElements * 8, target), 0);
      // Each element holds one of the four, any of them.
      for (long value : back) ASSERT_TRUE(value > 10 * round && value <= 10 * round + 4) << value << SeedText();
      // After the fence order is back.
      std::vector<long> last(kElements, 10 * round + 9);
      EXPECT_EQ(ARMCI_Put(last.data(), slot, kElements * 8, target), 0);
      EXPECT_EQ(ARMCI_Get(slot, back.data(), kElements * 8, target), 0);
      ASSERT_EQ(back, last) << "a store from before the fence came after it";
    }
  }
}

// Puts, accumulates, gets and RMWs on the origin's own slot in random order; the model knows every answer.
void OwnOperations(int target, Arena* arena, int steps) {
  const AccType& type = kAccTypes[1];
  // A non-blocking store is seen by the origin's gets and RMWs once its wait returned, but is unordered with its other
  // stores, earlier and later ones: those need a fence in between.
  bool stored = false;
  bool unordered = false;
  const auto before_store = [&](Mode mode) {
    if (unordered || (stored && mode != Mode::kBlocking)) ARMCI_Fence(target);
    stored = true;
    unordered = mode != Mode::kBlocking;
  };
  for (int step = 0; step < steps; ++step) {
    const Shape shape = kShapes[MyRng().Below(3)];
    const Mode mode = kModes[MyRng().Below(4)];
    const Plan plan = PlanOfSize(shape, kSizes[MyRng().Below(4)], 8);
    Bytes local(static_cast<std::size_t>(std::max(plan.SrcEnd(), plan.DstEnd())));
    char* slot = arena->Slot(target) + kGuard;
    char* image = arena->Image(target) + kGuard;
    const std::string text = std::string(NameOf(mode)) + " " + plan.Text() + ", step " + std::to_string(step);
    switch (MyRng().Below(4)) {
      case 0: {
        FillElements(&MyRng(), type, local.data(), local.size());
        ModelCopy(plan, local.data(), image);
        before_store(mode);
        ASSERT_EQ(Move(plan, Op::kPut, mode, local.data(), slot, target), 0) << text;
        break;
      }
      case 1: {
        FillElements(&MyRng(), type, local.data(), local.size());
        ModelAcc(plan, type, UnitScale(type).bytes, local.data(), image);
        Transfer transfer(plan, Op::kAcc, mode);
        transfer.SetAcc(type, UnitScale(type));
        before_store(mode);
        ASSERT_EQ(transfer.Start(local.data(), slot, target), 0) << text;
        ASSERT_EQ(transfer.Wait(), 0) << text;
        break;
      }
      case 2: {
        Bytes expected = local;
        ModelCopy(plan, image, expected.data());
        ASSERT_EQ(Move(plan, Op::kGet, mode, slot, local.data(), target), 0) << text;
        ASSERT_TRUE(SameBytes(expected.data(), local.data(), local.size())) << "get: " << text << SeedText();
        break;
      }
      default: {
        const std::ptrdiff_t at = plan.segments.back().dst;
        long expected = 0;
        std::memcpy(&expected, image + at, 8);
        long seen = 0;
        ASSERT_EQ(ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &seen, slot + at, 17, target), 0);
        ASSERT_EQ(seen, expected) << "RMW, step " << step << SeedText();
        expected += 17;
        std::memcpy(image + at, &expected, 8);
      }
    }
  }
}

CLAUSE_TEST(ORD, ORD4_a_process_sees_its_own_operations_in_order, "ORD-4", "RMW-5", DeadlineSeconds(60)) {
  Arena arena(128 << 10);
  for (int target = 0; target < Np(); ++target) {
    arena.Refill(&MyRng(), target, &kAccTypes[1]);
    OwnOperations(target, &arena, Scaled(6000, 400));
    if (::testing::Test::HasFailure()) return;
    arena.Verify(target, "the whole program");
  }
  arena.VerifyByOwners();
}

CLAUSE_TEST(ORD, ORD4_a_second_get_is_not_older_than_the_first, "ORD-4", NeedsRanks(2)) {
  Region region(512);
  const int target = Np() - 1;
  std::vector<long> value(64);
  std::vector<long> last(64, 0);
  Race race(AllRanks());
  for (long round = 1; race.GoOn(); ++round) {
    if (Me() == 0) {
      std::fill(value.begin(), value.end(), round);
      EXPECT_EQ(ARMCI_Put(value.data(), region.At(target), 512, target), 0);
    } else {
      EXPECT_EQ(ARMCI_Get(region.At(target), value.data(), 512, target), 0);
      for (std::size_t i = 0; i < value.size(); ++i) ASSERT_GE(value[i], last[i]) << "element " << i << SeedText();
      last = value;
    }
  }
}

// Roles: the rank that puts with a flag, the host of the memory, and the reader of flag and data, by get or by load.
struct FlagRoles {
  int writer;
  int target;
  int reader;
  bool by_load;
};

struct FlagCase {
  FlagRoles roles;
  Shape shape;
  std::size_t bytes;

  std::string Text() const {
    return std::string(NameOf(shape)) + " put of " + std::to_string(bytes) + " bytes with flag, " +
           std::to_string(roles.writer) + " writes at " + std::to_string(roles.target) + ", " +
           std::to_string(roles.reader) + " reads by " + (roles.by_load ? "load" : "get") + SeedText();
  }
};

// The target reads, the writer hosts, and with three ranks no rank does both; each end of the job writes.
std::vector<FlagCase> FlagCases() {
  const int last = Np() - 1;
  std::vector<FlagRoles> roles{{0, last, last, false}, {0, 0, last, false}, {last, 0, 0, false}};
  if (Np() > 2) roles.insert(roles.end(), {{0, last, 1, false}, {1, 0, last, false}, {last, 1, 0, false}});
  for (std::size_t i = 0, by_get = roles.size(); i < by_get; ++i) {
    // All ranks must choose alike: the reader's view of the node decides.
    FlagRoles by_load = roles[i];
    by_load.by_load = true;
    if (FromRank(by_load.reader, SameNode(by_load.target))) roles.push_back(by_load);
  }
  std::vector<FlagCase> cases;
  for (const FlagRoles& each : roles) {
    for (Shape shape : {Shape::kContiguous, Shape::kStrided}) {
      for (std::size_t bytes : {std::size_t{8}, std::size_t{1024}, std::size_t{65536}}) {
        cases.push_back({each, shape, bytes});
      }
    }
  }
  return cases;
}

int PutWithFlag(Plan* plan, std::vector<long>* source, char* to, int* flag, int value, int target) {
  std::fill(source->begin(), source->end(), value);
  if (plan->shape == Shape::kContiguous) {
    return ARMCI_Put_flag(source->data(), to, plan->count[0], flag, value, target);
  }
  return ARMCI_PutS_flag(source->data(), plan->src_stride.data(), to, plan->dst_stride.data(), plan->count.data(),
                         static_cast<int>(plan->src_stride.size()), flag, value, target);
}

// Rounds 1, 2, ... of one put with flag to the same place.
void FlagStream(const FlagCase& one, const Region& region) {
  const auto [writer, target, reader, by_load] = one.roles;
  Plan plan = PlanOfSize(one.shape, one.bytes, 8);
  int* flag = reinterpret_cast<int*>(region.At(target, region.bytes() - 64));
  // The values of the last case would pass for this one's.
  std::memset(region.Mine(), 0, region.bytes());
  Race race({writer, reader}, one.bytes > 10000 ? Scaled(1000L, 100L) : Scaled(10000L, 1000L));
  if (Me() == writer) {
    std::vector<long> source(static_cast<std::size_t>(plan.SrcEnd()) / 8);
    for (int round = 1; race.GoOn(); ++round) {
      ASSERT_EQ(PutWithFlag(&plan, &source, region.At(target), flag, round, target), 0) << one.Text();
    }
  } else if (Me() == reader) {
    while (race.GoOn()) {
      const Segment& segment = plan.segments[MyRng().Below(plan.segments.size())];
      char* at = region.At(target) + segment.dst + 8 * MyRng().Below(segment.bytes / 8);
      const long flag_seen = by_load ? LoadShared<int>(flag) : ARMCI_GetValueInt(flag, target);
      const long data_seen = by_load ? LoadShared<long>(at) : ARMCI_GetValueLong(at, target);
      ASSERT_GE(data_seen, flag_seen) << one.Text();
    }
  }
  Sync();
}

CLAUSE_TEST(ORD, ORD5_a_reader_of_the_flag_sees_the_data, "ORD-5", NeedsRanks(2), DeadlineSeconds(60)) {
  std::vector<FlagCase> cases = FlagCases();
  // As many as there is time for, by the seed.
  SharedRng().Shuffle(&cases);
  const auto enough = static_cast<std::size_t>(Scaled(24, 12));
  if (cases.size() > enough) cases.resize(enough);
  Region region(1 << 18);
  for (const FlagCase& one : cases) FlagStream(one, region);
}

CLAUSE_TEST(ORD, ORD5_flag_to_oneself, "ORD-5") {
  Region region(4096);
  for (int round = 1; round < 50; ++round) {
    std::vector<long> source(100, round);
    int* flag = reinterpret_cast<int*>(region.At(Me(), 2048));
    EXPECT_EQ(ARMCI_Put_flag(source.data(), region.At(Me()), 800, flag, round, Me()), 0);
    ARMCI_Fence(Me());
    EXPECT_EQ(LoadShared<int>(flag), round);
    EXPECT_TRUE(SameBytes(reinterpret_cast<char*>(source.data()), region.Mine(), 800));
  }
}

CLAUSE_TEST(ORD, ORD6_notify_tells_of_every_earlier_store, "ORD-6", "LC-1", DeadlineSeconds(60)) {
  // A ring: each stores to its right neighbour in all modes, notifies it, and waits for its left one.
  constexpr std::size_t kBytes = 20000;
  Region region(4 * kBytes + 1024);
  const int right = (Me() + 1) % Np();
  const int left = (Me() + Np() - 1) % Np();
  int expected = -1;
  for (long round = 1; round <= Rounds(400, 80); ++round) {
    std::vector<std::vector<long>> sources;
    for (int k = 0; k < 4; ++k) sources.emplace_back(kBytes / 8, 100 * round + 10 * Me() + k);
    for (int k = 0; k < 4; ++k) {
      char* to = region.At(right, static_cast<std::size_t>(k) * kBytes);
      char* from = reinterpret_cast<char*>(sources[static_cast<std::size_t>(k)].data());
      // Blocking, with a wait, without any wait (explicit and implicit).
      if (k < 2) {
        EXPECT_EQ(Move(ContiguousPlan(kBytes), Op::kPut, kModes[k], from, to, right), 0);
      } else {
        EXPECT_EQ(ARMCI_NbPut(from, to, static_cast<int>(kBytes), right, nullptr), 0);
      }
    }
    EXPECT_EQ(armci_notify(right), 0);
    int count = -1;
    EXPECT_EQ(armci_notify_wait(left, &count), 0);
    if (expected < 0) expected = count;
    EXPECT_EQ(count, expected++) << "the k-th wait matches the k-th notify";
    for (int k = 0; k < 4; ++k) {
      for (std::size_t i = 0; i < kBytes / 8; ++i) {
        ASSERT_EQ(LoadShared<long>(region.Mine() + static_cast<std::size_t>(k) * kBytes + 8 * i),
                  100 * round + 10 * left + k)
            << "store " << k << " of round " << round << SeedText();
      }
    }
    EXPECT_EQ(ARMCI_WaitAll(), 0);
    Agree();
  }
}

CLAUSE_TEST(ORD, ORD6_notifications_of_different_processes_are_apart, "ORD-6", NeedsRanks(3)) {
  // Everyone notifies rank 0: all but the last one twice at once, the last one when rank 0 has let it go. A wait for
  // the last one must not be content with what is there of the others.
  if (!LibraryHas("armci_notify")) SkipTest("the library has no armci_notify");  // the last one would learn it too late
  Region region(64 * static_cast<std::size_t>(Np()));
  const int last = Np() - 1;
  long* word = region.As<long>(0, 8 * static_cast<std::size_t>(Me()));
  // Number of the last notification of each, as the waits tell it; earlier tests have had some.
  std::vector<int> counts(static_cast<std::size_t>(Np()), -1);
  const auto wait_for = [&](int p) {
    int& before = counts[static_cast<std::size_t>(p)];
    int count = -1;
    EXPECT_EQ(armci_notify_wait(p, &count), 0);
    if (before >= 0) {
      EXPECT_EQ(count, before + 1) << "the k-th wait for rank " << p << " gives k";
    }
    before = count;
  };
  for (long round = 1; round <= Rounds(40, 10); ++round) {
    Agree();
    if (Me() == 0) {
      wait_for(1);
      MPI_Send(nullptr, 0, MPI_INT, last, 4, Comm());
      wait_for(last);
      EXPECT_EQ(LoadShared<long>(region.As<long>(0, 8 * static_cast<std::size_t>(last))), round) << SeedText();
      for (int p = 1; p < last; ++p) {
        for (int k = p == 1 ? 1 : 0; k < 2; ++k) wait_for(p);
      }
    } else if (Me() == last) {
      MPI_Recv(nullptr, 0, MPI_INT, 0, 4, Comm(), MPI_STATUS_IGNORE);
      EXPECT_EQ(ARMCI_PutValueLong(round, word, 0), 0);
      EXPECT_EQ(armci_notify(0), 0);
    } else {
      EXPECT_EQ(armci_notify(0), 0);
      EXPECT_EQ(armci_notify(0), 0);
    }
  }
}

}  // namespace
}  // namespace conformance
