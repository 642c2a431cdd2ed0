// Child processes and the memory they share with their parent, for tests of what processes do to each other.
//
// Thread safety: none needed; fork() before any thread is started.
#pragma once

#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <new>
#include <vector>

namespace armci::testing {

// Zeroed memory that children share.
class SharedMemory {
 public:
  explicit SharedMemory(std::size_t bytes) : bytes_(bytes) {
    void* got = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (got == MAP_FAILED) throw std::bad_alloc();
    base_ = static_cast<char*>(got);
  }
  ~SharedMemory() { munmap(base_, bytes_); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  char* base() const { return base_; }
  template <class Type>
  Type* at(std::size_t offset = 0) const {
    return reinterpret_cast<Type*>(base_ + offset);
  }

 private:
  std::size_t bytes_;
  char* base_ = nullptr;
};

// Lets processes begin together, so that they get in each other's way.
class StartLine {
 public:
  explicit StartLine(int processes) : processes_(processes), memory_(sizeof(std::atomic<int>)) {}
  void wait() {
    auto* arrived = memory_.at<std::atomic<int>>();
    arrived->fetch_add(1);
    while (arrived->load() < processes_) sched_yield();
  }

 private:
  int processes_;
  SharedMemory memory_;
};

// Runs body(index) in `count` children at once; each ends with what body returns. Returns how many did not return 0.
template <class Body>
int run_processes(int count, Body body) {
  std::vector<pid_t> children;
  for (int index = 0; index < count; ++index) {
    const pid_t child = fork();
    if (child == 0) _exit(body(index));
    children.push_back(child);
  }
  int failed = 0;
  for (pid_t child : children) {
    int status = -1;
    failed += child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0;
  }
  return failed;
}

}  // namespace armci::testing
