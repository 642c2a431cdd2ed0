/* Child processes of a process of the job: by fork with _exit, exit and exec, by posix_spawn, system and popen, with
 * transfers before, during and after. A child leaves the job alone however it ends. */
#include <errno.h>
#include <mpi.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "armci.h"

enum { LENGTH = 4096, ROUNDS = 2, CHILD_SECONDS = 20, ENDED_BY_HANDLER = 3 };

extern char** environ;

static int me, processes, next, before, wrong;
static long** parts;
static pid_t job_process;

static void expect(int ok, const char* fact, const char* kind) {
  if (ok) return;
  ++wrong;
  fprintf(stderr, "children: process %d, %s: not so: %s\n", me, kind, fact);
}

/* A handler of the program, which the child runs as well. */
static void at_exit(void) {
  if (getpid() != job_process) _exit(ENDED_BY_HANDLER);
}

/* The child's status; a child that does not end is killed. */
static int status_of(pid_t child) {
  const time_t deadline = time(NULL) + CHILD_SECONDS;
  int status = -1;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (time(NULL) > deadline) kill(child, SIGKILL);
    nanosleep(&(struct timespec){0, 1000000}, NULL);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/* In a child of fork: its own memory is a copy, a region is the parent's, and the library refuses calls. */
static int refused(void) {
  long value = -1;
  const int quiet = dup(STDERR_FILENO); /* the library prints a line for each refused call */
  if (freopen("/dev/null", "w", stderr) == NULL) return 0;
  const int ok = ARMCI_Initialized() == 0 && ARMCI_Put(&value, parts[next], sizeof value, next) != 0 &&
                 ARMCI_Get(parts[next], &value, sizeof value, next) != 0 && ARMCI_Init() != 0 &&
                 ARMCI_Finalize() != 0 && value == -1;
  ARMCI_Cleanup();
  dup2(quiet, STDERR_FILENO);
  return ok;
}

static void fork_and__exit(const char* kind) {
  const pid_t child = fork();
  if (child == 0) _exit(refused() ? 0 : 1);
  expect(status_of(child) == 0, "the library refuses calls of the child", kind);
}

static void fork_and_exit(const char* kind) {
  const pid_t child = fork();
  if (child == 0) exit(0); /* handlers, destructors of the program and of libraries */
  const int status = status_of(child);
  expect(status == 0, "the child ends by exit(0)", kind);
  if (status != 0) fprintf(stderr, "children: status %d\n", status);
}

static void fork_and_exec(const char* kind) {
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", "exit 7", (char*)NULL);
    _exit(1);
  }
  expect(status_of(child) == 7, "the program of the child runs", kind);
}

static void by_posix_spawn(const char* kind) {
  char* words[] = {"sh", "-c", "exit 5", NULL};
  pid_t child = -1;
  expect(posix_spawn(&child, "/bin/sh", NULL, NULL, words, environ) == 0, "posix_spawn", kind);
  expect(status_of(child) == 5, "the program of the child runs", kind);
}

static void by_system(const char* kind) {
  const int status = system("exit 4");
  expect(WIFEXITED(status) && WEXITSTATUS(status) == 4, "system returns the status of the command", kind);
}

static void by_popen(const char* kind) {
  char line[64] = "";
  FILE* const lines = popen("echo 17 4", "r");
  expect(lines != NULL && fgets(line, sizeof line, lines) != NULL && strcmp(line, "17 4\n") == 0, "a line of popen",
         kind);
  expect(lines != NULL && pclose(lines) == 0, "pclose", kind);
}

static const struct {
  const char* name;
  void (*run)(const char*);
} kinds[] = {
    {"fork and _exit", fork_and__exit},
    {"fork and exit", fork_and_exit},
    {"fork and exec", fork_and_exec},
    {"posix_spawn", by_posix_spawn},
    {"system", by_system},
    {"popen", by_popen},
};

/* A child lives while its parent transfers to all processes and from them. */
static void transfer_around(const char* kind, void (*run)(const char*), long seed) {
  long *values = malloc(LENGTH * sizeof(long)), *got = malloc(LENGTH * sizeof(long));
  long scale = 1, ticket = -1;
  for (int i = 0; i < LENGTH; ++i) values[i] = seed + me * LENGTH + i;
  armci_hdl_t handle;
  ARMCI_INIT_HANDLE(&handle);
  expect(ARMCI_NbPut(values, parts[next], LENGTH * sizeof(long), next, &handle) == 0, "a put", kind);
  const pid_t beside = fork();
  if (beside == 0) {
    memset(values, 0, LENGTH * sizeof(long)); /* its copy: the parent's put may still read its own */
    for (;;) pause();
  }
  run(kind);
  ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &ticket, &parts[0][LENGTH], 1, 0);
  expect(ticket >= 0, "a ticket", kind);
  expect(ARMCI_Wait(&handle) == 0, "a wait", kind);
  ARMCI_Get(parts[next], got, LENGTH * sizeof(long), next);
  expect(memcmp(got, values, LENGTH * sizeof(long)) == 0, "the pending put, at its target", kind);
  ARMCI_Barrier();
  ARMCI_Acc(ARMCI_ACC_LNG, &scale, values, parts[next], LENGTH * sizeof(long), next);
  kill(beside, SIGKILL);
  expect(status_of(beside) == 1000 + SIGKILL, "the other child lived", kind);
  ARMCI_Barrier();
  int same = 1;
  for (int i = 0; i < LENGTH; ++i) same &= parts[me][i] == 2 * (seed + before * LENGTH + i);
  expect(same, "put and accumulate in this process's memory", kind);
  ARMCI_Barrier();
  free(values);
  free(got);
}

int main(int argc, char** argv) {
  job_process = getpid();
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided); /* the library may have threads */
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  next = (me + 1) % processes;
  before = (me + processes - 1) % processes;
  setvbuf(stdout, NULL, _IOLBF, 0); /* a child that exits has nothing of the parent's to print */
  parts = malloc(sizeof(long*) * (size_t)processes);
  expect(ARMCI_Init() == 0, "ARMCI_Init", "start");
  expect(ARMCI_Malloc((void**)parts, (LENGTH + 1) * sizeof(long)) == 0, "ARMCI_Malloc", "start");
  parts[me][LENGTH] = 0;
  ARMCI_Barrier();

  const int count = sizeof kinds / sizeof kinds[0];
  for (int round = 0; round < ROUNDS; ++round)
    for (int i = 0; i < count; ++i) transfer_around(kinds[i].name, kinds[i].run, (round * count + i + 1) * 1000000L);
  atexit(at_exit); /* runs before the handlers of libraries */
  const pid_t child = fork();
  if (child == 0) exit(0);
  expect(status_of(child) == ENDED_BY_HANDLER, "the program's handler ends the child", "atexit");
  expect(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD, "no child is left", "end");
  ARMCI_Barrier();
  if (me == 0) expect(parts[0][LENGTH] == (long)ROUNDS * count * processes, "each ticket is given once", "end");

  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  ARMCI_Free(parts[me]);
  free(parts);
  ARMCI_Finalize();
  if (me == 0) printf("children: %s, %d processes\n", wrong == 0 ? "PASS" : "FAIL", processes);
  MPI_Finalize();
  return wrong != 0;
}
