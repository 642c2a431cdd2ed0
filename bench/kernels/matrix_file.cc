#include "bench/kernels/matrix_file.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "examples/matrix_reader.h"

namespace armci::bench {
namespace {

using Row = std::vector<std::pair<int, double>>;  // columns and values

std::string Refused(const sparse::Header& header) {
  if (header.symmetry == sparse::Symmetry::kSkew) return "only general and symmetric matrices are read";
  if (header.rows != header.columns) return "the matrix is not square";
  if (header.rows > header.stored) return "more rows than entries";
  if (header.stored > header.rows * header.columns) return "more entries than places for them";
  return "";
}

Row RowOf(const sparse::Matrix& from, size_t at) {
  Row row;
  for (int64_t i = from.row_start[at]; i < from.row_start[at + 1]; ++i) {
    const auto entry = static_cast<size_t>(i);
    row.emplace_back(static_cast<int>(from.column[entry]), from.value[entry]);
  }
  return row;
}

void MakeDefinite(int diagonal, Row* row) {
  double sum = 1;
  for (const auto& [column, value] : *row) sum += column != diagonal ? value : 0;
  for (auto& [column, value] : *row) value = column == diagonal ? sum : -1;
}

std::string Convert(const sparse::Matrix& from, SparseMatrix* to) {
  const bool market = from.format == sparse::Format::kMatrixMarket;
  const bool definite = market && from.symmetry == sparse::Symmetry::kSymmetric && !from.has_values;
  to->columns = static_cast<long>(from.columns);
  for (long at = 0; at < from.rows; ++at) {
    Row row = RowOf(from, static_cast<size_t>(at));
    if (definite) MakeDefinite(static_cast<int>(at), &row);
    std::stable_sort(row.begin(), row.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [column, value] : row) {
      const bool again = static_cast<long>(to->column.size()) > to->entries() && to->column.back() == column;
      if (again && !market) {
        return "row " + std::to_string(at + 1) + ", column " + std::to_string(column + 1) + ": an entry is given twice";
      }
      if (again) {
        to->value.back() += value;
      } else {
        to->column.push_back(column);
        to->value.push_back(value);
      }
    }
    to->row_begin.push_back(static_cast<long>(to->column.size()));
  }
  return "";
}

}  // namespace

std::string ReadMatrix(const std::string& path, SparseMatrix* matrix) {
  std::string fault;
  const std::optional<sparse::Matrix> file = sparse::ReadMatrixFile(path, &fault, Refused);
  if (!file) return fault;
  SparseMatrix read;
  fault = Convert(*file, &read);
  if (fault.empty()) fault = FaultOf(read);
  if (!fault.empty()) return path + ": " + fault;
  *matrix = std::move(read);
  return "";
}

}  // namespace armci::bench
