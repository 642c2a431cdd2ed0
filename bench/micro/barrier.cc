// What does a barrier cost, against the one of the MPI library?
//
// Cases:
//   barrier          with nothing outstanding
//   put + barrier    after one put of 8 bytes to the next rank; on one node against a raw store and MPI_Barrier; no
//                    target
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

bool AllOnOneNode(const Session& session) {
  for (int other = 0; other < session.size(); ++other) {
    if (armci_domain_same_id(ARMCI_DOMAIN_SMP, other) == 0) return false;
  }
  return true;
}

// Where the barrier has returned, what the rank before has put is there.
std::string VerifyPutBarrier(const Session& session, const Region& region) {
  const int next = (session.rank() + 1) % session.size();
  const int before = (session.rank() + session.size() - 1) % session.size();
  std::string fault;
  for (long turn = 1; turn <= 100; ++turn) {
    const long sent = turn * session.size() + session.rank();
    ARMCI_PutValueLong(sent, region.on(next), next);
    ARMCI_Barrier();
    long come = 0;
    ARMCI_Get(region.on(session.rank()), &come, sizeof come, session.rank());
    ARMCI_Barrier();
    // All turns in any case, as all take them.
    if (come != turn * session.size() + before) fault = "what was put before the barrier is not there after it";
  }
  return fault;
}

Case PutBarrier(const Session& session, const Region& region, char* local) {
  const int next = (session.rank() + 1) % session.size();
  char* const there = region.on(next);
  const auto actions = [=, &session]() {
    std::vector<Action> all = {session.Jointly("ARMCI_Put+Barrier", Role::kSubject, [=] {
      ARMCI_Put(local, there, 8, next);
      ARMCI_Barrier();
    })};
    if (AllOnOneNode(session)) {
      all.push_back(session.Jointly("store+MPI_Barrier", Role::kBaseline, [=] {
        CopyEightCall(there, local);
        MPI_Barrier(MPI_COMM_WORLD);
      }));
    }
    return all;
  };
  const auto verify = [&session, &region] { return VerifyPutBarrier(session, region); };
  return {{"put + barrier", "8 B", ""}, Crew::kTogether, actions, verify, 2e-3};
}

}  // namespace
}  // namespace armci::bench

int main(int argc, char** argv) {
  using namespace armci::bench;
  Session session(argc, argv, {"barrier", "barrier against the one of MPI", 2, /*between_nodes=*/true});
  {
    Region region(session, 4096);
    char local[8] = {};
    session.Run({Barrier(session), PutBarrier(session, region, local)});
  }
  return session.Finish();
}
