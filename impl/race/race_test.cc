// The order of events and the races that follow from it, from records made by hand.
#include <gtest/gtest.h>

#include "armci_types.h"
#include "impl/race/detector.h"
#include "impl/race/happens_before.h"
#include "impl/race/record.h"
#include "impl/race/recorder.h"
#include "impl/race/source_lines.h"

namespace armci::race {
namespace {

constexpr int kOwner = 1;
constexpr std::int64_t kRegion = 5;

Access access(AccessKind kind, int origin, Event issued, Footprint where = {0, 8, 0, 1}) {
  Access made{};
  made.where = where;
  made.region = kRegion;
  made.owner = kOwner;
  made.origin = origin;
  made.issued = made.completed = issued;
  made.site = issued;
  made.kind = kind;
  made.is_store = kind == AccessKind::kWrite || kind == AccessKind::kAccumulate;
  made.is_blocking = true;
  return made;
}

Access put(int origin, Event issued) { return access(AccessKind::kWrite, origin, issued); }
Access get(int origin, Event issued) { return access(AccessKind::kRead, origin, issued); }

std::size_t races(const std::vector<Access>& accesses, const std::vector<Sync>& syncs) {
  return find_races(accesses, HappensBefore(3, syncs)).size();
}

Sync at(int process, Event event, Sync sync) {
  sync.process = process;
  sync.event = event;
  return sync;
}
Sync fence(int process, Event event, int target = kOwner) {
  return at(process, event, {.kind = SyncKind::kFence, .peer = target});
}
Sync notify(int process, Event event, int peer, std::int64_t number = 1) {
  return at(process, event, {.kind = SyncKind::kNotify, .peer = peer, .number = number});
}
Sync await(int process, Event event, int peer, std::int64_t number = 1) {
  return at(process, event, {.kind = SyncKind::kAwait, .peer = peer, .number = number});
}

TEST(RaceOverlap, piecesMeet) {
  std::uint64_t byte = 0;
  const Footprint columns{0, 8, 64, 8};
  EXPECT_FALSE(overlap(columns, {8, 8, 64, 8}, &byte));
  EXPECT_TRUE(overlap(columns, {12, 56, 64, 2}, &byte));
  EXPECT_EQ(byte, 64u);
  EXPECT_TRUE(overlap({448, 1, 0, 1}, columns, &byte));
  EXPECT_EQ(byte, 448u);
  EXPECT_FALSE(overlap({456, 1000, 0, 1}, columns, &byte));
}

TEST(RaceOverlap, agreesWithEveryByte) {
  const auto covers = [](const Footprint& one, std::uint64_t byte) {
    for (std::uint64_t i = 0; i < one.count; ++i) {
      if (byte >= one.begin + i * one.stride && byte < one.begin + i * one.stride + one.bytes) return true;
    }
    return false;
  };
  unsigned random = 1;
  const auto draw = [&](unsigned below) { return (random = random * 1664525 + 1013904223) / 65536 % below; };
  for (int times = 0; times < 5000; ++times) {
    const auto make = [&] { return Footprint{draw(20), 1 + draw(6), 1 + draw(12), 1 + draw(6)}; };
    const Footprint one = make();
    Footprint other = make();
    if (draw(2) == 0) other.stride = one.stride;
    bool meet = false;
    for (std::uint64_t byte = 0; byte < 120; ++byte) meet |= covers(one, byte) && covers(other, byte);
    std::uint64_t byte = 0;
    ASSERT_EQ(overlap(one, other, &byte), meet) << times;
    ASSERT_TRUE(!meet || (covers(one, byte) && covers(other, byte))) << times;
  }
}

TEST(RaceOrder, nothingOrders) {
  EXPECT_EQ(races({put(0, 1), get(2, 1)}, {}), 1u);
  EXPECT_EQ(races({get(0, 1), get(2, 1)}, {}), 0u);
}

TEST(RaceOrder, aNotificationNeedsAFenceForAThirdProcess) {
  const std::vector<Sync> notified{notify(0, 3, 2), await(2, 1, 0)};
  std::vector<Sync> fenced{fence(0, 2)};
  fenced.insert(fenced.end(), notified.begin(), notified.end());
  EXPECT_EQ(races({put(0, 1), get(2, 2)}, notified), 1u);
  EXPECT_EQ(races({put(0, 1), get(2, 2)}, fenced), 0u);
  EXPECT_EQ(races({get(0, 1), put(2, 2)}, notified), 0u);
  const std::vector<Race> found = find_races({put(0, 1), get(2, 2)}, HappensBefore(3, notified));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].reason, Reason::kNoFence);
  EXPECT_EQ(found[0].first.origin, 0);
}

TEST(RaceOrder, aNotificationToTheOwnerCompletesStores) {
  // 0 puts to 1 and notifies it; 1 notifies 2, which reads.
  EXPECT_EQ(races({put(0, 1), get(2, 2)}, {notify(0, 2, 1), await(1, 1, 0), notify(1, 2, 2), await(2, 1, 1)}), 0u);
  EXPECT_EQ(races({put(0, 3), get(2, 2)}, {notify(0, 2, 1), await(1, 1, 0), notify(1, 2, 2), await(2, 1, 1)}), 1u);
}

TEST(RaceOrder, notificationsMatchByTheirNumbers) {
  const std::vector<Sync> syncs{fence(0, 2), notify(0, 3, 2, 1), notify(0, 5, 2, 2), await(2, 1, 0, 1),
                                await(2, 3, 0, 2)};
  EXPECT_EQ(races({put(0, 1), get(2, 2)}, syncs), 0u);
  EXPECT_EQ(races({put(0, 4), get(2, 2)}, syncs), 1u);
}

TEST(RaceOrder, aNotificationOfEarlierRecordsHoldsUpNoOthers) {
  // 1 was notified by 2 before the records began; 0 waits for 1.
  const std::vector<Sync> syncs{await(0, 1, 1), await(1, 1, 2), fence(1, 3), notify(1, 4, 0)};
  EXPECT_EQ(races({put(1, 2), get(0, 2)}, syncs), 0u);
}

TEST(RaceOrder, aFlagMayBeSetToTheSameValueAgain) {
  const Place word{kRegion, 64, kOwner};
  const auto set = [&](Event event) { return at(0, event, {.kind = SyncKind::kSignal, .word = word, .value = 1}); };
  const auto see = [&](Event event) { return at(2, event, {.kind = SyncKind::kSee, .word = word, .value = 1}); };
  // 2 answers by a notification.
  const std::vector<Sync> syncs{set(1), await(0, 2, 2), set(3), see(1), notify(2, 2, 0), see(3)};
  EXPECT_EQ(races({put(0, 3), get(2, 4)}, syncs), 0u);
  EXPECT_EQ(races({put(0, 4), get(2, 4)}, syncs), 1u);
}

TEST(RaceOrder, locksFollowTheirTickets) {
  const auto lock = [](int process, Event event, std::int64_t ticket) {
    return at(process, event, {.kind = SyncKind::kLock, .key = 9, .number = ticket});
  };
  const auto unlock = [](int process, Event event) {
    return at(process, event, {.kind = SyncKind::kUnlock, .key = 9});
  };
  const std::vector<Sync> second_first{lock(0, 1, 20), fence(0, 3), unlock(0, 4),
                                       lock(2, 1, 10), fence(2, 3), unlock(2, 4)};
  EXPECT_EQ(races({put(0, 2), put(2, 2)}, second_first), 0u);
  EXPECT_EQ(races({put(0, 2), put(2, 5)}, second_first), 1u);
  // A lock that is held since the last barrier.
  EXPECT_EQ(races({put(0, 1), put(2, 2)}, {fence(0, 2), unlock(0, 3), lock(2, 1, 10)}), 0u);
}

TEST(RaceOrder, atomicsFollowTheirValues) {
  const Place word{kRegion, 64, kOwner};
  const auto atomic = [&](int process, Event event, std::int64_t ticket, std::int64_t before, std::int64_t after) {
    return at(
        process, event,
        {.kind = SyncKind::kAtomic, .bytes = 8, .number = ticket, .word = word, .value = after, .before = before});
  };
  // The poll took its ticket before the update did.
  EXPECT_EQ(races({put(0, 1), get(2, 2)}, {atomic(0, 2, 5, 0, 1), atomic(2, 1, 4, 1, 1)}), 0u);
  EXPECT_EQ(races({put(0, 1), get(2, 3)}, {atomic(0, 2, 5, 0, 1), atomic(2, 1, 3, 0, 0), atomic(2, 2, 4, 1, 1)}), 0u);
  EXPECT_EQ(races({put(0, 1), get(2, 2)}, {atomic(0, 2, 5, 0, 1), atomic(2, 1, 4, 0, 0)}), 1u);
}

TEST(RaceOrder, collectivesOrderByTheirRoot) {
  const auto collective = [](int process, int root, bool from_root) {
    return at(
        process, 2,
        {.kind = SyncKind::kCollective, .from_root = from_root, .peer = root, .members = 2, .key = 3, .number = 1});
  };
  const auto both = [&](int root, bool from_root) {
    return std::vector<Sync>{collective(0, root, from_root), collective(2, root, from_root)};
  };
  EXPECT_EQ(races({get(0, 1), put(2, 3)}, both(kEveryone, true)), 0u);
  EXPECT_EQ(races({get(0, 1), put(2, 3)}, both(0, true)), 0u);
  EXPECT_EQ(races({get(0, 1), put(2, 3)}, both(2, true)), 1u);
  EXPECT_EQ(races({get(0, 1), put(2, 3)}, both(2, false)), 0u);
}

TEST(RaceOrder, recordsWithoutTheirReleaseDoNotHang) {
  EXPECT_EQ(races({put(0, 1), get(2, 3)}, {await(2, 1, 0), await(2, 2, 1, 7)}), 1u);
}

TEST(RaceInAProcess, storesNeedAFenceUnlessBothBlock) {
  Access pending = put(0, 1);
  pending.is_blocking = false;
  pending.completed = 2;
  EXPECT_EQ(races({put(0, 1), put(0, 3)}, {}), 0u);
  EXPECT_EQ(races({pending, put(0, 3)}, {}), 1u);
  EXPECT_EQ(races({pending, put(0, 4)}, {fence(0, 3)}), 0u);
  EXPECT_EQ(races({pending, get(0, 3)}, {}), 0u);
  pending.completed = kNever;
  EXPECT_EQ(races({pending, get(0, 3)}, {}), 1u);
}

TEST(RaceInAProcess, handlesAreCompleteInAnyOrder) {
  const auto pending = [](Event issued, Event completed) {
    Access made = get(0, issued);
    made.is_blocking = false;
    made.completed = completed;
    made.site = 1;
    return made;
  };
  EXPECT_EQ(races({pending(1, 5), pending(2, 3), put(0, 4)}, {}), 1u);
  EXPECT_EQ(races({pending(1, 3), pending(2, 5), put(0, 4)}, {}), 1u);
  EXPECT_EQ(races({pending(1, 3), pending(2, 3), put(0, 4)}, {}), 0u);
}

TEST(RaceKinds, atomicsOfOneTypeGoTogether) {
  const auto of_type = [](AccessKind kind, int origin, std::uint8_t type) {
    Access made = access(kind, origin, 1);
    made.type = type;
    return made;
  };
  for (const AccessKind kind : {AccessKind::kAccumulate, AccessKind::kAtomic}) {
    EXPECT_EQ(races({of_type(kind, 0, 4), of_type(kind, 2, 4)}, {}), 0u);
    EXPECT_EQ(races({of_type(kind, 0, 4), of_type(kind, 2, 8)}, {}), 1u);
    EXPECT_EQ(races({of_type(kind, 0, 4), put(2, 1)}, {}), 1u);
    EXPECT_EQ(races({of_type(kind, 0, 4), get(2, 1)}, {}), 1u);
  }
}

TEST(RaceRecorder, keepsWhatIsPendingForTheNextRecords) {
  Recorder recorder;
  recorder.start(0);
  armci_hdl_t handle;
  const Place place{kRegion, 0, kOwner};
  {
    Recorder::Call call(&recorder, {{}, 1});
    call.set_pending(&handle, kOwner);
    call.access(AccessKind::kRead, place, {0, 8, 0, 1});
  }
  EXPECT_TRUE(recorder.has_open());
  EXPECT_EQ(recorder.take().accesses.at(0).completed, kNever);
  Recorder::Call(&recorder, {{}, 2}).wait(&handle);
  EXPECT_FALSE(recorder.has_open());
  const Recorder::Records records = recorder.take();
  ASSERT_EQ(records.accesses.size(), 1u);
  EXPECT_EQ(records.accesses[0].issued, 0u);
  EXPECT_EQ(records.accesses[0].completed, 1u);
}

TEST(RaceRecorder, repeatedAccessesAreOneUntilTheNextSynchronisation) {
  Recorder recorder;
  recorder.start(0);
  const auto repeat = [&] {
    Recorder::Call(&recorder, {{}, 1}).access(AccessKind::kRead, {kRegion, 0, kOwner}, {0, 8, 0, 1});
  };
  for (int times = 0; times < 10; ++times) repeat();
  Recorder::Call(&recorder, {{}, 2}).sync({.kind = SyncKind::kNotify, .peer = 1});
  for (int times = 0; times < 10; ++times) repeat();
  EXPECT_EQ(recorder.take().accesses.size(), 2u);
}

TEST(RaceRecorder, pollingAddsNothing) {
  Recorder recorder;
  recorder.start(0);
  const Place place{kRegion, 0, kOwner};
  for (int times = 0; times < 1000; ++times) {
    Recorder::Call call(&recorder, {{}, 1});
    call.set_reads_word();
    call.access(AccessKind::kRead, place, {0, 8, 0, 1});
    call.sync({.kind = SyncKind::kSee, .word = place, .value = times == 999 ? 1 : 0});
  }
  for (int times = 0; times < 1000; ++times) {
    Recorder::Call call(&recorder, {{}, 2});
    call.access(AccessKind::kAtomic, place, {0, 8, 0, 1}, 8);
    call.sync({.kind = SyncKind::kAtomic, .bytes = 8, .number = times, .word = place, .value = 1, .before = 1});
  }
  const Recorder::Records records = recorder.take();
  EXPECT_LE(records.syncs.size(), 3u);
  EXPECT_LE(records.accesses.size(), 5u);
}

TEST(RaceRecorder, anAtomicAfterAnAccessIsNoRepeatedPoll) {
  Recorder recorder;
  recorder.start(0);
  const Place place{kRegion, 0, kOwner};
  for (int times = 0; times < 3; ++times) {
    Recorder::Call(&recorder, {{}, 1}).access(AccessKind::kWrite, {kRegion, 64, kOwner}, {0, 8, 0, 1});
    Recorder::Call call(&recorder, {{}, 2});
    call.sync({.kind = SyncKind::kAtomic, .bytes = 8, .number = times, .word = place, .value = 1, .before = 1});
  }
  EXPECT_EQ(recorder.take().syncs.size(), 3u);
}

TEST(RaceRecorder, saysWhenItsRecordsAreNotWhole) {
  Recorder recorder;
  recorder.start(0);
  const auto notify_times = [&](std::size_t times) {
    for (std::size_t i = 0; i < times; ++i) Recorder::Call(&recorder, {{}, 1}).sync({.kind = SyncKind::kNotify});
    return recorder.take();
  };
  EXPECT_TRUE(notify_times(10).is_whole);
  const Recorder::Records records = notify_times(Recorder::kSyncsMost + 1);
  EXPECT_FALSE(records.is_whole);
  EXPECT_EQ(records.syncs.size(), Recorder::kSyncsMost);
  EXPECT_TRUE(notify_times(10).is_whole);
}

TEST(RaceSourceLines, nameTheFunction) {
  const std::vector<std::string> lines = source_lines({__builtin_return_address(0), nullptr});
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_NE(lines[0].find_first_of("+ "), std::string::npos) << lines[0];
  EXPECT_EQ(lines[1], "an unknown place");
}

}  // namespace
}  // namespace armci::race
