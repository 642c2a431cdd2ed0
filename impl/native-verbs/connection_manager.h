// The connection manager keeps the queue pairs to the servers of other nodes, the work requests posted on them, and the
// buffers of a process. A queue pair is connected at its first use.
//
//   RDMA       complete when the device reports it; completions come in the order of posting
//   requests   complete when the reply arrives. The client posts the receive buffer of the reply before the request.
//              Replies arrive in order. While a request is pending, the manager probes its server
//
// One lock protects all state. A thread that waits releases the lock between two polls.
//
// Thread safety: lock(), and members that take a Lock, by any thread; other members with the lock held.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "impl/base/status.h"
#include "impl/native-verbs/buffers.h"
#include "impl/native-verbs/caller.h"
#include "impl/native-verbs/device.h"
#include "impl/native-verbs/registrations.h"
#include "impl/native-verbs/sender.h"

namespace armci::verbs {

// The number and the length of buffers and queues.
struct ConnectionBounds {
  std::size_t bounces;
  std::size_t bounce_bytes;
  std::uint32_t depth;     // work requests of a link
  std::uint32_t requests;  // of a link, without a reply
};

// The destination of data that arrive in a buffer: `rows` of `bytes` each.
struct ScatterList {
  const char* from = nullptr;
  std::size_t bytes = 0;
  std::vector<char*> rows;

  // Replaces the list and reuses its memory.
  void set(const char* buffer, char* to, std::size_t count);
  void scatter() const;
};

// A point on one link. It is reached when all work that was posted before is complete.
struct CompletionPoint {
  int node = -1;
  std::uint64_t sent = 0;
  std::uint64_t replied = 0;

  bool none() const { return sent == 0 && replied == 0; }
};

class ConnectionManager {
 public:
  using Lock = std::unique_lock<std::mutex>;
  static constexpr int kNoBounce = -1;
  static constexpr std::size_t kSlotBytes = 64;  // replies up to that length need no buffer

  // `servers`: the server's process of each node, for error messages.
  ConnectionManager(const Device& device, Registrations* registrations, Caller* caller, std::vector<int> servers);
  Status open(const ConnectionBounds& bounds);

  Lock lock() { return Lock(mutex_); }
  // Connects to the server of a node at the first call. May release the lock meanwhile.
  Status reach(Lock& lock, int node);
  std::size_t links() const { return links_.load(std::memory_order_relaxed); }
  const Link& link(int node) const { return at(node).sender.link; }

  // Takes buffers for work requests to a node: all of them or, after a failure, none.
  Status take_bounces(Lock& lock, int node, std::span<int> bounces);
  char* bounce(int index) const { return bounces_.at(static_cast<std::size_t>(index)); }
  std::size_t bounce_bytes() const { return bounces_.bytes(); }
  ibv_sge bounce_piece(int index, std::size_t bytes) const {
    return bounces_.piece(static_cast<std::size_t>(index), bytes);
  }

  // The resources of a work request until it is complete: a buffer, and registrations of the program's memory.
  struct Held {
    int bounce = kNoBounce;
    std::span<Registration* const> registrations;
  };
  // Posts a write or a read at the next submit(). At its completion the manager scatters the data and frees the
  // resources. *scatter_list, if it is not null: the caller sets the list before it releases the lock.
  Status post(Lock& lock, int node, const Work& work, const Held& held, ScatterList** scatter_list = nullptr);
  // A request: a message that the server executes.
  struct Request {
    ibv_sge message;
    bool by_value;
    int bounce;  // where the message is, if it is not sent by value
    bool is_store;
  };
  // The receive buffers of the reply: an iov in the held buffer or in the caller's memory; without an iov, `slot_bytes`
  // in a slot.
  struct ReplyBuffers {
    std::span<ibv_sge> iov;
    Held held;
    std::size_t slot_bytes = 0;
  };
  Status post_request(Lock& lock, int node, const Request& request, const ReplyBuffers& reply,
                      ScatterList** scatter_list = nullptr);
  Status submit(int node);

  // The point after all work that was posted on a link.
  Status completion_point(Lock& lock, int node, CompletionPoint* point);
  // The point after all requests.
  CompletionPoint request_point(int node) const { return {node, 0, at(node).requests.last()}; }
  Status wait(Lock& lock, const CompletionPoint& point);
  Status test(const CompletionPoint& point, bool* done);
  // Waits until the server has executed all requests that store, so that later RDMA does not overtake them.
  Status await_executed(Lock& lock, int node);
  // Waits until all stores to a node, or to every node, are remotely complete.
  Status flush(Lock& lock, int node);
  Status flush_all(Lock& lock);

  std::size_t buffer_bytes() const { return bounces_.total_bytes() + slot_bytes_; }

 private:
  enum class Doing : std::uint8_t { kWriting, kReading, kRequesting };
  // A pending work request or request. Reuses the memory of completed ones.
  struct Pending {
    int bounce = kNoBounce;
    std::vector<Registration*> registrations;
    ScatterList scatter_list;
  };
  struct Sent : Pending {
    Doing doing = Doing::kWriting;
  };
  using PendingRequest = Pending;
  struct Node {
    Sender<Sent> sender;
    Ring<PendingRequest> requests;
    Buffers slots;
    std::uint64_t moved = 0;               // the last write or read
    std::uint64_t stored = 0;              // the last write
    std::uint64_t last_store_request = 0;  // the last request that stores
    bool is_linked = false;                // under connecting_
    std::atomic<bool> connected{false};    // changed with the lock held

    std::uint64_t replied() const { return requests.first() - 1; }
    bool executed() const { return replied() >= last_store_request; }
    bool reached(const CompletionPoint& point) const {
      return sender.ended() >= point.sent && replied() >= point.replied;
    }
  };

  Node& at(int node) const { return nodes_[static_cast<std::size_t>(node)]; }
  Status connect(int node);
  template <class Condition>
  Status await(Lock& lock, int node, Condition condition);
  bool can_post(const Node& node) const { return node.sender.can_post() && pending_completions_ < completions_max_; }
  Status add_to_batch(int node, const Work& work, const Held& held, ScatterList** scatter_list);
  Status poll();
  Status probe();
  Status ended(const ibv_wc& work);
  void sent(Node* node, std::uint64_t number);
  Status replied(int node, std::size_t bytes);
  Status ensure_signaled(Lock& lock, int node, std::uint64_t number);
  Status broken(int node, const char* what, const char* why, bool is_gone);
  Status check_posted(int node, Status status);
  Status give_up() const;
  Status broken_at(const ibv_wc& work, const WorkId& id);
  static void begin(Pending* pending, const Held& held);
  void end(Pending* pending);

  const Device& device_;
  Registrations& registrations_;
  Caller& caller_;
  const std::vector<int> servers_;
  ConnectionBounds bounds_{};
  std::mutex mutex_;
  std::mutex connecting_;  // taken before mutex_
  Owned<ibv_cq> done_;
  std::size_t completions_max_ = 0;
  std::size_t pending_completions_ = 0;  // each needs an entry of the completion queue
  Buffers bounces_;
  std::vector<int> free_;
  std::unique_ptr<Node[]> nodes_;
  std::atomic<std::size_t> links_{0};
  std::atomic<std::size_t> slot_bytes_{0};
  std::uint32_t empty_polls_ = 0;
  std::int64_t probed_us_ = 0;
  std::string broken_;  // the first failure
};

}  // namespace armci::verbs
