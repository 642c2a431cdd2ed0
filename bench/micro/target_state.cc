// What does a one-sided operation cost while its target sleeps, computes, or waits inside MPI?
//
// Rank 0 towards the last rank: get and accumulate of 1 KiB, put of 1 KiB with its fence, fetch-and-add, lock and
// unlock. While rank 0 measures, all others are in one of the three states.
#include <algorithm>

#include "armci.h"
#include "bench/session/session.h"

namespace armci::bench {
namespace {

constexpr int kBytes = 1024;

struct Sides {
  char* local;
  char* remote;
  int target;
};

struct Operation {
  const char* name;
  void (*perform)(const Sides& at);
  std::string (*verify)(const Sides& at, const std::function<void()>& perform);
};

template <std::string (*kVerify)(const Mirror&, const std::function<void()>&)>
std::string Verify(const Sides& at, const std::function<void()>& perform) {
  return kVerify(MirrorOf(at.local, at.remote, kBytes, at.target), perform);
}

long CounterOf(const Sides& at) {
  long value = 0;
  ARMCI_Get(at.remote + kBytes, &value, sizeof value, at.target);
  return value;
}

std::string VerifyAddition(const Sides& at, const std::function<void()>& perform) {
  const long before = CounterOf(at);
  perform();
  return CounterOf(at) == before + 1 ? "" : "fetch-and-add has not added 1";
}

// The benchmark `contention` measures a lock that several processes want.
std::string VerifyNothing(const Sides&, const std::function<void()>&) { return ""; }

constexpr Operation kOperations[] = {
    {"get", [](const Sides& at) { ARMCI_Get(at.remote, at.local, kBytes, at.target); }, Verify<VerifyGet>},
    {"put + fence",
     [](const Sides& at) {
       ARMCI_Put(at.local, at.remote, kBytes, at.target);
       ARMCI_Fence(at.target);
     },
     Verify<VerifyPut>},
    {"acc + fence",
     [](const Sides& at) {
       double one = 1;
       ARMCI_Acc(ARMCI_ACC_DBL, &one, at.local, at.remote, kBytes, at.target);
       ARMCI_Fence(at.target);
     },
     Verify<VerifyAccumulate>},
    {"fetch-and-add",
     [](const Sides& at) {
       long before = 0;
       ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &before, at.remote + kBytes, 1, at.target);
     },
     VerifyAddition},
    {"lock, unlock",
     [](const Sides& at) {
       ARMCI_Lock(0, at.target);
       ARMCI_Unlock(0, at.target);
     },
     VerifyNothing},
};

struct State {
  const char* name;
  Crew crew;
};

constexpr State kStates[] = {
    {"target sleeps", Crew::kAlone}, {"target computes", Crew::kComputing}, {"target in MPI", Crew::kServed}};

std::vector<Case> Cases(const Sides& at) {
  std::vector<Case> cases;
  for (const State& state : kStates) {
    for (const Operation& operation : kOperations) {
      Case& added = cases.emplace_back();
      added.label.name = operation.name;
      added.label.size = state.name;
      added.crew = state.crew;
      added.actions = [=]() -> std::vector<Action> {
        return {Loop("ARMCI", Role::kSubject, [=] { operation.perform(at); })};
      };
      added.verify = [=] { return operation.verify(at, [&] { operation.perform(at); }); };
    }
  }
  return cases;
}

}  // namespace
}  // namespace armci::bench

int main(int argc, char** argv) {
  using namespace armci::bench;
  Session session(argc, argv, {"target_state", "operations by what the target does", 2, /*between_nodes=*/true});
  {
    Region region(session, 2 * kBytes);
    LocalBuffer local(kBytes);
    std::fill_n(local.data(), kBytes, char{0});
    std::fill_n(region.on(session.rank()), 2 * kBytes, char{0});
    Require(ARMCI_Create_mutexes(1) == 0, "ARMCI_Create_mutexes");
    const int target = session.size() - 1;
    session.Run(Cases({local.data(), region.on(target), target}));
    Require(ARMCI_Destroy_mutexes() == 0, "ARMCI_Destroy_mutexes");
  }
  return session.Finish();
}
