#include "conformance/harness/region.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "conformance/harness/pending.h"
#include "conformance/harness/session.h"

namespace conformance {

Region::Region(std::size_t my_bytes, const std::source_location& where)
    : bases_(static_cast<std::size_t>(Np()), nullptr), bytes_(my_bytes) {
  Agree(where);
  PendingNote inside("ARMCI_Malloc", where);
  EXPECT_EQ(ARMCI_Malloc(bases_.data(), static_cast<armci_size_t>(my_bytes)), 0) << my_bytes << " bytes";
  inside.End();
  if (Mine() != nullptr) {
    ARMCI_Access_begin(Mine());
    std::memset(Mine(), 0, my_bytes);
    ARMCI_Access_end(Mine());
  }
  Sync(where);
}

Region::~Region() {
  AgreeQuietly();
  const PendingNote inside({.what = "ARMCI_Free"});
  EXPECT_EQ(ARMCI_Free(Mine()), 0);
}

char* Region::Mine() const { return static_cast<char*>(bases_[static_cast<std::size_t>(Me())]); }

Mutexes::Mutexes(int mine, const std::source_location& where) {
  Agree(where);
  PendingNote inside("ARMCI_Create_mutexes", where);
  EXPECT_EQ(ARMCI_Create_mutexes(mine), 0) << mine << " mutexes";
  inside.End();
  Agree(where);
}

Mutexes::~Mutexes() {
  AgreeQuietly();
  const PendingNote inside({.what = "ARMCI_Destroy_mutexes"});
  EXPECT_EQ(ARMCI_Destroy_mutexes(), 0);
}

Locked::Locked(int mutex, int proc) : mutex_(mutex), proc_(proc) {
  const PendingNote inside({.what = "ARMCI_Lock", .mutex = mutex, .proc = proc});
  ARMCI_Lock(mutex, proc);
}

Locked::~Locked() {
  const PendingNote inside({.what = "ARMCI_Unlock", .mutex = mutex_, .proc = proc_});
  ARMCI_Unlock(mutex_, proc_);
}

namespace {

// Whether all of `ranks` can load and store each other's memory (collective over all ranks).
bool AllNear(const std::vector<int>& ranks) {
  const bool concerned = std::find(ranks.begin(), ranks.end(), Me()) != ranks.end();
  return AllAgreeOn(!concerned || std::all_of(ranks.begin(), ranks.end(), SameNode));
}

// Words of a rank's flags in a Race, a cache line apart.
constexpr std::size_t kSteps = 0;
constexpr std::size_t kContent = 64;

constexpr double kSecondsByMessages = 20;  // of a Gate

}  // namespace

Gate::Gate(std::vector<int> ranks, int close_looks)
    : flags_(64), ranks_(std::move(ranks)), close_looks_(close_looks), direct_(AllNear(ranks_)) {}

bool Gate::Meet(long round) {
  if (!direct_) {
    if (round == 1) end_ = MPI_Wtime() + kSecondsByMessages;
    // The first rank decides for all.
    int over = Me() == ranks_.front() && MPI_Wtime() > end_ ? 1 : 0;
    for (int p : ranks_) {
      if (p == Me()) continue;
      const PendingNote inside({.what = "gate", .proc = p});
      int theirs = 0;
      MPI_Sendrecv(&over, 1, MPI_INT, p, 9, &theirs, 1, MPI_INT, p, 9, Comm(), MPI_STATUS_IGNORE);
      if (p == ranks_.front()) over = theirs;
    }
    return over == 0;
  }
  StoreShared<long>(flags_.Mine(), round);
  const auto all_here = [&] {
    return std::all_of(ranks_.begin(), ranks_.end(), [&](int p) { return LoadShared<long>(flags_.At(p)) >= round; });
  };
  for (int look = 0; look < close_looks_; ++look) {
    if (all_here()) return true;
  }
  return WaitUntil(all_here, "the other ranks at the gate");
}

Race::Race(std::vector<int> ranks, long enough)
    : flags_(128), others_(std::move(ranks)), enough_(enough), direct_(AllNear(others_)) {
  std::erase(others_, Me());
  seen_.assign(others_.size(), 0);
}

bool Race::GoOn() {
  if (others_.empty() || !direct_) return ++steps_ <= enough_ / 4;
  StoreShared<long>(flags_.Mine() + kSteps, ++steps_);
  if (steps_ == 1) {
    end_ = SharedClock() + Scaled(1.0, 0.15);
    return WaitUntil(
        [&] {
          return std::all_of(others_.begin(), others_.end(),
                             [&](int p) { return LoadShared<long>(flags_.At(p, kSteps)) > 0; });
        },
        "the other ranks of the race");
  }
  bool moved = false;
  for (std::size_t i = 0; i < others_.size(); ++i) {
    const long now = LoadShared<long>(flags_.At(others_[i], kSteps));
    moved |= now != seen_[i];
    seen_[i] = now;
  }
  together_ += moved;
  return !Finished();
}

bool Race::Finished() {
  const bool give_up = steps_ % 64 == 0 && (SharedClock() > end_ || ::testing::Test::HasFailure());
  if (together_ < enough_ && !give_up) return false;
  // A process that has had enough stays in the race for the others.
  StoreShared<long>(flags_.Mine() + kContent, 1);
  return give_up || std::all_of(others_.begin(), others_.end(),
                                [&](int p) { return LoadShared<long>(flags_.At(p, kContent)) != 0; });
}

std::vector<int> AllRanks() {
  std::vector<int> ranks(static_cast<std::size_t>(Np()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

namespace {

int NodeSizeOfEnvironment() {
  const char* size = std::getenv("ARMCI_NODE_SIZE");
  return size != nullptr ? std::atoi(size) : 0;
}

int (*node_size)() = &NodeSizeOfEnvironment;

}  // namespace

void AskForNodeSize(int (*ask)()) { node_size = ask; }
int SimulatedNodeSize() { return node_size(); }

bool SameNode(int p) { return armci_domain_same_id(ARMCI_DOMAIN_SMP, p) == 1; }

}  // namespace conformance
