// Receive buffers that are posted for messages of one kind from any process, and taken in the order of arrival.
//
// Thread safety: one thread at a time.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "impl/base/status.h"

namespace armci::twosided {

// Tags of messages. All requests have one tag, so that a server receives those of one process in the order of sending.
// Replies, and data that follow a request, have tags from engine::kFirstTag on.
inline constexpr int kRequestTag = 1;
inline constexpr int kCountTag = 2;
inline constexpr int kAcknowledgeTag = 3;

// The communicators. Messages whose tags may be equal use different ones.
struct Comms {
  MPI_Comm requests = MPI_COMM_NULL;  // to servers, from processes
  MPI_Comm replies = MPI_COMM_NULL;   // to processes
  MPI_Comm data = MPI_COMM_NULL;      // to servers: data that did not fit into a request
  MPI_Comm forwards = MPI_COMM_NULL;  // between servers: requests and acknowledgements

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
    MPI_Request request = MPI_REQUEST_NULL;  // of the receive, or of what the owner sends from it
  };
  struct Received {
    Buffer* buffer = nullptr;  // null: no message has arrived
    int source = -1;
    std::size_t bytes = 0;
  };

  MessagePool(MPI_Comm comm, int tag, std::size_t bytes) : comm_(comm), tag_(tag), bytes_(bytes) {}

  // Creates and posts `count` buffers. `purpose`: the messages, for an error.
  Status open(std::size_t count, const char* purpose);
  // Cancels the posted receives.
  void close();

  // Takes the next message. The caller has its buffer until post().
  Status take(Received* received);
  // Whether take() will probably find a message. Calls no MPI; may miss one.
  bool has_arrived() const;
  // Waits until the buffer is not sent from any more.
  Status post(Buffer* buffer);

  std::size_t memory_bytes() const { return buffers_.size() * bytes_; }

 private:
  static std::atomic_ref<std::uint32_t> first_word(const Buffer& buffer);

  const MPI_Comm comm_;
  const int tag_;
  const std::size_t bytes_;
  std::vector<Buffer> buffers_;
  std::deque<Buffer*> posted_;  // in the order of posting
};

}  // namespace armci::twosided
