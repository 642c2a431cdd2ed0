// What happens to transfers while processes compute, and to computing while servers are idle?
//
// Counted, in the unit that the case names, by rank 0 towards the last rank, which is to be on another node:
//   p99 of get, fetch-and-add, lock   microseconds, while every other process computes; there are as many as cores or
//                                     more, and rank 0 computes between two operations
//   idle server                       part of a core that the library's threads take while all processes compute
//   overlap                           part of the time of a non-blocking get of 1 MiB that computing beside it does not
//                                     hide, while the others sleep; computing lasts 3 and 1.5 times the get alone
#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "armci.h"
#include "bench/common/clock.h"
#include "bench/common/compute.h"
#include "bench/common/statistics.h"
#include "bench/session/session.h"

namespace armci::bench {
namespace {

constexpr int kBytes = 1 << 20;
constexpr double kLongestUs = 1e6;
// How much longer than the transfer alone the computing beside it lasts. Where one core is free for both nodes, the
// transfer takes about twice as long as with two.
constexpr double kWork = 3;
constexpr double kShortWork = 1.5;

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

// Rank 0 operates, the others compute until it is done.
template <typename Operate>
double Percentile99(const Session& session, int operations, Operate operate) {
  std::vector<double> microseconds;
  MPI_Barrier(MPI_COMM_WORLD);
  if (session.root()) {
    srand(1);
    for (int i = 0; i < operations; ++i) {
      Compute(1e-6 * (rand() % 1000));
      const double start = NowSeconds();
      operate();
      microseconds.push_back((NowSeconds() - start) * 1e6);
    }
    for (int other = 1; other < session.size(); ++other) MPI_Send(nullptr, 0, MPI_BYTE, other, 1, MPI_COMM_WORLD);
    return Quantile(microseconds, 0.99);
  }
  // Rarely inside MPI, which would serve others there.
  for (int done = 0; done == 0;) {
    Compute(0.2);
    MPI_Iprobe(0, 1, MPI_COMM_WORLD, &done, MPI_STATUS_IGNORE);
  }
  MPI_Recv(nullptr, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return 0;
}

// The largest of all processes.
double IdleShare(double seconds) {
  MPI_Barrier(MPI_COMM_WORLD);
  Compute(0.05);  // what the barrier has stirred up comes to rest
  const double before = OtherThreadsSeconds();
  const double start = NowSeconds();
  Compute(seconds);
  double share = (OtherThreadsSeconds() - before) / (NowSeconds() - start);
  MPI_Allreduce(MPI_IN_PLACE, &share, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return share;
}

double Unhidden(const Session& session, char* remote, char* local, int rounds, double times) {
  const int target = session.size() - 1;
  MPI_Barrier(MPI_COMM_WORLD);
  if (!session.root()) return session.SleepUntilRootIsDone({}), 0;
  std::vector<double> alone;
  std::vector<double> extra;
  for (int i = 0; i < rounds; ++i) {
    double start = NowSeconds();
    ARMCI_Get(remote, local, kBytes, target);
    alone.push_back(NowSeconds() - start);
    const double work = times * Quantile(alone, 0.5);
    armci_hdl_t handle;
    ARMCI_INIT_HANDLE(&handle);
    start = NowSeconds();
    ARMCI_NbGet(remote, local, kBytes, target, &handle);
    Compute(work);
    ARMCI_Wait(&handle);
    extra.push_back(NowSeconds() - start - work);
  }
  session.WakeTheOthers();
  return Quantile(extra, 0.5) / Quantile(alone, 0.5);
}

void Run(Session* session, const Region& region, char* local) {
  const int target = session->size() - 1;
  char* const remote = region.on(target);
  const int operations = session->options().quick ? 300 : 2000;
  const auto count = [&](const char* name, double microseconds) {
    session->Count({name, "us", "busy_p99"}, std::min(microseconds, kLongestUs));
  };
  count("p99 of get", Percentile99(*session, operations, [&] { ARMCI_Get(remote, local, 8, target); }));
  count("p99 of fetch-and-add", Percentile99(*session, operations, [&] {
          long before = 0;
          ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &before, remote, 1, target);
        }));
  count("p99 of lock, unlock", Percentile99(*session, operations, [&] {
          ARMCI_Lock(0, target);
          ARMCI_Unlock(0, target);
        }));
  session->Count({"idle server", "cores", "idle_server"}, IdleShare(session->options().quick ? 1 : 4));
  session->Count({"overlap, long work", "unhidden", "overlap"},
                 Unhidden(*session, remote, local, operations / 10, kWork));
  session->Count({"overlap, short work", "unhidden", ""},
                 Unhidden(*session, remote, local, operations / 10, kShortWork));
}

}  // namespace
}  // namespace armci::bench

int main(int argc, char** argv) {
  using namespace armci::bench;
  Session session(argc, argv, {"busy", "transfers while processes compute", 2, /*between_nodes=*/true});
  {
    Region region(session, kBytes);
    LocalBuffer local(kBytes);
    Require(ARMCI_Create_mutexes(1) == 0, "ARMCI_Create_mutexes");
    Run(&session, region, local.data());
    Require(ARMCI_Destroy_mutexes() == 0, "ARMCI_Destroy_mutexes");
  }
  return session.Finish();
}
