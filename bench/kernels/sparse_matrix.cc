#include "bench/kernels/sparse_matrix.h"

#include <algorithm>
#include <cmath>

namespace armci::bench {
namespace {

// The value at (row, column); 0 where there is no entry.
double At(const SparseMatrix& matrix, long row, long column) {
  const auto first = matrix.column.begin() + matrix.row_begin[static_cast<size_t>(row)];
  const auto end = matrix.column.begin() + matrix.row_begin[static_cast<size_t>(row) + 1];
  const auto found = std::lower_bound(first, end, static_cast<int>(column));
  return found != end && *found == column ? matrix.value[static_cast<size_t>(found - matrix.column.begin())] : 0;
}

std::string FaultOfRow(const SparseMatrix& matrix, size_t row) {
  for (long entry = matrix.row_begin[row]; entry < matrix.row_begin[row + 1]; ++entry) {
    const int column = matrix.column[static_cast<size_t>(entry)];
    if (column < 0 || column >= matrix.columns) return "a column is out of range";
    if (entry > matrix.row_begin[row] && column <= matrix.column[static_cast<size_t>(entry) - 1]) {
      return "columns do not ascend";
    }
  }
  return "";
}

}  // namespace

std::string FaultOf(const SparseMatrix& matrix) {
  if (matrix.row_begin.empty() || matrix.row_begin.front() != 0) return "rows do not begin at 0";
  if (!std::is_sorted(matrix.row_begin.begin(), matrix.row_begin.end())) return "a row ends before it begins";
  const auto entries = static_cast<size_t>(matrix.entries());
  if (matrix.column.size() != entries || matrix.value.size() != entries) return "the number of entries is wrong";
  for (long row = 0; row < matrix.rows(); ++row) {
    const std::string fault = FaultOfRow(matrix, static_cast<size_t>(row));
    if (!fault.empty()) return "row " + std::to_string(row) + ": " + fault;
  }
  return "";
}

bool IsSymmetric(const SparseMatrix& matrix) {
  if (matrix.rows() != matrix.columns) return false;
  for (long row = 0; row < matrix.rows(); ++row) {
    const auto at = static_cast<size_t>(row);
    for (long entry = matrix.row_begin[at]; entry < matrix.row_begin[at + 1]; ++entry) {
      const auto e = static_cast<size_t>(entry);
      if (At(matrix, matrix.column[e], row) != matrix.value[e]) return false;
    }
  }
  return true;
}

double RowSumNorm(const SparseMatrix& matrix) {
  double norm = 0;
  for (size_t row = 0; row + 1 < matrix.row_begin.size(); ++row) {
    double sum = 0;
    for (long e = matrix.row_begin[row]; e < matrix.row_begin[row + 1]; ++e) {
      sum += std::abs(matrix.value[static_cast<size_t>(e)]);
    }
    norm = std::max(norm, sum);
  }
  return norm;
}

void Multiply(const SparseMatrix& matrix, const double* x, double* y) {
  const long rows = matrix.rows();
  const long* begin = matrix.row_begin.data();
  const int* column = matrix.column.data();
  const double* value = matrix.value.data();
  for (long row = 0; row < rows; ++row) {
    double sum = 0;
    for (long entry = begin[row]; entry < begin[row + 1]; ++entry) sum += value[entry] * x[column[entry]];
    y[row] = sum;
  }
}

}  // namespace armci::bench
