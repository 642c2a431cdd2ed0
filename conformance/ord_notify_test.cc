// ORD-5, ORD-6: flags and notification.

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "conformance/harness/test.h"

namespace conformance {
namespace {

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

// The bytes that `sender` stores in a round by its store of that number.
std::vector<char> BytesOf(int sender, long round, std::size_t number, const Plan& plan) {
  std::vector<char> bytes(static_cast<std::size_t>(plan.SrcEnd()));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>(static_cast<std::size_t>(7 * round + 31 * sender) + 13 * number + i + 1);
  }
  return bytes;
}

// Finds faults of libraries that send stores with the notification, by length or by history.
CLAUSE_TEST(ORD, ORD6_stores_of_any_form_and_length_precede_the_notification, "ORD-6", DeadlineSeconds(60)) {
  constexpr std::size_t kSlot = std::size_t{1} << 19;
  constexpr std::size_t kStores = 6;
  Region region(kStores * kSlot);
  const int right = (Me() + 1) % Np();
  const int left = (Me() + Np() - 1) % Np();
  for (long round = 1; round <= Rounds(300, 60); ++round) {
    std::vector<Plan> plans;  // the same on all ranks
    for (std::size_t k = SharedRng().Below(kStores) + 1; k > 0; --k) {
      const std::size_t longest = std::size_t{16} << SharedRng().Below(14);
      plans.push_back(PlanOfSize(kShapes[SharedRng().Below(3)], SharedRng().Below(longest) + 16, 8));
    }
    std::memset(region.Mine(), 0, region.bytes());
    Sync();
    std::vector<std::vector<char>> sources;
    std::vector<std::unique_ptr<Transfer>> transfers;
    for (std::size_t k = 0; k < plans.size(); ++k) {
      ASSERT_LE(static_cast<std::size_t>(plans[k].DstEnd()), kSlot);
      sources.push_back(BytesOf(Me(), round, k, plans[k]));
      const Mode mode = kModes[MyRng().Below(3)];  // an aggregate would have to be waited for
      transfers.push_back(std::make_unique<Transfer>(plans[k], Op::kPut, mode));
      EXPECT_EQ(transfers.back()->Start(sources.back().data(), region.At(right, k * kSlot), right), 0);
    }
    if (MyRng().Below(4) == 0) ARMCI_Fence(right);
    EXPECT_EQ(armci_notify(right), 0);
    int count = 0;
    EXPECT_EQ(armci_notify_wait(left, &count), 0);
    for (std::size_t k = 0; k < plans.size(); ++k) {
      std::vector<char> expected(static_cast<std::size_t>(plans[k].DstEnd()), 0);
      ModelCopy(plans[k], BytesOf(left, round, k, plans[k]).data(), expected.data());
      ASSERT_TRUE(SameBytes(expected.data(), region.Mine() + k * kSlot, expected.size()))
          << "store " << k << " of round " << round << ", " << plans[k].Text() << SeedText();
    }
    for (const auto& transfer : transfers) EXPECT_EQ(transfer->Wait(), 0);
    Sync();
  }
}

CLAUSE_TEST(ORD, ORD6_a_notification_needs_no_later_call_of_the_notifier, "ORD-6", NeedsRanks(2)) {
  // After the notify rank 0 makes no call of the library before the waiter has seen all: it waits for the waiter's
  // message, and would wait for good if the notification did.
  if (!LibraryHas("armci_notify")) SkipTest("the library has no armci_notify");
  constexpr std::size_t kBytes = 20000;
  Region region(kBytes + 64);
  const int last = Np() - 1;
  for (long round = 1; round <= Rounds(100, 20); ++round) {
    if (Me() == 0) {
      std::vector<long> source(kBytes / 8, round);
      EXPECT_EQ(ARMCI_NbPut(source.data(), region.At(last), static_cast<int>(kBytes), last, nullptr), 0);
      const int small = static_cast<int>(sizeof(long));
      EXPECT_EQ(ARMCI_NbPut(source.data(), region.At(last, kBytes), small, last, nullptr), 0);
      EXPECT_EQ(armci_notify(last), 0);
      MPI_Recv(nullptr, 0, MPI_INT, last, 5, Comm(), MPI_STATUS_IGNORE);
      EXPECT_EQ(ARMCI_WaitAll(), 0);
    } else if (Me() == last) {
      int count = 0;
      EXPECT_EQ(armci_notify_wait(0, &count), 0);
      for (std::size_t at = 0; at <= kBytes; at += 8) {
        ASSERT_EQ(LoadShared<long>(region.Mine() + at), round) << "byte " << at << SeedText();
      }
      MPI_Send(nullptr, 0, MPI_INT, 0, 5, Comm());
    }
  }
  Sync();
}

CLAUSE_TEST(ORD, ORD6_notifications_of_different_processes_are_apart, "ORD-6", NeedsRanks(3)) {
  // Every rank notifies rank 0: all but the last one twice at once, the last one when rank 0 has let it go. A wait for
  // the last one must not return on a notification of another rank.
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
