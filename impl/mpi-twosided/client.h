// The client: what a process asks of the servers of other nodes, and the answers it waits for.
//
// A store is copied into a send buffer and is complete locally at once; a large one goes in several requests, each as
// long as the server's room. A get asks for its data in as many requests as it takes, and is complete when all have
// answered. A request waits until its server has room for it (credits).
//
// Thread safety: all members by any thread; one at a time is inside, and none waits there for another process.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "impl/common/shapes.h"
#include "impl/common/status.h"
#include "impl/mpi-twosided/server.h"
#include "impl/mpi-twosided/wire.h"

namespace armci::twosided {

class Client {
 public:
  // servers[p]: the rank of the server of process p, in both communicators; room: that of each server for this process.
  Client(MPI_Comm requests, MPI_Comm replies, Room room, std::vector<int> servers);

  // Says goodbye to all servers that were spoken to; nothing is under way.
  common::Status leave();

  // A put or an accumulate, as the header says; places and lengths are filled in. The local buffer is free at return.
  common::Status store(int target, RequestHeader header, void* remote, const void* local, std::size_t bytes);
  common::Status store_strided(int target, RequestHeader header, void* remote, const void* local,
                               const common::Strided& shape);
  common::Status store_list(int target, RequestHeader header, const common::Segments& list);

  // *operation: for test(); the local buffer belongs to it until then.
  common::Status get(int target, const void* remote, void* local, std::size_t bytes, std::uint64_t* operation);
  common::Status get_strided(int target, const void* remote, void* local, const common::Strided& shape,
                             std::uint64_t* operation);
  common::Status get_list(int target, const common::Segments& list, std::uint64_t* operation);

  common::Status atomic(int target, RequestHeader header, std::uint64_t* before);

  common::Status test(std::uint64_t operation, bool* done);
  common::Status wait(std::uint64_t operation);
  // Every store to the node of `target` is visible there.
  common::Status flush(int target);
  // The same for every node, overlapped.
  common::Status flush_all();

 private:
  using Lock = std::unique_lock<std::mutex>;
  using Unpack = std::function<void(const char* data)>;
  struct Peer {
    int credits = 0;
    bool known = false;
    std::uint64_t stores = 0;   // sent
    std::uint64_t flushed = 0;  // of those, visible
    ReplyHeader credit_message;
    MPI_Request credit_request = MPI_REQUEST_NULL;
  };
  struct Slot {
    std::vector<char> data;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  // An answer that is waited for.
  struct Reply {
    MPI_Request request = MPI_REQUEST_NULL;
    std::uint64_t operation = 0;
    int server = -1;
    std::vector<char> message;  // empty: received where it belongs
    Unpack unpack;
  };
  // What a request expects back: nothing, `bytes` at `direct`, or a reply with `bytes` of data for `unpack`.
  struct Expected {
    std::uint64_t operation = 0;
    void* direct = nullptr;
    std::size_t bytes = 0;
    Unpack unpack;
  };

  std::size_t data_room(std::size_t place_bytes) const;
  int server_of(int target) const { return servers_[static_cast<std::size_t>(target)]; }
  Peer& peer(int server) { return peers_[static_cast<std::size_t>(server)]; }

  // Waits, letting other threads in, until the server has room and a send buffer is free.
  common::Status acquire(Lock& lock, int server, Slot** slot);
  common::Status send(int server, Slot* slot, std::size_t bytes);
  // Sends a request that is answered.
  common::Status ask(Lock& lock, int server, RequestHeader header, std::span<const char> places, Expected expected);
  // Sends a store whose data `fill` writes to the place given.
  template <class Fill>
  common::Status tell(Lock& lock, int server, const RequestHeader& header, std::span<const char> places,
                      std::size_t bytes, Fill fill);
  common::Status store_run(Lock& lock, int target, RequestHeader header, const char* local, std::size_t bytes);
  common::Status get_run(Lock& lock, int target, const char* remote, char* local, std::size_t bytes,
                         std::uint64_t operation);
  common::Status ask_fence(Lock& lock, int server, std::uint64_t operation);
  common::Status await(Lock& lock, std::uint64_t operation);
  common::Status advance();
  common::Status advance_credits(int server);
  void arrived(Reply& reply);
  std::uint64_t begin_operation();
  void end_part(std::uint64_t operation);
  std::uint32_t next_tag();

  const MPI_Comm requests_;
  const MPI_Comm replies_;
  const Room room_;
  const std::vector<int> servers_;
  std::mutex mutex_;
  std::vector<Peer> peers_;  // by the server's rank
  std::vector<int> known_;   // servers that were spoken to
  std::vector<Slot> slots_;
  std::vector<Reply> open_;
  std::unordered_map<std::uint64_t, int> operations_;  // parts that have not been answered
  std::uint64_t last_operation_ = 0;
  std::uint32_t last_tag_ = 0;
};

}  // namespace armci::twosided
