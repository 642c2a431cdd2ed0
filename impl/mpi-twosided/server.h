// The server of a node: executes what processes of other nodes ask of its memory, without help of the node's programs.
//
//   process (other node)                  server (a thread of the node's first process)
//   put   |--header, data--------------->| copies to its place
//         |  the buffer is free at once  |
//   fence |----------------------------->| all of the above is there
//         |<------------------------reply|
//   get   |----------------------------->|
//         |<--data, from where they lie--|
//
// Requests wait in buffers that were posted before: for each process outside the node ARMCI_SERVER_BUFFERS of
// ARMCI_SERVER_BUFFER_BYTES. A process has as many credits, spends one with each request, and gets it back with a reply
// or in a message of credits when its buffer is posted again. Nothing is sent without a credit, so no request ever lies
// in MPI's own memory, and a server's memory is bounded by the number of processes.
//
// Order: requests of one process are executed in the order in which they were sent. Buffers are posted and taken in one
// order, and MPI gives messages of one sender to them in that of sending.
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

#include "impl/common/status.h"
#include "impl/mpi-twosided/wire.h"

namespace armci::twosided {

// How many buffers there are, and how long they are.
struct Room {
  int buffers = 0;
  std::size_t bytes = 0;

  // Data of a get of several segments that fit into a reply.
  std::size_t reply_bytes() const { return bytes - sizeof(ReplyHeader); }
};

class Server {
 public:
  Server(MPI_Comm requests, MPI_Comm replies, Room room, int wait_us)
      : requests_(requests), replies_(replies), room_(room), wait_us_(wait_us) {}
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Posts the buffers. Every one of the processes `clients` (absolute ids) may send from then on.
  common::Status post_all(std::span<const int> clients);
  // The same, and starts the thread.
  common::Status start(std::span<const int> clients);
  // Serves in the caller's thread until `over` says so, which is asked between requests.
  void run(const std::function<bool()>& over);
  // After every client has said goodbye. Ends the thread.
  void stop();

 private:
  struct alignas(64) Line {
    char bytes[64];
  };
  struct Buffer {
    std::unique_ptr<Line[]> lines;
    MPI_Request request = MPI_REQUEST_NULL;

    char* data() const { return lines[0].bytes; }
  };
  // A reply under way; with a buffer unless it is sent from where the data lie.
  struct Sending {
    MPI_Request request = MPI_REQUEST_NULL;
    Buffer buffer;
  };

  // Executes what has come; whether there was something.
  common::Status step(bool* busy);
  // *last: the process sends nothing more.
  common::Status execute(std::span<const char> message, int client, bool* last);
  void store(const Request& request) const;
  common::Status answer_get(const Request& request, int client);
  common::Status answer(int client, std::uint32_t tag, std::uint64_t value);
  common::Status return_credits(int client);
  common::Status post(Buffer* buffer);
  Buffer begin_reply(int client, std::uint64_t value);
  Buffer take_reply_buffer();
  common::Status send(int client, std::uint32_t tag, const void* data, std::size_t bytes, Buffer buffer);
  common::Status collect_sent();

  const MPI_Comm requests_;
  const MPI_Comm replies_;
  const Room room_;
  const int wait_us_;
  std::vector<std::uint32_t> owed_credits_;  // by absolute id
  std::vector<Buffer> buffers_;
  std::deque<Buffer*> posted_;  // in the order of posting
  std::vector<Sending> sending_;
  std::vector<Buffer> free_replies_;
  std::atomic<bool> leaving_{false};
  std::thread thread_;
};

}  // namespace armci::twosided
