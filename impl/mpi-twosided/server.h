// The server of a node: executes what processes of other nodes ask of its memory, without help of the node's programs.
//
//   process (other node)                  server (a thread of the node's first process)
//   put   |--header, data--------------->| copies to its place
//         |  the buffer is free at once  |
//         |<-----------------------credit| all that came before is there
//   get   |----------------------------->|
//         |<--data, from where they lie--|
//   long  |--header--------------------->| a chunk is taken, and the data received into it
//   put   |--data----------------------->| then copied to their place
//         |<-----------------------credit|
//
// Requests wait in buffers that were posted before: ARMCI_SERVER_BUFFERS of ARMCI_SERVER_BUFFER_BYTES for each process
// whose requests come here. A process has as many credits, spends one with each request, and gets it back when the
// request has been executed, with a reply or in a message of credits. Nothing is sent without a credit, so no request
// ever lies in MPI's own memory, and a server's memory is bounded by the number of processes.
//
// Order: requests of one process are executed in the order in which they were sent, and their credits come back in it.
// Buffers are posted and taken in one order, and MPI gives messages of one sender to them in that of sending. What
// needs a chunk gets it in the order of arrival, so that one who has a chunk never waits for one who has none.
//
// Clusters (routes.h): requests that mean another node of the cluster are sent on to its server (forwarder.h), which
// executes them in the order of each process likewise, and answers the process itself.
//
// Thread safety: start and stop by one thread; MPI is called from the server's thread, which needs MPI_THREAD_MULTIPLE.
// In a process of its own (server_process.h) the caller of run() is the server, at any thread level.
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

namespace armci::twosided {

class Server {
 public:
  // servers[n]: the rank of the server of node n. `node`: the one that is served here.
  Server(const Comms& comms, ReceiveBuffers receive_buffers, const Routes& routes, std::vector<int> servers, int node, int wait_us);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Posts the buffers. Every process may send from then on.
  Status open();
  // Starts the thread that serves until stop(). The thread calls `progress` regularly for the operations that this process
  // issued; `progress` returns whether any is pending.
  Status start(std::function<bool()> progress);
  // To be notified when this process issues an operation.
  EventCount& event_count() { return event_count_; }
  // Serves in the calling thread until `over` returns true. `over` is called between requests.
  void run(const std::function<bool()>& over);
  // Ends the thread. To be called after every client has disconnected.
  void stop();

  // Of request buffers, chunks and buffers of forwarded requests.
  std::size_t buffer_bytes() const;

 private:
  struct Chunk {
    std::unique_ptr<char[]> data;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  // A request that is to be executed here, in the buffer that it came in.
  struct Work {
    MessagePool::Buffer* buffer = nullptr;
    Request request;
    bool forwarded = false;
    int source = -1;           // who sent it: its origin, or the server that forwarded it
    std::uint64_t ticket = 0;  // of its credit
    Chunk* chunk = nullptr;
    bool received = false;  // its data, in the chunk
  };
  // What there is of one process.
  struct Origin {
    std::deque<Work> queue;  // to be executed, in the order of sending
    // Requests whose credits are not owed yet, in the order of sending, and which of them have been executed.
    std::deque<bool> open;
    std::uint64_t first = 0;
    std::uint32_t owed = 0;
  };
  // A reply under way; what it is sent from, unless that is the memory itself.
  struct Sending {
    MPI_Request request = MPI_REQUEST_NULL;
    std::unique_ptr<char[]> reply;
    bool has_data = false;  // of the reply
    Chunk* chunk = nullptr;
  };

  Origin& origin(std::uint32_t process) { return origins_[process]; }
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
  Status answer_get(const Work& work);
  Status answer(int client, std::uint32_t tag, std::uint64_t value);
  Status send(int client, std::uint32_t tag, const void* data, std::size_t bytes, Sending sending);
  ReplyHeader begin_reply(int client, std::uint64_t value);
  void take_reply(bool has_data, Sending* sending);
  Status take_acknowledgements(bool* busy);
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
  std::vector<Origin> origins_;         // by process
  std::vector<std::uint32_t> owed_to_;  // processes that are owed credits, perhaps more than once
  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::vector<Chunk*> free_chunks_;
  std::deque<Work*> wants_chunk_;
  std::vector<Work*> receiving_;
  std::vector<Sending> sending_;
  // Free reply buffers: without space for data, and with it.
  std::vector<std::unique_ptr<char[]>> free_replies_[2];
  std::atomic<std::size_t> replies_[2] = {0, 0};  // that were made
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace armci::twosided
