// A sparse matrix by rows, and what can be said of it.
//
// Thread safety: a value; functions read what they are given.
// Invariants: row i is entries row_begin[i]..row_begin[i+1]-1, its columns ascending; FaultOf says whether it is so.
#ifndef ARMCI_BENCH_KERNELS_SPARSE_MATRIX_H_
#define ARMCI_BENCH_KERNELS_SPARSE_MATRIX_H_

#include <string>
#include <vector>

namespace armci::bench {

struct SparseMatrix {
  long columns = 0;
  std::vector<long> row_begin = {0};
  std::vector<int> column;
  std::vector<double> value;

  long rows() const { return static_cast<long>(row_begin.size()) - 1; }
  long entries() const { return row_begin.back(); }
};

// The invariant that is broken, empty when all hold.
std::string FaultOf(const SparseMatrix& matrix);

// Whether it equals its transpose, value by value.
bool IsSymmetric(const SparseMatrix& matrix);

// The largest sum of absolute values of a row: no vector grows by more in a product.
double RowSumNorm(const SparseMatrix& matrix);

// y = matrix * x. Always the same sum in the same order, wherever columns may have been renamed to.
void Multiply(const SparseMatrix& matrix, const double* x, double* y);

}  // namespace armci::bench

#endif  // ARMCI_BENCH_KERNELS_SPARSE_MATRIX_H_
