// The member templates of Client that both client.cc and client_transfer.cc use.
//
// Thread safety: as in client.h.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "impl/base/status.h"
#include "impl/mpi-twosided/client.h"
#include "impl/mpi-twosided/messages.h"
#include "impl/node/waiter.h"
#include "impl/server/compose.h"

namespace armci::twosided {

// Counts the threads that wait in a client.
class WaiterCount {
 public:
  explicit WaiterCount(std::atomic<int>* count) : count_(count) { count_->fetch_add(1, std::memory_order_relaxed); }
  ~WaiterCount() { count_->fetch_sub(1, std::memory_order_relaxed); }
  WaiterCount(const WaiterCount&) = delete;
  WaiterCount& operator=(const WaiterCount&) = delete;

 private:
  std::atomic<int>* count_;
};

template <class Fill>
Status Client::send_store(Lock& lock, int node, RequestHeader header, std::span<const char> layout, std::size_t bytes,
                          Fill fill) {
  ARMCI_RETURN_IF_ERROR(send_batch(lock, node));
  Slot* slot = nullptr;
  ARMCI_RETURN_IF_ERROR(acquire(lock, node, &slot));
  address(node, &header);
  fill(server::compose(header, layout, slot->data.get()));
  return send(node, slot, sizeof header + layout.size() + bytes);
}

template <class IssueParts>
Status Client::begin_parts(Lock& lock, std::uint64_t* operation, IssueParts issue_parts) {
  *operation = ++last_operation_;
  operations_.emplace(*operation, 1);  // an extra part, which ends once all other parts are issued
  const Status status = issue_parts(*operation);
  end_part(*operation);
  if (!status.ok()) (void)await(lock, *operation);
  if (!operations_.contains(*operation)) *operation = 0;
  return status;
}

template <class IssueParts>
Status Client::await_parts(Lock& lock, IssueParts issue_parts) {
  std::uint64_t operation = 0;
  ARMCI_RETURN_IF_ERROR(begin_parts(lock, &operation, issue_parts));
  return await(lock, operation);
}

// Polls until the condition holds. Releases the lock between two polls.
template <class Condition>
Status Client::await_until(Lock& lock, Condition condition) {
  if (condition()) return kSuccess;
  ARMCI_RETURN_IF_ERROR(poll());
  if (condition()) return kSuccess;
  const WaiterCount counted(&waiting_);
  constexpr unsigned kPollsBeforeServing = 4;  // most replies come sooner
  node::Waiter waiter(node::WaitKind::kReply);
  unsigned polls = 0;
  for (;;) {
    const bool streaming = !sending_.empty() || long_replies_ > 0;
    const std::uint64_t before = ended_;
    lock.unlock();
    if (serve_ && ++polls % kPollsBeforeServing == 0) serve_();
    waiter.step(streaming);
    lock.lock();
    ARMCI_RETURN_IF_ERROR(poll());
    if (ended_ != before) waiter.restart();
    if (condition()) return kSuccess;
  }
}

}  // namespace armci::twosided
