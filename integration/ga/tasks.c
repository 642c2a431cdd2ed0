/* A pool of tasks drawn with read-and-increment: each is done once, by any process. Mutexes around updates of more than
 * one operation. */
#include "checks.h"

enum { TASKS = 500, POOLS = 3, TURNS = 50, MUTEXES = 2 };

/* Each task adds 1 to its element. */
static void pool(long first) {
  int one[1] = {1}, tasks[1] = {TASKS}, at[1] = {0};
  const int counter = NGA_Create(C_LONG, 1, one, "counter", NULL);
  const int done = NGA_Create(C_INT, 1, tasks, "done", NULL);
  long start = first;
  GA_Fill(counter, &start);
  GA_Zero(done);
  int mark = 1;
  long mine = 0;
  for (;;) {
    const long task = NGA_Read_inc(counter, at, 1) - first;
    if (task >= TASKS) break;
    int lo[1] = {(int)task}, hi[1] = {(int)task}, ld[1] = {1};
    NGA_Acc(done, lo, hi, &mark, ld, &mark);
    ++mine;
  }
  GA_Lgop(&mine, 1, "+");
  CHECK(mine == TASKS);
  GA_Sync();
  int lo[1] = {0}, hi[1] = {TASKS - 1}, ld[1] = {TASKS};
  int times[TASKS];
  NGA_Get(done, lo, hi, times, ld);
  for (int i = 0; i < TASKS; ++i) CHECK(times[i] == 1);
  long last = 0;
  int zero[1] = {0};
  NGA_Get(counter, zero, zero, &last, ld);
  CHECK(last == first + TASKS + GA_Nnodes());
  GA_Sync();
  GA_Destroy(counter);
  GA_Destroy(done);
}

/* Under a mutex: get, change, put, fence. */
static void guarded(void) {
  int dims[1] = {MUTEXES};
  const int array = NGA_Create(C_DBL, 1, dims, "guarded", NULL);
  GA_Zero(array);
  CHECK(GA_Create_mutexes(MUTEXES) != 0);
  for (int turn = 0; turn < TURNS; ++turn) {
    const int which = (turn + GA_Nodeid()) % MUTEXES;
    int at[1] = {which}, ld[1] = {1};
    double value = 0;
    GA_Lock(which);
    NGA_Get(array, at, at, &value, ld);
    value += 1;
    GA_Init_fence();
    NGA_Put(array, at, at, &value, ld);
    GA_Fence();
    GA_Unlock(which);
  }
  GA_Sync();
  int lo[1] = {0}, hi[1] = {MUTEXES - 1}, ld[1] = {MUTEXES};
  double values[MUTEXES];
  NGA_Get(array, lo, hi, values, ld);
  CHECK(values[0] + values[1] == TURNS * GA_Nnodes());
  CHECK(GA_Destroy_mutexes() != 0);
  GA_Destroy(array);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  for (int i = 0; i < POOLS; ++i) pool((long)i << 33);
  guarded();
  return end("tasks");
}
