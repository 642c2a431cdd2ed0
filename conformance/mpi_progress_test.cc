// PROG-5: a process that waits in ARMCI lets MPI progress.
//
//   rank 0, the waiter          rank np-1, active                  the others
//   begins an operation of MPI
//   waits in ARMCI              uses MPI in a way that             wait too, where the call
//     .                         needs the waiter to call MPI       is a collective one
//   <-------------------------- releases the waiter
//   ends the operation
//
// The active process releases the waiter only after its own operation of MPI is complete. If that needs calls of MPI by
// the waiter, and the waiter makes none, both wait for good.
//
// A one-sided operation waits for nothing but its target. There the target is a third process, on the node of the
// active one, that has stopped itself; the active process has it continue.

#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "conformance/harness/test.h"

namespace conformance {
namespace {

// Beyond what any MPI library sends without the receiver, or in one piece.
constexpr int kBytes = 3 << 20;
constexpr int kTag = 21;

int Waiting() { return 0; }
int Active() { return Np() - 1; }

// The first process of the active one's node, which may serve the node; -1: the node has no third process.
int Target() {
  const int node = armci_domain_id(ARMCI_DOMAIN_SMP, Active());
  for (int p = 0; p < Active(); ++p) {
    if (p != Waiting() && armci_domain_id(ARMCI_DOMAIN_SMP, p) == node) return p;
  }
  return -1;
}

// The state of a test. The memory for the messages is of the waiter and of the active process.
struct Stage {
  Stage() : Stage(Me() == Active() || Me() == Waiting() ? kBytes : 8) {}
  explicit Stage(std::size_t bytes) : sent(bytes, static_cast<char>(7)), received(bytes, 0) {}

  Region words{64};
  Mutexes mutexes{1};
  std::vector<void*> extra = std::vector<void*>(static_cast<std::size_t>(Np()), nullptr);
  std::vector<char> sent;
  std::vector<char> received;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Win window = MPI_WIN_NULL;
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm parties = Comm();  // of collective activities
  std::thread thread;
  pid_t target = 0;
};

using Action = std::function<void(Stage*)>;

void Nothing(Stage*) {}

// How a process waits in ARMCI until the active one lets it go.
struct Wait {
  const char* name;
  Action before;   // all, before the waiter waits
  Action wait;     // the waiter
  Action release;  // the active process
  Action others;
  Action after;               // all
  Action ready = Nothing;     // the active process, before its use of MPI
  Action prepare = Nothing;   // the waiter, before it begins its part of that
  bool stops_target = false;  // so that a collective activity has to do without it
  // The activity makes communicators. MPI libraries number those of several threads in turn, so it may not run beside
  // a collective call that makes one in another thread.
  bool makes_communicators = false;
  // A test that left for a missing function in the middle would leave the activity behind.
  const char* needs = nullptr;
};

Wait Collective(const char* name, const Action& call, const Action& before = Nothing, const Action& after = Nothing) {
  return {name, before, call, call, call, after};
}

// Its threads stop with it, a moment later.
bool IsStopped(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) throw std::runtime_error("the target has died");
  return line.substr(name_end + 2, 1) == "T";
}

// The call accesses the process that stops itself.
Wait OneSided(const char* name, const Action& call) {
  const auto exchange_pid = [](Stage* s) {
    s->target = getpid();
    MPI_Bcast(&s->target, sizeof s->target, MPI_BYTE, Target(), Comm());
  };
  // The target stops after both have left the exchange: it may still have had messages of that to pass on.
  const auto let_stop = [] { MPI_Ssend(nullptr, 0, MPI_BYTE, Target(), kTag + 2, Comm()); };
  const auto stop = [](Stage*) {
    if (Me() != Target()) return;
    for (const int from : {Waiting(), Active()}) {
      MPI_Recv(nullptr, 0, MPI_BYTE, from, kTag + 2, Comm(), MPI_STATUS_IGNORE);
    }
    raise(SIGSTOP);
  };
  // Before the waiter begins its part of MPI: MPI may hold it there until the active process has begun as well.
  const auto prepare = [let_stop](Stage*) {
    let_stop();
    MPI_Recv(nullptr, 0, MPI_BYTE, Active(), kTag + 1, Comm(), MPI_STATUS_IGNORE);
  };
  const auto ready = [let_stop](Stage* s) {
    let_stop();
    // A stopped process sends no message, and only its parent could wait for it. The test's deadline ends the loop.
    while (!IsStopped(s->target)) usleep(100);
    MPI_Send(nullptr, 0, MPI_BYTE, Waiting(), kTag + 1, Comm());
  };
  const auto resume = [](Stage* s) { EXPECT_EQ(kill(s->target, SIGCONT), 0); };
  return {name, exchange_pid, call, resume, stop, Nothing, ready, prepare, true};
}

std::vector<Wait> OneSidedWaits() {
  return {
      OneSided("blocking_put", [](Stage* s) { EXPECT_EQ(ARMCI_PutValueLong(5, s->words.At(Target()), Target()), 0); }),
      OneSided("blocking_get",
               [](Stage* s) {
                 long value = 0;
                 EXPECT_EQ(ARMCI_Get(s->words.At(Target()), &value, 8, Target()), 0);
               }),
      OneSided("accumulate",
               [](Stage* s) {
                 long one = 1;
                 EXPECT_EQ(ARMCI_Acc(ARMCI_ACC_LNG, &one, &one, s->words.At(Target(), 8), 8, Target()), 0);
               }),
      OneSided("rmw",
               [](Stage* s) {
                 long before = 0;
                 EXPECT_EQ(ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &before, s->words.At(Target(), 16), 1, Target()), 0);
               }),
      OneSided("wait",
               [](Stage* s) {
                 armci_hdl_t handle;
                 ARMCI_INIT_HANDLE(&handle);
                 long value = 3;
                 EXPECT_EQ(ARMCI_NbPut(&value, s->words.At(Target(), 24), 8, Target(), &handle), 0);
                 EXPECT_EQ(ARMCI_Wait(&handle), 0);
               }),
      OneSided("fence",
               [](Stage* s) {
                 EXPECT_EQ(ARMCI_PutValueLong(5, s->words.At(Target()), Target()), 0);
                 ARMCI_Fence(Target());
               }),
      OneSided("allfence",
               [](Stage* s) {
                 EXPECT_EQ(ARMCI_PutValueLong(5, s->words.At(Target()), Target()), 0);
                 ARMCI_AllFence();
               }),
  };
}

Wait LockWait(const char* name, bool host_is_waiter) {
  const auto host = [host_is_waiter] { return host_is_waiter ? Waiting() : Active(); };
  return {name,
          [host](Stage*) {
            if (Me() == Active()) ARMCI_Lock(0, host());
            ARMCI_Barrier();
          },
          [host](Stage*) {
            ARMCI_Lock(0, host());
            ARMCI_Unlock(0, host());
          },
          [host](Stage*) { ARMCI_Unlock(0, host()); },
          Nothing,
          Nothing};
}

std::vector<Wait> Waits() {
  std::vector<Wait> waits = OneSidedWaits();
  const auto allocate = [](Stage* s) { EXPECT_EQ(ARMCI_Malloc(s->extra.data(), 64), 0); };
  const auto free = [](Stage* s) { EXPECT_EQ(ARMCI_Free(s->extra[static_cast<std::size_t>(Me())]), 0); };
  const auto notified = [](Stage*) {
    int count = 0;
    EXPECT_EQ(armci_notify_wait(Active(), &count), 0);
  };
  const auto make_group = [](Stage*) {
    std::vector<int> all;
    for (int p = 0; p < Np(); ++p) all.push_back(p);
    ARMCI_Group group;
    ARMCI_Group_create(Np(), all.data(), &group);
    ARMCI_Group_free(&group);
  };
  const auto reduce = [](Stage*) {
    int one = 1;
    armci_msg_igop(&one, 1, "+");
    EXPECT_EQ(one, Np());
  };
  const auto poll = [](Stage* s) {
    while (LoadShared<long>(s->words.Mine() + 32) == 0) ARMCI_Poll();
  };
  waits.push_back(Collective("barrier", [](Stage*) { ARMCI_Barrier(); }));
  waits.push_back(Collective("msg_barrier", [](Stage*) { armci_msg_barrier(); }));
  waits.push_back(Collective("reduction", reduce));
  for (Wait wait : {Collective("malloc", allocate, Nothing, free), Collective("free", free, allocate),
                    Collective("group_create", make_group)}) {
    wait.makes_communicators = true;
    waits.push_back(wait);
  }
  waits.push_back({"loop_of_polls", Nothing, poll,
                   [](Stage* s) {
                     EXPECT_EQ(ARMCI_PutValueLong(1, s->words.At(Waiting(), 32), Waiting()), 0);
                     ARMCI_Fence(Waiting());
                   },
                   Nothing, Nothing});
  waits.back().needs = "ARMCI_Poll";
  waits.push_back(LockWait("lock_of_its_own", true));
  waits.push_back(LockWait("lock_of_another", false));
  waits.push_back(
      {"notify_wait", Nothing, notified, [](Stage*) { EXPECT_EQ(armci_notify(Waiting()), 0); }, Nothing, Nothing});
  waits.back().needs = "armci_notify_wait";
  return waits;
}

// A use of MPI by the active process that ends only if the waiter calls MPI.
struct Activity {
  const char* name;
  Action setup;  // all, before the waiter waits
  Action begin;  // the waiter, before it waits
  Action act;    // the active process
  Action others;
  Action end;      // the waiter, after it waited
  Action cleanup;  // all
  bool threads = false;
  bool collective = false;
};

void ReceiveNow(Stage* s) { MPI_Irecv(s->received.data(), kBytes, MPI_CHAR, Active(), kTag, Comm(), &s->request); }

void EndReceive(Stage* s) {
  MPI_Wait(&s->request, MPI_STATUS_IGNORE);
  EXPECT_EQ(s->received, s->sent);
}

Activity LargeSend() {
  return {"a_send",   Nothing,
          ReceiveNow, [](Stage* s) { MPI_Send(s->sent.data(), kBytes, MPI_CHAR, Waiting(), kTag, Comm()); },
          Nothing,    EndReceive,
          Nothing};
}

Activity SynchronousSend() {
  return {"an_ssend", Nothing,
          ReceiveNow, [](Stage* s) { MPI_Ssend(s->sent.data(), kBytes, MPI_CHAR, Waiting(), kTag, Comm()); },
          Nothing,    EndReceive,
          Nothing};
}

Activity LateReceive() {
  return {"a_receive_of_its_isend",
          Nothing,
          [](Stage* s) { MPI_Isend(s->sent.data(), kBytes, MPI_CHAR, Active(), kTag, Comm(), &s->request); },
          [](Stage* s) {
            MPI_Recv(s->received.data(), kBytes, MPI_CHAR, Waiting(), kTag, Comm(), MPI_STATUS_IGNORE);
            EXPECT_EQ(s->received, s->sent);
          },
          Nothing,
          [](Stage* s) { MPI_Wait(&s->request, MPI_STATUS_IGNORE); },
          Nothing};
}

Activity PersistentReceive() {
  return {"a_send_to_its_persistent_receive",
          Nothing,
          [](Stage* s) {
            MPI_Recv_init(s->received.data(), kBytes, MPI_CHAR, Active(), kTag, Comm(), &s->request);
            MPI_Start(&s->request);
          },
          [](Stage* s) { MPI_Send(s->sent.data(), kBytes, MPI_CHAR, Waiting(), kTag, Comm()); },
          Nothing,
          [](Stage* s) {
            EndReceive(s);
            MPI_Request_free(&s->request);
          },
          Nothing};
}

// The waiter is the root of broadcasts that are short enough for MPI to leave them queued. The others enter late.
Activity BroadcastsLeftEarly() {
  constexpr int kBroadcasts = 250;
  constexpr int kShort = 4000;
  const auto others = [](Stage* s) {
    s->received.resize(kShort);
    for (int i = 0; i < kBroadcasts; ++i) {
      MPI_Bcast(s->received.data(), kShort, MPI_CHAR, Waiting(), s->parties);
      EXPECT_EQ(s->received[kShort - 1], 7);
    }
  };
  const auto root = [](Stage* s) {
    for (int i = 0; i < kBroadcasts; ++i) MPI_Bcast(s->sent.data(), kShort, MPI_CHAR, Waiting(), s->parties);
  };
  return {"broadcasts_that_it_left", Nothing, root, others, others, Nothing, Nothing, false, true};
}

Activity PassiveTarget() {
  return {"a_flush_of_a_put_to_its_window",
          [](Stage* s) {
            MPI_Win_create(s->received.data(), static_cast<MPI_Aint>(s->received.size()), 1, MPI_INFO_NULL, Comm(),
                           &s->window);
          },
          Nothing,
          [](Stage* s) {
            MPI_Win_lock(MPI_LOCK_SHARED, Waiting(), 0, s->window);
            MPI_Put(s->sent.data(), kBytes, MPI_CHAR, Waiting(), 0, kBytes, MPI_CHAR, s->window);
            MPI_Win_flush(Waiting(), s->window);
            MPI_Win_unlock(Waiting(), s->window);
          },
          Nothing,
          Nothing,
          [](Stage* s) {
            MPI_Win_free(&s->window);
            if (Me() == Waiting()) {
              EXPECT_EQ(s->received, s->sent);
            }
          }};
}

// A thread of the waiter begins a collective call, in which MPI may leave work to other threads that call it.
Activity ByAThread(const char* name, const Action& call, const Action& cleanup) {
  return {name,    Nothing, [call](Stage* s) { s->thread = std::thread([call, s] { call(s); }); },
          call,    call,    [](Stage* s) { s->thread.join(); },
          cleanup, true,    true};
}

std::vector<Activity> Activities() {
  return {LargeSend(),
          SynchronousSend(),
          LateReceive(),
          PersistentReceive(),
          BroadcastsLeftEarly(),
          PassiveTarget(),
          ByAThread(
              "a_comm_dup_by_its_thread", [](Stage* s) { MPI_Comm_dup(s->parties, &s->made); },
              [](Stage* s) { MPI_Comm_free(&s->made); }),
          ByAThread(
              "a_win_create_by_its_thread",
              [](Stage* s) { MPI_Win_create(s->received.data(), 8, 1, MPI_INFO_NULL, s->parties, &s->window); },
              [](Stage* s) { MPI_Win_free(&s->window); })};
}

// The waiter is rank 0 of these processes too.
MPI_Comm AllButTarget() {
  MPI_Comm parties = MPI_COMM_NULL;
  MPI_Comm_split(Comm(), Me() == Target() ? MPI_UNDEFINED : 0, Me(), &parties);
  return parties;
}

void WaitWhile(const Wait& wait, const Activity& activity) {
  if (wait.needs != nullptr && !LibraryHas(wait.needs)) SkipTest(MissingText(wait.needs));
  if (wait.stops_target && Target() < 0) SkipTest("needs another process on the node of the last one");
  const bool apart = wait.stops_target && activity.collective;
  const bool takes_part = !apart || Me() != Target();
  Stage stage;
  if (apart) stage.parties = AllButTarget();
  activity.setup(&stage);
  wait.before(&stage);
  Agree();
  if (Me() == Waiting()) {
    wait.prepare(&stage);
    activity.begin(&stage);
    wait.wait(&stage);
    activity.end(&stage);
  } else if (Me() == Active()) {
    wait.ready(&stage);
    usleep(Scaled(20000, 4000));  // the waiter waits by then
    activity.act(&stage);
    wait.release(&stage);
  } else {
    if (takes_part) activity.others(&stage);
    wait.others(&stage);
  }
  Agree();
  wait.after(&stage);
  if (takes_part) activity.cleanup(&stage);
  if (apart && takes_part) MPI_Comm_free(&stage.parties);
}

bool RegisterAll() {
  for (const Wait& wait : Waits()) {
    for (const Activity& activity : Activities()) {
      if (wait.makes_communicators && activity.threads) continue;
      TestSpec spec = MakeSpec("PROG-5", NeedsRanks(wait.stops_target ? 3 : 2));
      spec.needs_thread_multiple = activity.threads;
      const std::string name = std::string("PROG5_") + wait.name + "_during_" + activity.name;
      AddTest({"PROG", name, spec, [=] { WaitWhile(wait, activity); }, __FILE__, __LINE__});
    }
  }
  return true;
}

const bool registered [[maybe_unused]] = RegisterAll();

}  // namespace
}  // namespace conformance
