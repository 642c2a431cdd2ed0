// The client: accesses the memory of other nodes by RDMA, and sends requests to their servers.
//
//   short put             by value in the work request
//   put, get              zero copy if the local memory is registered; else through registered buffers
//   rows, long            a work request each; the last one is signaled
//   rows, short           put: packed into requests, and the server unpacks them; get: the server packs the reply
//   rows of medium length get: the server sends them with zero copy into the rows here
//   accumulate, atomics   requests
//
// Soft-RoCE stores data with the CPU: aligned words of 8 bytes at once, and the bytes before and after them one by one.
// There the client cuts transfers at words. If a part of a word holds an element of 4 bytes, the client sends a request
// to the server instead, since elements must not be torn [LC-3].
//
// Order: blocking stores, gets and atomics of one thread to one node take effect in the order of issue. RDMA and
// requests start in order. A server executes a request later, so RDMA that must follow it waits until it is executed.
//
// Thread safety: all members by any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "impl/base/status.h"
#include "impl/native-verbs/connection_manager.h"
#include "impl/native-verbs/registrations.h"
#include "impl/server/rows.h"
#include "impl/server/wire.h"

namespace armci::verbs {

using server::Here;
using server::Rows;

// The node of a target, and the remote key of its memory.
struct Target {
  int node;
  std::uint32_t key;
};

// The lengths in bytes that choose the protocol of a transfer.
struct Thresholds {
  std::size_t pack_bytes;      // shorter rows go through the server; at most half a bounce
  std::size_t in_place_bytes;  // shorter rows of a get are packed there
  std::size_t register_bytes;  // longer transfers register memory that is not
};

class Client {
 public:
  Client(const Device& device, int process, Registrations* registrations, ConnectionManager* connections,
         const Thresholds& thresholds);

  // *point: for test(); the transfer owns the local buffer until then. If `point` is null, the call returns after local
  // completion.
  Status put(const Target& target, void* remote, const void* local, std::size_t bytes, CompletionPoint* point);
  Status get(const Target& target, const void* remote, void* local, std::size_t bytes, CompletionPoint* point);
  Status put_rows(const Target& target, const Rows& rows, CompletionPoint* point);
  Status get_rows(const Target& target, const Rows& rows, CompletionPoint* point);
  // A put of 0 bytes or more, and a signal behind it and all earlier stores: a request, with the data if they are
  // short. The local buffer is free at return.
  Status put_signal(const Target& target, void* remote, const void* local, std::size_t bytes,
                    const node::Signal& signal);
  // Accumulates, as the header says; the client fills in addresses and lengths. The local buffer is free at return.
  Status add(const Target& target, server::RequestHeader header, void* remote, const void* local, std::size_t bytes);
  Status add_rows(const Target& target, server::RequestHeader header, const Rows& rows);
  Status atomic(int node, server::RequestHeader header, std::uint64_t* before);

  Status test(const CompletionPoint& point, bool* done);
  // Waits until every store to the node is remotely complete.
  Status flush(int node);
  // The same for every node, overlapped.
  Status flush_all();

 private:
  using Lock = ConnectionManager::Lock;
  // One transfer. may_zero_copy: the device may access the local buffer until the completion point. has_rdma: a work
  // request of the transfer has to complete before the point.
  struct Transfer {
    Target target;
    Lookup lookup;
    bool may_zero_copy;
    bool has_rdma = false;
  };
  // Local rows as the pieces of one work request.
  struct Pieces {
    std::vector<ibv_sge> iov;
    std::vector<Registration*> held;
  };

  // The protocol for rows: dense at the target, one by one, or through the server.
  enum class Way : std::uint8_t { kDense, kLong, kServer };
  Way way_of(const Rows& rows);

  std::size_t aligned_run(const void* remote, std::size_t bytes) const;
  static std::size_t cut(const void* remote, std::size_t at_most, std::size_t bytes);
  static std::size_t piece_bytes(const Rows& rows);
  bool find_registered(Transfer* transfer, const void* remote, const char* local, std::size_t* bytes,
                       MemoryRegion* region);
  bool needs_server(const void* remote, std::size_t bytes) const;
  bool needs_server(const Rows& rows) const;
  Status put_run(Lock& lock, Transfer* transfer, char* remote, const char* local, std::size_t bytes, bool last);
  Status get_run(Lock& lock, Transfer* transfer, const char* remote, char* local, std::size_t bytes, bool last);
  Status post_zero_copy(Lock& lock, Transfer* transfer, const Work& work, const MemoryRegion& region);
  Status write_copy(Lock& lock, const Target& target, char* remote, const char* local, std::size_t bytes);
  Status read_copy(Lock& lock, const Target& target, const char* remote, char* local, std::size_t bytes);
  Status finish(Lock& lock, const Transfer& transfer, bool is_get, CompletionPoint* point);
  Status move_long(Lock& lock, Transfer* transfer, const Rows& rows, ibv_wr_opcode opcode);
  Status move_dense(Lock& lock, Transfer* transfer, const Rows& rows, ibv_wr_opcode opcode);
  Status move_copies(Lock& lock, Transfer* transfer, const Rows& rows, ibv_wr_opcode opcode, std::size_t first,
                     std::size_t count, const char* remote);
  bool find_pieces(Lookup* lookup, const Rows& rows, std::size_t first, std::size_t count, Pieces* pieces);

  Status store_run(Lock& lock, int node, server::RequestHeader header, char* remote, const char* local,
                   std::size_t bytes);
  Status store_rows(Lock& lock, int node, server::RequestHeader header, const Rows& rows);
  Status store_long_rows(Lock& lock, int node, const server::RequestHeader& header, const Rows& rows);
  Status fetch_word(Lock& lock, int node, const void* remote, void* local, std::size_t bytes);
  Status fetch_rows(Lock& lock, int node, const Rows& rows);
  Status fetch_in_place(Lock& lock, Lookup* lookup, int node, const Rows& rows);
  // Some of the rows, and the buffer for the request if it needs one.
  struct Part {
    std::size_t first;
    std::size_t count;
    int bounce;
  };
  Status request_rows(Lock& lock, int node, const server::RequestHeader& header, const Rows& rows, const Part& part,
                      const ConnectionManager::ReplyBuffers& reply, ScatterList** scatter_list);
  bool is_short_request(int node, const Rows& rows, std::size_t count) const;
  Status request_by_value(Lock& lock, int node, std::span<const char> message, bool is_store,
                          const ConnectionManager::ReplyBuffers& reply, ScatterList** scatter_list);
  server::RequestHeader get_header() const;

  const bool tears_;  // parts of words
  const std::uint32_t process_;
  Registrations& registrations_;
  ConnectionManager& connections_;
  const Thresholds thresholds_;
};

}  // namespace armci::verbs
