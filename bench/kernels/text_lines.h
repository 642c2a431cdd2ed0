// A text file line by line, each with its number, for readers that say where a file is wrong.
//
// Thread safety: none, one caller.
// Invariants: number() is that of the line in text(), counted from 1; 0 before the first.
#ifndef ARMCI_BENCH_KERNELS_TEXT_LINES_H_
#define ARMCI_BENCH_KERNELS_TEXT_LINES_H_

#include <fstream>
#include <string>

namespace armci::bench {

class TextLines {
 public:
  explicit TextLines(const std::string& path) : path_(path), file_(path) {}

  bool opened() const { return file_.is_open(); }
  const std::string& text() const { return text_; }
  long number() const { return number_; }

  // False at the end of the file.
  bool Next() {
    if (!std::getline(file_, text_)) return false;
    if (!text_.empty() && text_.back() == '\r') text_.pop_back();
    ++number_;
    return true;
  }

  // "path: line 3: what"; with `field`, counted from 1, "path: line 3, field 2: what".
  std::string Fault(const std::string& what, int field = 0) const {
    const std::string where = field > 0 ? ", field " + std::to_string(field) : "";
    return path_ + ": line " + std::to_string(number_) + where + ": " + what;
  }

 private:
  std::string path_;
  std::ifstream file_;
  std::string text_;
  long number_ = 0;
};

}  // namespace armci::bench

#endif  // ARMCI_BENCH_KERNELS_TEXT_LINES_H_
