/* random - exclusive-or of random numbers into random places of a table that all processes have a part of.
 *
 * The stream is gone through twice: the second time takes back what the first did, so the table must be as it was. Each
 * update is an atomic of its own. A process issues VECTOR atomics and then waits for them.
 *
 * Run: mpirun -n 4 ./random LOG2_TABLE UPDATES_PER_WORD VECTOR
 */
#include "armcix.h"
#include "prk.h"

static uint64_t next(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  const char *usage = "LOG2_TABLE UPDATES_PER_WORD VECTOR";
  const long log2_words = argument(argc, argv, 1, 4, 40, usage);
  const long ratio = argument(argc, argv, 2, 1, INT_MAX, usage);
  const long vector = argument(argc, argv, 3, 1, INT_MAX, usage);
  const long words = 1L << log2_words;
  const long mine = begin_of(words, nproc, me + 1) - begin_of(words, nproc, me);
  void **part = shared((size_t)mine * sizeof(uint64_t));
  uint64_t *table = part[me];
  for (long i = 0; i < mine; ++i) table[i] = (uint64_t)(begin_of(words, nproc, me) + i);
  uint64_t *operand = allocate((size_t)vector * sizeof *operand), *before = allocate((size_t)vector * sizeof *before);
  const long updates = ratio * mine;
  ARMCI_Barrier();
  const double began = MPI_Wtime();
  for (int round = 0; round < 2; ++round) {
    uint64_t state = 0x1234u + (uint64_t)me;
    for (long done = 0; done < updates; done += vector) {
      for (long k = 0; k < vector && done + k < updates; ++k) {
        operand[k] = next(&state);
        const long word = (long)(operand[k] >> (64 - log2_words));
        int owner = (int)((double)word * nproc / (double)words);
        while (word < begin_of(words, nproc, owner)) --owner;
        while (word >= begin_of(words, nproc, owner + 1)) ++owner;
        check(ARMCIX_NbRmw(ARMCIX_XOR, ARMCIX_UINT64, &before[k], &operand[k], NULL,
                           (uint64_t *)part[owner] + word - begin_of(words, nproc, owner), owner, NULL),
              "ARMCIX_NbRmw");
      }
      check(ARMCI_WaitAll(), "ARMCI_WaitAll");
    }
    ARMCI_Barrier();
  }
  const double seconds = greatest(MPI_Wtime() - began);
  double wrong = 0.0;
  for (long i = 0; i < mine; ++i) wrong += table[i] != (uint64_t)(begin_of(words, nproc, me) + i);
  armci_msg_dgop(&wrong, 1, "+");
  check(ARMCI_Free(part[me]), "ARMCI_Free");
  free(operand);
  free(before);
  free(part);
  return finish(wrong, 0.0, 0.0, 1e-9 * 2.0 * (double)(ratio * words) / seconds, "GUPS/s", seconds);
}
