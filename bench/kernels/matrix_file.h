// Reads a square sparse matrix of real numbers from a file of the usual exchange formats.
//
//   MatrixMarket       "coordinate" files; real, integer or pattern; general or symmetric. A pattern has 1 for every
//                      entry. A symmetric pattern has -1 beside the diagonal, and on it the number of entries of the
//                      row, so that it is positive definite. Entries given twice are added.
//   Harwell-Boeing,    assembled matrices; real, integer or pattern (1 for every entry); unsymmetric or symmetric.
//   Rutherford-Boeing  Right-hand sides after the matrix are not looked at.
//
// The reader of the examples reads the file. Matrices with more rows than entries are refused: they are singular, and
// their counts more likely wrong.
//
// Thread safety: one thread at a time.
#ifndef ARMCI_BENCH_KERNELS_MATRIX_FILE_H_
#define ARMCI_BENCH_KERNELS_MATRIX_FILE_H_

#include <string>

#include "bench/kernels/sparse_matrix.h"

namespace armci::bench {

// Returns the fault of the file, a sentence with the line or field; empty when it was read, and only then *matrix has
// changed.
std::string ReadMatrix(const std::string& path, SparseMatrix* matrix);

}  // namespace armci::bench

#endif  // ARMCI_BENCH_KERNELS_MATRIX_FILE_H_
