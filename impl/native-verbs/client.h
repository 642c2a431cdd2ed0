// The client: what a process does with the memory of other nodes, by RDMA, and what it asks their servers for.
//
//   put of little         by value in the work request
//   put, get              between registered memory and the other node's; else through buffers, which are registered
//   rows, long            a work request each; the last one is signaled
//   rows, short           packed into requests, which the server unpacks; of a get the other way round
//   rows of some length   a get: the server sends them from where they lie into the rows here, without a copy
//   accumulate, atomics   requests
//
// Soft-RoCE stores what comes with the CPU, whole aligned words of 8 bytes at once and what is before and after them
// byte by byte. There transfers are cut at words, and where a part of one holds an element of 4 bytes, it is left to
// the server, since elements must not be torn [LC-3].
//
// Order: blocking stores, gets and atomics of one thread to one node take effect in the order of issue. RDMA and
// requests start in order; a request is executed later, so that RDMA that must come after it waits until it has been.
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

// The memory of a region on a node, and how it is reached.
struct Target {
  int node;
  std::uint32_t key;
};

// Which way a transfer goes, by its lengths in bytes.
struct Thresholds {
  std::size_t pack_bytes;      // shorter rows go through the server; at most half a bounce
  std::size_t in_place_bytes;  // shorter rows of a get are packed there
  std::size_t register_bytes;  // longer transfers register memory that is not
};

class Client {
 public:
  Client(const Device& device, int process, Registrations* registrations, ConnectionManager* connections,
         const Thresholds& thresholds);

  // *point: for test(), the local buffer belongs to the transfer until then; nullptr: the call returns when it is the
  // caller's again.
  Status put(const Target& target, void* remote, const void* local, std::size_t bytes, CompletionPoint* point);
  Status get(const Target& target, const void* remote, void* local, std::size_t bytes, CompletionPoint* point);
  Status put_rows(const Target& target, const Rows& rows, CompletionPoint* point);
  Status get_rows(const Target& target, const Rows& rows, CompletionPoint* point);
  // Accumulates, as the header says; the client fills in addresses and lengths. The local buffer is free at return.
  Status add(const Target& target, server::RequestHeader header, void* remote, const void* local, std::size_t bytes);
  Status add_rows(const Target& target, server::RequestHeader header, const Rows& rows);
  Status atomic(int node, server::RequestHeader header, std::uint64_t* before);

  Status test(const CompletionPoint& point, bool* done);
  // Every store to the node is visible there.
  Status flush(int node);
  // The same for every node, overlapped.
  Status flush_all();

 private:
  using Lock = ConnectionManager::Lock;
  // One transfer: where to, how its local memory is registered, whether that may be has_rdma to it after the call, until
  // the point, and whether RDMA that has to end before is under way.
  struct Transfer {
    Target target;
    Lookup lookup;
    bool may_zero_copy;
    bool has_rdma = false;
  };
  // Rows here as the pieces of one work request.
  struct Pieces {
    std::vector<ibv_sge> iov;
    std::vector<Registration*> held;
  };

  // How rows go: dense on the other side, one by one, or through the server.
  enum class Way : std::uint8_t { kDense, kLong, kServer };
  Way way_of(const Rows& rows);

  std::size_t aligned_run(const void* remote, std::size_t bytes) const;
  static std::size_t cut(const void* remote, std::size_t at_most, std::size_t bytes);
  static std::size_t piece_bytes(const Rows& rows);
  bool find_registered(Transfer* transfer, const void* remote, const char* local, std::size_t* bytes, MemoryRegion* region);
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
  Status ask_for_rows(Lock& lock, int node, const server::RequestHeader& header, const Rows& rows, const Part& part,
                      const ConnectionManager::Answer& answer, ScatterList** scatter_list);
  bool is_short_request(int node, const Rows& rows, std::size_t count) const;
  Status ask_by_value(Lock& lock, int node, std::span<const char> message, bool is_store, const ConnectionManager::Answer& answer,
                      ScatterList** scatter_list);
  server::RequestHeader get_header() const;

  const bool tears_;  // parts of words
  const std::uint32_t process_;
  Registrations& registrations_;
  ConnectionManager& connections_;
  const Thresholds thresholds_;
};

}  // namespace armci::verbs
