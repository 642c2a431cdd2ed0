// Clauses about whole jobs: other ways to start, and ends that are not orderly. Each test runs a small job of its own;
// more of the kind, and what they leave in the system, is in faults/.

#include <signal.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "conformance/harness/child_job.h"
#include "conformance/harness/test.h"

namespace conformance {
namespace {

constexpr double kChildSeconds = 25;

// Runs the child on one process of the parent and hands the result to `judge` there.
template <typename Judge>
void Judged(int ranks, const std::string& name, const std::string& argument, Judge judge) {
  if (!RunsNextChild()) return;
  const ChildResult result = RunChildJob(ranks, name, argument, {}, kChildSeconds);
  EXPECT_FALSE(result.timed_out) << name << " " << argument << ": did not end\n" << result.Text();
  judge(result);
}

void ExpectSuccess(int ranks, const std::string& name, const std::string& argument = "") {
  Judged(ranks, name, argument, [&](const ChildResult& result) {
    EXPECT_EQ(result.status, 0) << name << " " << argument << ": " << result.Text();
    EXPECT_EQ(result.Count("DONE"), ranks) << name << " " << argument << ": " << result.Text();
  });
}

// A put into the next process and a barrier, in a world of `size` processes of which this is `me`.
void PutRound(int me, int size) {
  std::vector<void*> ptr(static_cast<std::size_t>(size), nullptr);
  Require(ARMCI_Malloc(ptr.data(), 64) == 0, "ARMCI_Malloc");
  const int next = (me + 1) % size;
  Require(ARMCI_PutValueLong(500 + me, ptr[static_cast<std::size_t>(next)], next) == 0, "put");
  ARMCI_Barrier();
  Require(LoadShared<long>(ptr[static_cast<std::size_t>(me)]) == 500 + (me + size - 1) % size, "the neighbour's value");
  ARMCI_Barrier();
  Require(ARMCI_Free(ptr[static_cast<std::size_t>(me)]) == 0, "ARMCI_Free");
}

struct WorldPlace {
  int me = 0;
  int size = 1;
};

WorldPlace Place(MPI_Comm comm) {
  WorldPlace place;
  MPI_Comm_rank(comm, &place.me);
  MPI_Comm_size(comm, &place.size);
  return place;
}

CHILD_CASE(init_without_mpi) {
  Require(ARMCI_Initialized() == 0, "not initialised yet");
  Require(ARMCI_Init() == 0, "ARMCI_Init");
  int initialized = 0;
  MPI_Initialized(&initialized);
  Require(initialized == 1, "MPI is initialised by ARMCI_Init");
  int level = 0;
  MPI_Query_thread(&level);
  Require(level == MPI_THREAD_MULTIPLE, "at MPI_THREAD_MULTIPLE");
  const WorldPlace place = Place(MPI_COMM_WORLD);
  PutRound(place.me, place.size);
  Require(ARMCI_Init() == 0, "a second init");
  Require(ARMCI_Finalize() == 0, "the first finalize");
  int finalized = 1;
  MPI_Finalized(&finalized);
  Require(finalized == 0 && ARMCI_Initialized() == 1, "still running after the first of two finalizes");
  PutRound(place.me, place.size);
  Require(ARMCI_Finalize() == 0, "the second finalize");
  MPI_Finalized(&finalized);
  Require(finalized == 1, "finalize finalizes the MPI that init initialised");
  Require(ARMCI_Initialized() == 0, "not initialised any more, after MPI_Finalize too");
  Say("DONE");
  return 0;
}

CLAUSE_TEST(INIT, INIT2_init_initialises_mpi_and_finalize_finalizes_it, "INIT-2", "INIT-3", StartsChildJobs{},
            DeadlineSeconds(60)) {
  ExpectSuccess(2, "init_without_mpi");
}

// Process 1 sits in MPI while 0 stores, fences and reads its memory, at every thread level (PROG-1).
void OneSidedRound(const WorldPlace& place) {
  std::vector<void*> ptr(static_cast<std::size_t>(place.size), nullptr);
  Require(ARMCI_Malloc(ptr.data(), 64) == 0, "ARMCI_Malloc");
  if (place.me == 0) {
    Require(ARMCI_PutValueLong(77, ptr[1], 1) == 0, "put to a process inside MPI");
    ARMCI_Fence(1);
    Require(ARMCI_GetValueLong(ptr[1], 1) == 77, "get from a process inside MPI");
    MPI_Send(nullptr, 0, MPI_INT, 1, 3, MPI_COMM_WORLD);
  } else if (place.me == 1) {
    MPI_Recv(nullptr, 0, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  ARMCI_Barrier();
  Require(ARMCI_Free(ptr[static_cast<std::size_t>(place.me)]) == 0, "ARMCI_Free");
}

CHILD_CASE(init_at_level) {
  const int level = std::stoi(argument);
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, level, &provided);
  Require(ARMCI_Init_args(nullptr, nullptr) == 0, "ARMCI_Init_args");
  const WorldPlace place = Place(MPI_COMM_WORLD);
  PutRound(place.me, place.size);
  OneSidedRound(place);
  Require(ARMCI_Finalize() == 0, "ARMCI_Finalize");
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  Say("DONE");
  return 0;
}

CLAUSE_TEST(INIT, INIT1_init_succeeds_at_every_thread_level, "INIT-1", "PROG-1", StartsChildJobs{},
            DeadlineSeconds(120)) {
  for (int level : {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE}) {
    ExpectSuccess(2, "init_at_level", std::to_string(level));
  }
}

// Two worlds of two processes each, in reverse order, in one job of four: they do not know of each other.
CHILD_CASE(init_on_a_communicator) {
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
  const WorldPlace all = Place(MPI_COMM_WORLD);
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, all.me % 2, -all.me, &half);
  const WorldPlace place = Place(half);
  if (argument == "mpi_comm") {
    // The odd processes take no part at all.
    if (all.me % 2 == 0) Require(ARMCI_Init_mpi_comm(half) == 0, "ARMCI_Init_mpi_comm");
  } else {
    Require(ARMCI_Init_thread_comm(MPI_THREAD_MULTIPLE, half) == 0, "ARMCI_Init_thread_comm");
  }
  const bool takes_part = argument != "mpi_comm" || all.me % 2 == 0;
  // The library works on a duplicate: the program's communicator may go.
  MPI_Comm_free(&half);
  if (takes_part) {
    Require(armci_msg_me() == place.me && armci_msg_nproc() == place.size, "absolute ids are the ranks of the comm");
    for (int i = 0; i < 10; ++i) PutRound(place.me, place.size);
    Require(ARMCI_Finalize() == 0, "ARMCI_Finalize");
  } else {
    Require(ARMCI_Initialized() == 0, "outside of the world");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  Say("DONE");
  return 0;
}

CLAUSE_TEST(INIT, INIT8_the_world_is_the_given_communicator, "INIT-8", StartsChildJobs{}, DeadlineSeconds(60)) {
  if (LibraryHas("ARMCI_Init_mpi_comm")) ExpectSuccess(4, "init_on_a_communicator", "mpi_comm");
  ExpectSuccess(4, "init_on_a_communicator", "thread_comm");
}

// None of these is a world, and none of them spoils the one that comes after.
CHILD_CASE(init_on_no_world) {
  MPI_Comm between = MPI_COMM_NULL;
  Require(ARMCI_Init_mpi_comm(MPI_COMM_WORLD) != 0, "before MPI_Init");
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
  const WorldPlace all = Place(MPI_COMM_WORLD);
  MPI_Comm alone;
  MPI_Comm_split(MPI_COMM_WORLD, all.me, 0, &alone);
  MPI_Intercomm_create(alone, 0, MPI_COMM_WORLD, 1 - all.me, 5, &between);
  Require(ARMCI_Init_mpi_comm(MPI_COMM_NULL) != 0, "MPI_COMM_NULL");
  Require(ARMCI_Init_mpi_comm(between) != 0, "an intercommunicator");
  Require(ARMCI_Initialized() == 0, "not initialised");
  Require(ARMCI_Init_mpi_comm(MPI_COMM_WORLD) == 0, "the world");
  MPI_Comm reversed;
  MPI_Comm same;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -all.me, &reversed);
  MPI_Comm_dup(MPI_COMM_WORLD, &same);
  Require(ARMCI_Init_mpi_comm(alone) != 0, "an init that nests with a part of the world");
  Require(ARMCI_Init_mpi_comm(reversed) != 0, "an init that nests with another order");
  Require(ARMCI_Init_mpi_comm(same) == 0, "an init that nests with the same processes");
  Require(ARMCI_Finalize() == 0, "ARMCI_Finalize of the init that nests");
  for (MPI_Comm* comm : {&between, &alone, &reversed, &same}) MPI_Comm_free(comm);
  PutRound(all.me, all.size);
  Require(ARMCI_Finalize() == 0, "ARMCI_Finalize");
  MPI_Finalize();
  Say("DONE");
  return 0;
}

CLAUSE_TEST(INIT, INIT8_what_is_no_world_is_refused, "INIT-8", "ERR-1", StartsChildJobs{}, DeadlineSeconds(60)) {
  if (!HasOwnInterface()) SkipTest("which communicators are no worlds is said in our headers");
  ExpectSuccess(2, "init_on_no_world");
}

CHILD_CASE(init_thread) {
  if (argument == "too_much") {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SINGLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE) Require(ARMCI_Init_thread(MPI_THREAD_MULTIPLE) != 0, "more than MPI provides");
    Require(ARMCI_Init_thread(provided) == 0, "what MPI provides");
  } else {
    Require(ARMCI_Init_thread(MPI_THREAD_SERIALIZED) == 0, "ARMCI_Init_thread initialises MPI");
    int level = 0;
    MPI_Query_thread(&level);
    Require(level >= MPI_THREAD_SERIALIZED, "at least at the level asked for");
  }
  const WorldPlace place = Place(MPI_COMM_WORLD);
  PutRound(place.me, place.size);
  Require(ARMCI_Finalize() == 0, "ARMCI_Finalize");
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized == 0) MPI_Finalize();
  Say("DONE");
  return 0;
}

CLAUSE_TEST(INIT, INIT8_init_thread_asks_for_a_level, "INIT-8", "INIT-2", StartsChildJobs{}, DeadlineSeconds(60)) {
  ExpectSuccess(2, "init_thread", "enough");
  ExpectSuccess(2, "init_thread", "too_much");
}

WorldPlace StartLibrary() {
  int provided = 0;
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized == 0) MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
  Require(ARMCI_Init() == 0, "ARMCI_Init");
  return Place(MPI_COMM_WORLD);
}

// The last process is inside ARMCI_Finalize while process 0 uses MPI in a way that needs it, and finalizes afterwards.
// MPI stays, so that the next use can follow.
void FinalizeBesideMpi(const std::string& use) {
  constexpr int kBytes = 3 << 20;
  const WorldPlace place = StartLibrary();
  const bool acts = place.me == 0;
  const int last = place.size - 1;
  const bool waits = place.me == last;
  std::vector<char> data(acts || waits ? kBytes : 1, acts ? 'x' : ' ');
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Win window = MPI_WIN_NULL;
  if (use == "flush") {
    MPI_Win_create(data.data(), static_cast<MPI_Aint>(data.size()), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  } else if (use == "isend" && waits) {
    MPI_Isend(data.data(), kBytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &request);
  } else if (use == "persistent" && waits) {
    MPI_Recv_init(data.data(), kBytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
  } else if (waits) {
    MPI_Irecv(data.data(), kBytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &request);
  }
  ARMCI_Barrier();
  if (acts) {
    usleep(4000);  // long enough for the last one to wait; too short an interval fails nothing, it only tests less
    if (use == "send" || use == "persistent") MPI_Send(data.data(), kBytes, MPI_CHAR, last, 1, MPI_COMM_WORLD);
    if (use == "ssend") MPI_Ssend(data.data(), kBytes, MPI_CHAR, last, 1, MPI_COMM_WORLD);
    if (use == "isend") MPI_Recv(data.data(), kBytes, MPI_CHAR, last, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (use == "flush") {
      MPI_Win_lock(MPI_LOCK_SHARED, last, 0, window);
      MPI_Put(data.data(), kBytes, MPI_CHAR, last, 0, kBytes, MPI_CHAR, window);
      MPI_Win_flush(last, window);
      MPI_Win_unlock(last, window);
    }
  }
  Require(ARMCI_Finalize() == 0, "ARMCI_Finalize");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (use == "persistent" && waits) MPI_Request_free(&request);
  if (window != MPI_WIN_NULL) MPI_Win_free(&window);
  if (waits && use != "isend") Require(data.back() == 'x', use.c_str());
}

CHILD_CASE(finalize_beside_mpi) {
  for (const char* use : {"send", "ssend", "isend", "persistent", "flush"}) FinalizeBesideMpi(use);
  MPI_Finalize();
  Say("DONE");
  return 0;
}

CLAUSE_TEST(PROG, PROG5_finalize_lets_mpi_progress, "PROG-5", StartsChildJobs{}, DeadlineSeconds(60)) {
  ExpectSuccess(2, "finalize_beside_mpi");
  ExpectSuccess(3, "finalize_beside_mpi");
}

CHILD_CASE(error) {
  const WorldPlace place = StartLibrary();
  if (place.me == 1) ARMCI_Error("the reason is given here", std::stoi(argument));
  ARMCI_Barrier();
  Say("SURVIVED");
  return 0;
}

CLAUSE_TEST(INIT, INIT6_error_ends_the_whole_job, "INIT-6", StartsChildJobs{}, DeadlineSeconds(90)) {
  for (int code : {0, 17}) {
    Judged(3, "error", std::to_string(code), [&](const ChildResult& result) {
      EXPECT_NE(result.status, 0) << result.Text();
      EXPECT_EQ(result.Count("SURVIVED"), 0) << result.Text();
      // Elsewhere the rank may stand as a mere number.
      const std::string rank = HasOwnInterface() ? "rank 1" : "1";
      EXPECT_TRUE(result.HasLineWith({"the reason is given here", std::to_string(code), rank})) << result.Text();
    });
  }
}

CLAUSE_TEST(INIT, INIT6_cleanup_without_init_is_harmless, "INIT-6", Phase::kBeforeInit) {
  ARMCI_Cleanup();
  ARMCI_Cleanup();
  EXPECT_EQ(ARMCI_Initialized(), 0);
}

CHILD_CASE(cleanup) {
  const WorldPlace place = StartLibrary();
  PutRound(place.me, place.size);
  ARMCI_Cleanup();
  ARMCI_Cleanup();
  Say("CLEANED");
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Abort(MPI_COMM_WORLD, 7);
  return 0;
}

CLAUSE_TEST(INIT, INIT6_cleanup_may_be_called_before_an_abort, "INIT-6", StartsChildJobs{}, DeadlineSeconds(60)) {
  Judged(2, "cleanup", "", [](const ChildResult& result) {
    EXPECT_NE(result.status, 0) << result.Text();
    EXPECT_EQ(result.Count("CLEANED"), 2) << result.Text();
  });
}

// One process dies by SIGKILL; what the others do at that moment is the argument.
CHILD_CASE(killed) {
  const WorldPlace place = StartLibrary();
  std::vector<void*> ptr(static_cast<std::size_t>(place.size), nullptr);
  Require(ARMCI_Malloc(ptr.data(), 64) == 0, "ARMCI_Malloc");
  Require(ARMCI_Create_mutexes(1) == 0, "ARMCI_Create_mutexes");
  std::memset(ptr[static_cast<std::size_t>(place.me)], 0, 64);
  ARMCI_Barrier();
  if (place.me == 1) ARMCI_Lock(0, 0);
  // The mutex is taken before another process requests it.
  MPI_Barrier(MPI_COMM_WORLD);
  if (place.me == 1) {
    // The others must be waiting when it happens, which nothing tells; a moment is long.
    usleep(200000);
    raise(SIGKILL);
  }
  if (argument == "barrier") ARMCI_Barrier();
  if (argument == "lock") {
    usleep(100000);
    ARMCI_Lock(0, 0);
  }
  if (argument == "notify") {
    int count = 0;
    armci_notify_wait(1, &count);
  }
  if (argument == "malloc") ARMCI_Malloc(ptr.data(), 64);
  while (argument == "computing") {
    long value = ARMCI_GetValueLong(ptr[0], 0);
    if (value != 0) Say("SURVIVED");
  }
  Say("SURVIVED");
  return 0;
}

CLAUSE_TEST(INIT, INIT7_a_killed_process_ends_the_job, "INIT-7", StartsChildJobs{}, DeadlineSeconds(180)) {
  std::vector<std::string> activities{"barrier", "lock", "notify", "malloc", "computing"};
  if (Quick()) activities = {"lock", "notify"};
  if (!LibraryHas("armci_notify_wait")) std::erase(activities, "notify");
  for (const std::string& activity : activities) {
    Judged(3, "killed", activity, [&](const ChildResult& result) {
      EXPECT_NE(result.status, 0) << activity << ": " << result.Text();
      EXPECT_EQ(result.Count("SURVIVED"), 0) << activity << ": " << result.Text();
      EXPECT_FALSE(result.lines.empty()) << activity << ": ended without a message";
    });
  }
}

// Calls without a result code, each with one mistake.
CHILD_CASE(void_call) {
  const WorldPlace place = StartLibrary();
  Require(ARMCI_Create_mutexes(2) == 0, "ARMCI_Create_mutexes");
  if (place.me == 0) {
    ARMCI_Group group;
    int list[] = {0, 99};
    char byte = 0;
    if (argument == "ARMCI_Fence") ARMCI_Fence(99);
    if (argument == "ARMCI_Lock") ARMCI_Lock(2, 0);
    if (argument == "ARMCI_Unlock") ARMCI_Unlock(1, 0);
    if (argument == "ARMCI_Group_create") ARMCI_Group_create(2, list, &group);
    if (argument == "armci_msg_snd") armci_msg_snd(1, &byte, 1, -1);
    if (argument == "armci_msg_igop") armci_msg_igop(list, 2, "nonsense");
    double number = 1;
    if (argument == "armci_msg_dgop") armci_msg_dgop(&number, 1, "&&");  // of integers only [MSG-1]
    if (argument == "ARMCI_GetValueLong") (void)ARMCI_GetValueLong(&byte, place.size);
    if (argument == "ARMCI_INIT_HANDLE") ARMCI_INIT_HANDLE(nullptr);
    Say("SURVIVED");
  }
  ARMCI_Barrier();
  return 0;
}

void ExpectFatal(const std::string& call) {
  Judged(2, "void_call", call, [&](const ChildResult& result) {
    EXPECT_NE(result.status, 0) << call << ": " << result.Text();
    EXPECT_EQ(result.Count("SURVIVED"), 0) << call << ": " << result.Text();
    const std::vector<std::string> parts =
        HasOwnInterface() ? std::vector<std::string>{call, "rank 0", "["} : std::vector<std::string>{call};
    EXPECT_TRUE(result.HasLineWith(parts)) << call << ": " << result.Text();
  });
}

CLAUSE_TEST(ERR, ERR2_void_calls_with_bad_input_end_the_job, "ERR-2", StartsChildJobs{}, DeadlineSeconds(240)) {
  std::vector<std::string> calls{"ARMCI_Fence",    "ARMCI_Group_create", "armci_msg_snd",    "armci_msg_igop",
                                 "armci_msg_dgop", "ARMCI_GetValueLong", "ARMCI_INIT_HANDLE"};
  if (Quick()) calls.resize(2);
  for (const std::string& call : calls) ExpectFatal(call);
}

CLAUSE_TEST(MUTEX, MUTEX8_wrong_use_is_an_error_and_no_hang, "MUTEX-8", "ERR-2", StartsChildJobs{},
            DeadlineSeconds(120)) {
  ExpectFatal("ARMCI_Unlock");
  ExpectFatal("ARMCI_Lock");
}

}  // namespace
}  // namespace conformance
