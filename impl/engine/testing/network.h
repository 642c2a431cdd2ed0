// A network in one process, for tests of the engine: it delays messages, delivers them in another order where a wire
// may, makes little progress in each poll, and fails when it is told to. It checks what the engine promises a wire.
//
//   Network network({.servers = 3, .keeps_order = false}, seed);
//   engine::Client& client = network.client(0);      // of process 0; others are network.client(1), ...
//   client.put({2, nullptr}, remote, local, 8, {});   // polls the network while it waits
//
// Server s has the number of its process. All memory is in this process.
//
// Thread safety: one thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "impl/base/status.h"
#include "impl/engine/client.h"
#include "impl/engine/server.h"
#include "impl/engine/wire.h"

namespace armci::engine::testing {

struct NetworkOptions {
  int servers = 3;
  int cluster = 1;
  bool keeps_order = true;
  bool keeps_place = true;  // a message that is kept stays where it is
  bool long_data = false;
  std::size_t zero_copy_bytes = 0;  // longer data of stores are read when their request is delivered; 0: none
  bool rdma = false;
  bool requests_follow = false;  // with rdma: requests do not overtake writes
  bool sets_words = false;       // with rdma
  bool replies_to_each = false;  // each request has one reply, and replies keep the order of requests
  std::size_t request_bytes = 1024;
  std::size_t reply_bytes = 512;
  std::size_t chunk_bytes = 2048;
  std::size_t copied_bytes = 0;
  std::uint64_t requests = 3;
  int forwards = 2;
  int chunks = 1;
  bool counts_on_demand = false;
  bool background = true;      // the test makes the passes of a progress thread
  bool sends_at_once = false;  // as networks do with short messages; else a send takes a few polls
};

class Network;

class TestClientWire final : public ClientWire, private LongData, private Rdma {
 public:
  TestClientWire(Network* network, int process);

  void report_to(ClientEvents* events) override { events_ = events; }
  const ClientLimits& limits() const override { return limits_; }
  Status connect(int server) override;
  Message take_message(std::size_t bytes) override { return buffers_.take(bytes); }
  void give_back(Message message) override { buffers_.give_back(std::move(message)); }
  bool can_send(int) override { return unsent_.size() < 4; }
  Status send(int server, int executor, Message message, const ExpectedReply* reply) override;
  std::size_t zero_copy_bytes() const override;
  Status send_with_data(int server, int executor, Message message, std::span<const char> data, Part part) override;
  Status poll(bool* any) override;
  bool unsent() const override { return !unsent_.empty(); }
  Status failure(int error, const char* call, int server) override;
  std::size_t buffer_bytes() const override { return buffers_.bytes(); }
  LongData* long_data() override;
  Rdma* rdma() override;
  std::size_t messages() const { return messages_; }
  std::size_t sent_with_data() const { return sent_with_data_; }  // messages
  std::size_t words_set() const { return words_set_; }

  // Called by the network.
  void deliver(std::vector<char> reply, std::uint32_t alone_tag);
  void lose(int server, int error) { events_->lost(server, error); }
  // Fails the next send() at once.
  void fail_next_send() { fails_ = true; }

 private:
  friend class Network;
  struct Unsent {
    Message message;
    int polls;
  };
  struct Access {
    Direction direction;
    char* remote;
    char* local;
    std::size_t bytes;
    Operations::Operation* operation;  // null: its part has ended
    std::uint64_t epoch;
    std::vector<char> taken;  // of a write that is complete here, and not yet there
  };

  Status push_request(int server, int executor, Message message, const ExpectedReply* reply, std::span<const char> data,
                      Part part);
  std::size_t bytes_max() const override;
  Status send_data(int server, std::uint32_t tag, std::span<const char> data, Part part) override;
  bool reaches(const Target& target, const void* remote, std::size_t bytes) override;
  bool reaches(const Target& target, const Rows& rows) override;
  bool can_transfer(int server) override { return accesses_[server].size() < 8; }
  Status transfer(Direction direction, const Target& target, char* remote, char* local, std::size_t* bytes,
                  Operations::Operation* operation) override;
  Status fence(const Target& target) override;
  bool requests_follow(int server) const override;
  Status flush(int server, Operations::Operation* operation) override;
  bool sets_words() const override;
  Status set_word(const Target& target, std::uint64_t* word, std::uint64_t value) override;
  void move_accesses();
  void complete_locally(Access* access);

  Network& network_;
  const int process_;
  const ClientLimits limits_;
  ClientEvents* events_ = nullptr;
  MessageBuffers buffers_;
  std::set<int> connected_;
  std::vector<Unsent> unsent_;
  std::map<std::uint32_t, ExpectedReply> expected_;
  std::map<int, std::deque<std::uint32_t>> unanswered_;  // tags of requests, by server
  std::deque<std::pair<std::vector<char>, std::uint32_t>> inbox_;
  std::map<int, std::deque<Access>> accesses_;  // by server
  std::map<int, std::uint64_t> epochs_;
  std::map<int, std::vector<Operations::Operation*>> flushes_;
  std::size_t messages_ = 0;
  std::size_t sent_with_data_ = 0;
  std::size_t words_set_ = 0;
  bool fails_ = false;
};

class TestServerWire final : public ServerWire {
 public:
  TestServerWire(Network* network, int number);

  void report_to(ServerEvents* events) override { events_ = events; }
  Status open() override { return kSuccess; }
  void close() override {}
  bool keeps_order() const override;
  bool replies_to_each() const override;
  std::size_t reply_bytes() const override;
  Status poll(bool* any) override;
  Status keep(Arrival* arrival) override;
  Status release(const Arrival& arrival) override;
  Message take_message(std::size_t bytes) override { return buffers_.take(bytes); }
  Status reply(int process, std::uint32_t tag, Message message) override;
  Status reply_data(int process, std::uint32_t tag, std::span<const char> data, Chunk* chunk) override;
  Status receive_data(int process, std::uint32_t tag, std::span<char> to, Chunk* chunk) override;
  Status forward(int server, const Arrival& arrival) override;
  Status acknowledge(int server, std::uint32_t acknowledgement) override;
  std::size_t buffer_bytes() const override { return buffers_.bytes(); }

 private:
  friend class Network;
  struct Held {
    std::vector<std::uint64_t> words;  // aligned
    std::size_t bytes;
    int from;
    bool forwarded;
  };
  struct Receive {
    std::span<char> to;
    Chunk* chunk;
  };
  struct Incoming {
    std::unique_ptr<Held> message;
    int acknowledged_by = -1;
    std::uint32_t acknowledgement = 0;
  };

  Network& network_;
  const int number_;
  ServerEvents* events_ = nullptr;
  MessageBuffers buffers_;
  std::deque<Incoming> inbox_;
  std::set<Held*> held_;
  std::map<std::pair<int, bool>, std::uint64_t> buffers_in_use_;  // by sender
  std::map<std::pair<int, std::uint32_t>, Receive> receives_;
  std::vector<Chunk*> sent_;
};

class Network {
 public:
  Network(const NetworkOptions& options, unsigned seed);
  ~Network();

  Client& client(int process) { return *clients_[static_cast<std::size_t>(process)]; }
  Server& server(int number) { return *servers_[static_cast<std::size_t>(number)]; }
  // One packet arrives somewhere, perhaps. No server makes a pass.
  void move();
  TestClientWire& wire(int process) { return *client_wires_[static_cast<std::size_t>(process)]; }
  const NetworkOptions& options() const { return options_; }
  const Routes& routes() const { return routes_; }
  // A broken promise of the engine, or empty.
  const std::string& fault() const { return fault_; }
  std::size_t forwarded() const { return forwarded_; }
  // Replies that servers have sent, without data that came alone.
  std::size_t replies() const { return replies_; }
  // How often clients have woken a progress thread.
  int wakes() const { return wakes_; }
  // Ends all clients in an orderly way.
  Status close();

 private:
  friend class TestClientWire;
  friend class TestServerWire;
  struct Packet {
    enum Kind { kRequest, kForward, kAcknowledgement, kReply, kAlone, kData } kind;
    int from;
    int to;
    std::vector<char> bytes;
    std::span<const char> data;  // of kAlone, kData and a gathered kRequest: read when it is delivered
    std::uint32_t tag = 0;
    Part part;
    Chunk* chunk = nullptr;
    std::uint64_t writes_before = 0;  // that the request must not overtake
  };

  std::uint64_t random(std::uint64_t below) { return random_() % below; }
  void push(Packet packet) { packets_[{packet.kind, {packet.from, packet.to}}].push_back(std::move(packet)); }
  // The same, and some server makes a pass.
  void step();
  bool deliver(Packet* packet);
  void broken(const char* promise) {
    if (fault_.empty()) fault_ = promise;
  }

  const NetworkOptions options_;
  const Routes routes_;
  std::mt19937_64 random_;
  std::string fault_;
  int wakes_ = 0;
  std::size_t forwarded_ = 0;
  std::size_t replies_ = 0;
  std::map<std::pair<int, std::pair<int, int>>, std::deque<Packet>> packets_;
  std::vector<std::unique_ptr<TestClientWire>> client_wires_;
  std::vector<std::unique_ptr<TestServerWire>> server_wires_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<std::unique_ptr<Server>> servers_;
};

}  // namespace armci::engine::testing
