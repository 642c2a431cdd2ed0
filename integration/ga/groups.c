/* Arrays, sums, copies and syncs of groups of processes, of two halves at the same time, and of groups inside them. */
#include <stdlib.h>

#include "checks.h"

enum { SIDE = 24 };

/* All that a group does, in the same way in each. */
static void use(int group, int color) {
  const int me = GA_Pgroup_nodeid(group), size = GA_Pgroup_nnodes(group);
  int dims[2] = {SIDE, SIDE}, chunk[2] = {-1, -1}, lo[2] = {0, 0}, hi[2] = {SIDE - 1, SIDE - 1}, ld[1] = {SIDE};
  long ranks = me;
  GA_Pgroup_lgop(group, &ranks, 1, "+");
  CHECK(ranks == (long)size * (size - 1) / 2);
  int received = me == size - 1 ? color * 100 : -1;
  GA_Pgroup_brdcst(group, &received, sizeof received, size - 1);
  CHECK(received == color * 100);
  const int array = NGA_Create_config(C_INT, 2, dims, "of a group", chunk, group);
  CHECK(array != 0 && GA_Get_pgroup(array) == group);
  int zero = 0, one = 1;
  NGA_Fill(array, &zero);
  GA_Pgroup_sync(group);
  int values[SIDE * SIDE];
  for (int k = 0; k < SIDE * SIDE; ++k) values[k] = color + 1;
  for (int i = 0; i < 3; ++i) NGA_Acc(array, lo, hi, values, ld, &one);
  GA_Pgroup_sync(group);
  NGA_Get(array, lo, hi, values, ld);
  for (int k = 0; k < SIDE * SIDE; ++k) CHECK(values[k] == 3 * size * (color + 1));
  GA_Pgroup_sync(group);
  GA_Destroy(array);
}

static void halves(void) {
  const int processes = GA_Nnodes(), me = GA_Nodeid();
  const int color = me % 2;
  int* list = malloc(sizeof(int) * (size_t)processes);
  int count = 0;
  for (int i = color; i < processes; i += 2) list[count++] = i;
  const int half = GA_Pgroup_create(list, count);
  CHECK(GA_Pgroup_nnodes(half) == count);
  for (int i = 0; i < count; ++i) CHECK(GA_Pgroup_absolute_id(half, i) == list[i]);
  use(half, color);
  /* An array without a group is of the default one. */
  GA_Pgroup_set_default(half);
  CHECK(GA_Nnodes() == count);
  use(half, color);
  GA_Pgroup_set_default(GA_Pgroup_get_world());
  CHECK(GA_Nnodes() == processes);
  GA_Sync();
  CHECK(GA_Pgroup_destroy(half) != 0);
  free(list);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  use(GA_Pgroup_get_world(), 7);
  halves();
  halves(); /* numbers of groups can be had again */
  const int split = GA_Pgroup_split(GA_Pgroup_get_world(), GA_Nnodes() > 1 ? 2 : 1);
  use(split, 5);
  GA_Sync();
  return end("groups");
}
