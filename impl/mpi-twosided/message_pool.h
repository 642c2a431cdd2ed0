// Receive buffers that are posted for messages of one kind from any process, and taken in the order of arrival.
//
// One buffer is spare. It replaces the buffer of a message that is being executed, so that the sender may get its
// credit before the execution ends.
//
// Thread safety: one thread at a time.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "impl/base/status.h"

namespace armci::twosided {

// The communicators. Messages whose tags may be equal use different ones.
struct Comms {
  MPI_Comm requests = MPI_COMM_NULL;  // to servers, from processes
  MPI_Comm replies = MPI_COMM_NULL;   // to processes
  MPI_Comm data = MPI_COMM_NULL;      // to servers: data that did not fit into a request
  MPI_Comm forwards = MPI_COMM_NULL;  // between servers: requests and acks

  // Collective over `all`: the processes by absolute id, and the servers.
  Status duplicate(MPI_Comm all);
  // Collective.
  void free();
};

// The receive buffers of a server; the same on all processes.
struct ReceiveBuffers {
  int credits = 0;              // buffers for the requests of one process
  std::size_t bytes = 0;        // of each
  int forwards = 0;             // buffers for requests from one other server of the cluster
  int chunks = 0;               // for data that do not fit into a request or a short reply
  std::size_t chunk_bytes = 0;  // of each

  // Data of a get of several segments that fit into a short reply.
  std::size_t reply_bytes() const { return bytes; }
};

class MessagePool {
 public:
  struct Buffer {
    std::unique_ptr<char[]> data;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  struct Message {
    Buffer* buffer = nullptr;  // null: no message has arrived
    int source = -1;
    std::size_t bytes = 0;

    std::span<const char> text() const { return {buffer->data.get(), bytes}; }
  };

  MessagePool(MPI_Comm comm, int tag, std::size_t bytes) : comm_(comm), tag_(tag), bytes_(bytes) {}

  // Posts `count` buffers and creates the spare one. If count is 0, creates none. `purpose`: the messages, for an
  // error.
  Status open(std::size_t count, const char* purpose);
  // Cancels the posted receives.
  void close();

  // Takes the next message. The caller has its buffer until give_back() or post().
  Status take(Message* message);
  // Posts the spare buffer instead of the one that was taken. give_back() makes that one the spare buffer.
  Status replace();
  void give_back(Buffer* buffer) { spare_ = buffer; }
  // Without replace(): posts the buffer again.
  Status post(Buffer* buffer);

  std::size_t memory_bytes() const { return buffers_.size() * bytes_; }

 private:
  const MPI_Comm comm_;
  const int tag_;
  const std::size_t bytes_;
  std::vector<Buffer> buffers_;
  std::deque<Buffer*> posted_;  // in the order of posting
  Buffer* spare_ = nullptr;
};

}  // namespace armci::twosided
