// A dense matrix in panels of rows, one per process, and its tiles.
//
//            tile column 0   1    2 (narrower)
//   process 0  +--------+--------+---+
//              |  0, 0  |  0, 1  |   |   a panel is dense, row by row; each tile of rows lies in one panel
//   process 1  +--------+--------+---+
//              |  1, 0  |        |   |
//              |  2, 0  |        |   |   the last tiles may be narrower and lower
//              +--------+--------+---+
//
// Thread safety: a value.
// Invariants: panels cover all rows; where there are fewer tiles of rows than processes some panels are empty.
#ifndef ARMCI_BENCH_KERNELS_PANELS_H_
#define ARMCI_BENCH_KERNELS_PANELS_H_

#include <algorithm>

#include "bench/kernels/blocks.h"

namespace armci::bench {

struct Panels {
  long rows = 0;
  long columns = 0;
  long tile = 1;
  int parts = 1;

  long row_tiles() const { return (rows + tile - 1) / tile; }
  long column_tiles() const { return (columns + tile - 1) / tile; }
  long height(long i) const { return std::min(tile, rows - i * tile); }
  long width(long j) const { return std::min(tile, columns - j * tile); }
  int owner(long i) const { return Tiles().owner(i); }

  long first_tile(int part) const { return Tiles().begin(part); }
  long first_row(int part) const { return std::min(rows, first_tile(part) * tile); }
  long panel_rows(int part) const { return first_row(part + 1) - first_row(part); }
  long panel_elements(int part) const { return panel_rows(part) * columns; }
  long largest_panel() const {
    long largest = 0;
    for (int part = 0; part < parts; ++part) largest = std::max(largest, panel_elements(part));
    return largest;
  }

  // Where tile (i, j) begins in the panel of its owner.
  long offset(long i, long j) const { return (i * tile - first_row(owner(i))) * columns + j * tile; }

 private:
  Blocks Tiles() const { return {row_tiles(), parts}; }
};

}  // namespace armci::bench

#endif  // ARMCI_BENCH_KERNELS_PANELS_H_
