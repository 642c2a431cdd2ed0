#include "conformance/harness/capture.h"

#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <sstream>

namespace conformance {
namespace {

// Of the redirection that is in force, for code that ends the process during one.
std::atomic<int> real_stderr{-1};
std::atomic<int> caught_file{-1};

}  // namespace

void ShowCaptured() {
  const int saved = real_stderr.exchange(-1);
  const int file = caught_file.load();
  if (saved < 0) return;
  dup2(saved, STDERR_FILENO);
  char buffer[1024];
  off_t at = 0;
  for (ssize_t count; (count = pread(file, buffer, sizeof buffer, at)) > 0; at += count) {
    if (write(STDERR_FILENO, buffer, static_cast<std::size_t>(count)) < 0) return;
  }
}

CapturedStderr::CapturedStderr() {
  std::fflush(stderr);
  saved_ = dup(STDERR_FILENO);
  file_ = memfd_create("conformance-stderr", MFD_CLOEXEC);
  caught_file.store(file_);
  real_stderr.store(saved_);
  dup2(file_, STDERR_FILENO);
}

CapturedStderr::~CapturedStderr() {
  Restore();
  close(file_);
}

void CapturedStderr::Restore() {
  if (saved_ < 0) return;
  real_stderr.store(-1);
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

// A library that gives up prints the reason before it calls this; the log must contain that text.
extern "C" int MPI_Abort(MPI_Comm comm, int code) {
  std::fflush(stderr);
  conformance::ShowCaptured();
  return PMPI_Abort(comm, code);
}
