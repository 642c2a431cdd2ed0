// INIT: child processes and signals of the program beside the library. A job of its own each, as the child of a test
// runs the handlers and destructors of the program, and a handler replaces that of the suite.

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "conformance/harness/child_job.h"
#include "conformance/harness/test.h"

namespace conformance {
namespace {

constexpr double kChildSeconds = 40;
constexpr int kKilled = 1000;  // plus the signal

struct Job {
  int me = 0;
  int size = 1;
  std::vector<void*> ptr;
  int Next() const { return (me + 1) % size; }
  long* At(int proc) const { return static_cast<long*>(ptr[static_cast<std::size_t>(proc)]); }
};

Job StartJob(std::size_t bytes) {
  Job job;
  int initialized = 0;
  int provided = 0;
  MPI_Initialized(&initialized);
  if (initialized == 0) MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
  Require(ARMCI_Init() == 0, "ARMCI_Init");
  MPI_Comm_rank(MPI_COMM_WORLD, &job.me);
  MPI_Comm_size(MPI_COMM_WORLD, &job.size);
  job.ptr.resize(static_cast<std::size_t>(job.size));
  Require(ARMCI_Malloc(job.ptr.data(), static_cast<armci_size_t>(bytes)) == 0, "ARMCI_Malloc");
  std::memset(job.ptr[static_cast<std::size_t>(job.me)], 0, bytes);
  ARMCI_Barrier();
  return job;
}

int EndJob(const Job& job) {
  ARMCI_Barrier();
  Require(ARMCI_Free(job.ptr[static_cast<std::size_t>(job.me)]) == 0, "ARMCI_Free");
  Require(ARMCI_Finalize() == 0, "ARMCI_Finalize");
  MPI_Finalize();
  Say("DONE");
  return 0;
}

void ExpectDone(int ranks, const std::string& name, const std::string& argument) {
  if (!RunsNextChild()) return;
  const ChildResult result = RunChildJob(ranks, name, argument, {}, kChildSeconds);
  EXPECT_FALSE(result.timed_out) << name << " " << argument << ": did not end\n" << result.Text();
  EXPECT_EQ(result.status, 0) << name << " " << argument << ": " << result.Text();
  EXPECT_EQ(result.Count("DONE"), ranks) << name << " " << argument << ": " << result.Text();
}

// Of a child that ended by itself, or had to be killed.
int StatusOf(pid_t child) {
  constexpr int kSeconds = 10;
  int status = -1;
  for (int ms = 0; waitpid(child, &status, WNOHANG) == 0; ++ms) {
    if (ms == kSeconds * 1000) kill(child, SIGKILL);
    usleep(1000);  // the child's own time
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : kKilled + WTERMSIG(status);
}

[[noreturn]] void EndChild(const std::string& way) {
  if (way == "exit") std::exit(0);
  if (way == "exec") execl("/bin/true", "true", static_cast<char*>(nullptr));
  if (way == "kill") kill(getpid(), SIGKILL);
  _exit(way == "_exit" ? 0 : 1);
}

// A put is pending while the child comes and goes.
CHILD_CASE(forks) {
  constexpr int kLength = 2000;
  constexpr int kRounds = 5;
  const Job job = StartJob(kLength * sizeof(long));
  std::vector<long> values(kLength);
  std::vector<long> back(kLength);
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kLength; ++i) values[static_cast<std::size_t>(i)] = 1000000L * round + 10000L * job.me + i;
    armci_hdl_t handle;
    ARMCI_INIT_HANDLE(&handle);
    const int bytes = kLength * static_cast<int>(sizeof(long));
    Require(ARMCI_NbPut(values.data(), job.At(job.Next()), bytes, job.Next(), &handle) == 0, "ARMCI_NbPut");
    const pid_t child = fork();
    if (child == 0) EndChild(argument);
    const int status = StatusOf(child);
    if (status != (argument == "kill" ? kKilled + SIGKILL : 0)) Say("the child ended with " + std::to_string(status));
    Require(status == (argument == "kill" ? kKilled + SIGKILL : 0), "the child's end");
    Require(ARMCI_Wait(&handle) == 0, "ARMCI_Wait");
    Require(ARMCI_Get(job.At(job.Next()), back.data(), bytes, job.Next()) == 0, "ARMCI_Get");
    Require(back == values, "the put that was pending");
    ARMCI_Barrier();
  }
  return EndJob(job);
}

CLAUSE_TEST(INIT, INIT9_a_child_of_fork_leaves_the_job_alone, "INIT-9", StartsChildJobs{}, DeadlineSeconds(200)) {
  for (const char* way : {"_exit", "exit", "exec", "kill"}) ExpectDone(2, "forks", way);
}

// Bits: which fact about calls in the child is not so.
int CallsInChild(const Job& job) {
  const int nowhere = open("/dev/null", O_WRONLY);
  dup2(nowhere, STDERR_FILENO);
  long value = 77;
  int wrong = 0;
  wrong |= ARMCI_Initialized() == 0 ? 0 : 1;
  wrong |= ARMCI_Put(&value, job.At(job.Next()), sizeof value, job.Next()) != 0 ? 0 : 2;
  wrong |= ARMCI_Get(job.At(job.Next()) + 1, &value, sizeof value, job.Next()) != 0 && value == 77 ? 0 : 4;
  wrong |= ARMCI_Init() != 0 ? 0 : 8;
  wrong |= ARMCI_Finalize() != 0 ? 0 : 16;
  ARMCI_Cleanup();
  return wrong;
}

CHILD_CASE(calls_in_a_child) {
  const Job job = StartJob(64);
  const pid_t child = fork();
  if (child == 0) {
    if (argument == "calls") _exit(CallsInChild(job));
    dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
    ARMCI_Error("of the child", 5);
    _exit(0);
  }
  const int status = StatusOf(child);
  Say("the child ended with " + std::to_string(status));
  Require(status == (argument == "calls" ? 0 : 5), "the child's status");
  ARMCI_Barrier();
  Require(LoadShared<long>(job.At(job.me)) == 0, "nothing was written");
  return EndJob(job);
}

CLAUSE_TEST(INIT, INIT9_calls_in_a_child_of_fork_are_errors, "INIT-9", StartsChildJobs{}, DeadlineSeconds(120)) {
  for (const char* what : {"calls", "error"}) ExpectDone(2, "calls_in_a_child", what);
}

volatile sig_atomic_t alarms = 0;

void CountAlarm(int) { alarms = alarms + 1; }

void HandleAlarms(int flags) {
  struct sigaction action {};
  action.sa_handler = CountAlarm;
  action.sa_flags = flags;
  sigaction(SIGALRM, &action, nullptr);
}

void RepeatAlarm(int us) {
  const itimerval period = {{0, us}, {0, us}};
  setitimer(ITIMER_REAL, &period, nullptr);
}

bool AlarmIsMine() {
  struct sigaction action {};
  sigaction(SIGALRM, nullptr, &action);
  return action.sa_handler == CountAlarm;
}

// Waits of all kinds, in each of which alarms arrive. One process is late.
void Waits(const Job& job, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    const long value = 100 * round + job.me;
    long back = -1;
    ARMCI_Lock(0, 0);
    Require(ARMCI_Put(const_cast<long*>(&value), job.At(job.Next()), sizeof value, job.Next()) == 0, "ARMCI_Put");
    ARMCI_Fence(job.Next());
    Require(ARMCI_Get(job.At(job.Next()), &back, sizeof back, job.Next()) == 0 && back == value, "ARMCI_Get");
    const int before = alarms;
    // Not usleep, which an alarm ends.
    for (int spins = 0; job.me == round % job.size && alarms < before + 3 && spins < 100'000'000;) ++spins;
    ARMCI_Unlock(0, 0);
    ARMCI_Barrier();
    Require(LoadShared<long>(job.At(job.me)) == 100 * round + (job.me + job.size - 1) % job.size,
            "the neighbour's put");
    ARMCI_Barrier();
  }
}

// Whether every thread of the library blocks alarms. Its threads are those with its name.
bool LibraryThreadsBlockAlarms() {
  bool all = true;
  DIR* const threads = opendir("/proc/self/task");
  for (const dirent* entry = readdir(threads); entry != nullptr; entry = readdir(threads)) {
    std::ifstream status("/proc/self/task/" + std::string(entry->d_name) + "/status");
    bool is_librarys = false;
    for (std::string word; status >> word;) {
      if (word == "Name:" && status >> word) is_librarys = word.rfind("armci-", 0) == 0;
      if (word == "SigBlk:" && status >> word && is_librarys) {
        all = all && (std::stoull(word, nullptr, 16) >> (SIGALRM - 1) & 1) != 0;
      }
    }
  }
  closedir(threads);
  return all;
}

CHILD_CASE(alarms_arrive) {
  constexpr int kRounds = 20;
  constexpr int kPeriodUs = 1500;
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
  const int flags = argument == "restart" ? SA_RESTART : 0;
  HandleAlarms(flags);
  RepeatAlarm(kPeriodUs);
  const Job job = StartJob(64);
  Require(ARMCI_Create_mutexes(1) == 0, "ARMCI_Create_mutexes");
  Require(AlarmIsMine(), "init leaves the handler");
  if (argument == "blocked") {
    sigset_t all;
    sigset_t now;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    Waits(job, 2);
    pthread_sigmask(SIG_SETMASK, nullptr, &now);
    Require(sigismember(&now, SIGALRM) == 1 && sigismember(&now, SIGUSR1) == 1, "calls leave the mask");
    sigemptyset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
  }
  Waits(job, kRounds);
  if (HasOwnInterface()) Require(LibraryThreadsBlockAlarms(), "threads of the library block the program's signals");
  Require(ARMCI_Destroy_mutexes() == 0, "ARMCI_Destroy_mutexes");
  Require(alarms >= kRounds / job.size, "alarms have arrived");
  ARMCI_Free(job.ptr[static_cast<std::size_t>(job.me)]);
  ARMCI_Finalize();
  Require(AlarmIsMine(), "finalize leaves the handler");
  RepeatAlarm(0);
  MPI_Finalize();
  Say("DONE");
  return 0;
}

CLAUSE_TEST(INIT, INIT10_signals_arrive_during_calls, "INIT-10", StartsChildJobs{}, DeadlineSeconds(200)) {
  for (const char* how : {"restart", "interrupt", "blocked"}) ExpectDone(2, "alarms_arrive", how);
}

}  // namespace
}  // namespace conformance
