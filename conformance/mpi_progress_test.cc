// PROG-5: a process that waits in ARMCI lets MPI progress.
//
//   rank np-1, the waiter       rank 0, active                     the others
//   begins an operation of MPI
//   waits in ARMCI              uses MPI in a way that             wait too, where the call
//     .                         needs the waiter to call MPI       is a collective one
//   <-------------------------- releases the waiter
//   ends the operation
//
// Rank 0 releases the waiter only after its own operation of MPI is complete. If that needs calls of MPI by the waiter,
// and the waiter makes none, both wait for good.

#include <unistd.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "conformance/harness/test.h"

namespace conformance {
namespace {

// Beyond what any MPI library sends without the receiver, or in one piece.
constexpr int kBytes = 3 << 20;
constexpr int kTag = 21;

int Waiting() { return Np() - 1; }

// What a test works on. The memory for the messages is of the waiter and of rank 0.
struct Stage {
  Stage() : Stage(Me() == 0 || Me() == Waiting() ? kBytes : 8) {}
  explicit Stage(std::size_t bytes) : sent(bytes, static_cast<char>(7)), received(bytes, 0) {}

  Region words{64};
  Mutexes mutexes{1};
  std::vector<void*> extra = std::vector<void*>(static_cast<std::size_t>(Np()), nullptr);
  std::vector<char> sent;
  std::vector<char> received;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Win window = MPI_WIN_NULL;
  MPI_Comm made = MPI_COMM_NULL;
  std::thread thread;
};

using Action = std::function<void(Stage*)>;

void Nothing(Stage*) {}

// How a process waits in ARMCI until rank 0 lets it go.
struct Wait {
  const char* name;
  Action before;   // all, before the waiter waits
  Action wait;     // the waiter
  Action release;  // rank 0
  Action others;
  Action after;  // all
  // It makes communicators. MPI libraries number those of several threads in turn, so it may not run beside a
  // collective call that makes one in another thread.
  bool makes_communicators = false;
};

Wait Collective(const char* name, const Action& call, const Action& before = Nothing, const Action& after = Nothing) {
  return {name, before, call, call, call, after};
}

// Calls that wait for nothing of rank 0: they may not stand in its way, and the waiter meets it in a barrier
// afterwards.
Wait Independent(const char* name, const Action& call) {
  const auto many = [call](Stage* stage) {
    for (int i = 0; i < 50; ++i) call(stage);
    ARMCI_Barrier();
  };
  const auto meet = [](Stage*) { ARMCI_Barrier(); };
  return {name, Nothing, many, meet, meet, Nothing};
}

std::vector<Wait> OneSidedWaits() {
  return {
      Independent("blocking_put", [](Stage* s) { EXPECT_EQ(ARMCI_PutValueLong(5, s->words.At(0), 0), 0); }),
      Independent("blocking_get",
                  [](Stage* s) {
                    long value = 0;
                    EXPECT_EQ(ARMCI_Get(s->words.At(0), &value, 8, 0), 0);
                  }),
      Independent("accumulate",
                  [](Stage* s) {
                    long one = 1;
                    EXPECT_EQ(ARMCI_Acc(ARMCI_ACC_LNG, &one, &one, s->words.At(0, 8), 8, 0), 0);
                  }),
      Independent("rmw",
                  [](Stage* s) {
                    long before = 0;
                    EXPECT_EQ(ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &before, s->words.At(0, 16), 1, 0), 0);
                  }),
      Independent("wait",
                  [](Stage* s) {
                    armci_hdl_t handle;
                    ARMCI_INIT_HANDLE(&handle);
                    long value = 3;
                    EXPECT_EQ(ARMCI_NbPut(&value, s->words.At(0, 24), 8, 0, &handle), 0);
                    EXPECT_EQ(ARMCI_Wait(&handle), 0);
                  }),
      Independent("fence",
                  [](Stage* s) {
                    EXPECT_EQ(ARMCI_PutValueLong(5, s->words.At(0), 0), 0);
                    ARMCI_Fence(0);
                  }),
      Independent("allfence",
                  [](Stage* s) {
                    EXPECT_EQ(ARMCI_PutValueLong(5, s->words.At(0), 0), 0);
                    ARMCI_AllFence();
                  }),
  };
}

Wait LockWait(const char* name, bool host_is_waiter) {
  const auto host = [host_is_waiter] { return host_is_waiter ? Waiting() : 0; };
  return {name,
          [host](Stage*) {
            if (Me() == 0) ARMCI_Lock(0, host());
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
    EXPECT_EQ(armci_notify_wait(0, &count), 0);
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
  waits.push_back(LockWait("lock_of_its_own", true));
  waits.push_back(LockWait("lock_of_another", false));
  waits.push_back(
      {"notify_wait", Nothing, notified, [](Stage*) { EXPECT_EQ(armci_notify(Waiting()), 0); }, Nothing, Nothing});
  return waits;
}

// A use of MPI by rank 0 that ends only if the waiter calls MPI.
struct Activity {
  const char* name;
  Action setup;  // all, before the waiter waits
  Action begin;  // the waiter, before it waits
  Action act;    // rank 0
  Action others;
  Action end;      // the waiter, after it waited
  Action cleanup;  // all
  bool threads = false;
};

void ReceiveNow(Stage* s) { MPI_Irecv(s->received.data(), kBytes, MPI_CHAR, 0, kTag, Comm(), &s->request); }

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
          [](Stage* s) { MPI_Isend(s->sent.data(), kBytes, MPI_CHAR, 0, kTag, Comm(), &s->request); },
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
            MPI_Recv_init(s->received.data(), kBytes, MPI_CHAR, 0, kTag, Comm(), &s->request);
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

// The waiter is the root, and may leave while the last bytes are queued.
Activity BroadcastLeftEarly() {
  const auto others = [](Stage* s) {
    s->received.resize(kBytes);
    MPI_Bcast(s->received.data(), kBytes, MPI_CHAR, Waiting(), Comm());
    EXPECT_EQ(s->received[kBytes - 1], 7);
  };
  return {"a_broadcast_that_it_left",
          Nothing,
          [](Stage* s) { MPI_Bcast(s->sent.data(), kBytes, MPI_CHAR, Waiting(), Comm()); },
          others,
          others,
          Nothing,
          Nothing};
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
          cleanup, true};
}

std::vector<Activity> Activities() {
  return {LargeSend(),
          SynchronousSend(),
          LateReceive(),
          PersistentReceive(),
          BroadcastLeftEarly(),
          PassiveTarget(),
          ByAThread(
              "a_comm_dup_by_its_thread", [](Stage* s) { MPI_Comm_dup(Comm(), &s->made); },
              [](Stage* s) { MPI_Comm_free(&s->made); }),
          ByAThread(
              "a_win_create_by_its_thread",
              [](Stage* s) { MPI_Win_create(s->received.data(), 8, 1, MPI_INFO_NULL, Comm(), &s->window); },
              [](Stage* s) { MPI_Win_free(&s->window); })};
}

void WaitWhile(const Wait& wait, const Activity& activity) {
  Stage stage;
  activity.setup(&stage);
  wait.before(&stage);
  Agree();
  if (Me() == Waiting()) {
    activity.begin(&stage);
    wait.wait(&stage);
    activity.end(&stage);
  } else if (Me() == 0) {
    usleep(Scaled(20000, 4000));  // the waiter waits by then
    activity.act(&stage);
    wait.release(&stage);
  } else {
    activity.others(&stage);
    wait.others(&stage);
  }
  Agree();
  wait.after(&stage);
  activity.cleanup(&stage);
}

bool RegisterAll() {
  for (const Wait& wait : Waits()) {
    for (const Activity& activity : Activities()) {
      if (wait.makes_communicators && activity.threads) continue;
      TestSpec spec = MakeSpec("PROG-5", NeedsRanks(2));
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
