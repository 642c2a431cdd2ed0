// Calls at the wrong time, calls without a result code that get bad input, and a world the library cannot serve.
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "armci.h"
#include "armcix.h"
#include "conformance/faults/faults.h"
#include "message.h"

namespace faults {
namespace {

// Statuses of their own, so that none is taken for the code of a failed call.
constexpr int kUsage = 96;
constexpr int kReturned = 98;

// ---- Calls without a result code: each makes one mistake, named in the comment or by the arguments ----

struct VoidCall {
  const char* name;
  void (*call)(const World& world);
};

constexpr VoidCall kBadCalls[] = {
    {"ARMCI_Lock.proc", [](const World& world) { ARMCI_Lock(0, world.nproc); }},
    {"ARMCI_Lock.mutex", [](const World&) { ARMCI_Lock(2, 0); }},
    {"ARMCI_Lock.negative", [](const World&) { ARMCI_Lock(-1, 0); }},
    {"ARMCI_Unlock.not_held", [](const World&) { ARMCI_Unlock(1, 0); }},
    {"ARMCI_Unlock.mutex", [](const World&) { ARMCI_Unlock(2, 0); }},
    {"ARMCI_Fence.proc", [](const World& world) { ARMCI_Fence(world.nproc); }},
    {"ARMCI_Fence.negative", [](const World&) { ARMCI_Fence(-1); }},
    {"ARMCI_GroupFence.null", [](const World&) { ARMCI_GroupFence(nullptr); }},
    {"ARMCI_Copy.null",
     [](const World&) {
       char byte = 0;
       ARMCI_Copy(nullptr, &byte, 1);
     }},
    {"ARMCI_Copy.negative",
     [](const World&) {
       char bytes[2] = {0, 0};
       ARMCI_Copy(&bytes[0], &bytes[1], -1);
     }},
    {"ARMCI_Access_begin.outside",
     [](const World&) {
       int local = 0;
       ARMCI_Access_begin(&local);
     }},
    {"ARMCI_Group_create.null", [](const World&) { ARMCI_Group_create(1, nullptr, nullptr); }},
    {"ARMCI_Group_create.member",
     [](const World& world) {
       int member = world.nproc;
       ARMCI_Group group;
       ARMCI_Group_create(1, &member, &group);
     }},
    {"ARMCI_Group_free.null", [](const World&) { ARMCI_Group_free(nullptr); }},
    {"ARMCI_INIT_HANDLE.null", [](const World&) { ARMCI_INIT_HANDLE(nullptr); }},
    {"armci_msg_snd.proc",
     [](const World& world) {
       int message = 0;
       armci_msg_snd(1, &message, sizeof message, world.nproc);
     }},
    {"armci_msg_snd.null", [](const World&) { armci_msg_snd(1, nullptr, 4, 0); }},
    {"armci_msg_bcast.root",
     [](const World& world) {
       int message = 0;
       armci_msg_bcast(&message, sizeof message, world.nproc);
     }},
    {"armci_msg_igop.operator",
     [](const World&) {
       int number = 0;
       char unknown[] = "avg";
       armci_msg_igop(&number, 1, unknown);
     }},
    {"ARMCIX_Lock_hdl.null", [](const World&) { ARMCIX_Lock_hdl(nullptr, 0, 0); }},
};

// The last process makes the mistake, the others wait for it: the job must end.
int BadCall(const World& world) {
  std::vector<void*> parts(world.nproc);
  Check(ARMCI_Malloc(parts.data(), 64), "ARMCI_Malloc");
  Check(ARMCI_Create_mutexes(2), "ARMCI_Create_mutexes");
  ARMCI_Barrier();
  for (const VoidCall& bad : kBadCalls) {
    if (world.arguments.empty() || world.arguments[0] != bad.name) continue;
    if (world.me == world.nproc - 1) bad.call(world);
    MPI_Barrier(MPI_COMM_WORLD);
    Say("UNEXPECTED %s returned", bad.name);
    return kReturned;
  }
  return kUsage;
}

int ListBadCalls(const World&) {
  for (const VoidCall& bad : kBadCalls) Say("%s", bad.name);
  return 0;
}

// ---- Before init and after finalize ----

struct IntCall {
  const char* name;
  int (*call)();
};

char some_bytes[64];
void* some_parts[64];
int some_count;
double some_scale = 1.0;
armci_hdl_t some_handle;
ARMCI_Group some_group;

constexpr IntCall kIntCalls[] = {
    {"ARMCI_Malloc", [] { return ARMCI_Malloc(some_parts, 8); }},
    {"ARMCI_Free", [] { return ARMCI_Free(some_bytes); }},
    {"ARMCI_Put", [] { return ARMCI_Put(some_bytes, some_bytes + 8, 8, 0); }},
    {"ARMCI_Get", [] { return ARMCI_Get(some_bytes, some_bytes + 8, 8, 0); }},
    {"ARMCI_Acc", [] { return ARMCI_Acc(ARMCI_ACC_DBL, &some_scale, some_bytes, some_bytes + 8, 8, 0); }},
    {"ARMCI_NbPut", [] { return ARMCI_NbPut(some_bytes, some_bytes + 8, 8, 0, nullptr); }},
    {"ARMCI_PutValueInt", [] { return ARMCI_PutValueInt(1, some_bytes, 0); }},
    {"ARMCI_Rmw", [] { return ARMCI_Rmw(ARMCI_FETCH_AND_ADD, some_bytes, some_bytes + 8, 1, 0); }},
    {"ARMCI_WaitAll", [] { return ARMCI_WaitAll(); }},
    {"ARMCI_WaitProc", [] { return ARMCI_WaitProc(0); }},
    {"ARMCI_Wait", [] { return ARMCI_Wait(&some_handle); }},
    {"ARMCI_Create_mutexes", [] { return ARMCI_Create_mutexes(1); }},
    {"ARMCI_Destroy_mutexes", [] { return ARMCI_Destroy_mutexes(); }},
    {"ARMCIX_Put", [] { return ARMCIX_Put(some_bytes, some_bytes + 8, 8, 0); }},
    {"ARMCIX_Group_dup", [] { return ARMCIX_Group_dup(&some_group, &some_group); }},
    {"ARMCI_Finalize", [] { return ARMCI_Finalize(); }},
};

constexpr VoidCall kVoidCalls[] = {
    {"ARMCI_Barrier", [](const World&) { ARMCI_Barrier(); }},
    {"ARMCI_AllFence", [](const World&) { ARMCI_AllFence(); }},
    {"ARMCI_Fence", [](const World&) { ARMCI_Fence(0); }},
    {"ARMCI_Lock", [](const World&) { ARMCI_Lock(0, 0); }},
    {"ARMCI_Unlock", [](const World&) { ARMCI_Unlock(0, 0); }},
    {"armci_msg_barrier", [](const World&) { armci_msg_barrier(); }},
    {"armci_msg_igop", [](const World&) { armci_msg_igop(&some_count, 1, "+"); }},
};

// With an argument: that call, of the void ones; without: all that return a code.
int MakeCalls(const World& world, const char* when) {
  if (!world.arguments.empty()) {
    for (const VoidCall& one : kVoidCalls) {
      if (world.arguments[0] != one.name) continue;
      one.call(world);
      Say("UNEXPECTED %s returned %s", one.name, when);
      return kReturned;
    }
    return kUsage;
  }
  int accepted = 0;
  for (const IntCall& one : kIntCalls) {
    int code = one.call();
    Say("%s %s %d", when, one.name, code);
    accepted += code == 0;
  }
  Say("%s ARMCI_Initialized %d", when, ARMCI_Initialized());
  return accepted == 0 && ARMCI_Initialized() == 0 ? 0 : kReturned;
}

int BeforeMpi(const World& world) { return MakeCalls(world, "BEFORE"); }

int BeforeInit(const World& world) {
  MPI_Init(nullptr, nullptr);
  int status = MakeCalls(world, "BEFORE");
  // The library was not harmed by them.
  Check(ARMCI_Init(), "ARMCI_Init");
  ARMCI_Barrier();
  Check(ARMCI_Finalize(), "ARMCI_Finalize");
  MPI_Finalize();
  return status;
}

int AfterFinalize(const World& world) {
  MPI_Init(nullptr, nullptr);
  Check(ARMCI_Init(), "ARMCI_Init");
  Check(ARMCI_Finalize(), "ARMCI_Finalize");
  int status = MakeCalls(world, "AFTER");
  MPI_Finalize();
  return status;
}

int AfterMpi(const World& world) {
  MPI_Init(nullptr, nullptr);
  Check(ARMCI_Init(), "ARMCI_Init");
  Check(ARMCI_Finalize(), "ARMCI_Finalize");
  MPI_Finalize();
  return MakeCalls(world, "AFTER");
}

int LateFinalize(const World&) {
  MPI_Init(nullptr, nullptr);
  Check(ARMCI_Init(), "ARMCI_Init");
  MPI_Finalize();
  int code = ARMCI_Finalize();
  Say("LATE code %d", code);
  return code != 0 ? 0 : kReturned;
}

int NoFinalize(const World&) {
  MPI_Init(nullptr, nullptr);
  Check(ARMCI_Init(), "ARMCI_Init");
  MPI_Finalize();
  Say("INITIALIZED %d", ARMCI_Initialized());
  return 0;
}

// The second init nests, and a put is pending.
int NestedNoFinalize(const World&) {
  Check(ARMCI_Init(), "ARMCI_Init");  // which starts MPI
  Check(ARMCI_Init(), "ARMCI_Init");
  int me = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  void* bases[16];
  Check(ARMCI_Malloc(bases, 4096), "ARMCI_Malloc");
  int other = (me + 1) % size;
  char data[4096] = {};
  Check(ARMCI_NbPut(data, bases[other], 4096, other, nullptr), "ARMCI_NbPut");
  MPI_Finalize();
  Say("INITIALIZED %d", ARMCI_Initialized());
  return 0;
}

// Whether init succeeds is the test's question; every process says what it got, and MPI still works.
int Init(const World&) {
  int me = 0;
  MPI_Init(nullptr, nullptr);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  int code = ARMCI_Init();
  Say("INIT rank %d code %d initialized %d", me, code, ARMCI_Initialized());
  MPI_Barrier(MPI_COMM_WORLD);
  if (code == 0) Check(ARMCI_Finalize(), "ARMCI_Finalize");
  MPI_Finalize();
  return code == 0 ? 0 : 1;
}

// A program that handles SIGUSR1 by itself: the library leaves it to the program.
int OwnSignal(const World&) {
  MPI_Init(nullptr, nullptr);
  signal(SIGUSR1, [](int) { Say("HANDLED"); });
  Check(ARMCI_Init(), "ARMCI_Init");
  raise(SIGUSR1);
  Check(ARMCI_Finalize(), "ARMCI_Finalize");
  raise(SIGUSR1);
  MPI_Finalize();
  return 0;
}

// The last process comes late to a barrier, the first to a notification: later than a wait is busy, so that it counts.
int Late(const World& world) {
  if (world.me == world.nproc - 1) usleep(100000);
  ARMCI_Barrier();
  int count = 0;
  if (world.me == 0) {
    usleep(100000);
    Check(armci_notify(1), "armci_notify");
  } else if (world.me == 1) {
    Check(armci_notify_wait(0, &count), "armci_notify_wait");
  }
  ARMCI_Barrier();
  return 0;
}

// Waits until Linux reports process `pid` as stopped: T behind its name in /proc/PID/stat.
void AwaitStop(int pid) {
  char state = '?';
  while (state != 'T') {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    Check(file.is_open() ? 0 : 1, "open /proc/PID/stat of a process that should stop");
    std::string line;
    std::getline(file, line);
    const size_t end_of_name = line.rfind(')');
    if (end_of_name != std::string::npos && end_of_name + 2 < line.size()) state = line[end_of_name + 2];
    usleep(1000);  // Linux reports a stop to the parent only, so other processes have to look
  }
}

// Process 2 stops, so that it can serve no request. Process 0 calls `issue` and notifies process 1, which then
// continues process 2. A call that waits for its target never ends.
template <typename Issue>
void WhileStopped(const World& world, Issue issue) {
  ARMCI_Barrier();
  if (world.me == 2) {
    int pid = getpid();
    MPI_Send(&pid, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    raise(SIGSTOP);
  } else if (world.me == 1) {
    int pid = 0;
    MPI_Recv(&pid, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    AwaitStop(pid);
    MPI_Send(nullptr, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
    int count = 0;
    Check(armci_notify_wait(0, &count), "armci_notify_wait");
    kill(pid, SIGCONT);
  } else if (world.me == 0) {
    MPI_Recv(nullptr, 0, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    issue();
    Check(armci_notify(1), "armci_notify");
  }
}

int StoppedTarget(const World& world) {
  const auto bytes = static_cast<size_t>(Number(world, 0, 8));
  const auto puts = static_cast<size_t>(Number(world, 1, 4));
  std::vector<char*> parts(static_cast<size_t>(world.nproc));
  Check(ARMCI_Malloc(reinterpret_cast<void**>(parts.data()), bytes * puts), "ARMCI_Malloc");
  std::vector<char> data(bytes, 'x');
  WhileStopped(world, [&] {
    for (size_t i = 0; i < puts; ++i) {
      Check(ARMCI_NbPut(data.data(), parts[2] + i * bytes, static_cast<int>(bytes), 2, nullptr), "ARMCI_NbPut");
    }
  });
  ARMCI_Barrier();
  const auto here = static_cast<long>(std::count(parts[2], parts[2] + (world.me == 2 ? bytes * puts : 0), 'x'));
  if (world.me == 2) Say("PUT %ld of %zu", here, bytes * puts);
  Check(ARMCI_Free(parts[static_cast<size_t>(world.me)]), "ARMCI_Free");
  return 0;
}

// The first messages between two processes are many requests, which arrive together.
int StoppedSource(const World& world) {
  constexpr size_t kBytes = 8;
  const auto gets = static_cast<size_t>(Number(world, 0, 4));
  std::vector<char*> parts(static_cast<size_t>(world.nproc));
  Check(ARMCI_Malloc(reinterpret_cast<void**>(parts.data()), kBytes * gets), "ARMCI_Malloc");
  std::fill_n(parts[static_cast<size_t>(world.me)], kBytes * gets, static_cast<char>('a' + world.me));
  std::vector<char> data(kBytes * gets, '-');
  WhileStopped(world, [&] {
    for (size_t i = 0; i < gets; ++i) {
      Check(ARMCI_NbGet(parts[2] + i * kBytes, &data[i * kBytes], kBytes, 2, nullptr), "ARMCI_NbGet");
    }
  });
  Check(ARMCI_WaitAll(), "ARMCI_WaitAll");
  if (world.me == 0) Say("GET %ld of %zu", static_cast<long>(std::count(data.begin(), data.end(), 'c')), data.size());
  ARMCI_Barrier();
  Check(ARMCI_Free(parts[static_cast<size_t>(world.me)]), "ARMCI_Free");
  return 0;
}

constexpr Case kCases[] = {
    {"bad_call", "CALL.MISTAKE", "one bad call of those without a result code", true, BadCall},
    {"bad_calls", "", "lists them", false, ListBadCalls},
    {"before_mpi", "[VOID_CALL]", "calls before MPI_Init", false, BeforeMpi},
    {"before_init", "[VOID_CALL]", "calls between MPI_Init and ARMCI_Init", false, BeforeInit},
    {"after", "[VOID_CALL]", "calls between ARMCI_Finalize and MPI_Finalize", false, AfterFinalize},
    {"after_mpi", "[VOID_CALL]", "calls after MPI_Finalize", false, AfterMpi},
    {"late_finalize", "", "ARMCI_Finalize after MPI_Finalize", false, LateFinalize},
    {"no_finalize", "", "MPI_Finalize without ARMCI_Finalize", false, NoFinalize},
    {"nested_no_finalize", "", "MPI_Finalize after two inits, with a put pending", false, NestedNoFinalize},
    {"own_signal", "", "handles SIGUSR1 by itself", false, OwnSignal},
    {"late", "", "processes wait for others", true, Late},
    {"stopped_target", "BYTES PUTS", "process 2 is stopped while process 0 puts to it", true, StoppedTarget},
    {"stopped_source", "GETS", "process 2 is stopped while process 0 gets from it", true, StoppedSource},
    {"init", "", "init and finalize, saying what init returned", false, Init},
};

}  // namespace

std::span<const Case> StateCases() { return kCases; }

}  // namespace faults
