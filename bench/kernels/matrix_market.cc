// CHOLMOD reads the file. It does not say where a file is wrong, and believes its counts: so each line is looked at
// before.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <sstream>
#include <vector>

#include "bench/kernels/matrix_formats.h"
#include "bench/kernels/text_lines.h"
#include "suitesparse/cholmod.h"

namespace armci::bench {
namespace {

constexpr size_t kLineMax = 1000;  // of CHOLMOD

struct Header {
  bool pattern = false;
  bool symmetric = false;
  long size = 0;
  long entries = 0;
};

std::vector<std::string> Words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// Goes to the next line that is neither blank nor a comment.
bool NextWithContent(TextLines& lines) {
  while (lines.Next()) {
    if (lines.text().find_first_not_of(" \t") == std::string::npos || lines.text()[0] == '%') continue;
    return true;
  }
  return false;
}

std::string CheckKind(const TextLines& lines, Header* header) {
  std::string text = lines.text();
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  const std::vector<std::string> words = Words(text);
  if (words.size() != 5) return lines.Fault("a header has five words");
  if (words[1] != "matrix") return lines.Fault("not a matrix", 2);
  if (words[2] != "coordinate") return lines.Fault("only coordinate files are read", 3);
  header->pattern = words[3] == "pattern";
  if (!header->pattern && words[3] != "real" && words[3] != "integer") {
    return lines.Fault("only real, integer and pattern matrices are read", 4);
  }
  header->symmetric = words[4] == "symmetric";
  if (!header->symmetric && words[4] != "general") {
    return lines.Fault("only general and symmetric matrices are read", 5);
  }
  return "";
}

std::string CheckCounts(const TextLines& lines, Header* header) {
  const std::vector<std::string> words = Words(lines.text());
  if (words.size() != 3) return lines.Fault("three counts are needed: rows, columns, entries");
  long counts[3];
  for (size_t i = 0; i < 3; ++i) {
    if (!ParseInteger(words[i], &counts[i])) return lines.Fault("not a count", static_cast<int>(i) + 1);
  }
  const std::string fault = FaultOfCounts(counts[0], counts[1], counts[2]);
  if (!fault.empty()) return lines.Fault(fault);
  header->size = counts[0];
  header->entries = counts[2];
  return "";
}

std::string CheckEntry(const TextLines& lines, const Header& header) {
  const std::vector<std::string> words = Words(lines.text());
  const size_t needed = header.pattern ? 2 : 3;
  if (words.size() != needed) return lines.Fault("an entry has " + std::to_string(needed) + " fields");
  long place[2];
  for (size_t i = 0; i < 2; ++i) {
    const int field = static_cast<int>(i) + 1;
    if (!ParseInteger(words[i], &place[i])) return lines.Fault("not a whole number", field);
    if (place[i] < 1 || place[i] > header.size) return lines.Fault("index out of range", field);
  }
  if (header.symmetric && place[0] < place[1]) return lines.Fault("an entry above the diagonal of a symmetric matrix");
  double value = 0;
  if (!header.pattern && !ParseReal(words[2], &value)) return lines.Fault("not a number", 3);
  return "";
}

std::string Check(const std::string& path) {
  TextLines lines(path);
  Header header;
  lines.Next();
  std::string fault = CheckKind(lines, &header);
  if (!fault.empty()) return fault;
  if (!NextWithContent(lines)) return lines.Fault("the file ends before its counts");
  fault = CheckCounts(lines, &header);
  for (long entry = 0; fault.empty() && entry < header.entries; ++entry) {
    if (!NextWithContent(lines)) {
      return lines.Fault("the file ends after " + std::to_string(entry) + " of " + std::to_string(header.entries) +
                         " entries");
    }
    if (lines.text().size() > kLineMax) return lines.Fault("the line is too long");
    fault = CheckEntry(lines, header);
  }
  if (fault.empty() && NextWithContent(lines)) fault = lines.Fault("more entries than the counts say");
  return fault;
}

std::string complaint;  // of CHOLMOD, whose handlers get no argument of their caller

void Note(int, const char*, int, const char* message) { complaint = message; }

SparseMatrix ByRows(const cholmod_sparse& transposed) {
  SparseMatrix matrix;
  matrix.columns = static_cast<long>(transposed.nrow);
  const auto* begin = static_cast<const SuiteSparse_long*>(transposed.p);
  const auto* column = static_cast<const SuiteSparse_long*>(transposed.i);
  const auto* value = static_cast<const double*>(transposed.x);
  matrix.row_begin.assign(begin, begin + transposed.ncol + 1);
  matrix.column.assign(column, column + matrix.entries());
  matrix.value.assign(value, value + matrix.entries());
  return matrix;
}

}  // namespace

std::string ReadMatrixMarket(const std::string& path, SparseMatrix* matrix) {
  std::string fault = Check(path);
  if (!fault.empty()) return fault;
  cholmod_common common;
  cholmod_l_start(&common);
  common.print = 0;
  common.error_handler = Note;
  complaint = "CHOLMOD does not take it";
  std::FILE* file = std::fopen(path.c_str(), "r");
  cholmod_sparse* read = file != nullptr ? cholmod_l_read_sparse(file, &common) : nullptr;
  if (file != nullptr) std::fclose(file);
  // Both triangles, then by rows: CHOLMOD keeps one, by columns.
  cholmod_sparse* whole = read != nullptr ? cholmod_l_copy(read, 0, 1, &common) : nullptr;
  cholmod_sparse* transposed = whole != nullptr ? cholmod_l_transpose(whole, 1, &common) : nullptr;
  if (transposed != nullptr && transposed->xtype == CHOLMOD_REAL) {
    *matrix = ByRows(*transposed);
  } else {
    fault = path + ": " + complaint;
  }
  cholmod_l_free_sparse(&read, &common);
  cholmod_l_free_sparse(&whole, &common);
  cholmod_l_free_sparse(&transposed, &common);
  cholmod_l_finish(&common);
  return fault;
}

}  // namespace armci::bench
