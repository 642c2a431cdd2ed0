// Good files give the matrix that is in them; of a malformed one it is said what is wrong and where, and nothing else
// happens.
#include "bench/kernels/matrix_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

namespace armci::bench {
namespace {

std::string Written(const std::string& text) {
  const std::string path = testing::TempDir() + "matrix_file_test.txt";
  std::ofstream(path) << text;
  return path;
}

// The result of ReadMatrix for a file with this text, without its path.
std::string FaultIn(const std::string& text) {
  const std::string path = Written(text);
  SparseMatrix matrix = {1, {0, 1}, {0}, {7}};
  const std::string fault = ReadMatrix(path, &matrix);
  EXPECT_EQ(matrix.value, std::vector<double>{7}) << "changed by a file that was not read";
  EXPECT_EQ(fault.substr(0, path.size()), path);
  return fault.size() > path.size() + 2 ? fault.substr(path.size() + 2) : "";
}

SparseMatrix Good(const std::string& path) {
  SparseMatrix matrix;
  EXPECT_EQ(ReadMatrix(path, &matrix), "");
  return matrix;
}

std::vector<std::vector<double>> Dense(const SparseMatrix& matrix) {
  std::vector<std::vector<double>> dense;
  for (size_t row = 0; row + 1 < matrix.row_begin.size(); ++row) {
    dense.emplace_back(static_cast<size_t>(matrix.columns));
    for (long e = matrix.row_begin[row]; e < matrix.row_begin[row + 1]; ++e) {
      dense[row][static_cast<size_t>(matrix.column[static_cast<size_t>(e)])] = matrix.value[static_cast<size_t>(e)];
    }
  }
  return dense;
}

using Rows = std::vector<std::vector<double>>;

std::string Market(const std::string& kind, const std::string& rest) {
  return "%%MatrixMarket matrix coordinate " + kind + "\n% a comment\n" + rest;
}

TEST(MatrixMarket, IsReadByRows) {
  const SparseMatrix matrix = Good(Written(Market("real general", "2 2 3\n1 1 1.5\n2 1 -2e1\n\n1 2 +3\n")));
  EXPECT_EQ(Dense(matrix), (Rows{{1.5, 3}, {-20, 0}}));
}

TEST(MatrixMarket, SymmetricGivesBothTriangles) {
  const SparseMatrix matrix = Good(Written(Market("integer symmetric", "3 3 4\n1 1 4\n2 2 5\n3 3 6\n3 1 -1\n")));
  EXPECT_EQ(Dense(matrix), (Rows{{4, 0, -1}, {0, 5, 0}, {-1, 0, 6}}));
}

TEST(MatrixMarket, PatternGivesOnes) {
  EXPECT_EQ(Dense(Good(Written(Market("pattern general", "2 2 2\n1 2\n2 1\n")))), (Rows{{0, 1}, {1, 0}}));
}

TEST(MatrixMarket, SymmetricPatternIsMadePositiveDefinite) {
  const SparseMatrix matrix = Good(Written(Market("pattern symmetric", "2 2 3\n1 1\n2 1\n2 2\n")));
  EXPECT_EQ(Dense(matrix), (Rows{{2, -1}, {-1, 2}}));
}

TEST(MatrixMarket, TellsALineThatIsMissing) {
  EXPECT_EQ(FaultIn(Market("real general", "2 2 3\n1 1 1\n2 2 1\n")), "line 5: the file ends after 2 of 3 entries");
  EXPECT_EQ(FaultIn(Market("real general", "")), "line 2: the file ends before its counts");
}

TEST(MatrixMarket, TellsATruncatedLine) {
  EXPECT_EQ(FaultIn(Market("real general", "2 2 2\n1 1 1\n2 2")), "line 5: an entry has 3 fields");
}

TEST(MatrixMarket, TellsMoreEntriesThanCounted) {
  EXPECT_EQ(FaultIn(Market("real general", "2 2 2\n1 1 1\n2 2 1\n1 2 3\n")),
            "line 6: more entries than the counts say");
}

TEST(MatrixMarket, TellsAnIndexOutOfRange) {
  EXPECT_EQ(FaultIn(Market("real general", "2 2 2\n1 1 1\n3 2 1\n")), "line 5, field 1: index out of range");
  EXPECT_EQ(FaultIn(Market("real general", "2 2 2\n1 1 1\n1 3 1\n")), "line 5, field 2: index out of range");
  EXPECT_EQ(FaultIn(Market("pattern symmetric", "2 2 2\n1 1\n4000000000 1\n")), "line 5, field 1: index out of range");
}

TEST(MatrixMarket, TellsAnIndexBelowOne) {
  EXPECT_EQ(FaultIn(Market("real general", "2 2 2\n0 1 1\n2 2 1\n")), "line 4, field 1: index out of range");
  EXPECT_EQ(FaultIn(Market("real general", "2 2 2\n1 0 1\n2 2 1\n")), "line 4, field 2: index out of range");
  EXPECT_EQ(FaultIn(Market("real general", "2 2 2\n1 1 1\n-1 2 1\n")), "line 5, field 1: index out of range");
  EXPECT_EQ(FaultIn(Market("real general", "2 2 2\n1 1 1\n2 -2 1\n")), "line 5, field 2: index out of range");
}

TEST(MatrixMarket, TellsWhatIsNotANumber) {
  EXPECT_EQ(FaultIn(Market("real general", "1 1 1\n1 1 x\n")), "line 4, field 3: not a number");
  EXPECT_EQ(FaultIn(Market("real general", "1 1 1\n1 1 nan\n")), "line 4, field 3: not a number");
  EXPECT_EQ(FaultIn(Market("real general", "1 1 1\n1 1.0 2\n")), "line 4, field 2: not a whole number");
}

TEST(MatrixMarket, TellsCountsThatCannotBe) {
  EXPECT_EQ(FaultIn(Market("real general", "2 2\n")), "line 3: three counts are needed: rows, columns, entries");
  EXPECT_EQ(FaultIn(Market("real general", "0 0 0\n")), "line 3: counts have to be positive");
  EXPECT_EQ(FaultIn(Market("real general", "2 3 4\n")), "line 3: the matrix is not square");
  EXPECT_EQ(FaultIn(Market("real general", "2 2 99999999999999999999\n")), "line 3, field 3: not a count");
}

TEST(MatrixMarket, HugeCountsTakeNoMemory) {
  EXPECT_EQ(FaultIn(Market("real general", "2000000000 2000000000 5\n")), "line 3: more rows than entries");
  EXPECT_EQ(FaultIn(Market("real general", "9000000000 9000000000 9000000000000\n")),
            "line 3: more rows than an int can count");
  EXPECT_EQ(FaultIn(Market("real general", "2000000000 2000000000 9000000000000000000\n")),
            "line 3: more entries than places for them");
  EXPECT_EQ(FaultIn(Market("real general", "2000000000 2000000000 4000000000000000000\n1 1 1\n")),
            "line 4: the file ends after 1 of 4000000000000000000 entries");
}

TEST(MatrixMarket, TellsAnEntryAboveTheDiagonalOfASymmetricMatrix) {
  EXPECT_EQ(FaultIn(Market("real symmetric", "2 2 2\n1 1 1\n1 2 1\n")),
            "line 5: an entry above the diagonal of a symmetric matrix");
}

TEST(MatrixMarket, TellsAKindThatIsNotRead) {
  EXPECT_EQ(FaultIn("%%MatrixMarket matrix array real general\n1 1\n1\n"),
            "line 1, field 3: only coordinate files are read");
  EXPECT_EQ(FaultIn(Market("complex general", "1 1 1\n1 1 1 0\n")),
            "line 1, field 4: only real, integer and pattern matrices are read");
  EXPECT_EQ(FaultIn(Market("real hermitian", "1 1 1\n1 1 1\n")),
            "line 1, field 5: only general and symmetric matrices are read");
  EXPECT_EQ(FaultIn("%%MatrixMarket matrix\n"), "line 1: a header has five words");
}

// A matrix of two columns; the parts that tests spoil can be given.
struct Boeing {
  std::string kind = "RUA";
  std::string counts = "             2             2             3             0";
  std::string formats = "(3I4)           (2I3)           (1P,2E10.2)         ";
  std::string pointers = "   1   3   4\n";
  std::string indices = "  1  2\n  2\n";
  std::string values = "  1.50D+00-20.00E+00\n      3.25\n";

  std::string Text() const {
    return "a title\n             4             1             2             1\n" + kind + "           " + counts +
           "\n" + formats + "\n" + pointers + indices + values;
  }
};

std::string FaultWith(std::string Boeing::*part, const std::string& text) {
  Boeing file;
  file.*part = text;
  return FaultIn(file.Text());
}

TEST(HarwellBoeing, IsReadByRowsAlsoWithoutBlanksBetweenNumbers) {
  // The scale is for numbers without an exponent.
  EXPECT_EQ(Dense(Good(Written(Boeing().Text()))), (Rows{{1.5, 0}, {-20, 0.325}}));
}

TEST(HarwellBoeing, SymmetricGivesBothTriangles) {
  Boeing file;
  file.kind = "rsa";
  EXPECT_EQ(Dense(Good(Written(file.Text()))), (Rows{{1.5, -20}, {-20, 0.325}}));
}

TEST(HarwellBoeing, PatternGivesOnes) {
  Boeing file;
  file.kind = "PUA";
  file.values = "";
  EXPECT_EQ(Dense(Good(Written(file.Text()))), (Rows{{1, 0}, {1, 1}}));
}

TEST(HarwellBoeing, TheLineAboutRightHandSidesIsPassedOver) {
  std::string text = Boeing().Text();
  text.replace(text.find('\n') + 1, 56, "             5             1             2             1             1");
  text.insert(text.find("   1   3"), "F                          1             0\n");
  EXPECT_EQ(Dense(Good(Written(text))), (Rows{{1.5, 0}, {-20, 0.325}}));
}

TEST(HarwellBoeing, TellsWhereTheFileEnds) {
  EXPECT_EQ(FaultWith(&Boeing::values, "  1.50E+00\n"), "line 8, field 2: blank, where a number should be");
  EXPECT_EQ(FaultWith(&Boeing::values, "  1.50E+00-20.00E+00\n"), "line 8: the file ends here, before all entries");
  EXPECT_EQ(FaultIn("a title\n"), "line 1: the file ends within its header");
}

TEST(HarwellBoeing, TellsAnIndexOutOfRange) {
  EXPECT_EQ(FaultWith(&Boeing::indices, "  1  3\n  2\n"), "line 6, field 2: out of range");
  EXPECT_EQ(FaultWith(&Boeing::indices, "  1  2\n  0\n"), "line 7, field 1: out of range");
  EXPECT_EQ(FaultWith(&Boeing::indices, "  1 -2\n  2\n"), "line 6, field 2: out of range");
}

TEST(HarwellBoeing, TellsPointersThatCannotBe) {
  EXPECT_EQ(FaultWith(&Boeing::pointers, "   1   9   4\n"), "line 5, field 2: out of range");
  EXPECT_EQ(FaultWith(&Boeing::pointers, "   0   3   4\n"), "line 5, field 1: out of range");
  EXPECT_EQ(FaultWith(&Boeing::pointers, "   1  -3   4\n"), "line 5, field 2: out of range");
  EXPECT_EQ(FaultWith(&Boeing::pointers, "   2   3   4\n"),
            "line 5, field 1: the first column does not begin with the first entry");
  EXPECT_EQ(FaultWith(&Boeing::pointers, "   1   3   3\n"),
            "line 5, field 3: the last column does not end with the last entry");
  EXPECT_EQ(FaultWith(&Boeing::pointers, "   1 x 3   4\n"), "line 5, field 2: not a whole number");
}

TEST(HarwellBoeing, TellsPointersThatDescend) {
  EXPECT_EQ(FaultWith(&Boeing::pointers, "   1   4   3\n"), "line 5, field 3: a column ends before it begins");
  Boeing file;
  file.formats = "(2I4)           (2I3)           (1P,2E10.2)         ";
  file.pointers = "   1   4\n   2\n";
  EXPECT_EQ(FaultIn(file.Text()), "line 6, field 1: a column ends before it begins");
}

TEST(HarwellBoeing, TellsAnEntryGivenTwice) {
  EXPECT_EQ(FaultWith(&Boeing::indices, "  2  2\n  2\n"), "column 1: an entry is given twice");
}

TEST(HarwellBoeing, TellsAnEntryAboveTheDiagonalOfASymmetricMatrix) {
  Boeing file;
  file.kind = "RSA";
  file.indices = "  1  2\n  1\n";
  EXPECT_EQ(FaultIn(file.Text()), "column 2: an entry above the diagonal of a symmetric matrix");
}

TEST(HarwellBoeing, TellsWhatIsNotANumber) {
  EXPECT_EQ(FaultWith(&Boeing::values, "  1.50E+00      oops\n      3.25\n"), "line 8, field 2: not a number");
  EXPECT_EQ(FaultWith(&Boeing::values, "  1.50E+00        12\n      3.25\n"),
            "line 8, field 2: a number without a decimal point");
}

TEST(HarwellBoeing, TellsCountsThatCannotBe) {
  EXPECT_EQ(FaultWith(&Boeing::counts, "             2             2           two             0"),
            "line 3, field 4: not a count");
  EXPECT_EQ(FaultWith(&Boeing::counts, "             2             3             3             0"),
            "line 3: the matrix is not square");
}

TEST(HarwellBoeing, HugeCountsTakeNoMemory) {
  EXPECT_EQ(FaultWith(&Boeing::counts, "    2000000000    2000000000             3             0"),
            "line 3: more rows than entries");
  EXPECT_EQ(FaultWith(&Boeing::counts, "    2000000000    2000000000    4000000000             0"),
            "line 6, field 1: a column ends before it begins");
}

TEST(HarwellBoeing, TellsAFormatThatIsNone) {
  EXPECT_EQ(FaultWith(&Boeing::formats, "(3X4)           (2I3)           (2E10.2)"), "line 4, field 1: not a format");
  EXPECT_EQ(FaultWith(&Boeing::formats, "(3I4)           (2I             (2E10.2)"), "line 4, field 2: not a format");
  EXPECT_EQ(FaultWith(&Boeing::formats, "(3I4)           (2I3)           (2I10)"),
            "line 4, field 3: not a format of real numbers");
}

TEST(HarwellBoeing, TellsAKindThatIsNotRead) {
  EXPECT_EQ(FaultWith(&Boeing::kind, "RUE"), "line 3: only assembled matrices are read");
  EXPECT_EQ(FaultWith(&Boeing::kind, "RRA"), "line 3: only unsymmetric and symmetric matrices are read");
  EXPECT_EQ(FaultWith(&Boeing::kind, "CUA"),
            "line 3: only real, integer and pattern matrices are read, or this is not a Harwell-Boeing file");
}

TEST(HarwellBoeing, ReadsTheExampleOfSuperLu) {
  const std::string path = "/usr/lib/x86_64-linux-gnu/superlu-dist/tests/EXAMPLE/g20.rua";
  if (!std::ifstream(path)) GTEST_SKIP() << path << " is not installed: run tools/armci setup";
  const SparseMatrix matrix = Good(path);
  EXPECT_EQ(matrix.rows(), 400);
  EXPECT_EQ(matrix.entries(), 1920);
  EXPECT_EQ(RowSumNorm(matrix), 8);
}

TEST(MatrixFile, ThatIsMissingOrEmptyIsReported) {
  SparseMatrix matrix;
  EXPECT_EQ(ReadMatrix("/nowhere/at.all", &matrix), "/nowhere/at.all: cannot be opened");
  EXPECT_EQ(FaultIn(""), "is empty, or cannot be read");
}

}  // namespace
}  // namespace armci::bench
