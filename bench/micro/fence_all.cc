// Does ARMCI_AllFence overlap its targets [FENCE-7]?
//
// Cases: after a put of 8 bytes to every other rank, one ARMCI_AllFence. The one baseline fences the ranks one by one,
// the other one puts to and fences each before the next. On one node all are memory barriers; with nodes (--nodes,
// --simulate-node-size) round trips are there to be overlapped.
//
// Then every rank does so at once. One baseline fences in the order of the ranks, so that all begin with the same one;
// the other begins with the rank after its own.
#include <algorithm>

#include "armci.h"
#include "bench/session/session.h"

namespace armci::bench {
namespace {

// Every rank has a word of its own on each other one.
void PutToAll(const Session& session, const Region& region, char* local) {
  const size_t mine = static_cast<size_t>(session.rank()) * 8;
  for (int rank = 0; rank < session.size(); ++rank) {
    if (rank != session.rank()) ARMCI_Put(local, region.on(rank) + mine, 8, rank);
  }
}

void FenceFrom(const Session& session, int first) {
  for (int i = 0; i < session.size(); ++i) {
    const int rank = (first + i) % session.size();
    if (rank != session.rank()) ARMCI_Fence(rank);
  }
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

// The time of one round of all ranks.
Case FenceAllAtOnce(const Session& session, const Region& region, char* local) {
  const auto actions = [&session, &region, local]() -> std::vector<Action> {
    const auto put_then = [&session, &region, local](auto fence) {
      return [&session, &region, local, fence] {
        PutToAll(session, region, local);
        fence();
      };
    };
    return {session.Jointly("ARMCI_Put+AllFence", Role::kSubject, put_then([] { ARMCI_AllFence(); })),
            OfTheLibrary(session.Jointly("Put..., Fence from 0 on", Role::kBaseline,
                                         put_then([&session] { FenceFrom(session, 0); }))),
            OfTheLibrary(session.Jointly("Put..., Fence from the next on", Role::kBaseline,
                                         put_then([&session] { FenceFrom(session, session.rank() + 1); })))};
  };
  const std::string ranks = std::to_string(session.size()) + " ranks";
  return {{"every rank at once", ranks, ""}, Crew::kTogether, actions};
}

std::vector<Case> Cases(const Session& session, const Region& region, char* local) {
  const auto fences = [&session, &region, local] {
    PutToAll(session, region, local);
    FenceFrom(session, 0);
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
          FenceAll(session, region, local, "against single ones", key, "(ARMCI_Put, Fence)...", singles),
          FenceAllAtOnce(session, region, local)};
}

}  // namespace
}  // namespace armci::bench

int main(int argc, char** argv) {
  using namespace armci::bench;
  Session session(argc, argv,
                  {"fence_all", "one fence of all targets, against fences one by one", 3, /*between_nodes=*/true});
  {
    Region region(session, std::max(size_t{4096}, static_cast<size_t>(session.size()) * 8));
    char local[8] = {};
    session.Run(Cases(session, region, local));
  }
  return session.Finish();
}
