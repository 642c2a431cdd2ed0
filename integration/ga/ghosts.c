/* Arrays with ghost cells: after an update, the cells around each part are those of the neighbours, with the edges
 * joined. */
#include "checks.h"

enum { ROWS = 30, COLUMNS = 26, WIDTH = 2, TURNS = 3 };

static int element(int i, int j, int turn) { return (i * COLUMNS + j) * 10 + turn; }

static int wrap(int i, int n) { return (i + n) % n; }

int main(int argc, char** argv) {
  begin(&argc, &argv);
  int dims[2] = {ROWS, COLUMNS}, width[2] = {WIDTH, WIDTH}, chunk[2] = {WIDTH, WIDTH};
  const int array = NGA_Create_ghosts(C_INT, 2, dims, width, "ghosts", chunk);
  CHECK(array != 0 && GA_Has_ghosts(array) != 0);
  int lo[2], hi[2];
  NGA_Distribution(array, GA_Nodeid(), lo, hi);
  const int has_part = lo[0] >= 0 && hi[0] >= lo[0] && hi[1] >= lo[1];
  for (int turn = 0; turn < TURNS; ++turn) {
    int ld[1], with_ghosts[2];
    int* cells = 0;
    if (has_part) {
      NGA_Access(array, lo, hi, &cells, ld);
      for (int i = lo[0]; i <= hi[0]; ++i) {
        for (int j = lo[1]; j <= hi[1]; ++j) cells[(i - lo[0]) * ld[0] + j - lo[1]] = element(i, j, turn);
      }
      NGA_Release_update(array, lo, hi);
    }
    GA_Update_ghosts(array);
    if (has_part) {
      NGA_Access_ghosts(array, with_ghosts, &cells, ld);
      CHECK(with_ghosts[0] == hi[0] - lo[0] + 1 + 2 * WIDTH && with_ghosts[1] == hi[1] - lo[1] + 1 + 2 * WIDTH);
      for (int i = 0; i < with_ghosts[0]; ++i) {
        for (int j = 0; j < with_ghosts[1]; ++j) {
          CHECK(cells[i * ld[0] + j] == element(wrap(lo[0] - WIDTH + i, ROWS), wrap(lo[1] - WIDTH + j, COLUMNS), turn));
        }
      }
      NGA_Release_ghosts(array);
    }
    GA_Sync();
  }
  /* Over the edges. */
  int plo[2] = {-3, COLUMNS - 4}, phi[2] = {2, COLUMNS + 3}, ld[1] = {8};
  int patch[6 * 8];
  NGA_Periodic_get(array, plo, phi, patch, ld);
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 8; ++j) {
      CHECK(patch[i * 8 + j] == element(wrap(plo[0] + i, ROWS), wrap(plo[1] + j, COLUMNS), TURNS - 1));
    }
  }
  GA_Sync();
  GA_Destroy(array);
  return end("ghosts");
}
