// ReportLine writes a line of a report where no wait is allowed: in a signal handler, or while other threads hang
// inside the library. It allocates no memory, takes no lock and makes one write.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string_view>

#include "impl/base/status.h"

namespace armci {

// The thread number that Linux and gdb use.
inline int own_tid() { return static_cast<int>(syscall(SYS_gettid)); }

class ReportLine {
 public:
  // Begins with `armci: rank R: `; before there are ranks, `armci: rank -: `.
  ReportLine() {
    *this << "armci: rank ";
    if (message_rank() < 0) {
      *this << "-: ";
    } else {
      *this << message_rank() << ": ";
    }
  }

  ReportLine& operator<<(std::string_view text) {
    const std::size_t fits = text.size() < bytes_left() ? text.size() : bytes_left();
    std::memcpy(text_ + length_, text.data(), fits);
    length_ += fits;
    return *this;
  }
  template <std::integral Number>
  ReportLine& operator<<(Number number) {
    char digits[24];
    const auto end = std::to_chars(std::begin(digits), std::end(digits), number).ptr;
    return *this << std::string_view(digits, static_cast<std::size_t>(end - digits));
  }

  ReportLine& hex(std::uintptr_t number) {
    char digits[2 * sizeof number];
    const auto end = std::to_chars(std::begin(digits), std::end(digits), number, 16).ptr;
    return *this << "0x" << std::string_view(digits, static_cast<std::size_t>(end - digits));
  }

  // The bytes that are left for text; longer text is cut.
  std::size_t bytes_left() const { return sizeof text_ - 1 - length_; }

  void write_to(int fd) {
    text_[length_] = '\n';
    [[maybe_unused]] const ssize_t written = write(fd, text_, length_ + 1);
  }

 private:
  char text_[512];
  std::size_t length_ = 0;
};

}  // namespace armci
