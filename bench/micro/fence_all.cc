// Does ARMCI_AllFence overlap its targets [FENCE-7]?
//
// Case: after a put of 8 bytes to every other rank, one ARMCI_AllFence; the baseline fences the ranks one by one. On
// one node both are memory barriers; with nodes (--nodes, --simulate-node-size) round trips are there to be overlapped.
#include "armci.h"
#include "bench/micro/session.h"

namespace armci::bench {
namespace {

void PutToAll(const Session& session, const Region& region, char* local) {
  for (int rank = 1; rank < session.size(); ++rank) ARMCI_Put(local, region.on(rank), 8, rank);
}

Case FenceAll(const Session& session, const Region& region, char* local) {
  const auto actions = [&session, &region, local]() -> std::vector<Action> {
    return {Loop("ARMCI_Put+AllFence", Role::kSubject,
                 [&session, &region, local] {
                   PutToAll(session, region, local);
                   ARMCI_AllFence();
                 }),
            Loop("ARMCI_Put+Fence...", Role::kBaseline, [&session, &region, local] {
              PutToAll(session, region, local);
              for (int rank = 1; rank < session.size(); ++rank) ARMCI_Fence(rank);
            })};
  };
  const std::string targets = std::to_string(session.size() - 1) + " targets";
  return {{"put to all + fence", targets, "fence_all"}, Crew::kAlone, actions};
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
    session.Run({FenceAll(session, region, local)});
  }
  return session.Finish();
}
