// What do a barrier and a sum over all processes cost, against those of the MPI library?
//
// Cases:
//   barrier          with nothing outstanding
//   put + barrier    after one put of 8 bytes to the next rank; on one node against a raw store and MPI_Barrier; no
//                    target
//   sum              armci_msg_dgop of so many bytes, against MPI_Allreduce; no target
//   put + fence + sum
//                    a target that is in the sum before serves the put; no target
//
// MPI's own settings matter here: a launch that makes waiting processes yield slows its barrier down, and the file
// with the results keeps the variables that say so.
#include <string>
#include <vector>

#include "armci.h"
#include "bench/baseline/copies.h"
#include "bench/session/session.h"
#include "message.h"

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

Case Sum(const Session& session, std::vector<double>* numbers, int count) {
  double* const x = numbers->data();
  const auto actions = [=, &session]() -> std::vector<Action> {
    return {session.Jointly("armci_msg_dgop", Role::kSubject, [=] { armci_msg_dgop(x, count, "+"); }),
            session.Jointly("MPI_Allreduce", Role::kBaseline,
                            [=] { MPI_Allreduce(MPI_IN_PLACE, x, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); })};
  };
  const auto verify = [=, &session]() -> std::string {
    for (int i = 0; i < count; ++i) x[i] = session.rank() + i;
    armci_msg_dgop(x, count, "+");
    std::string fault;
    for (int i = 0; i < count; ++i) {
      if (x[i] != session.size() * (i + (session.size() - 1) / 2.0)) fault = "a sum is wrong";
      x[i] = 0;
    }
    return fault;
  };
  const std::string size = count == 1 ? "8 B" : std::to_string(count * sizeof(double) / 1024) + " KiB";
  return {{"sum", size, ""}, Crew::kTogether, actions, verify, 2e-3};
}

Case PutSum(const Session& session, const Region& region, char* local, double* x) {
  const int next = (session.rank() + 1) % session.size();
  char* const there = region.on(next);
  const auto actions = [=, &session]() -> std::vector<Action> {
    return {session.Jointly("ARMCI_Put+Fence+dgop", Role::kSubject, [=] {
      ARMCI_Put(local, there, 8, next);
      ARMCI_Fence(next);
      armci_msg_dgop(x, 1, "+");
    })};
  };
  return {{"put + fence + sum", "8 B", ""}, Crew::kTogether, actions, {}, 2e-3};
}

}  // namespace
}  // namespace armci::bench

int main(int argc, char** argv) {
  using namespace armci::bench;
  Session session(argc, argv, {"barrier", "barriers and sums against those of MPI", 2, /*between_nodes=*/true});
  {
    Region region(session, 4096);
    char local[8] = {};
    std::vector<double> numbers(16384);
    session.Run({Barrier(session), PutBarrier(session, region, local), Sum(session, &numbers, 1),
                 Sum(session, &numbers, 16384), PutSum(session, region, local, numbers.data())});
  }
  return session.Finish();
}
