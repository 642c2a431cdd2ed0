// Ends of a job: in good order, by a fault of one process, by a signal from outside.
#include <mpi.h>
#include <unistd.h>

#include <cstdlib>

#include "armci.h"
#include "conformance/faults/faults.h"

namespace faults {
namespace {

constexpr int kDoubles = 4096;

// One of each kind of resource: regions, mutexes, a group, pending stores.
struct Resources {
  explicit Resources(const World& world) : parts(world.nproc), buffer(kDoubles, 1.0) {
    Check(ARMCI_Malloc(parts.data(), kDoubles * sizeof(double)), "ARMCI_Malloc");
    Check(ARMCI_Create_mutexes(2), "ARMCI_Create_mutexes");
    std::vector<int> members;
    for (int p = 0; p < world.nproc; ++p) members.push_back(p);
    ARMCI_Group_create(world.nproc, members.data(), &group);
    next = (world.me + 1) % world.nproc;
    Check(ARMCI_Put(buffer.data(), parts[next], kDoubles * sizeof(double), next), "ARMCI_Put");
    ARMCI_Barrier();
  }

  void Release(const World& world) {
    ARMCI_Group_free(&group);
    Check(ARMCI_Destroy_mutexes(), "ARMCI_Destroy_mutexes");
    Check(ARMCI_Free(parts[world.me]), "ARMCI_Free");
  }

  std::vector<void*> parts;
  std::vector<double> buffer;
  ARMCI_Group group;
  int next;
};

int Success(const World& world) {
  Resources resources(world);
  resources.Release(world);
  return 0;
}

// Finalize frees what the program did not.
int Unreleased(const World& world) {
  Resources resources(world);
  return 0;
}

int NoFinalize(const World& world) {
  Resources resources(world);
  MPI_Finalize();
  _exit(0);
}

int ExitEarly(const World& world) {
  Resources resources(world);
  if (world.me == world.nproc - 1) std::exit(3);
  ARMCI_Barrier();
  return 0;
}

int Abort(const World& world) {
  Resources resources(world);
  if (world.me == world.nproc - 1) std::abort();
  ARMCI_Barrier();
  return 0;
}

// ARMCI_Error by one process while the others wait (or, alone, by that one).
int Error(const World& world) {
  Resources resources(world);
  if (world.me == world.nproc - 1) ARMCI_Error("the boiler is empty", static_cast<int>(Number(world, 0, 42)));
  ARMCI_Barrier();
  return 0;
}

int CleanupAbort(const World& world) {
  Resources resources(world);
  ARMCI_Cleanup();
  ARMCI_Cleanup();
  MPI_Abort(MPI_COMM_WORLD, 7);
  return 0;
}

void Announce(const World& world) { Say("READY %d %d", world.me, static_cast<int>(getpid())); }

[[noreturn]] void WaitForEnd() {
  while (true) pause();
}

// The call of the survivors when process 1 dies. Each only ends when the library, MPI or the launcher ends it.
void WaitInBarrier(const World&, Resources&) { ARMCI_Barrier(); }

void WaitForMutex(const World&, Resources&) {
  ARMCI_Lock(0, 0);
  WaitForEnd();
}

void WaitForNotify(const World&, Resources&) {
  int count = 0;
  Check(armci_notify_wait(1, &count), "armci_notify_wait");
}

void WaitInReceive(const World&, Resources&) {
  int message = 0;
  MPI_Recv(&message, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void Compute(const World&, Resources&) {
  volatile double sum = 0;
  while (true) sum = sum + 1.0;
}

void Transfer(const World&, Resources& resources) {
  double one = 1.0;
  const int bytes = kDoubles * static_cast<int>(sizeof(double));
  while (true) {
    Check(ARMCI_Put(resources.buffer.data(), resources.parts[1], bytes, 1), "ARMCI_Put");
    Check(ARMCI_Acc(ARMCI_ACC_DBL, &one, resources.buffer.data(), resources.parts[1], bytes, 1), "ARMCI_Acc");
    Check(ARMCI_Get(resources.parts[1], resources.buffer.data(), bytes, 1), "ARMCI_Get");
    ARMCI_Fence(1);
  }
}

struct Waiting {
  const char* name;
  void (*wait)(const World& world, Resources& resources);
};

constexpr Waiting kWaitings[] = {
    {"barrier", WaitInBarrier}, {"mutex", WaitForMutex}, {"notify", WaitForNotify},
    {"receive", WaitInReceive}, {"compute", Compute},    {"transfer", Transfer},
};

// Process 1 holds mutex (0, 0) and sleeps, waiting to be killed; the others wait as the argument says.
int Victim(const World& world) {
  Resources resources(world);
  if (world.me == 1) ARMCI_Lock(0, 0);
  ARMCI_Barrier();
  Announce(world);
  if (world.me == 1) WaitForEnd();
  for (const Waiting& waiting : kWaitings) {
    if (!world.arguments.empty() && world.arguments[0] == waiting.name) waiting.wait(world, resources);
  }
  // The job should have ended above.
  return 99;
}

// A process waits for a notification that no process sends; the others sleep outside the library.
int Hang(const World& world) {
  Resources resources(world);
  Announce(world);
  if (world.me == 0) {
    int count = 0;
    Check(armci_notify_wait(world.nproc - 1, &count), "armci_notify_wait");
  }
  WaitForEnd();
}

constexpr Case kCases[] = {
    {"success", "", "uses and releases everything", true, Success},
    {"unreleased", "", "finalizes without releasing", true, Unreleased},
    {"no_finalize", "", "ends without ARMCI_Finalize", true, NoFinalize},
    {"exit_early", "", "the last process exits with 3, the others wait in a barrier", true, ExitEarly},
    {"abort", "", "the last process aborts, the others wait in a barrier", true, Abort},
    {"error", "CODE", "the last process calls ARMCI_Error, the others wait in a barrier", true, Error},
    {"cleanup", "", "ARMCI_Cleanup, then MPI_Abort", true, CleanupAbort},
    {"victim", "WAITING", "process 1 holds a mutex and sleeps, the others wait", true, Victim},
    {"hang", "", "process 0 waits for what never comes", true, Hang},
};

}  // namespace

std::span<const Case> DeathCases() { return kCases; }

}  // namespace faults
