// The two readers behind ReadMatrix, and what they share.
//
// Thread safety: one thread at a time. All return what is wrong with the file, empty when nothing is; *matrix is theirs
// to spoil.
#ifndef ARMCI_BENCH_KERNELS_MATRIX_FORMATS_H_
#define ARMCI_BENCH_KERNELS_MATRIX_FORMATS_H_

#include <string>
#include <string_view>

#include "bench/kernels/sparse_matrix.h"

namespace armci::bench {

std::string ReadMatrixMarket(const std::string& path, SparseMatrix* matrix);
std::string ReadHarwellBoeing(const std::string& path, SparseMatrix* matrix);

// The fault in the counts that a file states, checked before anything is read by them.
std::string FaultOfCounts(long rows, long columns, long entries);

// Whether all of `text`, but for blanks around it, is a number, which is then in *number.
bool ParseInteger(std::string_view text, long* number);
bool ParseReal(std::string_view text, double* number);

}  // namespace armci::bench

#endif  // ARMCI_BENCH_KERNELS_MATRIX_FORMATS_H_
