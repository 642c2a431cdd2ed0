#include "matrix_reader.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <new>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace sparse {
namespace {

// Rows, columns and entries stay below this, so that no sum or product of two of them leaves 64 bits.
constexpr int64_t kCountMax = std::numeric_limits<int32_t>::max();

// Stays inside this file: ReadMatrix turns it into the caller's error text.
class FormatError : public std::runtime_error {
 public:
  FormatError(int64_t line, const std::string& what)
      : std::runtime_error("line " + std::to_string(line) + ": " + what) {}
};

// The lines of a file with their numbers; ends of lines of any system are removed.
class Lines {
 public:
  explicit Lines(std::istream& in) : in_(in) {}

  bool Next() {
    if (!std::getline(in_, text_)) return false;
    ++number_;
    while (!text_.empty() && (text_.back() == '\r' || text_.back() == ' ')) text_.pop_back();
    return true;
  }

  // The next line, which the format requires; what names it in the message.
  const std::string& Require(const std::string& what) {
    if (!Next()) throw FormatError(number_ + 1, "the file ends where " + what + " should be");
    return text_;
  }

  [[noreturn]] void Fail(const std::string& what) const { throw FormatError(number_, what); }

  const std::string& text() const { return text_; }
  int64_t number() const { return number_; }

 private:
  std::istream& in_;
  std::string text_;
  int64_t number_ = 0;
};

std::string Quoted(std::string_view text) {
  std::string shown = "\"";
  for (char c : text.substr(0, 40)) shown += std::isprint(static_cast<unsigned char>(c)) ? c : '?';
  return shown + (text.size() > 40 ? "...\"" : "\"");
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> Words(std::string_view text) {
  std::vector<std::string_view> words;
  while (true) {
    size_t begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return words;
    size_t end = std::min(text.find_first_of(" \t", begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    text.remove_prefix(end);
  }
}

int64_t Integer(const Lines& lines, std::string_view text, int64_t low, int64_t high, const std::string& what) {
  std::string_view digits = text;
  if (!digits.empty() && digits.front() == '+') digits.remove_prefix(1);
  int64_t number = 0;
  auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (code == std::errc::result_out_of_range) lines.Fail(what + " " + Quoted(text) + " is too large");
  if (code != std::errc() || end != digits.data() + digits.size())
    lines.Fail(what + " " + Quoted(text) + " is not a whole number");
  if (number < low || number > high)
    lines.Fail(what + " " + std::to_string(number) + " is outside " + std::to_string(low) + ".." +
               std::to_string(high));
  return number;
}

// text in C's notation; shown is what the file has in its place, for the message.
double Real(const Lines& lines, std::string_view text, std::string_view shown) {
  std::string_view digits = text;
  if (!digits.empty() && digits.front() == '+') digits.remove_prefix(1);
  double number = 0;
  auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  // Beyond the range of a double: the small ones are zero, the large ones an error.
  if (code == std::errc::result_out_of_range && digits.find("e-") != std::string_view::npos) return 0;
  if (code != std::errc() || end != digits.data() + digits.size() || !std::isfinite(number))
    lines.Fail("value " + Quoted(shown) + " is not a finite number");
  return number;
}

struct Entry {
  int64_t row;
  int64_t column;
  double value;
};

void CheckCounts(const Lines& lines, const Header& header, const Refusal& refuse) {
  if (header.symmetry != Symmetry::kGeneral && header.rows != header.columns)
    lines.Fail("a symmetric matrix should be square, this one is " + std::to_string(header.rows) + " x " +
               std::to_string(header.columns));
  std::string refusal = refuse ? refuse(header) : "";
  if (!refusal.empty()) lines.Fail(refusal);
}

// Adds the entry and, where the file stores one triangle only, its mirror image.
void AddEntry(const Lines& lines, Symmetry symmetry, Entry entry, std::vector<Entry>* entries) {
  if (symmetry != Symmetry::kGeneral && entry.column > entry.row)
    lines.Fail("entry (" + std::to_string(entry.row + 1) + ", " + std::to_string(entry.column + 1) +
               ") is above the diagonal, but the matrix is stored as its lower triangle");
  if (symmetry == Symmetry::kSkew && entry.column == entry.row)
    lines.Fail("entry (" + std::to_string(entry.row + 1) + ", " + std::to_string(entry.column + 1) +
               ") is on the diagonal of a skew-symmetric matrix");
  entries->push_back(entry);
  if (symmetry != Symmetry::kGeneral && entry.column != entry.row)
    entries->push_back({entry.column, entry.row, symmetry == Symmetry::kSkew ? -entry.value : entry.value});
}

// Sorts by rows; within a row the order of the file is kept.
Matrix Compress(const Header& header, const std::vector<Entry>& entries) {
  Matrix matrix = {header, {}, {}, {}};
  matrix.row_start.assign(static_cast<size_t>(header.rows) + 1, 0);
  for (const Entry& entry : entries) ++matrix.row_start[entry.row + 1];
  for (int64_t row = 0; row < header.rows; ++row) matrix.row_start[row + 1] += matrix.row_start[row];
  matrix.column.resize(entries.size());
  matrix.value.resize(entries.size());
  std::vector<int64_t> next(matrix.row_start.begin(), matrix.row_start.end() - 1);
  for (const Entry& entry : entries) {
    int64_t position = next[entry.row]++;
    matrix.column[position] = entry.column;
    matrix.value[position] = entry.value;
  }
  return matrix;
}

// ---- MatrixMarket: a banner, comments, a line "rows columns entries", then one line for each entry ----

Header ParseBanner(const Lines& lines) {
  std::string lower = Lower(lines.text());
  std::vector<std::string_view> words = Words(lower);
  if (words.size() != 5 || words[0] != "%%matrixmarket" || words[1] != "matrix")
    lines.Fail("the banner should be \"%%MatrixMarket matrix coordinate FIELD SYMMETRY\"");
  if (words[2] != "coordinate")
    lines.Fail("format " + Quoted(words[2]) + " is not read here, only \"coordinate\" (sparse) is");
  Header header = {.format = Format::kMatrixMarket, .has_values = words[3] != "pattern"};
  if (words[3] != "real" && words[3] != "integer" && words[3] != "pattern")
    lines.Fail("field " + Quoted(words[3]) + " is not read here, only real, integer and pattern are");
  if (words[4] == "symmetric") {
    header.symmetry = Symmetry::kSymmetric;
  } else if (words[4] == "skew-symmetric") {
    header.symmetry = Symmetry::kSkew;
  } else if (words[4] != "general") {
    lines.Fail("symmetry " + Quoted(words[4]) + " is not read here, only general, symmetric and skew-symmetric are");
  }
  return header;
}

// The next line with data: comments and empty lines are skipped.
bool NextMeaningful(Lines* lines) {
  while (lines->Next()) {
    if (!Words(lines->text()).empty() && lines->text()[0] != '%') return true;
  }
  return false;
}

Matrix ReadMarket(Lines* lines, const Refusal& refuse) {
  Header header = ParseBanner(*lines);
  if (!NextMeaningful(lines)) lines->Fail("the file ends before the line with rows, columns and entries");
  std::vector<std::string_view> words = Words(lines->text());
  if (words.size() != 3) lines->Fail("three numbers (rows, columns, entries) should be here");
  header.rows = Integer(*lines, words[0], 1, kCountMax, "number of rows");
  header.columns = Integer(*lines, words[1], 1, kCountMax, "number of columns");
  header.stored = Integer(*lines, words[2], 0, kCountMax, "number of entries");
  CheckCounts(*lines, header, refuse);
  std::vector<Entry> entries;
  for (int64_t i = 0; i < header.stored; ++i) {
    if (!NextMeaningful(lines))
      lines->Fail("the file ends after " + std::to_string(i) + " of " + std::to_string(header.stored) + " entries");
    words = Words(lines->text());
    if (words.size() != (header.has_values ? 3u : 2u))
      lines->Fail(header.has_values ? "an entry should be a row, a column and a value"
                                    : "an entry of a pattern should be a row and a column");
    Entry entry = {};
    entry.row = Integer(*lines, words[0], 1, header.rows, "row") - 1;
    entry.column = Integer(*lines, words[1], 1, header.columns, "column") - 1;
    entry.value = header.has_values ? Real(*lines, Lower(words[2]), words[2]) : 1.0;
    AddEntry(*lines, header.symmetry, entry, &entries);
  }
  if (NextMeaningful(lines))
    lines->Fail("there is more than the " + std::to_string(header.stored) + " entries announced");
  return Compress(header, entries);
}

// ---- Harwell-Boeing: fixed columns as Fortran writes them; the header says how wide, and fields may touch ----

struct FieldFormat {
  int per_line = 1;
  int width = 0;
  int decimals = 0;  // implied when a field has no decimal point
  int scale = 0;     // the P edit descriptor: a field without exponent is divided by 10^scale
};

// Reads "(16I5)", "(5E15.8)", "(1P,4D20.12)", "(10F7.1)", "(1P5E16.8E3)"; letters are the allowed kinds of field.
FieldFormat ParseFormat(const Lines& lines, std::string_view text, std::string_view letters) {
  std::string lower = Lower(text);
  std::erase(lower, ' ');
  std::string_view rest = lower;
  auto fail = [&]() { lines.Fail("format " + Quoted(Trimmed(text)) + " is not understood"); };
  auto number = [&](int missing) {
    int value = missing;
    auto [end, code] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (code == std::errc::result_out_of_range) fail();
    rest.remove_prefix(static_cast<size_t>(end - rest.data()));
    return value;
  };
  auto skip = [&](char c) {
    if (rest.empty() || rest.front() != c) return false;
    rest.remove_prefix(1);
    return true;
  };
  FieldFormat format;
  if (!skip('(')) fail();
  format.per_line = number(1);
  if (skip('p')) {
    format.scale = format.per_line;
    skip(',');
    format.per_line = number(1);
  }
  if (rest.empty() || letters.find(rest.front()) == std::string_view::npos) fail();
  rest.remove_prefix(1);
  format.width = number(0);
  if (skip('.')) format.decimals = number(0);
  if (skip('e')) number(0);
  if (rest != ")") fail();
  if (format.per_line < 1 || format.width < 1 || format.per_line > 1000 || format.width > 1000) fail();
  if (std::abs(format.scale) > 300 || format.decimals < 0 || format.decimals > 300) fail();
  return format;
}

// A section of a Harwell-Boeing file: fields of one format that run over as many lines as they need.
class Fields {
 public:
  Fields(Lines* lines, FieldFormat format, std::string what) : lines_(lines), format_(format), what_(std::move(what)) {}

  std::string_view Next() {
    if (used_ == format_.per_line || first_) {
      lines_->Require(what_);
      used_ = 0;
      first_ = false;
    }
    size_t begin = static_cast<size_t>(used_) * format_.width;
    ++used_;
    std::string_view line = lines_->text();
    std::string_view field = begin < line.size() ? Trimmed(line.substr(begin, format_.width)) : std::string_view();
    if (field.empty()) lines_->Fail("field " + std::to_string(used_) + " (" + what_ + ") is missing");
    return field;
  }

 private:
  Lines* lines_;
  FieldFormat format_;
  std::string what_;
  int used_ = 0;
  bool first_ = true;
};

// A number as Fortran reads it: D exponents, exponents without a letter, implied decimals, scale factor.
double FortranReal(const Lines& lines, std::string_view field, const FieldFormat& format) {
  std::string text;
  bool has_point = false;
  for (char c : Lower(field)) {
    if (c == 'd') c = 'e';
    if ((c == '+' || c == '-') && !text.empty() && text.back() != 'e') text += 'e';
    if (c == '+' && !text.empty()) continue;
    if (c == '.') has_point = true;
    text += c;
  }
  bool has_exponent = text.find('e') != std::string::npos;
  int shift = (has_exponent ? 0 : -format.scale) - (has_point ? 0 : format.decimals);
  // Shifted as text and not by a multiplication: the result is then rounded once.
  if (shift != 0 && !has_exponent) text += "e" + std::to_string(shift);
  double number = Real(lines, text, field);
  return shift != 0 && has_exponent ? number * std::pow(10.0, shift) : number;
}

struct BoeingHeader : Header {
  int64_t pointer_lines = 0;
  int64_t index_lines = 0;
  int64_t value_lines = 0;
  FieldFormat pointers;
  FieldFormat indices;
  FieldFormat values;
};

std::string_view Columns(std::string_view line, size_t begin, size_t width) {
  return begin < line.size() ? Trimmed(line.substr(begin, width)) : std::string_view();
}

void ParseType(const Lines& lines, std::string_view text, BoeingHeader* header) {
  std::string type = Lower(text);
  if (type.size() != 3) lines.Fail("a type of three letters, such as RUA, should begin this line");
  if (type[0] != 'r' && type[0] != 'i' && type[0] != 'p')
    lines.Fail("type " + Quoted(text) + " is not read here: values must be real (R), integer (I) or absent (P)");
  if (type[2] != 'a') lines.Fail("type " + Quoted(text) + " is not read here: the matrix must be assembled (A)");
  header->has_values = type[0] != 'p';
  if (type[1] == 's') {
    header->symmetry = Symmetry::kSymmetric;
  } else if (type[1] == 'z') {
    header->symmetry = Symmetry::kSkew;
  } else if (type[1] != 'u' && type[1] != 'r') {
    lines.Fail("type " + Quoted(text) + " is not read here: the kind must be U, R, S or Z");
  }
}

void CheckLineCount(const Lines& lines, int64_t announced, int64_t fields, const FieldFormat& format,
                    const std::string& what) {
  int64_t needed = (fields + format.per_line - 1) / format.per_line;
  if (announced != needed)
    lines.Fail("the header announces " + std::to_string(announced) + " lines of " + what + ", but " +
               std::to_string(fields) + " fields at " + std::to_string(format.per_line) + " a line fill " +
               std::to_string(needed));
}

BoeingHeader ReadBoeingHeader(Lines* lines, const Refusal& refuse) {
  BoeingHeader header;
  std::string_view line = lines->Require("line 2 of the header (numbers of lines)");
  header.pointer_lines = Integer(*lines, Columns(line, 14, 14), 1, kCountMax, "number of pointer lines");
  header.index_lines = Integer(*lines, Columns(line, 28, 14), 0, kCountMax, "number of index lines");
  header.value_lines = Integer(*lines, Columns(line, 42, 14), 0, kCountMax, "number of value lines");
  std::string_view rhs_text = Columns(line, 56, 14);
  int64_t rhs_lines = rhs_text.empty() ? 0 : Integer(*lines, rhs_text, 0, kCountMax, "number of right-hand side lines");

  line = lines->Require("line 3 of the header (type and sizes)");
  ParseType(*lines, Columns(line, 0, 3), &header);
  header.rows = Integer(*lines, Columns(line, 14, 14), 1, kCountMax, "number of rows");
  header.columns = Integer(*lines, Columns(line, 28, 14), 1, kCountMax, "number of columns");
  header.stored = Integer(*lines, Columns(line, 42, 14), 0, kCountMax, "number of entries");
  CheckCounts(*lines, header, refuse);

  line = lines->Require("line 4 of the header (formats)");
  header.pointers = ParseFormat(*lines, Columns(line, 0, 16), "i");
  header.indices = ParseFormat(*lines, Columns(line, 16, 16), "i");
  if (header.has_values) header.values = ParseFormat(*lines, Columns(line, 32, 20), "edfg");
  CheckLineCount(*lines, header.pointer_lines, header.columns + 1, header.pointers, "pointers");
  CheckLineCount(*lines, header.index_lines, header.stored, header.indices, "row indices");
  if (header.has_values) CheckLineCount(*lines, header.value_lines, header.stored, header.values, "values");

  if (rhs_lines > 0) lines->Require("line 5 of the header (right-hand sides)");
  return header;
}

Matrix ReadBoeing(Lines* lines, const Refusal& refuse) {
  BoeingHeader header = ReadBoeingHeader(lines, refuse);
  std::vector<int64_t> column_start;
  Fields pointers(lines, header.pointers, "column pointers");
  int64_t previous = 1;
  for (int64_t i = 0; i <= header.columns; ++i) {
    previous = Integer(*lines, pointers.Next(), previous, header.stored + 1, "column pointer");
    if (i == 0 && previous != 1) lines->Fail("the first column pointer should be 1");
    column_start.push_back(previous - 1);
  }
  if (previous != header.stored + 1)
    lines->Fail("the last column pointer is " + std::to_string(previous) +
                ", it should be the number of entries + 1 = " + std::to_string(header.stored + 1));

  std::vector<int64_t> row_of;
  std::vector<Entry> entries;
  Fields indices(lines, header.indices, "row indices");
  int64_t column = 0;
  for (int64_t i = 0; i < header.stored; ++i) {
    int64_t row = Integer(*lines, indices.Next(), 1, header.rows, "row index") - 1;
    while (column_start[column + 1] <= i) ++column;
    AddEntry(*lines, header.symmetry, {row, column, 1.0}, &entries);
  }
  if (!header.has_values) return Compress(header, entries);

  Fields values(lines, header.values, "values");
  for (size_t i = 0; i < entries.size(); ++i) {
    Entry& entry = entries[i];
    entry.value = FortranReal(*lines, values.Next(), header.values);
    bool mirrored = header.symmetry != Symmetry::kGeneral && entry.row != entry.column;
    // AddEntry has put the mirror image right behind.
    if (mirrored) entries[++i].value = header.symmetry == Symmetry::kSkew ? -entry.value : entry.value;
  }
  return Compress(header, entries);
}

Matrix ReadAny(Lines* lines, const Refusal& refuse) {
  const std::string& first = lines->Require("a matrix");
  if (first.size() >= 2 && first[0] == '\x1f' && first[1] == '\x8b')
    lines->Fail("the file is compressed: unpack it first (gunzip -k FILE)");
  if (Lower(first).rfind("%%matrixmarket", 0) == 0) return ReadMarket(lines, refuse);
  if (first.rfind("%%", 0) == 0) lines->Fail("the banner should begin with %%MatrixMarket");
  return ReadBoeing(lines, refuse);
}

}  // namespace

std::optional<Matrix> ReadMatrix(std::istream& in, std::string* error, const Refusal& refuse) {
  Lines lines(in);
  try {
    return ReadAny(&lines, refuse);
  } catch (const FormatError& failure) {
    *error = failure.what();
  } catch (const std::bad_alloc&) {
    *error = "line " + std::to_string(lines.number()) + ": the matrix does not fit into memory";
  }
  return std::nullopt;
}

std::optional<Matrix> ReadMatrixFile(const std::string& path, std::string* error, const Refusal& refuse) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    *error = path + ": cannot be opened: " + std::strerror(errno);
    return std::nullopt;
  }
  // A folder opens like a file and fails at the first read only.
  in.peek();
  if (in.bad()) {
    *error = path + ": cannot be read: " + std::strerror(errno);
    return std::nullopt;
  }
  in.clear();
  std::optional<Matrix> matrix = ReadMatrix(in, error, refuse);
  if (!matrix) *error = path + ": " + *error;
  return matrix;
}

}  // namespace sparse
