// The server: executes the requests that processes send for the memory of its node, or of its process. The programs of
// the node take no part.
//
//   process                               server
//   put   |--header, data--------------->| copies the data into the memory
//         |<-----------------------count-| this request and all earlier ones are complete
//   get   |----------------------------->|
//         |<------------------count, data|
//   long  |--header--------------------->| takes a chunk, and receives the data into it
//   put   |--data----------------------->| then copies them into the memory
//         |<-----------------------count-|
//
// Order: the server executes requests of one process in the order of their sequence, also if the wire delivers them in
// another: an early one waits. Requests get chunks in the order of arrival, so a request that has a chunk never waits
// for one that has none.
//
// Clusters (routes.h): the server forwards a request for another server of the cluster (forwarder.h). That server also
// keeps the order of each process, and replies to the process itself.
//
// The server refuses a malformed request: the origin's operation, or its next flush, fails. A malformed request whose
// data follow, or come back alone, ends the job: the other side would take other bytes for the data.
//
// Thread safety: open(), start() and stop() by one thread. One thread at a time makes a pass over queues and network:
// the server thread, or a thread of the process that waits in the library (passes.h). In a process that only serves,
// the caller of run() is the server.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "impl/base/status.h"
#include "impl/engine/event_count.h"
#include "impl/engine/forwarder.h"
#include "impl/engine/passes.h"
#include "impl/engine/routes.h"
#include "impl/engine/wire.h"
#include "impl/node/block_finder.h"

namespace armci::engine {

class Client;

// Memory for the data that follow a request, and for replies that are too long for a message of the wire.
struct Chunk {
  std::unique_ptr<char[]> data;  // with space for the header of a reply
};

struct ServerOptions {
  std::uint64_t credits = 0;  // of each process; a count that is due and gives back half of them is sent at once
  int forwards = 0;           // requests to one other server that it has not acknowledged
  int chunks = 0;
  std::size_t chunk_bytes = 0;  // of each
  int wait_us = 0;              // the longest sleep of an idle server whose wire has no events
};

class Server final : private ServerEvents {
 public:
  Server(ServerWire* wire, const Routes& routes, int number, const ServerOptions& options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // From now on requests may arrive.
  Status open();
  // Starts the thread that serves until stop(). `client`: of this process, for which the thread makes progress.
  // client_wire: of that client, if it has events.
  Status start(Client* client, ClientWire* client_wire, const char* thread_name);
  // A pass by a thread of this process that waits in the library.
  void serve_while_waiting();
  // From now on until stop() the threads of this process that wait for messages of MPI inside the library make passes,
  // as those in a barrier between nodes do (impl/node/mpi_progress.h). One server of a process.
  void serve_in_mpi_waits();
  // Ends a sleep of the thread: the client needs progress.
  void wake();
  // Serves in the calling thread until `over` returns true. `over` is called between requests.
  void run(const std::function<bool()>& over);
  // Ends the thread and closes the wire. To be called after every client has disconnected.
  void stop();

  std::size_t buffer_bytes() const;

 private:
  // Messages of one sender, in the order in which it numbered them.
  struct Stream {
    std::uint64_t next = 1;
    std::map<std::uint64_t, Arrival> early;  // by number
  };
  // A request for this server that waits for a chunk, or behind such a one.
  struct Work {
    Arrival arrival;
    Request request;
    std::uint64_t number = 0;
    Chunk* chunk = nullptr;
    bool received = false;  // the data are in the chunk
  };
  enum class RequestState : std::uint8_t { kOpen, kExecuted, kRefusedStore };
  // The state of one process.
  struct Origin {
    Stream stream;
    std::deque<Work> queue;         // to execute, in the order of sending
    std::deque<RequestState> open;  // of requests that are not counted yet, in the order of sending
    std::uint64_t executed = 0;
    std::uint64_t reported = 0;     // of those
    std::uint32_t refusals = 0;     // of `executed`: stores that were refused
    std::uint64_t last_wanted = 0;  // the last request that wants the count, of those taken
    bool is_unreported = false;     // stands in unreported_
  };

  Origin& origin(std::uint32_t process) { return origins_[process]; }

  // --- passes (server_thread.cc)
  bool pass();
  Status step(bool* busy);
  bool has_thread_inside();
  void run_on_events(const std::function<bool()>& over);
  void sleep_while_others_serve();
  void rest();

  // --- requests
  Status arrived(const Arrival& arrival) override;
  Status acknowledged(int server, std::uint32_t acknowledgement) override;
  Status received(Chunk* chunk) override;
  Status sent(Chunk* chunk) override;
  Status check_origin(const Arrival& arrival, const RequestHeader& header) const;
  Status take_forwarded(const Arrival& arrival, std::uint32_t forward_number);
  Status take_next(Stream* stream, const Arrival& arrival, std::uint64_t number);
  Status take(const Arrival& arrival, bool is_kept);
  Status take_early(Stream* stream);
  Status accept(Work* work, bool is_kept);
  bool needs_chunk(const Request& request) const;
  static bool is_ready(const Work& work);
  Status give_chunks();
  Status run_queue(Origin* from);

  // --- execution
  Status execute(Work* work);
  Status end_store(Work* work);
  Status reply_get(Work* work);
  Status reply_in_place(Work* work);
  Status reply_chunk(Work* work);
  Status reply_value(Work* work, std::uint64_t value);
  Status refuse(Work* work, const Status& why);
  // The end of every request: its buffer is free, and it counts.
  Status end(Work* work, RequestState state = RequestState::kExecuted);
  bool is_due(const Origin& of) const;
  void list_if_due(std::uint32_t process);
  void executed(std::uint32_t process, std::uint64_t number, RequestState state);
  ReplyHeader begin_reply(std::uint32_t process, std::uint32_t tag);
  Status reply(std::uint32_t process, const ReplyHeader& header, Message message);
  Status report_counts();

  ServerWire& wire_;
  const Routes routes_;
  const int number_;
  const ServerOptions options_;
  node::BlockFinder blocks_;
  const IsInside is_inside_;
  const Bounds bounds_;
  Client* client_ = nullptr;
  ClientWire* client_wire_ = nullptr;
  EventCount event_count_;
  Forwarder forwarder_;
  std::vector<Origin> origins_;             // by process
  std::vector<Stream> neighbours_;          // by server
  std::vector<std::uint32_t> unreported_;   // processes whose count is due, unless a reply has carried it
  static constexpr int kBusyPassesMax = 8;  // before counts are reported
  int busy_passes_ = 0;
  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::vector<Chunk*> free_chunks_;
  std::deque<Work*> wants_chunk_;
  std::map<Chunk*, Work*> receiving_;
  Passes passes_;
  std::atomic<bool> streaming_{false};  // long data are in transit
  std::atomic<bool> stopping_{false};
  bool in_mpi_waits_ = false;
  std::thread thread_;
};

}  // namespace armci::engine
