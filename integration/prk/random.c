/* random - exclusive-or of random numbers into random places of a table that all processes have a part of.
 *
 * The program goes through the stream twice. After the first time the exclusive-or of all changes to the table must be
 * that of all numbers. The second time takes back what the first did, so the table must be as it was. Each update is an
 * atomic of its own. A process issues VECTOR atomics and then waits for them.
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

/* Words of all processes, word i with the value i. `part` is that of each process. */
struct table {
  uint64_t **part;
  long words;
  int log2_words;
};

static long first_word(const struct table *table, int process) { return begin_of(table->words, nproc, process); }

/* The word of a number, and its owner. */
static uint64_t *word_of(const struct table *table, uint64_t number, int *owner) {
  const long word = (long)(number >> (64 - table->log2_words));
  int process = (int)((double)word * nproc / (double)table->words);
  while (word < first_word(table, process)) --process;
  while (word >= first_word(table, process + 1)) ++process;
  *owner = process;
  return table->part[process] + word - first_word(table, process);
}

/* Issues `updates` numbers, `vector` at a time; their exclusive-or. */
static uint64_t update(const struct table *table, long updates, long vector) {
  uint64_t *operand = allocate((size_t)vector * sizeof *operand), *before = allocate((size_t)vector * sizeof *before);
  uint64_t state = 0x1234u + (uint64_t)me, all = 0;
  for (long done = 0; done < updates; done += vector) {
    for (long k = 0; k < vector && done + k < updates; ++k) {
      int owner;
      operand[k] = next(&state);
      all ^= operand[k];
      uint64_t *word = word_of(table, operand[k], &owner);
      check(ARMCIX_NbRmw(ARMCIX_XOR, ARMCIX_UINT64, &before[k], &operand[k], NULL, word, owner, NULL), "ARMCIX_NbRmw");
    }
    check(ARMCI_WaitAll(), "ARMCI_WaitAll");
  }
  ARMCI_Barrier();
  free(operand);
  free(before);
  return all;
}

/* The exclusive-or of all changes to this process's words; counts the words that have changed. */
static uint64_t changes(const struct table *table, double *changed) {
  uint64_t all = 0;
  const long first = first_word(table, me), end = first_word(table, me + 1);
  *changed = 0.0;
  for (long i = first; i < end; ++i) {
    const uint64_t change = table->part[me][i - first] ^ (uint64_t)i;
    all ^= change;
    *changed += change != 0;
  }
  return all;
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  const char *usage = "LOG2_TABLE UPDATES_PER_WORD VECTOR";
  struct table table;
  table.log2_words = (int)argument(argc, argv, 1, 4, 40, usage);
  table.words = 1L << table.log2_words;
  const long ratio = argument(argc, argv, 2, 1, INT_MAX, usage);
  const long vector = argument(argc, argv, 3, 1, INT_MAX, usage);
  const long mine = first_word(&table, me + 1) - first_word(&table, me);
  table.part = (uint64_t **)shared((size_t)mine * sizeof(uint64_t));
  for (long i = 0; i < mine; ++i) table.part[me][i] = (uint64_t)(first_word(&table, me) + i);
  ARMCI_Barrier();
  double began = MPI_Wtime(), wrong;
  uint64_t difference = update(&table, ratio * mine, vector);
  double seconds = MPI_Wtime() - began;
  difference ^= changes(&table, &wrong);
  MPI_Allreduce(MPI_IN_PLACE, &difference, 1, MPI_UINT64_T, MPI_BXOR, MPI_COMM_WORLD);
  ARMCI_Barrier();
  began = MPI_Wtime();
  update(&table, ratio * mine, vector);
  seconds = greatest(seconds + MPI_Wtime() - began);
  changes(&table, &wrong);
  wrong += difference != 0;
  armci_msg_dgop(&wrong, 1, "+");
  check(ARMCI_Free(table.part[me]), "ARMCI_Free");
  free(table.part);
  return finish(wrong, 0.0, 0.0, 1e-9 * 2.0 * (double)(ratio * table.words) / seconds, "GUPS/s", seconds);
}
