#include "bench/kernels/row_share.h"

#include <algorithm>

namespace armci::bench {
namespace {

std::vector<long> GhostsOf(const SparseMatrix& matrix, long first_row, long end_row) {
  std::vector<long> ghosts;
  const auto begin = matrix.column.begin() + matrix.row_begin[static_cast<size_t>(first_row)];
  const auto end = matrix.column.begin() + matrix.row_begin[static_cast<size_t>(end_row)];
  std::copy_if(begin, end, std::back_inserter(ghosts), [=](long c) { return c < first_row || c >= end_row; });
  std::sort(ghosts.begin(), ghosts.end());
  ghosts.erase(std::unique(ghosts.begin(), ghosts.end()), ghosts.end());
  return ghosts;
}

std::vector<Stretch> StretchesOf(const RowShare& share) {
  std::vector<Stretch> stretches;
  for (size_t i = 0; i < share.ghosts.size(); ++i) {
    const long number = share.ghosts[i];
    const int owner = share.blocks.owner(number);
    const bool adjacent = i > 0 && share.ghosts[i - 1] + 1 == number && stretches.back().owner == owner;
    if (adjacent) {
      ++stretches.back().length;
    } else {
      stretches.push_back({owner, number - share.blocks.begin(owner), share.owned() + static_cast<long>(i), 1});
    }
  }
  return stretches;
}

}  // namespace

RowShare ShareOf(const SparseMatrix& matrix, int part, int parts) {
  RowShare share;
  share.blocks = {matrix.rows(), parts};
  share.part = part;
  const long first = share.blocks.begin(part);
  const long end = first + share.owned();
  share.ghosts = GhostsOf(matrix, first, end);
  share.stretches = StretchesOf(share);
  share.rows.columns = share.length();
  for (long row = first; row < end; ++row) {
    const auto at = static_cast<size_t>(row);
    for (long entry = matrix.row_begin[at]; entry < matrix.row_begin[at + 1]; ++entry) {
      const long number = matrix.column[static_cast<size_t>(entry)];
      const auto ghost = std::lower_bound(share.ghosts.begin(), share.ghosts.end(), number) - share.ghosts.begin();
      const bool own = number >= first && number < end;
      share.rows.column.push_back(static_cast<int>(own ? number - first : share.owned() + ghost));
      share.rows.value.push_back(matrix.value[static_cast<size_t>(entry)]);
    }
    share.rows.row_begin.push_back(static_cast<long>(share.rows.column.size()));
  }
  return share;
}

}  // namespace armci::bench
