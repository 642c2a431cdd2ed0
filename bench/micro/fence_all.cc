// Does ARMCI_AllFence overlap its targets [FENCE-7]?
//
// Cases: after a put of 8 bytes to every other rank, one ARMCI_AllFence. The one baseline fences the ranks one by one,
// the other one puts to and fences each before the next. On one node all are memory barriers; with nodes (--nodes,
// --simulate-node-size) round trips are there to be overlapped.
#include "armci.h"
#include "bench/session/session.h"

namespace armci::bench {
namespace {

void PutToAll(const Session& session, const Region& region, char* local) {
  for (int rank = 1; rank < session.size(); ++rank) ARMCI_Put(local, region.on(rank), 8, rank);
}

Case FenceAll(const Session& session, const Region& region, char* local, const char* name, const char* key,
              const char* baseline, const std::function<void()>& one_by_one) {
  const auto actions = [&session, &region, local, baseline, one_by_one]() -> std::vector<Action> {
    return {Loop("ARMCI_Put+AllFence", Role::kSubject,
                 [&session, &region, local] {
                   PutToAll(session, region, local);
                   ARMCI_AllFence();
                 }),
            OfTheLibrary(Loop(baseline, Role::kBaseline, one_by_one))};
  };
  const std::string targets = std::to_string(session.size() - 1) + " targets";
  return {{name, targets, key}, Crew::kAlone, actions};
}

std::vector<Case> Cases(const Session& session, const Region& region, char* local) {
  const auto fences = [&session, &region, local] {
    PutToAll(session, region, local);
    for (int rank = 1; rank < session.size(); ++rank) ARMCI_Fence(rank);
  };
  const auto singles = [&session, &region, local] {
    for (int rank = 1; rank < session.size(); ++rank) {
      ARMCI_Put(local, region.on(rank), 8, rank);
      ARMCI_Fence(rank);
    }
  };
  // Few targets leave little to overlap.
  const char* const key = session.size() > 8 ? "fence_all_of_singles" : "";
  return {FenceAll(session, region, local, "put to all + fence", "fence_all", "ARMCI_Put..., Fence...", fences),
          FenceAll(session, region, local, "against single ones", key, "(ARMCI_Put, Fence)...", singles)};
}

}  // namespace
}  // namespace armci::bench

int main(int argc, char** argv) {
  using namespace armci::bench;
  Session session(argc, argv,
                  {"fence_all", "one fence of all targets, against fences one by one", 3, /*between_nodes=*/true});
  {
    Region region(session, 4096);
    char local[8] = {};
    session.Run(Cases(session, region, local));
  }
  return session.Finish();
}
