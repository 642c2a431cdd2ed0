// The fixed format of the Harwell-Boeing collection (Duff, Grimes and Lewis, ACM Transactions on Mathematical Software
// 15, 1989), which the Rutherford-Boeing format kept but for the right-hand sides:
//
//   line 1   title                                          72 columns, key 8
//   line 2   lines in all, of pointers, indices, values, right-hand sides      5 x 14
//   line 3   type 3, blank 11; rows, columns, entries, element entries         4 x 14
//   line 4   formats of pointers 16, indices 16, values 20, right-hand sides 20
//   line 5   about right-hand sides, only where there are some
//   then     where each column begins; the row of each entry; its value, as many on a line as the format says and
//            without blanks between them
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <utility>
#include <vector>

#include "bench/kernels/matrix_formats.h"
#include "bench/kernels/text_lines.h"

namespace armci::bench {
namespace {

constexpr size_t kCountWidth = 14;

// Of a Fortran format like (16I5), (1P,5E15.8) or (3D26.18).
struct Format {
  int per_line = 1;
  size_t width = 0;
  int scale = 0;  // P: values without exponent are to be divided by ten to this power
};

struct Header {
  bool pattern = false;
  bool symmetric = false;
  long size = 0;
  long entries = 0;
  bool right_hand_sides = false;
  Format pointers;
  Format indices;
  Format values;
};

// `text` from `first` on, as if the line went on with blanks for ever.
std::string Columns(const std::string& text, size_t first, size_t width) {
  return first < text.size() ? text.substr(first, width) : "";
}

bool IsBlank(const std::string& text) { return text.find_first_not_of(" \t") == std::string::npos; }

// The number of digits at *at, which moves behind them; `otherwise` where there are none, -1 when it is too large.
int TakeNumber(const std::string& text, size_t* at, int otherwise) {
  const size_t first = *at;
  while (*at < text.size() && std::isdigit(static_cast<unsigned char>(text[*at])) != 0) ++*at;
  if (*at == first) return otherwise;
  return *at - first <= 4 ? std::stoi(text.substr(first, *at - first)) : -1;
}

bool ParseFormat(const std::string& columns, const std::string& letters, Format* format) {
  std::string text;
  for (char c : columns) {
    if (c != ' ') text += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  size_t at = 1;
  if (text.size() < 4 || text.front() != '(' || text.back() != ')') return false;
  format->per_line = TakeNumber(text, &at, 1);
  if (text[at] == 'P') {
    format->scale = format->per_line;
    if (text[++at] == ',') ++at;
    format->per_line = TakeNumber(text, &at, 1);
  }
  if (at >= text.size() || letters.find(text[at]) == std::string::npos) return false;
  const int width = TakeNumber(text, &++at, 0);
  format->width = static_cast<size_t>(std::max(width, 0));
  return width > 0 && format->per_line > 0 && format->scale >= 0 && (text[at] == ')' || text[at] == '.');
}

// One field after the other of a section, which begins on a new line.
class Fields {
 public:
  Fields(TextLines& lines, const Format& format) : lines_(lines), format_(format), used_(format.per_line) {}

  // Empty, or what is wrong.
  std::string Next(std::string* text) {
    if (used_ == format_.per_line) {
      if (!lines_.Next()) return lines_.Fault("the file ends here, before all entries");
      used_ = 0;
    }
    *text = Columns(lines_.text(), static_cast<size_t>(used_) * format_.width, format_.width);
    ++used_;
    return IsBlank(*text) ? Fault("blank, where a number should be") : "";
  }

  std::string Fault(const std::string& what) const { return lines_.Fault(what, used_); }

 private:
  TextLines& lines_;
  Format format_;
  int used_;
};

// Counted from 0. `fault_of` returns the fault of the entry after those that were read, or null; the error names its
// line.
template <typename FaultOfNext>
std::string ReadNumbers(TextLines& lines, const Format& format, long count, long most, FaultOfNext fault_of,
                        std::vector<long>* numbers) {
  Fields fields(lines, format);
  std::string text;
  for (long i = 0; i < count; ++i) {
    const std::string fault = fields.Next(&text);
    if (!fault.empty()) return fault;
    long number = 0;
    if (!ParseInteger(text, &number)) return fields.Fault("not a whole number");
    if (number < 1 || number > most) return fields.Fault("out of range");
    const char* const wrong = fault_of(*numbers, number - 1);
    if (wrong != nullptr) return fields.Fault(wrong);
    numbers->push_back(number - 1);
  }
  return "";
}

// Where columns begin, and where the last one ends.
std::string ReadPointers(TextLines& lines, const Header& header, std::vector<long>* pointers) {
  const auto fault_of = [&](const std::vector<long>& before, long next) -> const char* {
    if (before.empty() && next != 0) return "the first column does not begin with the first entry";
    if (!before.empty() && next < before.back()) return "a column ends before it begins";
    const bool is_last = static_cast<long>(before.size()) == header.size;
    return is_last && next != header.entries ? "the last column does not end with the last entry" : nullptr;
  };
  return ReadNumbers(lines, header.pointers, header.size + 1, header.entries + 1, fault_of, pointers);
}

std::string ReadIndices(TextLines& lines, const Header& header, std::vector<long>* rows) {
  const auto fault_of = [](const std::vector<long>&, long) -> const char* { return nullptr; };
  return ReadNumbers(lines, header.indices, header.entries, header.size, fault_of, rows);
}

std::string ReadValues(TextLines& lines, const Format& format, long count, std::vector<double>* values) {
  Fields fields(lines, format);
  std::string text;
  for (long i = 0; i < count; ++i) {
    const std::string fault = fields.Next(&text);
    if (!fault.empty()) return fault;
    std::transform(text.begin(), text.end(), text.begin(), [](char c) { return c == 'D' || c == 'd' ? 'E' : c; });
    double value = 0;
    if (!ParseReal(text, &value)) return fields.Fault("not a number");
    // Fortran would put one where the format says.
    if (text.find('.') == std::string::npos) return fields.Fault("a number without a decimal point");
    if (text.find_first_of("Ee") == std::string::npos) value /= std::pow(10, format.scale);
    values->push_back(value);
  }
  return "";
}

std::string ReadKind(TextLines& lines, Header* header) {
  if (!lines.Next()) return lines.Fault("the file ends within its header");
  std::string kind = Columns(lines.text(), 0, 3);
  std::transform(kind.begin(), kind.end(), kind.begin(), [](unsigned char c) { return std::toupper(c); });
  if (kind.size() != 3 || std::string("RIP").find(kind[0]) == std::string::npos) {
    return lines.Fault("only real, integer and pattern matrices are read, or this is not a Harwell-Boeing file");
  }
  if (kind[1] != 'U' && kind[1] != 'S') return lines.Fault("only unsymmetric and symmetric matrices are read");
  if (kind[2] != 'A') return lines.Fault("only assembled matrices are read");
  header->pattern = kind[0] == 'P';
  header->symmetric = kind[1] == 'S';
  std::array<long, 3> counts = {};
  for (size_t i = 0; i < counts.size(); ++i) {
    if (!ParseInteger(Columns(lines.text(), (i + 1) * kCountWidth, kCountWidth), &counts[i])) {
      return lines.Fault("not a count", static_cast<int>(i) + 2);
    }
  }
  const std::string fault = FaultOfCounts(counts[0], counts[1], counts[2]);
  if (!fault.empty()) return lines.Fault(fault);
  header->size = counts[0];
  header->entries = counts[2];
  return "";
}

std::string ReadHeader(TextLines& lines, Header* header) {
  if (!lines.Next() || !lines.Next()) return lines.Fault("the file ends within its header");
  // The line counts say no more than the formats do.
  const std::string right_hand_sides = Columns(lines.text(), 4 * kCountWidth, kCountWidth);
  long count = 0;
  if (!IsBlank(right_hand_sides) && !ParseInteger(right_hand_sides, &count)) return lines.Fault("not a count", 5);
  std::string fault = ReadKind(lines, header);
  if (!fault.empty()) return fault;
  if (!lines.Next()) return lines.Fault("the file ends within its header");
  if (!ParseFormat(Columns(lines.text(), 0, 16), "I", &header->pointers)) return lines.Fault("not a format", 1);
  if (!ParseFormat(Columns(lines.text(), 16, 16), "I", &header->indices)) return lines.Fault("not a format", 2);
  if (!header->pattern && !ParseFormat(Columns(lines.text(), 32, 20), "EDFG", &header->values)) {
    return lines.Fault("not a format of real numbers", 3);
  }
  if (count > 0 && !lines.Next()) return lines.Fault("the file ends within its header");
  return "";
}

struct ByColumns {
  std::vector<long> begin;
  std::vector<long> row;
  std::vector<double> value;
};

// By rows, with both triangles of a symmetric matrix.
SparseMatrix ByRows(const ByColumns& from, const Header& header) {
  std::vector<std::vector<std::pair<int, double>>> rows(static_cast<size_t>(header.size));
  for (size_t column = 0; column + 1 < from.begin.size(); ++column) {
    for (long e = from.begin[column]; e < from.begin[column + 1]; ++e) {
      const auto row = static_cast<size_t>(from.row[static_cast<size_t>(e)]);
      const double value = from.value[static_cast<size_t>(e)];
      rows[row].emplace_back(static_cast<int>(column), value);
      if (header.symmetric && row != column) rows[column].emplace_back(static_cast<int>(row), value);
    }
  }
  SparseMatrix matrix;
  matrix.columns = header.size;
  for (auto& row : rows) {
    std::sort(row.begin(), row.end());
    for (const auto& [column, value] : row) {
      matrix.column.push_back(column);
      matrix.value.push_back(value);
    }
    matrix.row_begin.push_back(static_cast<long>(matrix.column.size()));
  }
  return matrix;
}

std::string FaultOfColumns(const ByColumns& columns, const Header& header) {
  for (size_t column = 0; column + 1 < columns.begin.size(); ++column) {
    std::vector<long> rows(columns.row.begin() + columns.begin[column],
                           columns.row.begin() + columns.begin[column + 1]);
    std::sort(rows.begin(), rows.end());
    const std::string where = "column " + std::to_string(column + 1) + ": ";
    if (std::adjacent_find(rows.begin(), rows.end()) != rows.end()) return where + "an entry is given twice";
    if (header.symmetric && !rows.empty() && rows.front() < static_cast<long>(column)) {
      return where + "an entry above the diagonal of a symmetric matrix";
    }
  }
  return "";
}

}  // namespace

std::string ReadHarwellBoeing(const std::string& path, SparseMatrix* matrix) {
  TextLines lines(path);
  Header header;
  std::string fault = ReadHeader(lines, &header);
  if (!fault.empty()) return fault;
  ByColumns columns;
  fault = ReadPointers(lines, header, &columns.begin);
  if (!fault.empty()) return fault;
  fault = ReadIndices(lines, header, &columns.row);
  if (!fault.empty()) return fault;
  if (header.pattern) {
    columns.value.assign(static_cast<size_t>(header.entries), 1);
  } else {
    fault = ReadValues(lines, header.values, header.entries, &columns.value);
  }
  if (!fault.empty()) return fault;
  fault = FaultOfColumns(columns, header);
  if (!fault.empty()) return path + ": " + fault;
  *matrix = ByRows(columns, header);
  return "";
}

}  // namespace armci::bench
