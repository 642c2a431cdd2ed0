// Reads a sparse matrix from a file in Harwell-Boeing or MatrixMarket coordinate format.
//
// Purpose: give the spmv example, and a benchmark, real input. Both formats are turned into compressed rows; the format
// is recognised by its first line. Thread safety: the functions share no state. Invariants of what is returned:
// row_start has rows + 1 entries that never decrease, row_start[0] = 0, row_start[rows] = number of entries, every
// column is in 0..columns - 1, every value is finite.
#ifndef ARMCI_EXAMPLES_MATRIX_READER_H_
#define ARMCI_EXAMPLES_MATRIX_READER_H_

#include <cstdint>
#include <functional>
#include <istream>
#include <optional>
#include <string>
#include <vector>

namespace sparse {

enum class Format { kHarwellBoeing, kMatrixMarket };
enum class Symmetry { kGeneral, kSymmetric, kSkew };

// The facts that a file states before its entries.
struct Header {
  Format format = Format::kHarwellBoeing;
  Symmetry symmetry = Symmetry::kGeneral;
  bool has_values = true;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t stored = 0;  // entries in the file, which has one triangle only of a symmetric matrix
};

struct Matrix : Header {
  std::vector<int64_t> row_start;  // entries of row i: row_start[i] up to, not including, row_start[i + 1]
  std::vector<int64_t> column;
  std::vector<double> value;
};

// Says why the caller refuses a matrix, nothing when it takes it. Called before memory is allocated by these counts.
using Refusal = std::function<std::string(const Header&)>;

// Harwell-Boeing: assembled matrices with real, integer or no values (R.A, I.A, P.A), of kind U (unsymmetric), R
// (rectangular), S (symmetric) and Z (skew symmetric). MatrixMarket: coordinate, real, integer or pattern; general,
// symmetric or skew-symmetric. Entries without values count as 1; of a symmetric matrix the missing triangle is added.
// An entry given twice is kept twice (a product adds them). Right-hand sides in a Harwell-Boeing file are ignored.
//
// Returns the matrix, or nothing and in *error one sentence that begins with the number of the offending line.
[[nodiscard]] std::optional<Matrix> ReadMatrix(std::istream& in, std::string* error, const Refusal& refuse = {});

// The same from a file; *error then begins with the file's name. A compressed file is refused with the way out.
[[nodiscard]] std::optional<Matrix> ReadMatrixFile(const std::string& path, std::string* error,
                                                   const Refusal& refuse = {});

}  // namespace sparse

#endif  // ARMCI_EXAMPLES_MATRIX_READER_H_
