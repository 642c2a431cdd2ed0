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

struct Shared {
  long* word;
  int host;
};

struct Operation {
  const char* name;
  void (*perform)(const Shared& shared);
};

constexpr Operation kOperations[] = {
    {"fetch-and-add",
     [](const Shared& shared) {
       long before = 0;
       ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &before, shared.word, 1, shared.host);
     }},
    {"swap",
     [](const Shared& shared) {
       long value = 7;
       ARMCI_Rmw(ARMCI_SWAP_LONG, &value, shared.word, 0, shared.host);
     }},
    {"lock, unlock",
     [](const Shared& shared) {
       ARMCI_Lock(0, shared.host);
       ARMCI_Unlock(0, shared.host);
     }},
};

std::string CountText(int processes) { return processes == 1 ? "1 process" : std::to_string(processes) + " processes"; }

// 1, 2, 4 ... and `all`.
std::vector<int> Counts(int all) {
  std::vector<int> counts;
  for (int count = 1; count < all; count *= 2) counts.push_back(count);
  counts.push_back(all);
  return counts;
}

std::vector<Case> Cases(const Session& session, const Shared& shared) {
  std::vector<Case> cases;
  for (const Operation& operation : kOperations) {
    for (int active : Counts(session.size())) {
      const auto actions = [=, &session]() -> std::vector<Action> {
        return {session.Each("ARMCI", Role::kSubject, active, [=] { operation.perform(shared); })};
      };
      cases.push_back({{operation.name, CountText(active), ""}, Crew::kTogether, actions, {}, kSample});
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
    session.Count({"fairness of a lock", CountText(session.size()), ""},
                  Fairness(session, host, session.options().quick ? 0.2 : 1));
    Require(ARMCI_Destroy_mutexes() == 0, "ARMCI_Destroy_mutexes");
  }
  return session.Finish();
}
