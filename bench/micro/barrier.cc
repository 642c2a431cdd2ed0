// What does a barrier cost, against the one of the MPI library?
//
// Cases:
//   barrier          with nothing outstanding
//   put + barrier    after one put of 8 bytes to the next rank, against a raw store and MPI_Barrier; no target
//
// MPI's own settings matter here: a launch that makes waiting processes yield slows its barrier down, and the file
// with the results keeps the variables that say so.
#include "armci.h"
#include "bench/baseline/copies.h"
#include "bench/session/session.h"

namespace armci::bench {
namespace {

Case Barrier(const Session& session) {
  const auto actions = [&session]() -> std::vector<Action> {
    return {session.Jointly("ARMCI_Barrier", Role::kSubject, [] { ARMCI_Barrier(); }),
            session.Jointly("MPI_Barrier", Role::kBaseline, [] { MPI_Barrier(MPI_COMM_WORLD); })};
  };
  return {{"barrier", "-", "barrier"}, Crew::kTogether, actions, {}, 2e-3};
}

Case PutBarrier(const Session& session, char* next_rank_memory, char* local) {
  const int next = (session.rank() + 1) % session.size();
  const auto actions = [=, &session]() -> std::vector<Action> {
    return {session.Jointly("ARMCI_Put+Barrier", Role::kSubject,
                            [=] {
                              ARMCI_Put(local, next_rank_memory, 8, next);
                              ARMCI_Barrier();
                            }),
            session.Jointly("store+MPI_Barrier", Role::kBaseline, [=] {
              CopyEightCall(next_rank_memory, local);
              MPI_Barrier(MPI_COMM_WORLD);
            })};
  };
  return {{"put + barrier", "8 B", ""}, Crew::kTogether, actions, {}, 2e-3};
}

}  // namespace
}  // namespace armci::bench

int main(int argc, char** argv) {
  using namespace armci::bench;
  Session session(argc, argv, {"barrier", "barrier against the one of MPI", 2});
  {
    Region region(session, 4096);
    char local[8] = {};
    session.Run({Barrier(session), PutBarrier(session, region.on((session.rank() + 1) % session.size()), local)});
  }
  return session.Finish();
}
