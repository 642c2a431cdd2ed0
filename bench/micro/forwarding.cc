// What does a detour through another node's server cost?
//
// Rank 0 asks rank 3, against what it asks of rank 2. With one rank on each of four nodes and ARMCI_SERVER_CLUSTER=2,
// nodes 2 and 3 form a cluster: rank 0 sends to the server of node 2, which forwards what is for node 3. Without
// clusters, or with an implementation that has none, both are alike.
#include <cstdlib>

#include "armci.h"
#include "bench/session/session.h"

namespace armci::bench {
namespace {

constexpr int kDirect = 2;
constexpr int kForwarded = 3;

using Ask = std::function<void(int target)>;

Case Compare(const char* name, const Ask& ask) {
  const auto actions = [ask]() -> std::vector<Action> {
    return {Loop("rank 3", Role::kSubject, [ask] { ask(kForwarded); }),
            OfTheLibrary(Loop("rank 2", Role::kBaseline, [ask] { ask(kDirect); }))};
  };
  // Without clusters there is nothing to judge.
  const char* const key = std::getenv("ARMCI_SERVER_CLUSTER") != nullptr ? "forwarded" : "";
  return {{name, "8 B", key}, Crew::kAlone, actions};
}

std::vector<Case> Cases(const Region& region, char* local) {
  return {Compare("get", [=, &region](int target) { ARMCI_Get(region.on(target), local, 8, target); }),
          Compare("put + fence",
                  [=, &region](int target) {
                    ARMCI_Put(local, region.on(target), 8, target);
                    ARMCI_Fence(target);
                  }),
          Compare("fetch-and-add", [=, &region](int target) {
            long before = 0;
            ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &before, region.on(target), 1, target);
          })};
}

}  // namespace
}  // namespace armci::bench

int main(int argc, char** argv) {
  using namespace armci::bench;
  Session session(argc, argv,
                  {"forwarding", "requests that take a detour, against direct ones", 4,
                   /*between_nodes=*/true});
  {
    Region region(session, 4096);
    char local[8] = {};
    session.Run(Cases(region, local));
  }
  return session.Finish();
}
