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
  EXPECT_EQ(FaultIn(Market("real general", "")),
            "line 2: the file ends before the line with rows, columns and entries");
}

TEST(MatrixMarket, TellsATruncatedLine) {
  EXPECT_EQ(FaultIn(Market("real general", "2 2 2\n1 1 1\n2 2")),
            "line 5: an entry should be a row, a column and a value");
}

TEST(MatrixMarket, TellsMoreEntriesThanCounted) {
  EXPECT_EQ(FaultIn(Market("real general", "2 2 2\n1 1 1\n2 2 1\n1 2 3\n")),
            "line 6: there is more than the 2 entries announced");
}

TEST(MatrixMarket, TellsAnIndexOutOfRange) {
  EXPECT_EQ(FaultIn(Market("real general", "2 2 2\n1 1 1\n3 2 1\n")), "line 5: row 3 is outside 1..2");
  EXPECT_EQ(FaultIn(Market("real general", "2 2 2\n1 1 1\n1 3 1\n")), "line 5: column 3 is outside 1..2");
  EXPECT_EQ(FaultIn(Market("pattern symmetric", "2 2 2\n1 1\n4000000000 1\n")),
            "line 5: row 4000000000 is outside 1..2");
}

TEST(MatrixMarket, TellsAnIndexBelowOne) {
  EXPECT_EQ(FaultIn(Market("real general", "2 2 2\n0 1 1\n2 2 1\n")), "line 4: row 0 is outside 1..2");
  EXPECT_EQ(FaultIn(Market("real general", "2 2 2\n1 0 1\n2 2 1\n")), "line 4: column 0 is outside 1..2");
  EXPECT_EQ(FaultIn(Market("real general", "2 2 2\n1 1 1\n-1 2 1\n")), "line 5: row -1 is outside 1..2");
  EXPECT_EQ(FaultIn(Market("real general", "2 2 2\n1 1 1\n2 -2 1\n")), "line 5: column -2 is outside 1..2");
}

TEST(MatrixMarket, TellsWhatIsNotANumber) {
  EXPECT_EQ(FaultIn(Market("real general", "1 1 1\n1 1 x\n")), "line 4: value \"x\" is not a finite number");
  EXPECT_EQ(FaultIn(Market("real general", "1 1 1\n1 1 nan\n")), "line 4: value \"nan\" is not a finite number");
  EXPECT_EQ(FaultIn(Market("real general", "1 1 1\n1 1.0 2\n")), "line 4: column \"1.0\" is not a whole number");
}

TEST(MatrixMarket, TellsCountsThatCannotBe) {
  EXPECT_EQ(FaultIn(Market("real general", "2 2\n")), "line 3: three numbers (rows, columns, entries) should be here");
  EXPECT_EQ(FaultIn(Market("real general", "0 0 0\n")), "line 3: number of rows 0 is outside 1..2147483647");
  EXPECT_EQ(FaultIn(Market("real general", "2 3 4\n")), "line 3: the matrix is not square");
  EXPECT_EQ(FaultIn(Market("real general", "2 2 99999999999999999999\n")),
            "line 3: number of entries \"99999999999999999999\" is too large");
}

TEST(MatrixMarket, HugeCountsTakeNoMemory) {
  EXPECT_EQ(FaultIn(Market("real general", "2000000000 2000000000 5\n")), "line 3: more rows than entries");
  EXPECT_EQ(FaultIn(Market("real general", "9000000000 9000000000 9000000000000\n")),
            "line 3: number of rows 9000000000 is outside 1..2147483647");
  EXPECT_EQ(FaultIn(Market("real general", "2000000000 2000000000 9000000000000000000\n")),
            "line 3: number of entries 9000000000000000000 is outside 0..2147483647");
  EXPECT_EQ(FaultIn(Market("real general", "2000000000 2000000000 2147483647\n1 1 1\n")),
            "line 4: the file ends after 1 of 2147483647 entries");
}

TEST(MatrixMarket, TellsAnEntryAboveTheDiagonalOfASymmetricMatrix) {
  EXPECT_EQ(FaultIn(Market("real symmetric", "2 2 2\n1 1 1\n1 2 1\n")),
            "line 5: entry (1, 2) is above the diagonal, but the matrix is stored as its lower triangle");
}

TEST(MatrixMarket, TellsAKindThatIsNotRead) {
  EXPECT_EQ(FaultIn("%%MatrixMarket matrix array real general\n1 1\n1\n"),
            "line 1: format \"array\" is not read here, only \"coordinate\" (sparse) is");
  EXPECT_EQ(FaultIn(Market("complex general", "1 1 1\n1 1 1 0\n")),
            "line 1: field \"complex\" is not read here, only real, integer and pattern are");
  EXPECT_EQ(FaultIn(Market("real hermitian", "1 1 1\n1 1 1\n")),
            "line 1: symmetry \"hermitian\" is not read here, only general, symmetric and skew-symmetric are");
  EXPECT_EQ(FaultIn("%%MatrixMarket matrix\n"),
            "line 1: the banner should be \"%%MatrixMarket matrix coordinate FIELD SYMMETRY\"");
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
    return "a title\n             5             1             2             2\n" + kind + "           " + counts +
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
  text.replace(text.find('\n') + 1, 56, "             6             1             2             2             1");
  text.insert(text.find("   1   3"), "F                          1             0\n");
  EXPECT_EQ(Dense(Good(Written(text))), (Rows{{1.5, 0}, {-20, 0.325}}));
}

TEST(HarwellBoeing, TellsWhereTheFileEnds) {
  EXPECT_EQ(FaultWith(&Boeing::values, "  1.50E+00\n"), "line 8: field 2 (values) is missing");
  EXPECT_EQ(FaultWith(&Boeing::values, "  1.50E+00-20.00E+00\n"), "line 9: the file ends where values should be");
  EXPECT_EQ(FaultIn("a title\n"), "line 2: the file ends where line 2 of the header (numbers of lines) should be");
}

TEST(HarwellBoeing, TellsAnIndexOutOfRange) {
  EXPECT_EQ(FaultWith(&Boeing::indices, "  1  3\n  2\n"), "line 6: row index 3 is outside 1..2");
  EXPECT_EQ(FaultWith(&Boeing::indices, "  1  2\n  0\n"), "line 7: row index 0 is outside 1..2");
  EXPECT_EQ(FaultWith(&Boeing::indices, "  1 -2\n  2\n"), "line 6: row index -2 is outside 1..2");
}

TEST(HarwellBoeing, TellsPointersThatCannotBe) {
  EXPECT_EQ(FaultWith(&Boeing::pointers, "   1   9   4\n"), "line 5: column pointer 9 is outside 1..4");
  EXPECT_EQ(FaultWith(&Boeing::pointers, "   0   3   4\n"), "line 5: column pointer 0 is outside 1..4");
  EXPECT_EQ(FaultWith(&Boeing::pointers, "   1  -3   4\n"), "line 5: column pointer -3 is outside 1..4");
  EXPECT_EQ(FaultWith(&Boeing::pointers, "   2   3   4\n"), "line 5: the first column pointer should be 1");
  EXPECT_EQ(FaultWith(&Boeing::pointers, "   1   3   3\n"),
            "line 5: the last column pointer is 3, it should be the number of entries + 1 = 4");
  EXPECT_EQ(FaultWith(&Boeing::pointers, "   1 x 3   4\n"), "line 5: column pointer \"x 3\" is not a whole number");
}

TEST(HarwellBoeing, TellsPointersThatDescend) {
  EXPECT_EQ(FaultWith(&Boeing::pointers, "   1   4   3\n"), "line 5: column pointer 3 is outside 4..4");
  Boeing file;
  file.formats = "(2I4)           (2I3)           (1P,2E10.2)         ";
  file.pointers = "   1   4\n   2\n";
  std::string text = file.Text();
  text.replace(text.find('\n') + 1, 28, "             6             2");
  EXPECT_EQ(FaultIn(text), "line 6: column pointer 2 is outside 4..4");
}

TEST(HarwellBoeing, TellsAnEntryGivenTwice) {
  EXPECT_EQ(FaultWith(&Boeing::indices, "  2  2\n  2\n"), "row 2, column 1: an entry is given twice");
}

TEST(HarwellBoeing, TellsAnEntryAboveTheDiagonalOfASymmetricMatrix) {
  Boeing file;
  file.kind = "RSA";
  file.indices = "  1  2\n  1\n";
  EXPECT_EQ(FaultIn(file.Text()),
            "line 7: entry (1, 2) is above the diagonal, but the matrix is stored as its lower triangle");
}

TEST(HarwellBoeing, TellsWhatIsNotANumber) {
  EXPECT_EQ(FaultWith(&Boeing::values, "  1.50E+00      oops\n      3.25\n"),
            "line 8: value \"oops\" is not a finite number");
}

TEST(HarwellBoeing, NumberWithoutPointHasThatOfTheFormat) {
  Boeing file;
  file.values = "  1.50E+00      1200\n      3.25\n";
  EXPECT_EQ(Dense(Good(Written(file.Text()))), (Rows{{1.5, 0}, {1.2, 0.325}}));
}

TEST(HarwellBoeing, TellsCountsThatCannotBe) {
  EXPECT_EQ(FaultWith(&Boeing::counts, "             2             2           two             0"),
            "line 3: number of entries \"two\" is not a whole number");
  EXPECT_EQ(FaultWith(&Boeing::counts, "             2             3             3             0"),
            "line 3: the matrix is not square");
}

TEST(HarwellBoeing, HugeCountsTakeNoMemory) {
  EXPECT_EQ(FaultWith(&Boeing::counts, "    2000000000    2000000000             3             0"),
            "line 3: more rows than entries");
  EXPECT_EQ(FaultWith(&Boeing::counts, "    2000000000    2000000000    4000000000             0"),
            "line 3: number of entries 4000000000 is outside 0..2147483647");
}

TEST(HarwellBoeing, TellsAFormatThatIsNone) {
  EXPECT_EQ(FaultWith(&Boeing::formats, "(3X4)           (2I3)           (2E10.2)"),
            "line 4: format \"(3X4)\" is not understood");
  EXPECT_EQ(FaultWith(&Boeing::formats, "(3I4)           (2I             (2E10.2)"),
            "line 4: format \"(2I\" is not understood");
  EXPECT_EQ(FaultWith(&Boeing::formats, "(3I4)           (2I3)           (2I10)"),
            "line 4: format \"(2I10)\" is not understood");
}

TEST(HarwellBoeing, TellsAKindThatIsNotRead) {
  EXPECT_EQ(FaultWith(&Boeing::kind, "RUE"), "line 3: type \"RUE\" is not read here: the matrix must be assembled (A)");
  EXPECT_EQ(FaultWith(&Boeing::kind, "RHA"), "line 3: type \"RHA\" is not read here: the kind must be U, R, S or Z");
  EXPECT_EQ(FaultWith(&Boeing::kind, "CUA"),
            "line 3: type \"CUA\" is not read here: values must be real (R), integer (I) or absent (P)");
}

TEST(HarwellBoeing, TellsASkewMatrix) {
  EXPECT_EQ(FaultWith(&Boeing::kind, "RZA"), "line 3: only general and symmetric matrices are read");
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
  EXPECT_EQ(ReadMatrix("/nowhere/at.all", &matrix), "/nowhere/at.all: cannot be opened: No such file or directory");
  EXPECT_EQ(FaultIn(""), "line 1: the file ends where a matrix should be");
}

}  // namespace
}  // namespace armci::bench
