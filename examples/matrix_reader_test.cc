// The sparse-matrix reader: both formats, every kind of matrix it claims to read, and the message for each fault.
#include "matrix_reader.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <utility>

namespace sparse {
namespace {

using Dense = std::map<std::pair<int64_t, int64_t>, double>;

constexpr char kSmallMarket[] =
    "%%MatrixMarket matrix coordinate real general\n"
    "% a comment\n"
    "\n"
    "2 3 4\n"
    "2 3 -4.5\n"
    "1 1 1\n"
    "2 1 2e1\n"
    "1 3 +3\n";

// The same matrix: rows (1 0 3) and (20 0 -4.5), by columns, values that touch each other.
constexpr char kSmallBoeing[] =
    "small                                                                   KEY     \n"
    "             4             1             1             2             0\n"
    "RRA                        2             3             4             0\n"
    "(4I3)           (5I2)           (3E10.3)            \n"
    "  1  3  3  5\n"
    " 1 2 1 2\n"
    " 1.000E+00 2.000E+01 3.000E+00\n"
    "-4.500E+00\n";

Dense Sum(const Matrix& matrix) {
  Dense dense;
  for (int64_t row = 0; row < matrix.rows; ++row) {
    for (int64_t i = matrix.row_start[row]; i < matrix.row_start[row + 1]; ++i)
      dense[{row, matrix.column[i]}] += matrix.value[i];
  }
  return dense;
}

std::string Error(const std::string& text) {
  std::istringstream in(text);
  std::string error;
  std::optional<Matrix> matrix = ReadMatrix(in, &error);
  EXPECT_FALSE(matrix.has_value()) << text;
  return error;
}

Dense Read(const std::string& text) {
  std::istringstream in(text);
  std::string error;
  std::optional<Matrix> matrix = ReadMatrix(in, &error);
  EXPECT_TRUE(matrix.has_value()) << error;
  return matrix ? Sum(*matrix) : Dense();
}

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  size_t begin = text.find(from);
  EXPECT_NE(begin, std::string::npos) << from;
  return text.replace(begin, from.size(), to);
}

std::string Contents(const std::string& path) {
  std::ifstream in(path);
  EXPECT_TRUE(in.good()) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

// Also run outside of Bazel, then from the root of the project.
std::string Data(const std::string& name) { return "examples/data/" + name; }

TEST(MatrixMarket, ReadsGeneralMatrixInAnyOrder) {
  std::istringstream in(kSmallMarket);
  std::string error;
  std::optional<Matrix> matrix = ReadMatrix(in, &error);
  ASSERT_TRUE(matrix.has_value()) << error;
  EXPECT_EQ(matrix->rows, 2);
  EXPECT_EQ(matrix->columns, 3);
  EXPECT_EQ(matrix->row_start, (std::vector<int64_t>{0, 2, 4}));
  EXPECT_EQ(Sum(*matrix), (Dense{{{0, 0}, 1}, {{0, 2}, 3}, {{1, 0}, 20}, {{1, 2}, -4.5}}));
}

TEST(MatrixMarket, AcceptsLinesEndedByCarriageReturn) {
  std::string text;
  for (char c : std::string(kSmallMarket)) text += c == '\n' ? std::string("\r\n") : std::string(1, c);
  EXPECT_EQ(Read(text), Read(kSmallMarket));
}

TEST(MatrixMarket, MirrorsSymmetricEntriesButNotTheDiagonal) {
  EXPECT_EQ(Read("%%MatrixMarket matrix coordinate integer symmetric\n2 2 2\n1 1 5\n2 1 7\n"),
            (Dense{{{0, 0}, 5}, {{0, 1}, 7}, {{1, 0}, 7}}));
}

TEST(MatrixMarket, NegatesMirroredSkewEntries) {
  EXPECT_EQ(Read("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 7\n"),
            (Dense{{{0, 1}, -7}, {{1, 0}, 7}}));
}

TEST(MatrixMarket, GivesPatternEntriesTheValueOne) {
  EXPECT_EQ(Read("%%matrixmarket MATRIX Coordinate pattern general\n2 2 1\n1 2\n"), (Dense{{{0, 1}, 1}}));
}

TEST(MatrixMarket, AddsEntriesGivenTwice) {
  EXPECT_EQ(Read("%%MatrixMarket matrix coordinate real general\n1 1 2\n1 1 2\n1 1 3\n"), (Dense{{{0, 0}, 5}}));
}

TEST(MatrixMarket, ReadsMatrixWithoutEntries) {
  EXPECT_EQ(Read("%%MatrixMarket matrix coordinate real general\n3 3 0\n"), Dense());
}

TEST(MatrixMarket, NamesTheLineOfEachFault) {
  const std::string banner = "%%MatrixMarket matrix coordinate real general\n";
  const std::string symmetric = "%%MatrixMarket matrix coordinate real symmetric\n";
  EXPECT_EQ(Error("%%MatrixMarket matrix array real general\n2 2\n"),
            "line 1: format \"array\" is not read here, only \"coordinate\" (sparse) is");
  EXPECT_EQ(Error("%%MatrixMarket matrix coordinate complex general\n"),
            "line 1: field \"complex\" is not read here, only real, integer and pattern are");
  EXPECT_EQ(Error("%%MatrixMarket matrix coordinate real hermitian\n"),
            "line 1: symmetry \"hermitian\" is not read here, only general, symmetric and skew-symmetric are");
  EXPECT_EQ(Error("%%MatrixMarket matrix\n"),
            "line 1: the banner should be \"%%MatrixMarket matrix coordinate FIELD SYMMETRY\"");
  EXPECT_EQ(Error("%%Matrix\n"), "line 1: the banner should begin with %%MatrixMarket");
  EXPECT_EQ(Error(banner + "2 2\n"), "line 2: three numbers (rows, columns, entries) should be here");
  EXPECT_EQ(Error(banner + "2 -2 1\n"), "line 2: number of columns -2 is outside 1..2147483647");
  EXPECT_EQ(Error(banner + "2 99999999999999999999 1\n"),
            "line 2: number of columns \"99999999999999999999\" is too large");
  EXPECT_EQ(Error(banner + "2 2 1\n1 3 1\n"), "line 3: column 3 is outside 1..2");
  EXPECT_EQ(Error(banner + "2 2 1\n0 1 1\n"), "line 3: row 0 is outside 1..2");
  EXPECT_EQ(Error(banner + "2 2 1\n1 1\n"), "line 3: an entry should be a row, a column and a value");
  EXPECT_EQ(Error(banner + "2 2 1\n1 1 1 1\n"), "line 3: an entry should be a row, a column and a value");
  EXPECT_EQ(Error(banner + "2 2 1\n1 1.5 1\n"), "line 3: column \"1.5\" is not a whole number");
  EXPECT_EQ(Error(banner + "2 2 1\n1 1 abc\n"), "line 3: value \"abc\" is not a finite number");
  EXPECT_EQ(Error(banner + "2 2 1\n1 1 nan\n"), "line 3: value \"nan\" is not a finite number");
  EXPECT_EQ(Error(banner + "2 2 1\n1 1 1e999\n"), "line 3: value \"1e999\" is not a finite number");
  EXPECT_EQ(Error(banner + "2 2 2\n1 1 1\n"), "line 3: the file ends after 1 of 2 entries");
  EXPECT_EQ(Error(banner + "2 2 1\n1 1 1\n\n2 2 1\n"), "line 5: there is more than the 1 entries announced");
  EXPECT_EQ(Error(symmetric + "2 3 1\n"), "line 2: a symmetric matrix should be square, this one is 2 x 3");
  EXPECT_EQ(Error(symmetric + "2 2 1\n1 2 1\n"),
            "line 3: entry (1, 2) is above the diagonal, but the matrix is stored as its lower triangle");
  EXPECT_EQ(Error("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 2 1\n"),
            "line 3: entry (2, 2) is on the diagonal of a skew-symmetric matrix");
}

TEST(HarwellBoeing, ReadsTheSameAsMatrixMarket) { EXPECT_EQ(Read(kSmallBoeing), Read(kSmallMarket)); }

TEST(HarwellBoeing, ReadsPatternWithoutValues) {
  std::string text = Replaced(kSmallBoeing, "RRA", "PRA");
  text = Replaced(text, "             2             0\n", "             0             0\n");
  EXPECT_EQ(Read(text.substr(0, text.find(" 1.000E+00"))), (Dense{{{0, 0}, 1}, {{0, 2}, 1}, {{1, 0}, 1}, {{1, 2}, 1}}));
}

TEST(HarwellBoeing, ReadsSymmetricAndSkewTriangles) {
  const std::string body =
      "triangle                                                                KEY     \n"
      "             3             1             1             1             0\n"
      "R?A                        2             2             1             0\n"
      "(4I3)           (5I2)           (3F10.3)            \n"
      "  1  2  2\n"
      " 2\n"
      "     7.000\n";
  EXPECT_EQ(Read(Replaced(body, "?", "S")), (Dense{{{0, 1}, 7}, {{1, 0}, 7}}));
  EXPECT_EQ(Read(Replaced(body, "?", "Z")), (Dense{{{0, 1}, -7}, {{1, 0}, 7}}));
}

TEST(HarwellBoeing, PassesOverRightHandSides) {
  std::string text = Replaced(kSmallBoeing, "             2             0\n", "             2             1\n");
  text = Replaced(text, "            \n", "            (5E15.8)\nF                          1             0\n");
  EXPECT_EQ(Read(text + " 1.00000000E+00\n"), Read(kSmallMarket));
}

// One matrix of one entry; the value field is written as the format says.
double OneValue(const std::string& format, const std::string& field) {
  std::string text =
      "one                                                                     KEY     \n"
      "             3             1             1             1             0\n"
      "RUA                        1             1             1             0\n"
      "(4I3)           (5I2)           ";
  Dense dense = Read(text + format + "\n  1  2\n 1\n" + field + "\n");
  return dense[{0, 0}];
}

TEST(HarwellBoeing, ReadsNumbersAsFortranDoes) {
  EXPECT_EQ(OneValue("(5E15.8)", " 1.25000000E+01"), 12.5);
  EXPECT_EQ(OneValue("(4D20.12)", " -1.250000000000D+01"), -12.5);
  EXPECT_EQ(OneValue("(1P5D15.8)", "  1.2500000D-01"), 0.125);
  EXPECT_EQ(OneValue("(1P,4E20.12E3)", " 1.250000000000E+001"), 12.5);
  EXPECT_EQ(OneValue("(10F7.1)", "  -12.5"), -12.5);
  EXPECT_EQ(OneValue("(F7.2)", "   1250"), 12.5);
  EXPECT_EQ(OneValue("(F7.1)", "   -123"), -12.3);
  EXPECT_EQ(OneValue("(2PF7.1)", "  125.0"), 1.25);
  EXPECT_EQ(OneValue("(G12.4)", " 0.1250+2"), 12.5);
  EXPECT_EQ(OneValue("(G12.4)", " .1250-2"), 0.00125);
  EXPECT_EQ(OneValue("(E15.8)", "+1.25"), 1.25);
  EXPECT_EQ(OneValue("(E15.8)", "1.0E-400"), 0.0);
}

TEST(HarwellBoeing, NamesTheLineOfEachFault) {
  auto broken = [](const std::string& from, const std::string& to) { return Error(Replaced(kSmallBoeing, from, to)); };
  EXPECT_EQ(broken("RRA", "CUA"),
            "line 3: type \"CUA\" is not read here: values must be real (R), integer (I) or absent (P)");
  EXPECT_EQ(broken("RRA", "RUE"), "line 3: type \"RUE\" is not read here: the matrix must be assembled (A)");
  EXPECT_EQ(broken("RRA", "RHA"), "line 3: type \"RHA\" is not read here: the kind must be U, R, S or Z");
  EXPECT_EQ(broken("RRA", "RSA"), "line 3: a symmetric matrix should be square, this one is 2 x 3");
  EXPECT_EQ(broken("(4I3)", "(4X3)"), "line 4: format \"(4X3)\" is not understood");
  EXPECT_EQ(broken("(3E10.3)", "(3E99999999999.3)"), "line 4: format \"(3E99999999999.3)\" is not understood");
  EXPECT_EQ(broken("(3E10.3)", "(0E10.3) "), "line 4: format \"(0E10.3)\" is not understood");
  EXPECT_EQ(broken("             4             1             1             2",
                   "             4             1             1             3"),
            "line 4: the header announces 3 lines of values, but 4 fields at 3 a line fill 2");
  EXPECT_EQ(broken("  1  3  3  5", "  1  3  2  5"), "line 5: column pointer 2 is outside 3..5");
  EXPECT_EQ(broken("  1  3  3  5", "  2  3  3  5"), "line 5: the first column pointer should be 1");
  EXPECT_EQ(broken("  1  3  3  5", "  1  3  3  4"),
            "line 5: the last column pointer is 4, it should be the number of entries + 1 = 5");
  EXPECT_EQ(broken("  1  3  3  5", "  1  3  3"), "line 5: field 4 (column pointers) is missing");
  EXPECT_EQ(broken(" 1 2 1 2\n", " 1 2 1 3\n"), "line 6: row index 3 is outside 1..2");
  EXPECT_EQ(broken(" 1 2 1 2\n", " 1 2 1 x\n"), "line 6: row index \"x\" is not a whole number");
  EXPECT_EQ(broken("-4.500E+00", "-4.5x0E+00"), "line 8: value \"-4.5x0E+00\" is not a finite number");
  EXPECT_EQ(broken("-4.500E+00\n", ""), "line 8: the file ends where values should be");
  EXPECT_EQ(Error(""), "line 1: the file ends where a matrix should be");
  EXPECT_EQ(Error("any text\n"), "line 2: the file ends where line 2 of the header (numbers of lines) should be");
}

// Wherever a file is cut off, the reader says so: the last line is not needed in full, all before it is.
TEST(AnyFormat, RefusesEveryTruncation) {
  for (const std::string& text : {std::string(kSmallMarket), std::string(kSmallBoeing)}) {
    size_t last_line = text.rfind('\n', text.size() - 2) + 1;
    for (size_t length = 0; length <= last_line; ++length) {
      std::istringstream in(text.substr(0, length));
      std::string error;
      EXPECT_FALSE(ReadMatrix(in, &error).has_value()) << length << " bytes";
      EXPECT_EQ(error.rfind("line ", 0), 0u) << error;
    }
  }
}

// One damaged byte gives a matrix that keeps its invariants, or an error with a line number; never anything else.
TEST(AnyFormat, SurvivesEveryDamagedByte) {
  for (const std::string& text : {std::string(kSmallMarket), std::string(kSmallBoeing)}) {
    for (size_t position = 0; position < text.size(); ++position) {
      // No digits: a size of nine figures would be legal, and slow.
      for (char damage : {'\0', '\n', ' ', '-', '.', 'E', '(', '\xff'}) {
        std::string damaged = text;
        damaged[position] = damage;
        std::istringstream in(damaged);
        std::string error;
        std::optional<Matrix> matrix = ReadMatrix(in, &error);
        if (!matrix) {
          EXPECT_EQ(error.rfind("line ", 0), 0u) << error;
          continue;
        }
        ASSERT_EQ(matrix->row_start.size(), static_cast<size_t>(matrix->rows) + 1);
        ASSERT_EQ(matrix->row_start.back(), static_cast<int64_t>(matrix->column.size()));
        ASSERT_EQ(matrix->value.size(), matrix->column.size());
        for (int64_t column : matrix->column) EXPECT_TRUE(column >= 0 && column < matrix->columns);
      }
    }
  }
}

TEST(AnyFormat, RefusesCompressedFiles) {
  EXPECT_EQ(Error("\x1f\x8b\x08\n"), "line 1: the file is compressed: unpack it first (gunzip -k FILE)");
}

TEST(Files, HaveTheSameMatrixInBothFormats) {
  for (const auto& [boeing, market, entries] :
       {std::tuple("convection.rua", "convection.mtx", 349u), std::tuple("laplace.rsa", "laplace.mtx", 349u)}) {
    Dense matrix = Read(Contents(Data(boeing)));
    EXPECT_EQ(matrix.size(), entries);
    EXPECT_EQ(matrix, Read(Contents(Data(market)))) << boeing;
  }
}

TEST(Files, ReportTheirNameWithTheError) {
  std::string error;
  EXPECT_FALSE(ReadMatrixFile("no/such/file.mtx", &error).has_value());
  EXPECT_EQ(error, "no/such/file.mtx: cannot be opened: No such file or directory");
  EXPECT_FALSE(ReadMatrixFile("/", &error).has_value());
  EXPECT_EQ(error, "/: cannot be read: Is a directory");
  EXPECT_FALSE(ReadMatrixFile("/dev/null", &error).has_value());
  EXPECT_EQ(error, "/dev/null: line 1: the file ends where a matrix should be");
}

}  // namespace
}  // namespace sparse
