// The client: what a process does with the memory of other nodes, by RDMA, and what it asks their servers for.
//
//   put         copied into registered buffers and written from there: complete locally at once
//   get         read into registered buffers, and copied from there when it has come
//   accumulate, atomics     a request to the server, which answers when it has executed it
//   flush       waits for the acknowledgements of writes and for the answers
//
// Writes and reads are cut into whole aligned words of 8 bytes, which devices move at once, and what is before and
// after them. Where that holds an element of 4 bytes it is left to the server, since a device may move it byte by byte
// (Soft-RoCE does), and elements must not be torn [LC-3].
//
// Thread safety: all members by any thread but open() and those of links; one at a time is inside, and none waits
// there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "impl/common/shapes.h"
#include "impl/common/status.h"
#include "impl/native-verbs/device.h"
#include "impl/native-verbs/link.h"
#include "impl/native-verbs/messages.h"
#include "impl/server/wire.h"

namespace armci::verbs {

class Client {
 public:
  Client(const Device& device, int process, int nodes);

  // `bounces` buffers of `bytes`, a multiple of 16. Creates the links.
  common::Status open(std::size_t bounces, std::size_t bytes);
  Link& link(int node) { return nodes_[static_cast<std::size_t>(node)].link; }

  common::Status put(int node, std::uint32_t key, void* remote, const void* local, std::size_t bytes);
  // *operation: for test(), the local buffer belongs to it until then; 0 if it is complete.
  common::Status get(int node, std::uint32_t key, const void* remote, void* local, std::size_t bytes,
                     std::uint64_t* operation);
  // Accumulates, as the header says; places and lengths are filled in. The local buffer is free at return.
  common::Status add(int node, server::RequestHeader header, void* remote, const void* local,
                     const common::Strided& shape);
  common::Status add_list(int node, server::RequestHeader header, const common::Segments& list);
  common::Status atomic(int node, server::RequestHeader header, std::uint64_t* before);

  // Has the server of a node, this process's own, make memory reachable.
  common::Status expose(int node, void* base, std::size_t bytes, std::uint32_t* key);
  common::Status conceal(int node, std::uint32_t key);

  common::Status test(std::uint64_t operation, bool* done);
  common::Status wait(std::uint64_t operation);
  // Every store to the node is visible there.
  common::Status flush(int node);
  // The same for every node, overlapped.
  common::Status flush_all();

  std::size_t buffer_bytes() const { return bounces_.total_bytes() + answers_.total_bytes(); }

 private:
  using Lock = std::unique_lock<std::mutex>;
  enum class Use : std::uint8_t { kFree, kWrite, kRead, kRequest };
  // What a buffer is used for.
  struct Bounce {
    Use use = Use::kFree;
    int node = -1;
    std::uint64_t operation = 0;  // of a read
    char* to = nullptr;
    std::size_t bytes = 0;
  };
  struct Node {
    Link link;
    std::size_t writes = 0;      // that have not been acknowledged
    std::size_t unanswered = 0;  // requests
  };

  std::size_t piece(const void* remote, std::size_t bytes) const;
  common::Status put_by_server(Lock& lock, int node, void* remote, const void* local, std::size_t bytes);
  common::Status get_by_server(Lock& lock, int node, const void* remote, void* local, std::size_t bytes);
  common::Status take_bounce(Lock& lock, std::size_t* bounce);
  // For a request: there are no more than bounces to one node that have not been answered.
  common::Status take_bounce_to_ask(Lock& lock, int node, std::size_t* bounce);
  common::Status post_request(std::size_t bounce, int node, std::size_t bytes);
  common::Status post(std::size_t bounce, ibv_wr_opcode opcode, std::size_t bytes, const void* remote,
                      std::uint32_t key);
  common::Status add_run(Lock& lock, int node, server::RequestHeader header, char* remote, const char* local,
                         std::size_t bytes);
  template <class Next>
  common::Status add_segments(Lock& lock, int node, server::RequestHeader header, std::size_t segments, Next next);
  common::Status ask(Lock& lock, int node, std::span<const char> message, std::uint32_t tag, Answer* answer);
  template <class Condition>
  common::Status await_until(Lock& lock, Condition condition);
  common::Status advance();
  common::Status ended(const ibv_wc& work);
  common::Status answered(int node, std::size_t buffer);
  common::Status broken(int node, Use use, ibv_wc_status status);
  common::Status post_receive(std::size_t buffer);
  void end_part(std::uint64_t operation);
  std::uint32_t next_tag();

  const Device& device_;
  const int process_;
  std::mutex mutex_;
  Owned<ibv_cq> done_;
  Owned<ibv_srq> received_;
  Buffers bounces_;
  Buffers answers_;
  std::vector<Bounce> uses_;  // by bounce
  std::vector<std::size_t> free_;
  std::vector<Node> nodes_;
  std::unordered_map<std::uint32_t, int> node_of_;     // by number of the link
  std::unordered_map<std::uint64_t, int> operations_;  // parts that have not ended
  std::unordered_map<std::uint32_t, Answer*> asked_;   // by tag
  std::uint64_t last_operation_ = 0;
  std::uint32_t last_tag_ = 0;
  std::string broken_;  // what ended all of it
};

}  // namespace armci::verbs
