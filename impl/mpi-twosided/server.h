// The server of a node: executes the requests that processes of other nodes send for its memory. The programs of the
// node take no part.
//
//   process (other node)                  server (a thread of the node's first process)
//   put   |--header, data--------------->| copies the data into the memory
//         |  the buffer is free at once  |
//         |<-----------------------credit| this request and all earlier ones are complete
//   get   |----------------------------->|
//         |<-------------data, zero copy-|
//   long  |--header--------------------->| takes a chunk, and receives the data into it
//   put   |--data----------------------->| then copies them into the memory
//         |<-----------------------credit|
//
// Requests arrive in receive buffers that are posted before: ARMCI_SERVER_BUFFERS of ARMCI_SERVER_BUFFER_BYTES for each
// client process. A process has as many credits. Each request uses one credit. The server returns the credit when it
// has executed the request, with a reply or in a message of credits. No process sends without a credit, so MPI never
// has to store a request, and the number of processes bounds the memory of a server.
//
// Order: the server executes requests of one process in the order of sending, and returns their credits in that order.
// The server posts and takes buffers in one order, and MPI matches messages of one sender in the order of sending.
// Requests get chunks in the order of arrival, so a request that has a chunk never waits for one that has none.
//
// Clusters (routes.h): the server forwards a request for another node of the cluster to that node's server
// (forwarder.h). That server also keeps the order of each process, and replies to the process itself.
//
// Thread safety: start() and stop() by one thread. One thread at a time makes a pass over queues and network: the
// server thread, or a thread of the process that waits in the library. The server thread calls MPI, which needs
// MPI_THREAD_MULTIPLE. In a server process (server_process.h) the caller of run() is the server, at any thread level.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "impl/base/status.h"
#include "impl/mpi-twosided/event_count.h"
#include "impl/mpi-twosided/forwarder.h"
#include "impl/mpi-twosided/message_pool.h"
#include "impl/mpi-twosided/messages.h"
#include "impl/mpi-twosided/routes.h"
#include "impl/node/block_finder.h"
#include "impl/server/passes.h"

namespace armci::twosided {

class Server {
 public:
  // servers[n]: the rank of the server of node n. `node`: the node of this server.
  Server(const Comms& comms, ReceiveBuffers receive_buffers, const Routes& routes, std::vector<int> servers, int node,
         int wait_us);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Posts the receive buffers. Every process may send after that.
  Status open();
  // Starts the thread that serves until stop(). The thread calls `progress` regularly for the operations that this
  // process issued; `progress` returns whether any is pending.
  Status start(std::function<bool()> progress);
  // A pass by a thread of this process that waits in the library (impl/server/passes.h).
  void serve_while_waiting();
  // To be notified when this process issues an operation.
  EventCount& event_count() { return event_count_; }
  // Serves in the calling thread until `over` returns true. `over` is called between requests.
  void run(const std::function<bool()>& over);
  // Ends the thread. To be called after every client has disconnected.
  void stop();

  // The bytes of request buffers, chunks and buffers of forwarded requests.
  std::size_t buffer_bytes() const;

 private:
  struct Chunk {
    std::unique_ptr<char[]> data;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  // A request for this server, in its receive buffer.
  struct Work {
    MessagePool::Buffer* buffer = nullptr;
    Request request;
    bool forwarded = false;
    int source = -1;           // the sender: the origin, or the server that forwarded it
    std::uint64_t ticket = 0;  // number of its credit
    Chunk* chunk = nullptr;
    bool received = false;  // the data are in the chunk
  };
  // The state of one origin.
  struct Origin {
    std::deque<Work> queue;  // to execute, in the order of sending
    // Requests whose credits are not due yet, in the order of sending; true: executed.
    std::deque<bool> open;
    std::uint64_t first = 0;
    std::uint32_t credits_due = 0;
  };
  // A pending reply and its buffer; without a buffer, MPI sends from the memory itself (zero copy).
  struct Sending {
    MPI_Request request = MPI_REQUEST_NULL;
    std::unique_ptr<char[]> reply;
    bool has_data = false;  // of the reply
    Chunk* chunk = nullptr;
  };

  Origin& origin(std::uint32_t process) { return origins_[process]; }
  // A pass; true if it found work. Ends the job on failure.
  bool pass();
  // One pass over queues and network. *busy: whether it found work.
  Status step(bool* busy);
  Status take_requests(MessagePool* pool, bool forwarded, bool* busy);
  Status arrived(const MessagePool::Message& message, bool forwarded);
  Status forward(const MessagePool::Message& message, const RequestHeader& header, std::uint64_t ticket);
  Status begin(Work work);
  bool needs_chunk(const Request& request) const;
  static bool ready(const Work& work);
  Status give_chunks();
  Status receive_chunks(bool* busy);
  Status run_queue(Origin* origin);
  Status complete(Work* work);
  Status execute(const Work& work);
  Status reply_get(const Work& work);
  Status reply(int client, std::uint32_t tag, std::uint64_t value);
  Status send(int client, std::uint32_t tag, const void* data, std::size_t bytes, Sending sending);
  ReplyHeader begin_reply(int client, std::uint64_t value);
  void take_reply(bool has_data, Sending* sending);
  Status take_acks(bool* busy);
  void executed(std::uint32_t process, std::uint64_t ticket);
  Status return_credits();
  Status collect_sent();

  const Comms comms_;
  const ReceiveBuffers receive_buffers_;
  const Routes routes_;
  const std::vector<int> servers_;
  const int node_;
  const int wait_us_;
  node::BlockFinder blocks_;
  const IsInside is_inside_;
  std::function<bool()> progress_;
  EventCount event_count_;
  MessagePool requests_;
  MessagePool forwarded_;
  Forwarder forwarder_;
  std::vector<Origin> origins_;                // by process
  std::vector<std::uint32_t> credits_due_to_;  // processes with credits due, perhaps more than once
  static constexpr int kBusyPassesMax = 8;     // before credits are returned
  int busy_passes_ = 0;
  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::vector<Chunk*> free_chunks_;
  std::deque<Work*> wants_chunk_;
  std::vector<Work*> receiving_;
  std::vector<Sending> sending_;
  // Free reply buffers: without space for data, and with it.
  std::vector<std::unique_ptr<char[]>> free_replies_[2];
  std::atomic<std::size_t> replies_[2] = {0, 0};  // created so far
  server::Passes passes_;
  std::atomic<bool> streaming_{false};  // long data are in transit
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace armci::twosided
