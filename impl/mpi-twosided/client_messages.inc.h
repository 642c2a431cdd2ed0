// What both parts of the client share. Included by client.cc and client_transfer.cc.
#pragma once

#include <atomic>
#include <cstring>
#include <span>

#include "impl/mpi-twosided/client.h"
#include "impl/shmem/wait.h"

namespace armci::twosided {

// Writes all of a request but its data, whose place it returns.
inline char* compose(const RequestHeader& header, std::span<const char> places, char* message) {
  std::memcpy(message, &header, sizeof header);
  if (!places.empty()) std::memcpy(message + sizeof header, places.data(), places.size());
  return message + sizeof header + places.size();
}

// Counts a thread as long as it lives.
class Inside {
 public:
  explicit Inside(std::atomic<int>* count) : count_(count) { count_->fetch_add(1, std::memory_order_relaxed); }
  ~Inside() { count_->fetch_sub(1, std::memory_order_relaxed); }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  std::atomic<int>* count_;
};

// Waits, letting other threads in between two looks.
template <class Condition>
common::Status Client::await_until(Lock& lock, Condition condition) {
  if (condition()) return common::kSuccess;
  ARMCI_RETURN_IF_ERROR(advance());
  if (condition()) return common::kSuccess;
  const Inside inside(&waiting_);
  node::NetworkBackoff backoff;
  for (;;) {
    const bool streaming = !sending_.empty() || long_replies_ > 0;
    const std::uint64_t before = ended_;
    lock.unlock();
    backoff.step(streaming);
    lock.lock();
    ARMCI_RETURN_IF_ERROR(advance());
    if (ended_ != before) backoff.restart();
    if (condition()) return common::kSuccess;
  }
}

}  // namespace armci::twosided
