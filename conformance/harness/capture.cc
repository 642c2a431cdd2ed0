#include "conformance/harness/capture.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <sstream>

namespace conformance {

CapturedStderr::CapturedStderr() {
  std::fflush(stderr);
  saved_ = dup(STDERR_FILENO);
  file_ = memfd_create("conformance-stderr", MFD_CLOEXEC);
  dup2(file_, STDERR_FILENO);
}

CapturedStderr::~CapturedStderr() {
  Restore();
  close(file_);
}

void CapturedStderr::Restore() {
  if (saved_ < 0) return;
  std::fflush(stderr);
  dup2(saved_, STDERR_FILENO);
  close(saved_);
  saved_ = -1;
}

std::vector<std::string> CapturedStderr::Lines() {
  Restore();
  std::string text(static_cast<std::size_t>(lseek(file_, 0, SEEK_END)), '\0');
  if (pread(file_, text.data(), text.size(), 0) < 0) text.clear();
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace conformance
