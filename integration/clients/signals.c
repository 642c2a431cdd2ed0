/* Signals of the program: timers with and without SA_RESTART, a profiler's at 1 kHz, signals of children and of the
 * user. Calls that wait go on, the program's handlers stay, and they run on threads of the program only. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "armci.h"

enum { LENGTH = 1024, ROUNDS = 40, PROFILES_LEAST = 3, PROFILE_US = 1000, ALARM_US = 1700, THREAD_NAME_BYTES = 16 };

static int me, processes, next, wrong;
static long** parts;
static volatile sig_atomic_t seen[NSIG], on_library_thread;

static void expect(int ok, const char* fact) {
  if (ok) return;
  ++wrong;
  fprintf(stderr, "signals: process %d: not so: %s\n", me, fact);
}

static void count(int number) {
  char name[THREAD_NAME_BYTES] = "";
  prctl(PR_GET_NAME, name);
  if (strncmp(name, "armci-", 6) == 0) on_library_thread = 1;
  ++seen[number];
}

static void handle(int number, int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = count;
  action.sa_flags = flags;
  sigaction(number, &action, NULL);
}

static int is_handled(int number) {
  struct sigaction action;
  sigaction(number, NULL, &action);
  return action.sa_handler == count;
}

static void every_us(int timer, long us) {
  const struct itimerval period = {{0, us}, {0, us}};
  setitimer(timer, &period, NULL);
}

/* Calls that wait for other processes, in each of which signals arrive. */
static void wait_in_calls(void) {
  long values[LENGTH], got[LENGTH], ticket = -1, scale = 1;
  for (int round = 0; round < ROUNDS; ++round) {
    for (int i = 0; i < LENGTH; ++i) values[i] = (long)round * 1000 + me + i;
    expect(ARMCI_Put(values, parts[next], sizeof values, next) == 0, "a put");
    ARMCI_Fence(next);
    expect(ARMCI_Get(parts[next], got, sizeof got, next) == 0, "a get");
    expect(memcmp(got, values, sizeof got) == 0, "a get has what was put");
    expect(ARMCI_Acc(ARMCI_ACC_LNG, &scale, values, parts[next], sizeof values, next) == 0, "an accumulate");
    ARMCI_Lock(0, 0);
    expect(ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &ticket, &parts[0][LENGTH], 1, 0) == 0, "a ticket");
    if (me == round % processes) usleep(1500); /* the others wait for the lock, and then in the barrier */
    ARMCI_Unlock(0, 0);
    kill(getpid(), SIGUSR2);
    ARMCI_Barrier();
    expect(parts[me][0] == 2 * ((long)round * 1000 + (me + processes - 1) % processes), "the neighbour's stores");
    ARMCI_Barrier();
  }
}

/* The profiler's clock runs while the process computes. */
static void compute_until_profiled(void) {
  while (seen[SIGPROF] < PROFILES_LEAST) {
  }
}

static void end_a_child(void) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  ARMCI_Barrier();
  while (waitpid(child, NULL, 0) < 0) { /* EINTR */
  }
  ARMCI_Barrier();
}

/* All signals are blocked in this thread: they wait, or other threads of the program take them. */
static void with_all_blocked(void) {
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  wait_in_calls();
  sigset_t now;
  pthread_sigmask(SIG_SETMASK, NULL, &now);
  expect(sigismember(&now, SIGALRM) && sigismember(&now, SIGPROF) && sigismember(&now, SIGUSR2),
         "the mask is the program's after calls");
  pthread_sigmask(SIG_SETMASK, &old, NULL);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  next = (me + 1) % processes;
  parts = malloc(sizeof(long*) * (size_t)processes);
  handle(SIGALRM, SA_RESTART);
  handle(SIGUSR2, 0);
  every_us(ITIMER_REAL, ALARM_US);
  expect(ARMCI_Init() == 0, "ARMCI_Init while a timer runs");
  expect(is_handled(SIGALRM) && is_handled(SIGUSR2), "handlers from before init stay");
  handle(SIGPROF, SA_RESTART);
  handle(SIGCHLD, 0);
  every_us(ITIMER_PROF, PROFILE_US);
  expect(ARMCI_Malloc((void**)parts, (LENGTH + 1) * sizeof(long)) == 0, "ARMCI_Malloc");
  expect(ARMCI_Create_mutexes(1) == 0, "ARMCI_Create_mutexes");
  parts[me][LENGTH] = 0;
  ARMCI_Barrier();

  wait_in_calls();
  handle(SIGALRM, 0); /* interrupted calls of the system return now */
  handle(SIGPROF, 0);
  wait_in_calls();
  compute_until_profiled();
  end_a_child();
  with_all_blocked();
  if (me == 0) expect(parts[0][LENGTH] == 3L * ROUNDS * processes, "each ticket is given once");

  ARMCI_Destroy_mutexes();
  ARMCI_Free(parts[me]);
  ARMCI_Finalize();
  every_us(ITIMER_REAL, 0);
  every_us(ITIMER_PROF, 0);
  expect(is_handled(SIGALRM) && is_handled(SIGUSR2) && is_handled(SIGPROF) && is_handled(SIGCHLD),
         "handlers stay after finalize");
  expect(seen[SIGALRM] > 10 && seen[SIGPROF] >= PROFILES_LEAST && seen[SIGUSR2] >= 2 * ROUNDS && seen[SIGCHLD] >= 1,
         "the program's handlers saw their signals");
  expect(!on_library_thread, "no handler runs on a thread of the library");
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  free(parts);
  if (me == 0) printf("signals: %s, %d processes\n", wrong == 0 ? "PASS" : "FAIL", processes);
  MPI_Finalize();
  return wrong != 0;
}
