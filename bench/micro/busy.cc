// What happens to transfers while processes compute, and to computing while servers are idle?
//
// Counted, in the unit that the case names, by rank 0 towards the last rank, which is to be on another node:
//   p99 of get, fetch-and-add, lock   microseconds, while every other process computes; there are as many as cores or
//                                     more, and rank 0 computes between two operations
//   idle server                       part of a core that the library's threads take while all processes compute
#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>

#include "armci.h"
#include "bench/common/clock.h"
#include "bench/common/compute.h"
#include "bench/common/statistics.h"
#include "bench/session/session.h"

namespace armci::bench {
namespace {

constexpr size_t kBytes = 4096;
constexpr double kLongestUs = 1e6;
constexpr int kOperationsLeast = 20;
constexpr int kOperationsMost = 2000;
constexpr int kQuickOperationsMost = 300;
constexpr double kIdleMost = 4;

// Seconds of CPU time that the threads of this process but the one that asks have had.
double OtherThreadsSeconds() {
  double nanoseconds = 0;
  DIR* tasks = opendir("/proc/self/task");
  Require(tasks != nullptr, "opening /proc/self/task");
  while (const dirent* one = readdir(tasks)) {
    const std::string name = one->d_name;
    if (name[0] == '.' || name == std::to_string(getpid())) continue;
    std::ifstream file("/proc/self/task/" + name + "/schedstat");
    double running = 0;
    file >> running;
    nanoseconds += running;
  }
  closedir(tasks);
  return nanoseconds * 1e-9;
}

// Microseconds, on rank 0; as many operations as `seconds` allow, within limits. The others compute.
double Percentile99(const Session& session, double seconds, const std::function<void()>& operate) {
  const int most = session.options().quick ? kQuickOperationsMost : kOperationsMost;
  std::vector<double> microseconds;
  session.ActAlone(Crew::kComputing, [&] {
    const double end = NowSeconds() + seconds;
    srand(1);
    for (int i = 0; i < kOperationsLeast || (i < most && NowSeconds() < end); ++i) {
      Compute(1e-6 * (rand() % 1000));
      const double start = NowSeconds();
      operate();
      microseconds.push_back((NowSeconds() - start) * 1e6);
    }
  });
  return Quantile(microseconds, 0.99);
}

// The largest of all processes.
double IdleShare(double seconds) {
  MPI_Barrier(MPI_COMM_WORLD);
  Compute(0.05);  // lets the threads that the barrier woke come to rest
  const double before = OtherThreadsSeconds();
  const double start = NowSeconds();
  Compute(seconds);
  double share = (OtherThreadsSeconds() - before) / (NowSeconds() - start);
  MPI_Allreduce(MPI_IN_PLACE, &share, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return share;
}

void Run(Session* session, const Region& region, char* local) {
  constexpr double kMeasurements = 4;
  const int target = session->size() - 1;
  char* const remote = region.on(target);
  const double seconds = session->options().seconds / kMeasurements;
  const auto count = [&](const char* name, const std::function<void()>& operate) {
    const CaseLabel label = {name, "us", "busy_p99"};
    if (session->Wants(label)) session->Count(label, std::min(Percentile99(*session, seconds, operate), kLongestUs));
  };
  count("p99 of get", [&] { ARMCI_Get(remote, local, 8, target); });
  count("p99 of fetch-and-add", [&] {
    long before = 0;
    ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &before, remote, 1, target);
  });
  count("p99 of lock, unlock", [&] {
    ARMCI_Lock(0, target);
    ARMCI_Unlock(0, target);
  });
  const CaseLabel idle = {"idle server", "cores", "idle_server"};
  if (session->Wants(idle)) session->Count(idle, IdleShare(std::min(seconds, kIdleMost)));
}

}  // namespace
}  // namespace armci::bench

int main(int argc, char** argv) {
  using namespace armci::bench;
  Session session(argc, argv, {"busy", "transfers while processes compute", 2, /*between_nodes=*/true});
  {
    Region region(session, kBytes);
    LocalBuffer local(kBytes);
    std::fill_n(region.on(session.rank()), kBytes, char{0});
    Require(ARMCI_Create_mutexes(1) == 0, "ARMCI_Create_mutexes");
    Run(&session, region, local.data());
    Require(ARMCI_Destroy_mutexes() == 0, "ARMCI_Destroy_mutexes");
  }
  return session.Finish();
}
