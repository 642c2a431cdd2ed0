// The client: sends requests to the servers of other nodes, and receives their replies.
//
//   store    short data: the client copies them into the request; locally complete at once
//            long data without gaps: in pieces of a chunk, each sent with zero copy behind its request
//            long rows and lists with gaps: the client packs each piece while MPI sends the one before
//            small non-blocking puts (ARMCI_SERVER_SMALL_PUT_BYTES): coalesced into a batch. The client sends the batch
//            as one request when it is full, before any other request to its node, or in progress()
//   get      one or several requests, complete when all replies are here; MPI receives a long reply without gaps in
//            its final place
//   flush    waits for the credits of all requests so far
//
// A request waits until the client has a credit of its server: each credit stands for a free receive buffer there.
//
// Thread safety: all members by any thread. One thread at a time has the lock, and releases it before it waits for
// another process.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "impl/base/status.h"
#include "impl/mpi-twosided/message_pool.h"
#include "impl/mpi-twosided/messages.h"
#include "impl/mpi-twosided/routes.h"
#include "impl/runtime/shapes.h"

namespace armci::twosided {

// When data go which way; settings.h says what each is.
struct Thresholds {
  std::size_t small_put_bytes = 0;
  std::size_t small_get_bytes = 0;
  std::size_t piece_bytes = 0;
};

class Client {
 public:
  // servers[n]: the rank of the server of node n; `process`: the origin. background_progress: a thread calls progress()
  // regularly.
  Client(const Comms& comms, ReceiveBuffers receive_buffers, const Thresholds& thresholds, const Routes& routes,
         std::vector<int> servers, int process, bool background_progress);

  // Called by threads that wait, again and again, without a lock. To be set before the first operation.
  void call_while_waiting(std::function<void()> serve) { serve_ = std::move(serve); }

  // Disconnects from all connected servers. No operation may be pending.
  Status disconnect();

  // A put or an accumulate, as the header says; the client fills in addresses and lengths. *operation: for test(). The
  // operation owns the local buffer until it completes; 0: complete. If `operation` is null, the buffer is free at
  // return.
  Status store(int target, RequestHeader header, void* remote, const void* local, std::size_t bytes,
               std::uint64_t* operation);
  Status store_strided(int target, RequestHeader header, void* remote, const void* local, const runtime::Strided& shape,
                       std::uint64_t* operation);
  Status store_list(int target, RequestHeader header, const runtime::Segments& list, std::uint64_t* operation);

  // A put of 0 bytes or more, and a signal behind it, in one request if the data fit. The buffer is free at return.
  Status put_signal(int target, void* remote, const void* local, std::size_t bytes, const node::Signal& signal);

  // *operation: for test(). The operation owns the local buffer until it completes.
  Status get(int target, const void* remote, void* local, std::size_t bytes, std::uint64_t* operation);
  Status get_strided(int target, const void* remote, void* local, const runtime::Strided& shape,
                     std::uint64_t* operation);
  Status get_list(int target, const runtime::Segments& list, std::uint64_t* operation);

  Status atomic(int target, RequestHeader header, std::uint64_t* before);

  Status test(std::uint64_t operation, bool* done);
  Status wait(std::uint64_t operation);
  // Waits until every store to the node of `target` is remotely complete.
  Status flush(int target);
  // The same for every node, overlapped.
  Status flush_all();

  // The result of progress(): nothing is pending; operations are pending; or another thread waits in the client and
  // makes progress for all.
  enum class Progress { kIdle, kPending, kOtherThread };
  // One pass: receives replies and credits, and sends batches. Does not wait.
  Status progress(Progress* found);
  // Whether an operation was issued since the last call and is pending, so that the progress thread must be notified.
  // `batches`: batches count as pending operations.
  Status needs_progress(bool batches, bool* needed);
  // For a process without a progress thread: waits until MPI has sent all requests and data, and has received all long
  // replies. Otherwise a server would wait until the next call of the process.
  Status await_transfers();

  std::size_t buffer_bytes();

 private:
  using Lock = std::unique_lock<std::mutex>;
  using Unpack = std::function<void(const char* data)>;
  using Memory = std::unique_ptr<char[]>;
  // The server that receives the requests of this process for one or more nodes.
  struct Peer {
    int credits = 0;
    bool connected = false;
    std::uint64_t sent = 0;
    std::uint64_t executed = 0;
    ReplyHeader credit_message;
    MPI_Request credit_request = MPI_REQUEST_NULL;
  };
  struct Slot {
    Memory data;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  // Pending data to a server; packed, or zero copy.
  struct Sending {
    MPI_Request request = MPI_REQUEST_NULL;
    std::uint64_t operation = 0;
    Memory packed;
  };
  // A pending reply.
  struct Reply {
    MPI_Request request = MPI_REQUEST_NULL;
    std::uint64_t operation = 0;
    int node = -1;
    Memory message;  // null: received in its final place
    std::size_t message_bytes = 0;
    bool is_long = false;
    Unpack unpack;
  };
  // The expected reply of a request: `bytes` at `direct`, or a reply header with `bytes` of data for `unpack`.
  struct Expected {
    std::uint64_t operation = 0;
    void* direct = nullptr;
    std::size_t bytes = 0;
    Unpack unpack;
  };

  std::size_t data_bytes_max(std::size_t place_bytes) const;
  std::size_t piece_bytes(std::size_t total) const;
  std::size_t reply_piece_bytes(std::size_t total) const;
  std::size_t batch_bytes() const;
  Peer& entry(int node) { return peers_[static_cast<std::size_t>(routes_.entry(process_, node))]; }
  Batch& batch(int node) { return batches_[static_cast<std::size_t>(node)]; }
  int server(int node) const { return servers_[static_cast<std::size_t>(node)]; }

  // Fills in the origin and the target node.
  void address(int node, RequestHeader* header) const;
  // Waits for a credit of the server and for a free send buffer. Releases the lock meanwhile.
  Status acquire(Lock& lock, int node, Slot** slot);
  Status connect(int node);
  Status take_slot(Slot** slot);
  Status send(int node, Slot* slot, std::size_t bytes);
  // Sends a request that has a reply.
  Status send_request(Lock& lock, int node, RequestHeader header, std::span<const char> layout, Expected expected);
  // Sends a store. `fill` writes its data to the given address.
  template <class Fill>
  Status send_store(Lock& lock, int node, RequestHeader header, std::span<const char> layout, std::size_t bytes,
                    Fill fill);
  // Sends a store whose data follow in a message: `data`, which the operation owns until it completes, or `packed`.
  Status send_long_store(Lock& lock, int node, RequestHeader header, std::span<const char> layout, const void* data,
                         std::size_t bytes, Memory packed, std::uint64_t operation);
  // Whether a store goes into a batch: non-blocking puts whose total length is small.
  bool coalesces(const RequestHeader& header, const std::uint64_t* operation, std::size_t bytes) const;
  Status coalesce(Lock& lock, int node, std::uint64_t address, const void* local, std::size_t bytes);
  Status send_batch(Lock& lock, int node);
  Status send_batches(Lock& lock);
  // `header`: of a put, or of a signal behind the batch.
  Status post_batch(int node, Slot* slot, RequestHeader header);
  Status store_run(Lock& lock, int node, RequestHeader header, const char* local, std::size_t bytes,
                   std::uint64_t operation);
  // A part of a long store: zero copy from `dense`, whose data have no gaps; if that is null, `pack` copies the data
  // into packing memory first.
  template <class Pack>
  Status send_store_part(Lock& lock, int node, const RequestHeader& header, std::span<const char> layout,
                         const char* dense, std::size_t bytes, Pack pack, std::uint64_t operation);
  // Row by row, and in pieces of many rows.
  Status store_runs(Lock& lock, int node, RequestHeader header, void* remote, const char* local,
                    const runtime::Strided& shape, std::uint64_t operation);
  Status store_rows(Lock& lock, int node, RequestHeader header, std::span<const char> layout, const char* local,
                    const runtime::Strided& shape, std::uint64_t operation);
  Status store_segments(Lock& lock, int node, RequestHeader header, const runtime::Segments& list,
                        std::uint64_t operation);
  Status get_run(Lock& lock, int node, const char* remote, char* local, std::size_t bytes, std::uint64_t operation);
  Status get_runs(Lock& lock, int node, const char* remote, char* local, const runtime::Strided& shape,
                  std::uint64_t operation);
  Status get_rows(Lock& lock, int node, const char* remote, char* local, const runtime::Strided& shape,
                  std::uint64_t operation);
  Status get_segments(Lock& lock, int node, const runtime::Segments& list, std::uint64_t operation);
  Status take_packing_memory(Lock& lock, Memory* memory);
  Status await(Lock& lock, std::uint64_t operation);
  template <class Condition>
  Status await_until(Lock& lock, Condition condition);
  Status find_pending(bool* pending);
  Status test_slots(bool* all_sent);
  Status poll();
  Status poll_credits(Peer* peer, int server);
  Status poll_sending();
  Status arrived(const Reply& reply);
  void credit(Peer* peer, std::uint32_t count);
  // An operation whose parts issue_parts(operation) issues; 0 if all are complete. After a failure no part is pending.
  template <class IssueParts>
  Status begin_parts(Lock& lock, std::uint64_t* operation, IssueParts issue_parts);
  // Waits for all parts, also if one could not be issued.
  template <class IssueParts>
  Status await_parts(Lock& lock, IssueParts issue_parts);
  void end_part(std::uint64_t operation);
  std::uint32_t next_tag();

  const Comms comms_;
  const ReceiveBuffers receive_buffers_;
  const Thresholds thresholds_;
  const Routes routes_;
  const std::vector<int> servers_;
  const int process_;
  const bool background_progress_;
  std::function<void()> serve_;  // may be empty
  std::mutex mutex_;
  std::atomic<int> waiting_{0};      // threads that wait inside
  std::atomic<bool> issued_{false};  // an operation was issued
  std::vector<Peer> peers_;          // by node
  std::vector<int> connected_;       // nodes with a connected server
  std::vector<Batch> batches_;       // by node
  std::vector<int> batched_;         // nodes that have a batch
  std::vector<Slot> slots_;
  std::vector<Sending> sending_;
  std::vector<Memory> packing_memory_;  // free
  int packing_memories_ = 0;
  std::vector<Reply> open_;
  int long_replies_ = 0;                               // of those
  std::uint64_t ended_ = 0;                            // messages, ever
  std::unordered_map<std::uint64_t, int> operations_;  // parts that have not ended
  std::uint64_t last_operation_ = 0;
  std::uint32_t last_tag_ = 0;
};

}  // namespace armci::twosided
