// The client: what a process does with the memory of others, by UCX's put and get, and what it asks their servers for.
//
//   put, get         ucp_put_nbx, ucp_get_nbx with the key of the memory, where the network has them
//   small            non-blocking puts by request are gathered into a batch, which leaves as one request: when it is
//                    full, before what may not overtake it, or when nobody has added to it for a while
//   rows, long       the same, one by one
//   rows, short      packed into requests, which the server unpacks; of a get the other way round
//   accumulate       requests, of pieces
//   atomics          requests: all are executed by CPUs of the target's node
//   flush            waits for the count of executed requests, and for ucp_ep_flush_nbx
//
// Endpoints are made by the first operation to a process, keys unpacked by the first to a memory.
//
// Where the network has no put and get of its own (TCP, memory of a machine), UCX makes them of messages, which end
// within words, and copies long ones byte by byte, so that elements are seen in halves [LC-3]. Requests are messages as
// well, and are copied as they should be: they are taken there for everything, which also leaves nothing to be ordered
// between two ways. ARMCI_UCX_PUT_GET=always cuts puts and gets into pieces that UCX copies whole.
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
// Limits: ARMCI_UCX_PARTS puts, gets and answers under way; who begins another advances them until one has ended.
// ARMCI_UCX_REQUESTS requests to a process. One flush at a time of an endpoint (UCX ends the process at the 256th): who
// comes while one is under way waits, and may need none then.
//
// Thread safety: all members by any thread. Who waits lets others in whenever there is nothing to do.
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

// Which way transfers go, and how much may be under way.
struct Ways {
  enum class PutGet { kAuto, kAlways, kNever } put_get;
  std::size_t parts;          // of operations
  std::uint64_t requests;     // to a process
  std::size_t message_bytes;  // of the data of a request and of an answer
  std::size_t pack_bytes;     // shorter rows are packed
  std::size_t small_bytes;    // up to that length non-blocking puts by request are gathered
};

class Client {
 public:
  // Another thread may take the event that one sleeps for.
  static constexpr std::int64_t kSleepUs = 1000;
  // Requests that nobody looks after.
  static constexpr std::uint64_t kFew = 8;

  // What a batch has room for; message_bytes as in Ways.
  static std::size_t small_bytes_max(std::size_t message_bytes);

  // `mapped`: where local buffers may lie; `wake` has a thread call help().
  Client(int process, const Ways& ways, const MappedMemory& mapped, std::function<void()> wake)
      : process_(static_cast<std::uint32_t>(process)),
        ways_(ways),
        mapped_(mapped),
        wake_(std::move(wake)),
        buffers_(sizeof(server::RequestHeader) + ways.message_bytes) {}

  // addresses[r]: of the server of process r.
  Status open(const Context& context, std::vector<std::string> addresses);
  // Nothing is under way.
  void close();
  // What the endpoint to a process is made of, in UCX's words.
  Status describe(int target, std::string* text);

  // Of a key that is too long to travel in a PackedKey; until forget(), which is for all.
  void learn(int target, std::uint32_t number, std::string packed);
  void forget(int target, std::uint32_t number);

  // *operation: for test(), the local buffer belongs to it until then, 0 if it is complete; nullptr: the call returns
  // when the buffer is the caller's again.
  Status put(const Target& target, void* remote, const void* local, std::size_t bytes, std::uint64_t* operation);
  Status get(const Target& target, const void* remote, void* local, std::size_t bytes, std::uint64_t* operation);
  Status put_rows(const Target& target, const server::Rows& rows, std::uint64_t* operation);
  Status get_rows(const Target& target, const server::Rows& rows, std::uint64_t* operation);
  // Accumulates, as the header says; places and lengths are filled in. The local buffer is free at return.
  Status add(int target, server::RequestHeader header, void* remote, const void* local, std::size_t bytes);
  Status add_rows(int target, server::RequestHeader header, const server::Rows& rows);
  Status atomic(int target, server::RequestHeader header, std::uint64_t* before);

  Status test(std::uint64_t operation, bool* done);
  // Every store to the process is visible there.
  Status flush(int target);
  // The same for every process, overlapped.
  Status flush_all();
  void progress();
  std::size_t buffer_bytes() const { return buffers_.bytes(); }

  // What the thread that helps should do next.
  enum class Need {
    kNone,  // nothing until wake is called
    kSoon,  // come back after kSleepUs, or when *armed, if there is one, has an event
    kMore,  // come back at once
  };
  // armed == nullptr: who calls does not sleep.
  Need help(const Worker** armed);

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
    ucs_status_t lost = UCS_OK;    // why one of those did not leave
    bool refused = false;          // one of those, or not sent, since the last flush
  };
  struct Outgoing;
  struct Answer {
    Operation* operation;  // a part of it
    std::uint64_t* value;  // of an atomic
    std::size_t bytes;     // of a get
    Unpack unpack;
  };

  Peer& peer(int process) { return peers_[static_cast<std::size_t>(process)]; }
  Status reach(int target);
  Status print_endpoint(int target, std::string* text);
  Status unpack(const Target& target, ucp_rkey_h* unpacked);

  // Advances until condition(), without the lock in between.
  template <class Condition>
  void await_until(Lock& lock, Condition condition) {
    node::Waiter waiter(node::WaitKind::kEvent);
    ++waiting_;
    while (!condition()) {
      const bool any = worker_.advance();
      if (any) waiter.restart();
      // A thread that waits for the lock gets it in between. The waiter is asked in any case: MPI may be due.
      lock.unlock();
      const bool busy = waiter.busy() || any;
      lock.lock();
      if (busy || condition() || !worker_.arm()) continue;
      lock.unlock();
      worker_.await_event(nullptr, waiter.bounded_us(kSleepUs));
      lock.lock();
    }
    --waiting_;
  }
  void make_room(Lock& lock);
  Status await(Lock& lock, std::uint64_t number);
  Status outcome(Operation* failed);
  // Before the return of a call that may leave something under way.
  void leave();
  bool has_more() const { return operations_.under_way() > 0 || !batched_.empty(); }
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
  // What must not be overtaken.
  Status order_transfer(Lock& lock, int target);
  Status order_request(Lock& lock, int target);
  Status transfer_run(Lock& lock, Operation* whole, Direction direction, const Target& target, const char* remote,
                      char* local, std::size_t bytes);
  Status transfer_rows(Lock& lock, Operation* whole, Direction direction, const Target& target,
                       const server::Rows& rows);
  Status flush_puts(Lock& lock, int target);
  Status begin_flush(int target, std::uint64_t* number);

  // Or none will come.
  bool has_room(const Peer& of) const { return of.requests - of.executed < ways_.requests || of.lost != UCS_OK; }
  bool has_executed(const Peer& of, std::uint64_t request) const { return of.executed >= request || of.lost != UCS_OK; }
  // Fails if requests to that process were lost.
  Status check_way(int target);
  void lose(int target, ucs_status_t status);
  // Of a batch, at most; message_bytes as in Ways.
  static std::size_t batch_bytes(std::size_t message_bytes);
  void await_room(Lock& lock, const Peer& of);
  Status send(Lock& lock, int target, Message message, bool is_store, std::uint64_t answer);
  // The same where there is room, without a look at the batch.
  Status send_now(int target, Message message, bool is_store, std::uint64_t answer);
  Status put_into_batch(Lock& lock, int target, std::uint64_t address, const void* local, std::size_t bytes);
  Status send_batch(Lock& lock, int target);
  Status send_batch_now(int target);
  // Those that nobody has added to since the last look, and that have room.
  void send_old_batches();
  Status ask(Lock& lock, Operation* whole, int target, Message message, Answer answer);
  Status store_run(Lock& lock, int target, server::RequestHeader header, char* remote, const char* local,
                   std::size_t bytes);
  Status store_rows(Lock& lock, int target, server::RequestHeader header, const server::Rows& rows);
  Status fetch_run(Lock& lock, Operation* whole, int target, const char* remote, char* local, std::size_t bytes);
  Status fetch_rows(Lock& lock, Operation* whole, int target, const server::Rows& rows);
  void take_reply(const ReplyMark& mark, const void* data, std::size_t bytes);

  static ucs_status_t on_reply(void* self, const void* header, std::size_t header_bytes, void* data, std::size_t bytes,
                               const ucp_am_recv_param_t* param);

  const std::uint32_t process_;
  const Ways ways_;
  const MappedMemory& mapped_;
  const std::function<void()> wake_;
  std::mutex mutex_;
  MessageBuffers buffers_;  // before whatever holds some
  std::vector<std::string> addresses_;
  std::vector<Peer> peers_;
  Operations operations_;
  std::unordered_map<std::uint64_t, Answer> answers_;  // that are waited for
  std::uint64_t last_answer_ = 0;
  std::uint64_t unexecuted_ = 0;  // requests, to all
  std::vector<int> batched_;      // processes for which there is a batch
  int waiting_ = 0;               // threads that wait inside
  bool watched_ = false;          // a thread helps
  // The last one: its end is the end of what is under way, which is told to all the others.
  Worker worker_;
};

}  // namespace armci::ucx
