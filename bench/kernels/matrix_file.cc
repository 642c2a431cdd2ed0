#include "bench/kernels/matrix_file.h"

#include <charconv>
#include <climits>
#include <utility>

#include "bench/kernels/matrix_formats.h"
#include "bench/kernels/text_lines.h"

namespace armci::bench {
namespace {

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  text = text.substr(first, text.find_last_not_of(" \t") - first + 1);
  // A sign that from_chars does not know.
  const bool plus = text.size() > 1 && text[0] == '+' && text[1] != '-';
  return plus ? text.substr(1) : text;
}

template <typename Number>
bool Parse(std::string_view text, Number* number) {
  const std::string_view digits = Trimmed(text);
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), *number);
  return result.ec == std::errc() && result.ptr == digits.data() + digits.size();
}

}  // namespace

std::string FaultOfCounts(long rows, long columns, long entries) {
  if (rows <= 0 || columns <= 0 || entries <= 0) return "counts have to be positive";
  if (rows != columns) return "the matrix is not square";
  if (rows > INT_MAX) return "more rows than an int can count";
  if (rows > entries) return "more rows than entries";
  if (entries > rows * columns) return "more entries than places for them";
  return "";
}

bool ParseInteger(std::string_view text, long* number) { return Parse(text, number); }

bool ParseReal(std::string_view text, double* number) {
  // "nan" and "inf" are numbers to from_chars alone.
  if (text.find_first_not_of("0123456789+-.eE \t") != std::string_view::npos) return false;
  return Parse(text, number);
}

std::string ReadMatrix(const std::string& path, SparseMatrix* matrix) {
  TextLines lines(path);
  if (!lines.opened()) return path + ": cannot be opened";
  if (!lines.Next()) return path + ": is empty, or cannot be read";
  SparseMatrix read;
  const bool market = lines.text().starts_with("%%MatrixMarket");
  std::string fault = market ? ReadMatrixMarket(path, &read) : ReadHarwellBoeing(path, &read);
  if (!fault.empty()) return fault;
  fault = FaultOf(read);
  if (!fault.empty()) return path + ": " + fault;
  *matrix = std::move(read);
  return "";
}

}  // namespace armci::bench
