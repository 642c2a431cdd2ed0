// Catches what is written to stderr between construction and Text().
#ifndef CONFORMANCE_HARNESS_CAPTURE_H_
#define CONFORMANCE_HARNESS_CAPTURE_H_

#include <string>
#include <vector>

namespace conformance {

// Redirects file descriptor 2 to a file in memory. Not for several threads at once.
class CapturedStderr {
 public:
  CapturedStderr();
  ~CapturedStderr();
  CapturedStderr(const CapturedStderr&) = delete;
  CapturedStderr& operator=(const CapturedStderr&) = delete;

  // Ends the redirection; what was written, line by line.
  std::vector<std::string> Lines();

 private:
  void Restore();

  int saved_ = -1;
  int file_ = -1;
};

// For the last moments of a process: ends the redirection, and what was caught goes to the real stderr. Nothing happens
// without one. Async-signal-safe. MPI_Abort does it by itself.
void ShowCaptured();

}  // namespace conformance

#endif  // CONFORMANCE_HARNESS_CAPTURE_H_
