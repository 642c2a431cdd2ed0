// Buffers posted for messages of one kind, from anyone, and taken in the order of arrival.
//
// One buffer is spare: it takes the place of one whose message is being looked at, so that its sender may be told of
// the room before the message is done with.
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

// The communicators, each for messages whose tags must not meet those of others.
struct Comms {
  MPI_Comm requests = MPI_COMM_NULL;  // to servers, from processes
  MPI_Comm replies = MPI_COMM_NULL;   // to processes
  MPI_Comm data = MPI_COMM_NULL;      // to servers: what did not fit into a request
  MPI_Comm forwards = MPI_COMM_NULL;  // between servers: requests and acknowledgements

  // Collective over `all`: the processes by absolute id, and the servers.
  Status duplicate(MPI_Comm all);
  // Collective.
  void free();
};

// How much room servers have; the same on all processes.
struct Room {
  int buffers = 0;              // for requests of one process
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
    Buffer* buffer = nullptr;  // null: nothing has come
    int source = -1;
    std::size_t bytes = 0;

    std::span<const char> text() const { return {buffer->data.get(), bytes}; }
  };

  MessagePool(MPI_Comm comm, int tag, std::size_t bytes) : comm_(comm), tag_(tag), bytes_(bytes) {}

  // Posts `count` buffers and makes the spare one; none of both if count is 0. `purpose`, for an error: what they hold.
  Status open(std::size_t count, const char* purpose);
  // Withdraws what is posted.
  void close();

  // The next message, whose buffer is the caller's until it is given back.
  Status take(Message* message);
  // Posts the spare buffer in the place of one that was taken, which becomes the spare one when it is given back.
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
