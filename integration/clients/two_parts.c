/* Two shared objects of one program, neither of which knows of the other: each initializes MPI if need be, starts
 * ARMCI, works with a communicator and a region of its own, and ends ARMCI. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

enum { ROUNDS = 10 };

typedef int part_begin(void);
typedef int part_step(int);
typedef int part_end(void);

struct part {
  part_begin* begin;
  part_step* step;
  part_end* end;
};

/* Beside the program. */
static int load(const char* program, const char* name, struct part* part) {
  char path[4200];
  const char* slash = program;
  for (const char* at = program; *at != 0; ++at)
    if (*at == '/') slash = at + 1;
  snprintf(path, sizeof path, "%.*s%s%s", (int)(slash - program), program, slash == program ? "./" : "", name);
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fprintf(stderr, "two_parts: %s\n", dlerror());
    return 0;
  }
  *(void**)&part->begin = dlsym(library, "begin");
  *(void**)&part->step = dlsym(library, "step");
  *(void**)&part->end = dlsym(library, "end");
  return part->begin != NULL && part->step != NULL && part->end != NULL;
}

int main(int argc, char** argv) {
  int me = 0, processes = 1, wrong = 0;
  struct part left, right;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  if (!load(argv[0], "part_left.so", &left) || !load(argv[0], "part_right.so", &right)) MPI_Abort(MPI_COMM_WORLD, 1);
  wrong += left.begin() + right.begin();
  for (int round = 0; round < ROUNDS; ++round) wrong += left.step(round) + right.step(round);
  wrong += left.end(); /* the other part goes on */
  for (int round = 0; round < ROUNDS; ++round) wrong += right.step(round);
  wrong += left.begin() + left.step(0) + right.end() + left.step(1) + left.end();
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (me == 0) printf("two_parts: %s, %d processes\n", wrong == 0 ? "PASS" : "FAIL", processes);
  MPI_Finalize();
  return wrong != 0;
}
