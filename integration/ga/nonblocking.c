/* Non-blocking put, get and accumulate: many at once, waited for in another order, tested, and without a handle of its
 * own for operations without a wait before the next sync. */
#include <stdlib.h>
#include <string.h>

#include "checks.h"

enum { SIDE = 96, TILE = 16, TILES = SIDE / TILE };

static int dims[2] = {SIDE, SIDE};

static void tile(int number, int* lo, int* hi) {
  lo[0] = number / TILES * TILE;
  lo[1] = number % TILES * TILE;
  hi[0] = lo[0] + TILE - 1;
  hi[1] = lo[1] + TILE - 1;
}

static double value(int number, int k) { return number * 1000 + k; }

int main(int argc, char** argv) {
  begin(&argc, &argv);
  static double tiles[TILES * TILES][TILE * TILE];
  static double back[TILES * TILES][TILE * TILE];
  ga_nbhdl_t handles[TILES * TILES];
  const int me = GA_Nodeid(), processes = GA_Nnodes();
  const int array = NGA_Create(C_DBL, 2, dims, "tiles", NULL);
  int lo[2], hi[2], ld[1] = {TILE};
  double alpha = 0.5;
  GA_Zero(array);
  for (int t = me; t < TILES * TILES; t += processes) {
    tile(t, lo, hi);
    for (int k = 0; k < TILE * TILE; ++k) tiles[t][k] = value(t, k);
    NGA_NbPut(array, lo, hi, tiles[t], ld, &handles[t]);
  }
  for (int t = me; t < TILES * TILES; t += processes) NGA_NbWait(&handles[t]);
  GA_Sync();
  for (int t = 0; t < TILES * TILES; ++t) {
    tile(t, lo, hi);
    NGA_NbGet(array, lo, hi, back[t], ld, &handles[t]);
  }
  for (int t = TILES * TILES - 1; t >= 0; --t) {
    /* A test that says so ends an operation, as a wait does. */
    if (t % 3 == 0) {
      while (NGA_NbTest(&handles[t]) == 0) {
      }
    } else {
      NGA_NbWait(&handles[t]);
    }
    int right = 1;
    for (int k = 0; k < TILE * TILE; ++k) right &= back[t][k] == value(t, k);
    CHECK(right);
  }
  GA_Sync();
  for (int t = 0; t < TILES * TILES; ++t) {
    tile(t, lo, hi);
    for (int k = 0; k < TILE * TILE; ++k) tiles[t][k] = 2 * (me + 1);
    NGA_NbAcc(array, lo, hi, tiles[t], ld, &alpha, &handles[t]);
  }
  for (int t = 0; t < TILES * TILES; ++t) NGA_NbWait(&handles[t]);
  GA_Sync();
  for (int t = 0; t < TILES * TILES; ++t) {
    tile(t, lo, hi);
    NGA_Get(array, lo, hi, back[t], ld);
    int right = 1;
    for (int k = 0; k < TILE * TILE; ++k) right &= back[t][k] == value(t, k) + processes * (processes + 1) / 2;
    CHECK(right);
  }
  GA_Sync();
  GA_Destroy(array);
  return end("nonblocking");
}
