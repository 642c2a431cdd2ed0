// Every element is in one tile, and every tile in the panel of its owner.
#include "bench/kernels/panels.h"

#include <gtest/gtest.h>

#include <vector>

namespace armci::bench {
namespace {

TEST(Panels, TilesCoverEveryElementOnce) {
  for (int parts = 1; parts <= 9; ++parts) {
    const Panels panels = {50, 23, 8, parts};
    std::vector<std::vector<int>> seen;
    for (int part = 0; part < parts; ++part) seen.emplace_back(static_cast<size_t>(panels.panel_elements(part)));
    for (long i = 0; i < panels.row_tiles(); ++i) {
      for (long j = 0; j < panels.column_tiles(); ++j) {
        for (long row = 0; row < panels.height(i); ++row) {
          for (long column = 0; column < panels.width(j); ++column) {
            const long at = panels.offset(i, j) + row * panels.columns + column;
            ++seen[static_cast<size_t>(panels.owner(i))].at(static_cast<size_t>(at));
          }
        }
      }
    }
    long elements = 0;
    for (const auto& panel : seen) {
      for (int times : panel) EXPECT_EQ(times, 1);
      elements += static_cast<long>(panel.size());
    }
    EXPECT_EQ(elements, 50 * 23) << parts;
  }
}

TEST(Panels, RowsOfATileAreWhereTheMatrixHasThem) {
  const Panels panels = {50, 23, 8, 3};
  const int owner = panels.owner(4);
  EXPECT_EQ(panels.first_row(owner) + panels.offset(4, 0) / panels.columns, 4 * 8);
}

TEST(Panels, TheLargestIsNoSmallerThanAny) {
  const Panels panels = {50, 23, 8, 4};
  for (int part = 0; part < 4; ++part) EXPECT_LE(panels.panel_elements(part), panels.largest_panel());
}

TEST(Panels, AreEmptyWhereThereAreFewerTilesThanProcesses) {
  const Panels panels = {20, 20, 16, 8};
  long rows = 0;
  for (int part = 0; part < 8; ++part) rows += panels.panel_rows(part);
  EXPECT_EQ(rows, 20);
}

}  // namespace
}  // namespace armci::bench
