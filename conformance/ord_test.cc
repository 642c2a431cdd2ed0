// ORD-1, LC-3: message passing. One process stores data and then a flag, over and over with growing values; another
// reads the flag and then the data, which must be at least as new. Every pair of shapes, small and large.

#include <array>
#include <string>
#include <vector>

#include "conformance/harness/test.h"

namespace conformance {
namespace {

using Kind = StoreKind;
constexpr const auto& kKindNames = kStoreKindNames;

// The value of round r: both halves are r, so a torn element is seen at once.
constexpr long kUnit = 0x0000000100000001;
constexpr std::size_t kFlagOffset = 1 << 20;

// A store repeated with a new value each round.
class Stream {
 public:
  Stream(Kind kind, std::size_t bytes)
      : kind_(kind),
        plan_(PlanOfSize(ShapeOf(kind), kind == Kind::kValue ? 8 : bytes, 8)),
        transfer_(plan_, kind == Kind::kAccumulate ? Op::kAcc : Op::kPut, Mode::kBlocking),
        source_(static_cast<std::size_t>(plan_.SrcEnd()) / 8, kUnit) {
    transfer_.SetAcc(kAccTypes[1], UnitScale(kAccTypes[1]));
  }

  int Store(long round, char* to, int target) {
    if (kind_ != Kind::kAccumulate) std::fill(source_.begin(), source_.end(), round * kUnit);
    return transfer_.Start(reinterpret_cast<char*>(source_.data()), to, target);
  }

  // Offset of some element: the first, the last, or any.
  std::ptrdiff_t SomeElement(Rng* rng) const {
    const std::uint64_t choice = rng->Below(4);
    if (choice == 0) return plan_.segments.front().dst;
    const Segment& segment = choice == 1 ? plan_.segments.back() : plan_.segments[rng->Below(plan_.segments.size())];
    if (choice == 1) return segment.dst + static_cast<std::ptrdiff_t>(segment.bytes) - 8;
    return segment.dst + static_cast<std::ptrdiff_t>(8 * rng->Below(segment.bytes / 8));
  }

 private:
  const Kind kind_;
  const Plan plan_;
  Transfer transfer_;
  std::vector<long> source_;
};

struct Roles {
  int writer;
  int target;
  int reader;
  bool by_load;
};

long Read(const char* at, const Roles& roles) {
  if (roles.by_load) return LoadShared<long>(at);
  long value = -1;
  EXPECT_EQ(ARMCI_Get(const_cast<char*>(at), &value, 8, roles.target), 0);
  return value;
}

// The round that an element shows. A torn or invented value is a failure.
long RoundOf(long value, const char* what, const std::string& text) {
  const long round = value & 0xFFFFFFFF;
  EXPECT_EQ(value, round * kUnit) << "torn or invented " << what << ": " << text << SeedText();
  return round;
}

void Look(const Region& region, const Stream& data, const Stream& flag, const Roles& roles, const std::string& text) {
  const std::ptrdiff_t flag_at = flag.SomeElement(&MyRng());
  const std::ptrdiff_t data_at = data.SomeElement(&MyRng());
  const long seen_flag = RoundOf(Read(region.At(roles.target, kFlagOffset) + flag_at, roles), "flag", text);
  const long seen_data = RoundOf(Read(region.At(roles.target) + data_at, roles), "data", text);
  EXPECT_GE(seen_data, seen_flag) << "the flag overtook the data: " << text << ", data offset " << data_at
                                  << ", flag offset " << flag_at << SeedText();
}

void MessagePassing(const Region& region, Kind first, Kind second, std::size_t data_bytes, std::size_t flag_bytes,
                    const Roles& roles) {
  const std::string text = std::string(kKindNames[static_cast<int>(first)]) + " then " +
                           kKindNames[static_cast<int>(second)] + ", " + std::to_string(data_bytes) + " and " +
                           std::to_string(flag_bytes) + " bytes, " + std::to_string(roles.writer) + " writes at " +
                           std::to_string(roles.target) + ", " + std::to_string(roles.reader) + " reads" +
                           (roles.by_load ? " by load" : " by get");
  Stream data(first, data_bytes);
  Stream flag(second, flag_bytes);
  // The values of the last round would pass for this one's.
  std::memset(region.Mine(), 0, region.bytes());
  const bool large = data_bytes + flag_bytes > 10000;
  Race race({roles.writer, roles.reader}, large ? Scaled(300L, 40L) : Scaled(5000L, 500L));
  long round = 0;
  if (Me() == roles.writer) {
    while (race.GoOn()) {
      ++round;
      ASSERT_EQ(data.Store(round, region.At(roles.target), roles.target), 0) << text;
      ASSERT_EQ(flag.Store(round, region.At(roles.target, kFlagOffset), roles.target), 0) << text;
    }
  } else if (Me() == roles.reader) {
    while (race.GoOn()) Look(region, data, flag, roles, text);
  }
  Sync();
  round = FromRank(roles.writer, round);
  if (Me() == roles.reader) {
    EXPECT_EQ(RoundOf(Read(region.At(roles.target) + data.SomeElement(&MyRng()), roles), "data", text), round) << text;
    EXPECT_EQ(RoundOf(Read(region.At(roles.target, kFlagOffset) + flag.SomeElement(&MyRng()), roles), "flag", text),
              round)
        << text;
  }
}

// Roles of writer, host and reader: the target reads, the writer hosts, and with three ranks a third one hosts.
std::vector<Roles> AllRoles() {
  std::vector<Roles> roles{{0, 1, 1, false}, {0, 0, 1, false}};
  if (Np() > 2) roles.push_back({0, 1, 2, false});
  const std::size_t by_get = roles.size();
  for (std::size_t i = 0; i < by_get; ++i) {
    Roles by_load = roles[i];
    by_load.by_load = true;
    // All ranks must choose alike: the reader's view of the node decides.
    if (FromRank(by_load.reader, SameNode(by_load.target))) roles.push_back(by_load);
  }
  return roles;
}

void AllSizesAndRoles(Kind first, Kind second) {
  constexpr std::array<std::array<std::size_t, 2>, 4> kSizes{{{8, 8}, {65536, 8}, {8, 65536}, {2048, 2048}}};
  struct Case {
    Roles roles;
    std::size_t data_bytes, flag_bytes;
  };
  std::vector<Case> cases;
  for (const Roles& roles : AllRoles()) {
    for (const auto& [data_bytes, flag_bytes] : kSizes) {
      // A value is one element for every size.
      if (first == Kind::kValue && data_bytes > 8) continue;
      if (second == Kind::kValue && flag_bytes > 8) continue;
      cases.push_back({roles, data_bytes, flag_bytes});
    }
  }
  // The quick run takes a few of each pair, by the seed.
  SharedRng().Shuffle(&cases);
  if (Quick() && cases.size() > 4) cases.resize(4);
  Region region(2 << 20);
  for (const Case& one : cases) MessagePassing(region, first, second, one.data_bytes, one.flag_bytes, one.roles);
}

bool RegisterPairs() {
  constexpr Kind kKinds[] = {Kind::kContiguous, Kind::kStrided, Kind::kVector, Kind::kValue, Kind::kAccumulate};
  for (Kind first : kKinds) {
    for (Kind second : kKinds) {
      const std::string name = std::string("ORD1_message_passing_") + kKindNames[static_cast<int>(first)] + "_then_" +
                               kKindNames[static_cast<int>(second)];
      AddTest({"ORD", name, MakeSpec("ORD-1", "LC-3", NeedsRanks(2), DeadlineSeconds(60)),
               [=] { AllSizesAndRoles(first, second); }, __FILE__, __LINE__});
    }
  }
  return true;
}

const bool registered [[maybe_unused]] = RegisterPairs();

CLAUSE_TEST(ORD, ORD1_later_store_to_the_same_place_wins, "ORD-1") {
  // Coherence of writes: after many blocking stores of changing shape to the same place the last one stays.
  Arena arena(16384);
  for (int target = 0; target < Np(); ++target) {
    arena.Refill(&MyRng(), target);
    for (int i = 0; i < Scaled(300, 60); ++i) {
      for (int store = 0; store < 4; ++store) {
        const Plan plan = RandomPlan(&MyRng(), kShapes[MyRng().Below(3)], 8192, 8);
        Bytes source(static_cast<std::size_t>(plan.SrcEnd()));
        MyRng().Fill(source.data(), source.size());
        ModelCopy(plan, source.data(), arena.Image(target) + kGuard);
        EXPECT_EQ(Move(plan, Op::kPut, Mode::kBlocking, source.data(), arena.Slot(target) + kGuard, target), 0);
      }
      if (!arena.Verify(target, "four overlapping blocking puts")) return;
    }
  }
  arena.VerifyByOwners();
}

CLAUSE_TEST(ORD, ORD1_stores_of_all_sizes_to_the_same_place_keep_their_order, "ORD-1", "ORD-4") {
  // Every pair of sizes, on both sides of each way that a library may take: the second store stays, whole, and what it
  // does not cover is the first one's.
  constexpr std::size_t kSizes[] = {8, 512, 5000, 40000, 300000};
  Arena arena(400000);
  for (int target = 0; target < Np(); ++target) {
    arena.Refill(&MyRng(), target);
    for (std::size_t first : kSizes) {
      for (std::size_t second : kSizes) {
        for (Shape shape : {Shape::kContiguous, kShapes[MyRng().Below(3)]}) {
          const Plan plans[] = {ContiguousPlan(first), PlanOfSize(shape, second, 8)};
          if (plans[1].DstEnd() + static_cast<std::ptrdiff_t>(2 * kGuard) > 400000) continue;
          for (const Plan& plan : plans) {
            Bytes source(static_cast<std::size_t>(plan.SrcEnd()));
            MyRng().Fill(source.data(), source.size());
            ModelCopy(plan, source.data(), arena.Image(target) + kGuard);
            EXPECT_EQ(Move(plan, Op::kPut, Mode::kBlocking, source.data(), arena.Slot(target) + kGuard, target), 0);
          }
          if (!arena.Verify(target, plans[0].Text() + ", then " + plans[1].Text())) return;
        }
      }
    }
  }
}

CLAUSE_TEST(ORD, ORD4_a_put_is_got_while_other_gets_are_under_way, "ORD-4", "CMPL-2", "CMPL-3", DeadlineSeconds(60)) {
  // Gets are pending when a put and a get of the same word follow: a library that orders these two by a fence of its
  // device may make the get wait for the earlier gets too.
  constexpr std::size_t kWords = 64;
  constexpr std::size_t kGets = 3;
  Region region(8 * kWords * static_cast<std::size_t>(Np() + 1));
  const std::size_t stable = kWords * static_cast<std::size_t>(Np());
  for (std::size_t i = 0; i < kWords; ++i) *region.As<long>(Me(), stable + i) = kUnit * static_cast<long>(i + 1);
  Sync();
  for (long round = 1; round <= Scaled(40000L, 2000L) && !::testing::Test::HasFailure(); ++round) {
    const int target = static_cast<int>(MyRng().Below(static_cast<std::uint64_t>(Np())));
    armci_hdl_t handles[kGets];
    std::vector<long> got(kGets * kWords);
    std::size_t counts[kGets];
    for (std::size_t i = 0; i < kGets; ++i) {
      ARMCI_INIT_HANDLE(&handles[i]);
      counts[i] = 1 + MyRng().Below(kWords);
      EXPECT_EQ(ARMCI_NbGet(region.As<long>(target, stable), &got[i * kWords], static_cast<int>(8 * counts[i]), target,
                            &handles[i]),
                0);
    }
    long* const mine = region.As<long>(target, kWords * static_cast<std::size_t>(Me()) + MyRng().Below(kWords));
    EXPECT_EQ(ARMCI_PutValueLong(round, mine, target), 0);
    EXPECT_EQ(ARMCI_GetValueLong(mine, target), round) << "at rank " << target << SeedText();
    for (std::size_t i = 0; i < kGets; ++i) {
      EXPECT_EQ(ARMCI_Wait(&handles[i]), 0);
      EXPECT_EQ(got[i * kWords + counts[i] - 1], kUnit * static_cast<long>(counts[i])) << SeedText();
    }
  }
  Sync();
}

}  // namespace
}  // namespace conformance
