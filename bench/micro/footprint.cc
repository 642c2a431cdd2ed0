// How much memory does a process take, by how many there are?
//
// Counted, the largest of all processes: bytes that only it has (as the kernel counts them: what is shared between
// processes is left out), and threads,
//   started     after ARMCI_Init, the MPI library's included
//   a region    what a region of 1 MiB on each process and a mutex add, with the 1 MiB: no other process has touched it
//   in touch    what is added when each process has put to, got from and accumulated to each one, and has taken a lock
//               there
// Run it with several numbers of processes.
#include <algorithm>
#include <fstream>
#include <string>

#include "armci.h"
#include "bench/session/session.h"

namespace armci::bench {
namespace {

constexpr int kBytes = 1 << 20;
constexpr const char* kBytesInTouch = "bytes, in touch";
constexpr const char* kThreadsInTouch = "threads, in touch";

double PrivateBytes() {
  constexpr double kKibi = 1024;
  std::ifstream file("/proc/self/smaps_rollup");
  Require(file.good(), "reading /proc/self/smaps_rollup");
  double bytes = 0;
  for (std::string word; file >> word;) {
    if (word.rfind("Private_", 0) != 0) continue;
    double kilobytes = 0;
    file >> kilobytes;
    bytes += kilobytes * kKibi;
  }
  return bytes;
}

double Threads() {
  std::ifstream file("/proc/self/status");
  for (std::string word; file >> word;) {
    double count = 0;
    if (word == "Threads:" && file >> count) return count;
  }
  return 0;
}

double LargestOfAll(double value) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return value;
}

void TouchAll(const Session& session, const Region& region, char* local) {
  double one = 1;
  for (int other = 0; other < session.size(); ++other) {
    char* const remote = region.on(other);
    ARMCI_Put(local, remote, kBytes / 2, other);
    ARMCI_Get(remote, local, kBytes / 2, other);
    ARMCI_Acc(ARMCI_ACC_DBL, &one, local, remote, kBytes / 2, other);
    ARMCI_Lock(0, other);
    ARMCI_Unlock(0, other);
  }
  ARMCI_Barrier();
}

void Run(Session* session) {
  const std::string processes = std::to_string(session->size()) + " processes";
  const auto wants = [&](const char* name) { return session->Wants({name, processes, ""}); };
  const auto count = [&](const char* name, double value) {
    if (wants(name)) session->Count({name, processes, ""}, LargestOfAll(value));
  };
  LocalBuffer local(kBytes);
  std::fill_n(local.data(), kBytes, char{0});
  MPI_Barrier(MPI_COMM_WORLD);
  const double started = PrivateBytes();
  count("bytes, started", started);
  count("threads, started", Threads());
  Region region(*session, kBytes);
  std::fill_n(region.on(session->rank()), kBytes, char{0});
  Require(ARMCI_Create_mutexes(1) == 0, "ARMCI_Create_mutexes");
  const double with_region = PrivateBytes();
  count("bytes, a region", std::max(0.0, with_region - started));
  if (wants(kBytesInTouch) || wants(kThreadsInTouch)) TouchAll(*session, region, local.data());
  count(kBytesInTouch, std::max(0.0, PrivateBytes() - with_region));
  count(kThreadsInTouch, Threads());
  Require(ARMCI_Destroy_mutexes() == 0, "ARMCI_Destroy_mutexes");
}

}  // namespace
}  // namespace armci::bench

int main(int argc, char** argv) {
  using namespace armci::bench;
  Session session(argc, argv, {"footprint", "memory of a process", 1, /*between_nodes=*/true});
  Run(&session);
  return session.Finish();
}
