// The client: accesses the memory of other processes with put and get of UCX, and sends requests to their servers.
//
//   put, get         ucp_put_nbx, ucp_get_nbx with the key of the memory, where the network has them
//   small            non-blocking puts by request are coalesced into a batch. The client sends the batch as one request
//                    when it is full, before an operation that must not overtake it, or after a pause
//   rows, long       the same, one by one
//   rows, short      put: packed into requests, and the server unpacks them; get: the server packs the reply
//   accumulate       requests, of pieces
//   atomics          requests: all are executed by CPUs of the target's node
//   flush            waits for the count of executed requests, and for ucp_ep_flush_nbx
//
// The first operation to a process creates its endpoint. The first operation to a memory unpacks its key.
//
// Where the network has no put and get of its own (TCP, memory of a machine), UCX makes them of messages, which end
// within words, and copies long ones byte by byte, so that elements are seen in halves [LC-3]. The client then sends
// requests for all operations: the server copies whole elements, and one kind of message to a process needs no order
// against another. ARMCI_UCX_PUT_GET=always cuts puts and gets into pieces that UCX copies whole.
//
// Order, of what one thread does to one process (transport.h, in_order):
//   put, then put or get    ucp_worker_fence between them, which UCX promises to order them; not tested where UCX takes
//                           several lanes of an endpoint. Nothing over one lane of Soft-RoCE: its queue pair and the
//                           CPU that copies keep the order of writes and of a read after them, and that of Linux 6.1
//                           forgets at times to send a read that has the flag of a fence
//   put, then request       a request is a message, which no fence is about: the puts are flushed before it
//   request, then request   the server executes them in the order of their sequence
//   request, then put, get  waits until the server has counted all that store; a get by request has a Completion
//
// Limits: ARMCI_UCX_PARTS pending puts, gets and replies; a thread that issues another one first waits for one to
// complete. ARMCI_UCX_REQUESTS pending requests to a process. One pending flush of an endpoint (UCX ends the process at
// the 256th): a second thread waits for the first flush, and may need none then.
//
// Thread safety: all members by any thread. A thread that waits releases the lock between two polls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "impl/base/status.h"
#include "impl/node/waiter.h"
#include "impl/server/batch.h"
#include "impl/server/rows.h"
#include "impl/server/wire.h"
#include "impl/ucx/mapped_memory.h"
#include "impl/ucx/message_buffers.h"
#include "impl/ucx/messages.h"
#include "impl/ucx/operations.h"
#include "impl/ucx/packed_key.h"
#include "impl/ucx/worker.h"

namespace armci::ucx {

// Memory of a process.
struct Target {
  int process;
  const PackedKey& key;
};

// The protocols of transfers, and the limits of pending operations.
struct Ways {
  enum class PutGet { kAuto, kAlways, kNever } put_get;
  std::size_t parts;          // of operations
  std::uint64_t requests;     // to a process
  std::size_t message_bytes;  // of the data of a request and of a reply
  std::size_t pack_bytes;     // shorter rows are packed
  std::size_t small_bytes;    // up to that length non-blocking puts by request are coalesced
};

class Client {
 public:
  // Another thread may take the event that one sleeps for.
  static constexpr std::int64_t kSleepUs = 1000;
  // Pending requests that need no progress by the server thread.
  static constexpr std::uint64_t kFew = 8;

  // The longest put that fits into a batch; message_bytes as in Ways.
  static std::size_t small_bytes_max(std::size_t message_bytes);

  // `mapped`: memory that may contain local buffers; `wake` makes the server thread call progress_for_server(); threads
  // that wait call `serve` again and again, without the lock.
  Client(int process, const Ways& ways, const MappedMemory& mapped, std::function<void()> wake,
         std::function<void()> serve)
      : process_(static_cast<std::uint32_t>(process)),
        ways_(ways),
        mapped_(mapped),
        wake_(std::move(wake)),
        serve_(std::move(serve)),
        buffers_(sizeof(server::RequestHeader) + ways.message_bytes) {}

  // addresses[r]: of the server of process r.
  Status open(const Context& context, std::vector<std::string> addresses);
  // Precondition: no operation is pending.
  void close();
  // The description of the endpoint to a process, in UCX's words.
  Status describe(int target, std::string* text);

  // Of a key that is too long to travel in a PackedKey; until forget(), which is for all.
  void learn(int target, std::uint32_t number, std::string packed);
  void forget(int target, std::uint32_t number);

  // *operation: for test(), the local buffer belongs to it until then, 0 if it is complete; nullptr: the call returns
  // at local completion.
  Status put(const Target& target, void* remote, const void* local, std::size_t bytes, std::uint64_t* operation);
  Status get(const Target& target, const void* remote, void* local, std::size_t bytes, std::uint64_t* operation);
  Status put_rows(const Target& target, const server::Rows& rows, std::uint64_t* operation);
  Status get_rows(const Target& target, const server::Rows& rows, std::uint64_t* operation);
  // A put of 0 bytes or more, and a signal behind it and all earlier stores; one request, if the data fit into it. The
  // local buffer is free at return.
  Status put_signal(const Target& target, void* remote, const void* local, std::size_t bytes,
                    const node::Signal& signal);
  // Accumulates, as the header says; places and lengths are filled in. The local buffer is free at return.
  Status add(int target, server::RequestHeader header, void* remote, const void* local, std::size_t bytes);
  Status add_rows(int target, server::RequestHeader header, const server::Rows& rows);
  Status atomic(int target, server::RequestHeader header, std::uint64_t* before);

  Status test(std::uint64_t operation, bool* done);
  // Waits until every store to the process is remotely complete.
  Status flush(int target);
  // The same for every process, overlapped.
  Status flush_all();
  void progress();
  std::size_t buffer_bytes() const { return buffers_.bytes(); }

  // The next step of the server thread.
  enum class Need {
    kNone,  // nothing until wake is called
    kSoon,  // come back after kSleepUs, or when *armed, if there is one, has an event
    kMore,  // come back at once
  };
  // armed == nullptr: the caller does not sleep.
  Need progress_for_server(const Worker** armed);

 private:
  using Lock = std::unique_lock<std::mutex>;
  using Operation = Operations::Operation;
  enum class Direction { kPut, kGet };
  using Unpack = std::function<void(const char* data)>;
  struct Peer {
    ucp_ep_h endpoint = nullptr;
    std::optional<bool> has_rdma;                            // among the transports of the endpoint
    bool keeps_order = false;                                // Soft-RoCE: puts and gets of UCX's have no fence
    std::unordered_map<std::uint32_t, ucp_rkey_h> keys;      // by number
    std::unordered_map<std::uint32_t, std::string> learned;  // keys that are long
    std::uint64_t puts = 0;                                  // begun
    std::uint64_t flushed = 0;                               // of those, known to be visible
    std::uint64_t fenced = 0;  // of those, no later put or get overtakes them; not kept where keeps_order
    bool flushing = false;
    server::Batch<Buffer> batch;   // stores that are not among those yet
    std::uint64_t requests = 0;    // sent
    std::uint64_t last_store = 0;  // of those
    std::uint64_t executed = 0;    // so many of those
    ucs_status_t lost = UCS_OK;    // why a request was not sent
    bool refused = false;          // one of those, or not sent, since the last flush
  };
  struct Outgoing;
  struct PendingReply {
    Operation* operation;  // a part of it
    std::uint64_t* value;  // of an atomic
    std::size_t bytes;     // of a get
    Unpack unpack;
  };

  Peer& peer(int process) { return peers_[static_cast<std::size_t>(process)]; }
  Status reach(int target);
  Status print_endpoint(int target, std::string* text);
  Status unpack(const Target& target, ucp_rkey_h* unpacked);

  // Makes progress until condition() holds. Releases the lock between two polls.
  template <class Condition>
  void await_until(Lock& lock, Condition condition) {
    constexpr unsigned kPollsBeforeServing = 4;  // most replies come sooner
    node::Waiter waiter(node::WaitKind::kEvent);
    unsigned polls = 0;
    ++waiting_;
    while (!condition()) {
      const bool any = worker_.progress();
      if (any) waiter.restart();
      // A thread that waits for the lock gets it in between. The waiter is called in any case: it may have to poll MPI.
      lock.unlock();
      if (++polls % kPollsBeforeServing == 0) serve_();
      const bool busy = waiter.busy() || any;
      lock.lock();
      if (busy || condition() || !worker_.arm()) continue;
      lock.unlock();
      worker_.await_event(nullptr, waiter.bounded_us(kSleepUs));
      lock.lock();
    }
    --waiting_;
  }
  void await_part_slot(Lock& lock);
  Status await(Lock& lock, std::uint64_t number);
  Status outcome(Operation* failed);
  // Called before the return of a call that may leave a pending operation: wakes the server thread if necessary.
  void request_progress();
  bool has_more() const { return operations_.pending() > 0 || !batched_.empty(); }
  // A few short messages leave at once; of many, or of long ones, UCX may keep what the network did not take.
  bool has_many() const { return has_more() || unexecuted_ > kFew; }
  // Ends the part that begin() began: all others have been begun, or one could not, as `begun` says.
  Status finish(Lock& lock, Operation* whole, Status begun, std::uint64_t* number);
  // Has UCX end a part of the operation in its callback, unless it is over at once.
  static ucp_request_param_t end_param(Operation* operation);
  // The same for a put or get of UCX's, with the handle of its local buffer.
  ucp_request_param_t transfer_param(Operation* operation, const void* local, std::size_t bytes) const;
  Status begun_part(ucs_status_ptr_t request, Operation* whole);

  // Whether a device puts into that memory and gets from it, by the way that UCX took to its process.
  bool has_device(const Target& target);
  // Whether that memory is reached by requests alone.
  bool by_request(const Target& target);
  // Whether a device puts or gets parts of words there.
  bool cuts_words(const Target& target, const void* remote, std::size_t bytes);
  bool cuts_words(const Target& target, const server::Rows& rows);
  bool is_packed(const Target& target, const server::Rows& rows);
  // Order a transfer, or a request, behind earlier operations that it must not overtake.
  Status order_transfer(Lock& lock, int target);
  Status order_request(Lock& lock, int target);
  Status transfer_run(Lock& lock, Operation* whole, Direction direction, const Target& target, const char* remote,
                      char* local, std::size_t bytes);
  Status transfer_rows(Lock& lock, Operation* whole, Direction direction, const Target& target,
                       const server::Rows& rows);
  Status flush_puts(Lock& lock, int target);
  Status begin_flush(int target, std::uint64_t* number);

  // Or none will come.
  bool has_credit(const Peer& of) const { return of.requests - of.executed < ways_.requests || of.lost != UCS_OK; }
  bool has_executed(const Peer& of, std::uint64_t request) const { return of.executed >= request || of.lost != UCS_OK; }
  // Fails if requests to that process were lost.
  Status check_way(int target);
  void lose(int target, ucs_status_t status);
  // Of a batch, at most; message_bytes as in Ways.
  static std::size_t batch_bytes(std::size_t message_bytes);
  void await_credit(Lock& lock, const Peer& of);
  Status send(Lock& lock, int target, Message message, bool is_store, std::uint64_t reply_id);
  // The same with a credit, and without sending the batch first.
  Status send_now(int target, Message message, bool is_store, std::uint64_t reply_id);
  Status coalesce(Lock& lock, int target, std::uint64_t address, const void* local, std::size_t bytes);
  Status send_batch(Lock& lock, int target);
  // `header`: of a put, or of a signal behind the batch.
  Status send_batch_now(int target, server::RequestHeader header);
  // Sends the batches that were not filled since the last call, and whose process has a credit.
  void send_old_batches();
  Status send_request(Lock& lock, Operation* whole, int target, Message message, PendingReply reply);
  Status store_run(Lock& lock, int target, server::RequestHeader header, char* remote, const char* local,
                   std::size_t bytes);
  Status store_rows(Lock& lock, int target, server::RequestHeader header, const server::Rows& rows);
  Status fetch_run(Lock& lock, Operation* whole, int target, const char* remote, char* local, std::size_t bytes);
  Status fetch_rows(Lock& lock, Operation* whole, int target, const server::Rows& rows);
  void take_reply(const ReplyPrefix& prefix, const void* data, std::size_t bytes);

  static ucs_status_t on_reply(void* self, const void* header, std::size_t header_bytes, void* data, std::size_t bytes,
                               const ucp_am_recv_param_t* param);

  const std::uint32_t process_;
  const Ways ways_;
  const MappedMemory& mapped_;
  const std::function<void()> wake_;
  const std::function<void()> serve_;
  std::mutex mutex_;
  MessageBuffers buffers_;  // declared before all members that hold buffers
  std::vector<std::string> addresses_;
  std::vector<Peer> peers_;
  Operations operations_;
  std::unordered_map<std::uint64_t, PendingReply> replies_;  // pending, by id
  std::uint64_t last_reply_ = 0;
  std::uint64_t unexecuted_ = 0;  // requests, to all
  std::vector<int> batched_;      // processes for which there is a batch
  int waiting_ = 0;               // threads that wait inside
  bool watched_ = false;          // the server thread makes progress
  // Declared last: its destructor completes the pending operations, whose callbacks use the other members.
  Worker worker_;
};

}  // namespace armci::ucx
