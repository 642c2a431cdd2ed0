// How do atomics and locks bear it when more and more processes want the same one?
//
// 1, 2, 4 ... and all processes at once, on a location and a mutex of the last rank; the time is that of one operation
// over all processes.
//   fetch-and-add, swap    of a long
//   lock, unlock           with nothing in between
// Counted: Jain's index of fairness, (sum x)^2 / (n sum x^2) of the x times that each process had the mutex in the same
// while: 1 where all had it as often, 1/n where one had it alone.
#include "armci.h"
#include "bench/common/clock.h"
#include "bench/session/session.h"

namespace armci::bench {
namespace {

constexpr double kSample = 2e-3;
constexpr double kFairnessShare = 1.0 / 15;  // of the time

struct Shared {
  long* word;
  int host;
};

struct Operation {
  const char* name;
  void (*perform)(const Shared& shared);
  // Once more, as the turn of that number among all; what the word has to have grown by on account of it. `drawn` gets
  // what was there before, where the operation says so.
  long (*turn)(const Shared& shared, long number, long* drawn);
  bool draws = false;
};

long Added(const Shared& shared, long, long* drawn) {
  ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, drawn, shared.word, 1, shared.host);
  return 1;
}

// Values that are swapped in and out are neither lost nor doubled.
long Swapped(const Shared& shared, long number, long*) {
  long value = number;
  ARMCI_Rmw(ARMCI_SWAP_LONG, &value, shared.word, 0, shared.host);
  return number - value;
}

// Without an atomic: the lock keeps the others away meanwhile.
long AddedUnderLock(const Shared& shared, long, long*) {
  long value = 0;
  ARMCI_Lock(0, shared.host);
  ARMCI_Get(shared.word, &value, sizeof value, shared.host);
  ++value;
  ARMCI_Put(&value, shared.word, sizeof value, shared.host);
  ARMCI_Fence(shared.host);
  ARMCI_Unlock(0, shared.host);
  return 1;
}

constexpr Operation kOperations[] = {
    {"fetch-and-add",
     [](const Shared& shared) {
       long before = 0;
       ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &before, shared.word, 1, shared.host);
     },
     Added, true},
    {"swap",
     [](const Shared& shared) {
       long value = 7;
       ARMCI_Rmw(ARMCI_SWAP_LONG, &value, shared.word, 0, shared.host);
     },
     Swapped},
    {"lock, unlock",
     [](const Shared& shared) {
       ARMCI_Lock(0, shared.host);
       ARMCI_Unlock(0, shared.host);
     },
     AddedUnderLock},
};

std::string CountText(int processes) { return processes == 1 ? "1 process" : std::to_string(processes) + " processes"; }

// 1, 2, 4 ... and `all`.
std::vector<int> Counts(int all) {
  std::vector<int> counts;
  for (int count = 1; count < all; count *= 2) counts.push_back(count);
  counts.push_back(all);
  return counts;
}

long Read(const Shared& shared) {
  long value = 0;
  ARMCI_Barrier();
  ARMCI_Get(shared.word, &value, sizeof value, shared.host);
  ARMCI_Barrier();
  return value;
}

// The first `active` processes take turns at the same time.
std::string Verify(const Session& session, const Operation& operation, const Shared& shared, int active) {
  constexpr long kTurns = 200;
  const long before = Read(shared);
  long sums[2] = {0, 0};  // of growth, and of what was drawn
  for (long i = 0; session.rank() < active && i < kTurns; ++i) {
    long drawn = before;
    sums[0] += operation.turn(shared, 1 + i * session.size() + session.rank(), &drawn);
    sums[1] += drawn - before;
  }
  MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (Read(shared) != before + sums[0]) return "an update of the word was lost or made twice";
  // 0, 1, 2 ... each once.
  if (operation.draws && sums[1] != sums[0] * (sums[0] - 1) / 2) return "a number was drawn twice";
  return "";
}

std::vector<Case> Cases(const Session& session, const Shared& shared) {
  std::vector<Case> cases;
  for (const Operation& operation : kOperations) {
    for (int active : Counts(session.size())) {
      const auto actions = [=, &session]() -> std::vector<Action> {
        return {session.Each("ARMCI", Role::kSubject, active, [=] { operation.perform(shared); })};
      };
      const auto verify = [=, &session] { return Verify(session, operation, shared, active); };
      cases.push_back({{operation.name, CountText(active), ""}, Crew::kTogether, actions, verify, kSample});
    }
  }
  return cases;
}

// Every process takes the mutex as often as it can for `seconds`.
double Fairness(const Session& session, int host, double seconds) {
  MPI_Barrier(MPI_COMM_WORLD);
  double times = 0;
  for (const double end = NowSeconds() + seconds; NowSeconds() < end; ++times) {
    ARMCI_Lock(0, host);
    ARMCI_Unlock(0, host);
  }
  double sums[2] = {times, times * times};
  MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sums[0] * sums[0] / (session.size() * sums[1]);
}

}  // namespace
}  // namespace armci::bench

int main(int argc, char** argv) {
  using namespace armci::bench;
  Session session(argc, argv, {"contention", "atomics and locks by how many want them", 2, /*between_nodes=*/true});
  {
    Region region(session, 4096);
    const int host = session.size() - 1;
    if (session.rank() == host) *reinterpret_cast<long*>(region.on(host)) = 0;
    Require(ARMCI_Create_mutexes(1) == 0, "ARMCI_Create_mutexes");
    session.Run(Cases(session, {reinterpret_cast<long*>(region.on(host)), host}));
    const CaseLabel fairness = {"fairness of a lock", CountText(session.size()), ""};
    if (session.Wants(fairness)) {
      session.Count(fairness, Fairness(session, host, kFairnessShare * session.options().seconds));
    }
    Require(ARMCI_Destroy_mutexes() == 0, "ARMCI_Destroy_mutexes");
  }
  return session.Finish();
}
