// The wire between a process and the servers, of verbs: the process's side. A link to a server is made at its first
// use.
//
//   request              a send, by value if it is short, else from a registered buffer
//   reply                its receive is posted before the request is sent: replies come in the order of the requests.
//                        A request that is forwarded has two: one of the server that executes it, and one that counts
//                        it, of its entry server, in any order with other replies of that server
//   put, up to 256 B     by value in the work request
//   put, get             zero copy if the local memory is registered; else through registered buffers
//   word of a signal     a write by value with immediate data, the number of the process: the server wakes its threads
//   rows, dense there    one work request with a gather or scatter list, or through a buffer
//   rows, long           a work request each, posted many at a time; the last one is signaled
//
// Soft-RoCE stores data with the CPU: aligned words of 8 bytes at once, and the bytes before and after them one by one.
// There transfers that end within a word are requests, since elements must not be torn [LC-3].
//
// Order: a link executes writes and sends in the order of posting, and reads see the writes before them. So no fence is
// needed, and requests follow writes, unless they are forwarded: then the engine flushes the writes first. Work
// requests complete in the order of posting.
//
// A process that waits for a reply probes the server, whose death it would not notice otherwise. After the first
// failure of a link all calls fail, and no device accesses the program's memory.
//
// Thread safety: as wire.h says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "impl/base/status.h"
#include "impl/engine/routes.h"
#include "impl/engine/wire.h"
#include "impl/native-verbs/buffers.h"
#include "impl/native-verbs/caller.h"
#include "impl/native-verbs/device.h"
#include "impl/native-verbs/registrations.h"
#include "impl/native-verbs/sender.h"

namespace armci::verbs {

// Of memory of another node.
struct RemoteKey {
  std::uint32_t remote = 0;  // of the registration that the owner's server has
  std::uint64_t base = 0;
};

// The number and the length of buffers and queues, and the shortest transfer that registers its memory.
struct ClientBounds {
  std::size_t bounces;
  std::size_t bounce_bytes;
  std::uint32_t depth;     // work requests of a link
  std::uint32_t requests;  // of a link, without a reply
  std::size_t register_bytes;
};

class ClientWire final : public engine::ClientWire, private engine::Rdma {
 public:
  // servers[n]: the process of server n, for error messages.
  ClientWire(const Device& device, Registrations* registrations, Caller* caller, const engine::Routes& routes,
             int process, std::vector<int> servers, const ClientBounds& bounds);
  Status open();
  std::size_t links() const { return links_; }

  void report_to(engine::ClientEvents* events) override { events_ = events; }
  const engine::ClientLimits& limits() const override { return limits_; }
  Status connect(int server) override;
  engine::Message take_message(std::size_t bytes) override;
  void give_back(engine::Message) override {}  // its buffer goes back by itself
  bool can_send(int server) override;
  Status send(int server, int executor, engine::Message message, const engine::ExpectedReply* reply) override;
  Status poll(bool* any) override;
  bool unsent() const override { return false; }
  bool is_streaming() const override { return true; }
  Status failure(int error, const char* call, int server) override;
  std::size_t buffer_bytes() const override { return bounces_.total_bytes() + slot_bytes_; }
  engine::Rdma* rdma() override { return this; }

 private:
  using Operation = engine::Operations::Operation;
  enum class Doing : std::uint8_t { kWriting, kReading, kRequesting };
  // The contents of a pending work request. Entries are used again, with their memory.
  struct Sent {
    Doing doing = Doing::kWriting;
    engine::Buffer bounce;                         // may be empty
    std::function<void(const char* data)> unpack;  // of data that were read into it
    std::vector<Registration*> registrations;
    Operation* operation = nullptr;  // of which a part ends
  };
  struct Node {
    Sender<Sent> sender;
    Ring<engine::Buffer> replies;  // pending: their buffers, empty if they fit into a slot
    Buffers slots;
    std::uint64_t stored = 0;    // the last write
    Operation* flush = nullptr;  // ends with all work up to flush_to
    std::uint64_t flush_to = 0;
    std::int64_t silent_us = 0;  // since when a reply has been due, or since the last probe; 0: not looked at yet
    bool is_linked = false;
    bool is_forwarding_entry = false;  // counts of forwarded requests come between its other replies
  };
  // Local rows as the pieces of one work request.
  struct Pieces {
    std::vector<ibv_sge> iov;
    std::vector<Registration*> held;
  };

  // The server that receives the requests for a server.
  int entry(int server) const { return routes_.entry(process_, server); }
  Node& at(int server) const { return nodes_[static_cast<std::size_t>(server)]; }

  // --- completions and failures (client_wire.cc)
  Status await_reply(int server, std::size_t bytes);
  Status add(int server, const Work& work, Sent** sent);
  Status submit(int server);
  Status ended(const ibv_wc& work);
  Status sent(int server, std::uint64_t number);
  Status replied(int server, std::uint64_t number, std::size_t bytes);
  Status drive_flush(int server);
  Status post_empty_write(int server, Doing doing);
  Status probe();
  Status broken(int server, const char* what, const char* why, bool is_gone);
  Status broken_at(const ibv_wc& work, const WorkId& id);
  Status check_posted(int server, Status status);
  Status give_up() const;

  // --- Rdma (client_rdma.cc)
  bool reaches(const engine::Target& target, const void* remote, std::size_t bytes) override;
  bool reaches(const engine::Target& target, const engine::Rows& rows) override;
  bool can_transfer(int server) override;
  Status transfer(Direction direction, const engine::Target& target, char* remote, char* local, std::size_t* bytes,
                  Operation* operation) override;
  std::size_t row_bytes_max() const override { return bounces_.bytes(); }
  Status transfer_rows(Direction direction, const engine::Target& target, const engine::Rows& rows, std::size_t first,
                       std::size_t* count, Operation* operation) override;
  Status fence(const engine::Target&) override { return kSuccess; }
  bool requests_follow(int server) const override { return entry(server) == server; }
  Status flush(int server, Operation* operation) override;
  bool sets_words() const override { return true; }
  Status set_word(const engine::Target& target, std::uint64_t* word, std::uint64_t value) override;
  bool find_registered(const char* remote, const char* local, std::size_t* bytes, MemoryRegion* region);
  bool find_pieces(Lookup* lookup, const engine::Rows& rows, std::size_t first, std::size_t count, Pieces* pieces);
  Status move_dense(Direction direction, const engine::Target& target, const engine::Rows& rows, std::size_t first,
                    std::size_t* count, Operation* operation);
  Status move_each(Direction direction, const engine::Target& target, const engine::Rows& rows, std::size_t first,
                   std::size_t* count, Operation* operation);

  const Device& device_;
  Registrations& registrations_;
  Caller& caller_;
  const engine::Routes routes_;
  const int process_;
  const std::vector<int> servers_;
  const ClientBounds bounds_;
  const engine::ClientLimits limits_;
  const bool tears_;  // parts of words
  engine::ClientEvents* events_ = nullptr;
  Owned<ibv_cq> done_;
  std::size_t completions_max_ = 0;
  std::size_t pending_completions_ = 0;  // each needs an entry of the completion queue
  BufferPool bounces_;                   // before the nodes, which have some
  std::unique_ptr<Node[]> nodes_;        // by server
  std::size_t links_ = 0;
  std::size_t slot_bytes_ = 0;
  std::uint32_t empty_polls_ = 0;
  std::int64_t looked_us_ = 0;  // for silent servers
  std::string broken_;          // the first failure
};

}  // namespace armci::verbs
