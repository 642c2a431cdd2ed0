// FENCE, ORD-6: every call that makes stores visible does so for every operation, shape, mode and size; generated.
//
//    every rank p                      its target t = p + offset         the rank before p
//      store to its slot at t
//      [wait, overwrite the source]
//      fence, barrier or notify  ----> slot of p by load        slot of p at t by get
//                                      (all meet by messages that fence nothing)

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "conformance/harness/table.h"
#include "conformance/harness/test.h"

namespace conformance {
namespace {

enum class Maker { kFence, kAllFence, kBarrier, kGroupFence, kNotify };

struct MakerName {
  Maker maker;
  const char* chapter;
  const char* name;
  const char* clause;
};
constexpr MakerName kMakers[] = {{Maker::kFence, "FENCE", "FENCE1_fence_completes_", "FENCE-1"},
                                 {Maker::kAllFence, "FENCE", "FENCE2_allfence_completes_", "FENCE-2"},
                                 {Maker::kBarrier, "FENCE", "FENCE4_barrier_completes_", "FENCE-4"},
                                 {Maker::kGroupFence, "FENCE", "FENCE5_group_fence_completes_", "FENCE-5"},
                                 {Maker::kNotify, "ORD", "ORD6_notify_follows_", "ORD-6"}};

struct Round {
  Way way;
  std::size_t bytes;
  std::size_t slot_bytes;
  int offset;
  bool wait_first;
  // The values of the ranks' sources.
  std::uint64_t seed;

  std::string Text(int origin) const {
    return NameOf(way) + (wait_first ? " and wait" : "") + ", " + std::to_string(bytes) + " bytes, from " +
           std::to_string(origin) + " to " + std::to_string((origin + offset) % Np()) + SeedText();
  }
};

int Wrapped(int rank) { return (rank + Np()) % Np(); }

Bytes SourceOf(const Round& round, const TableTransfer& store, int origin) {
  Bytes source(static_cast<std::size_t>(store.plan().SrcEnd()));
  Rng rng(round.seed + static_cast<std::uint64_t>(origin));
  store.Fill(&rng, source.data(), source.size());
  return source;
}

void MakeVisible(Maker maker, int offset) {
  switch (maker) {
    case Maker::kFence:
      ARMCI_Fence(Wrapped(Me() + offset));
      break;
    case Maker::kAllFence:
      ARMCI_AllFence();
      break;
    case Maker::kBarrier:
      ARMCI_Barrier();
      return;
    case Maker::kGroupFence: {
      ARMCI_Group world;
      ARMCI_Group_get_world(&world);
      ARMCI_GroupFence(&world);
      break;
    }
    case Maker::kNotify: {
      int count = 0;
      EXPECT_EQ(armci_notify(Wrapped(Me() + offset)), 0);
      EXPECT_EQ(armci_notify_wait(Wrapped(Me() - offset), &count), 0);
      return;
    }
  }
  // Fences are one-sided: the others learn of them by messages of MPI.
  Agree();
}

void Look(const Round& round, const TableTransfer& store, const Region& region, int origin, bool by_load) {
  Bytes expected(static_cast<std::size_t>(store.plan().DstEnd()), 0);
  store.Model(SourceOf(round, store, origin).data(), expected.data());
  const int target = Wrapped(origin + round.offset);
  char* slot = region.At(target, static_cast<std::size_t>(origin) * round.slot_bytes);
  Bytes seen(expected.size());
  if (by_load) {
    ARMCI_Access_begin(region.Mine());
    std::memcpy(seen.data(), slot, seen.size());
    ARMCI_Access_end(region.Mine());
  } else {
    EXPECT_EQ(ARMCI_Get(slot, seen.data(), static_cast<int>(seen.size()), target), 0);
  }
  EXPECT_TRUE(SameBytes(expected.data(), seen.data(), seen.size()))
      << (by_load ? "by load: " : "by get: ") << round.Text(origin);
}

void OneRound(Maker maker, const Round& round, const Region& region) {
  // The values of the last round would pass for this one's.
  ARMCI_Access_begin(region.Mine());
  std::memset(region.Mine(), 0, static_cast<std::size_t>(Np()) * round.slot_bytes);
  ARMCI_Access_end(region.Mine());
  TableTransfer store(round.way, round.bytes);
  Bytes source = SourceOf(round, store, Me());
  const int target = Wrapped(Me() + round.offset);
  Sync();
  EXPECT_EQ(store.transfer().Start(source.data(), region.At(target, static_cast<std::size_t>(Me()) * round.slot_bytes),
                                   target),
            0);
  if (round.wait_first) {
    EXPECT_EQ(store.transfer().Wait(), 0);
    std::fill(source.begin(), source.end(), 'X');
  }
  MakeVisible(maker, round.offset);
  Look(round, store, region, Wrapped(Me() - round.offset), true);
  // A notification makes stores visible to the process that waited for it, and to no other.
  if (maker != Maker::kNotify) Look(round, store, region, Wrapped(Me() + 1), false);
  if (!round.wait_first) {
    EXPECT_EQ(store.transfer().Wait(), 0);
  }
  // No rank clears memory that another rank still reads.
  Agree();
}

// At one size, in every mode.
std::vector<Round> RoundsOf(const Way& call, std::size_t size) {
  std::vector<Round> rounds;
  for (const Way& way : ModesOf(call)) {
    for (std::size_t bytes : SizesOf(way, size)) {
      for (int offset = 0; offset < std::min(Np(), 3); ++offset) {
        for (bool wait_first : {true, false}) {
          if (way.mode == Mode::kBlocking && !wait_first) continue;
          rounds.push_back({way, bytes, ExtentOf(size), offset, wait_first, SharedRng().Next()});
        }
      }
    }
  }
  return rounds;
}

void StoresAreVisible(Maker maker, const Way& call) {
  std::vector<Round> rounds;
  for (std::size_t size : TableSizes()) {
    std::vector<Round> more = RoundsOf(call, size);
    if (size > kSampledBytes) KeepSome(&SharedRng(), 4, &more);
    rounds.insert(rounds.end(), more.begin(), more.end());
  }
  // The quick run takes a dozen of them, by the seed; where meetings are slow it takes fewer, but never fewer than two.
  const int enough = std::max(2, Rounds(10 * static_cast<int>(rounds.size()), 120) / 10);
  KeepSome(&SharedRng(), static_cast<std::size_t>(enough), &rounds);
  std::size_t slot_bytes = 0;
  for (const Round& round : rounds) slot_bytes = std::max(slot_bytes, round.slot_bytes);
  Region region(static_cast<std::size_t>(Np()) * slot_bytes);
  for (const Round& round : rounds) OneRound(maker, round, region);
}

bool RegisterTable() {
  for (const MakerName& maker : kMakers) {
    for (const Way& call : BlockingStores()) {
      AddTableTest(call.width,
                   {maker.chapter, maker.name + NameOfCall(call), MakeSpec(maker.clause, DeadlineSeconds(60)),
                    [maker, call] { StoresAreVisible(maker.maker, call); }, __FILE__, __LINE__});
    }
  }
  return true;
}

const bool registered [[maybe_unused]] = RegisterTable();

}  // namespace
}  // namespace conformance
