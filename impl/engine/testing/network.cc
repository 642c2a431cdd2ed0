#include "impl/engine/testing/network.h"

#include <numeric>

namespace armci::engine::testing {

namespace {

std::vector<int> own_servers(int servers) {
  std::vector<int> all(static_cast<std::size_t>(servers));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

constexpr std::uint64_t kAlwaysPolled = ~std::uint64_t{0};

}  // namespace

// --- the side of a process

TestClientWire::TestClientWire(Network* network, int process)
    : network_(*network),
      process_(process),
      limits_{network->options().request_bytes, network->options().reply_bytes, network->options().requests,
              network->options().sends_at_once ? network->options().requests : kAlwaysPolled, false},
      buffers_(network->options().request_bytes) {}

Status TestClientWire::connect(int server) {
  connected_.insert(server);
  return kSuccess;
}

LongData* TestClientWire::long_data() { return network_.options().long_data ? this : nullptr; }
Rdma* TestClientWire::rdma() { return network_.options().rdma ? this : nullptr; }

Status TestClientWire::failure(int error, const char* call, int server) {
  return fail(Code::kLayerBelow, nullptr, "error %d of %s to server %d", error, call, server);
}

Status TestClientWire::send(int server, int executor, Message message, const ExpectedReply* reply) {
  return push_request(server, executor, std::move(message), reply, {}, {});
}

std::size_t TestClientWire::zero_copy_bytes() const { return network_.options().zero_copy_bytes; }

Status TestClientWire::send_with_data(int server, int executor, Message message, std::span<const char> data,
                                      Part part) {
  if (message.length + data.size() > limits_.request_bytes) network_.broken("a request has at most request_bytes");
  ++sent_with_data_;
  return push_request(server, executor, std::move(message), nullptr, data, std::move(part));
}

Status TestClientWire::push_request(int server, int executor, Message message, const ExpectedReply* reply,
                                    std::span<const char> data, Part part) {
  if (std::exchange(fails_, false)) {
    buffers_.give_back(std::move(message));
    return fail(Code::kLayerBelow, nullptr, "the test fails this send");
  }
  ++messages_;
  if (!connected_.contains(server) || !connected_.contains(executor)) network_.broken("connect() before send()");
  if (message.length > limits_.request_bytes) network_.broken("a request has at most request_bytes");
  if (!can_send(server)) network_.broken("no send() while can_send() is false");
  if (reply != nullptr && !expected_.emplace(reply->tag, *reply).second) network_.broken("one reply for each tag");
  Network::Packet packet{Network::Packet::kRequest, process_, server, {}, data, 0, std::move(part), nullptr, 0};
  packet.bytes.assign(message.bytes.get(), message.bytes.get() + message.length);
  unanswered_[executor].push_back(reply != nullptr ? reply->tag : 0);
  if (executor != server) unanswered_[server].push_back(0);
  packet.writes_before = accesses_[executor].empty() ? 0 : epochs_[executor] + 1;
  network_.push(std::move(packet));
  if (network_.options().sends_at_once) {
    buffers_.give_back(std::move(message));
  } else {
    unsent_.push_back({std::move(message), static_cast<int>(network_.random(4))});
  }
  return kSuccess;
}

void TestClientWire::deliver(std::vector<char> reply, std::uint32_t alone_tag) {
  inbox_.emplace_back(std::move(reply), alone_tag);
}

Status TestClientWire::poll(bool* any) {
  *any = false;
  network_.step();
  for (std::size_t i = 0; i < unsent_.size();) {
    if (--unsent_[i].polls > 0) {
      ++i;
      continue;
    }
    buffers_.give_back(std::move(unsent_[i].message));
    unsent_.erase(unsent_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  move_accesses();
  if (inbox_.empty() || network_.random(3) == 0) return kSuccess;
  *any = true;
  auto [reply, alone] = std::move(inbox_.front());
  inbox_.pop_front();
  if (alone != 0) {
    const ExpectedReply expected = expected_.at(alone);
    expected_.erase(alone);
    if (expected.place == nullptr || expected.bytes != reply.size()) network_.broken("data alone as they are expected");
    std::memcpy(expected.place, reply.data(), reply.size());
    events_->data_received(alone);
    return kSuccess;
  }
  ReplyHeader header;
  std::memcpy(&header, reply.data(), sizeof header);
  if (network_.options().replies_to_each) {
    std::deque<std::uint32_t>& unanswered = unanswered_[static_cast<int>(header.server)];
    auto due = unanswered.begin();
    const int from = static_cast<int>(header.server);
    const bool counts_forwarded = network_.options().cluster > 1 && network_.routes().entry(process_, from) == from;
    if (counts_forwarded) due = std::find(due, unanswered.end(), header.tag);
    if (due == unanswered.end() || *due != header.tag) network_.broken("one reply to each request, in order");
    if (due != unanswered.end()) unanswered.erase(due);
  }
  if (header.tag != 0 && expected_.erase(header.tag) == 0) network_.broken("a reply is expected");
  events_->replied(header, std::span<const char>(reply).subspan(sizeof header));
  return kSuccess;
}

std::size_t TestClientWire::bytes_max() const { return network_.options().chunk_bytes; }

Status TestClientWire::send_data(int server, std::uint32_t tag, std::span<const char> data, Part part) {
  if (data.size() > bytes_max()) network_.broken("a message of long data has at most bytes_max()");
  network_.push({Network::Packet::kData, process_, server, {}, data, tag, std::move(part), nullptr, 0});
  return kSuccess;
}

// --- Rdma: writes and reads happen late, in any order within the time between two fences

bool TestClientWire::reaches(const Target&, const void* remote, std::size_t bytes) {
  return (reinterpret_cast<std::uintptr_t>(remote) | bytes) % 8 == 0;
}

bool TestClientWire::reaches(const Target& target, const Rows& rows) {
  bool all = true;
  rows.visit(0, rows.count(),
             [&](const char*, const char* remote) { all = all && reaches(target, remote, rows.bytes()); });
  return all;
}

Status TestClientWire::transfer(Direction direction, const Target& target, char* remote, char* local,
                                std::size_t* bytes, Operations::Operation* operation) {
  constexpr std::size_t kAtOnce = 64;
  *bytes = std::min(*bytes, kAtOnce);
  if (!can_transfer(target.process)) network_.broken("no transfer() while can_transfer() is false");
  if (!connected_.contains(target.process)) network_.broken("connect() before transfer()");
  accesses_[target.process].push_back({direction, remote, local, *bytes, operation, epochs_[target.process], {}});
  return kSuccess;
}

Status TestClientWire::fence(const Target& target) {
  ++epochs_[target.process];
  return kSuccess;
}

bool TestClientWire::requests_follow(int) const { return network_.options().requests_follow; }

Status TestClientWire::flush(int server, Operations::Operation* operation) {
  if (!flushes_[server].empty()) network_.broken("one flush at a time");
  ++epochs_[server];
  flushes_[server].push_back(operation);
  return kSuccess;
}

bool TestClientWire::sets_words() const { return network_.options().sets_words; }

Status TestClientWire::set_word(const Target& target, std::uint64_t* word, std::uint64_t value) {
  if (!can_transfer(target.process)) network_.broken("no set_word() while can_transfer() is false");
  if (!connected_.contains(target.process)) network_.broken("connect() before set_word()");
  ++words_set_;
  const char* const bytes = reinterpret_cast<const char*>(&value);
  accesses_[target.process].push_back({Direction::kWrite,
                                       reinterpret_cast<char*>(word),
                                       nullptr,
                                       sizeof value,
                                       nullptr,
                                       epochs_[target.process],
                                       {bytes, bytes + sizeof value}});
  return kSuccess;
}

// A write may be complete for its origin long before it is visible.
void TestClientWire::complete_locally(Access* access) {
  if (access->operation == nullptr) return;
  if (access->direction == Direction::kWrite) access->taken.assign(access->local, access->local + access->bytes);
  Operations::Operation* const operation = std::exchange(access->operation, nullptr);
  operation->owner->end_part(operation, 0);
}

void TestClientWire::move_accesses() {
  for (auto& [server, pending] : accesses_) {
    if (!pending.empty() && network_.random(2) == 0) {
      Access& any = pending[network_.random(pending.size())];
      if (any.direction == Direction::kWrite) complete_locally(&any);
    }
    if (!pending.empty() && network_.random(4) == 0) {
      std::size_t last = 0;
      while (last + 1 < pending.size() && pending[last + 1].epoch == pending[0].epoch) ++last;
      const std::size_t chosen = network_.random(last + 1);
      Access access = pending[chosen];
      pending.erase(pending.begin() + static_cast<std::ptrdiff_t>(chosen));
      if (access.direction == Direction::kRead) std::memcpy(access.local, access.remote, access.bytes);
      complete_locally(&access);
      if (access.direction == Direction::kWrite) std::memcpy(access.remote, access.taken.data(), access.bytes);
    }
    if (!pending.empty() || flushes_[server].empty()) continue;
    for (Operations::Operation* const flush : std::exchange(flushes_[server], {})) flush->owner->end_part(flush, 0);
  }
}

// --- the side of a server

TestServerWire::TestServerWire(Network* network, int number)
    : network_(*network), number_(number), buffers_(sizeof(ReplyHeader) + network->options().reply_bytes) {}

bool TestServerWire::replies_to_each() const { return network_.options().replies_to_each; }
bool TestServerWire::keeps_order() const { return network_.options().keeps_order; }
std::size_t TestServerWire::reply_bytes() const { return network_.options().reply_bytes; }

Status TestServerWire::poll(bool* any) {
  *any = false;
  for (Chunk* const chunk : std::exchange(sent_, {})) ARMCI_RETURN_IF_ERROR(events_->sent(chunk));
  if (inbox_.empty() || network_.random(3) == 0) return kSuccess;
  *any = true;
  Incoming next = std::move(inbox_.front());
  inbox_.pop_front();
  if (next.message == nullptr) return events_->acknowledged(next.acknowledged_by, next.acknowledgement);
  Held* const held = next.message.release();
  const std::uint64_t limit =
      held->forwarded ? static_cast<std::uint64_t>(network_.options().forwards) : network_.options().requests;
  if (++buffers_in_use_[{held->from, held->forwarded}] > limit) network_.broken("no request without a credit");
  held_.insert(held);
  return events_->arrived(
      {{reinterpret_cast<char*>(held->words.data()), held->bytes}, held->from, held->forwarded, held});
}

// The message moves, and what it leaves is overwritten.
Status TestServerWire::keep(Arrival* arrival) {
  auto* const held = static_cast<Held*>(arrival->place);
  if (!held_.contains(held)) network_.broken("keep() of what has arrived");
  if (network_.options().keeps_place) return kSuccess;
  std::vector<std::uint64_t> moved = held->words;
  std::fill(held->words.begin(), held->words.end(), ~std::uint64_t{0});
  held->words.swap(moved);
  arrival->message = {reinterpret_cast<char*>(held->words.data()), held->bytes};
  return kSuccess;
}

Status TestServerWire::release(const Arrival& arrival) {
  auto* const held = static_cast<Held*>(arrival.place);
  if (held_.erase(held) == 0) {
    network_.broken("release() once");
    return kSuccess;
  }
  --buffers_in_use_[{held->from, held->forwarded}];
  delete held;
  return kSuccess;
}

Status TestServerWire::reply(int process, std::uint32_t tag, Message message) {
  ++network_.replies_;
  Network::Packet packet{Network::Packet::kReply, number_, process, {}, {}, tag, {}, nullptr, 0};
  packet.bytes.assign(message.bytes.get(), message.bytes.get() + message.length);
  buffers_.give_back(std::move(message));
  network_.push(std::move(packet));
  return kSuccess;
}

Status TestServerWire::reply_data(int process, std::uint32_t tag, std::span<const char> data, Chunk* chunk) {
  network_.push({Network::Packet::kAlone, number_, process, {}, data, tag, {}, chunk, 0});
  return kSuccess;
}

Status TestServerWire::receive_data(int process, std::uint32_t tag, std::span<char> to, Chunk* chunk) {
  receives_[{process, tag}] = {to, chunk};
  return kSuccess;
}

Status TestServerWire::forward(int server, const Arrival& arrival) {
  ++network_.forwarded_;
  Network::Packet packet{Network::Packet::kForward, number_, server, {}, {}, 0, {}, nullptr, 0};
  packet.bytes.assign(arrival.message.begin(), arrival.message.end());
  network_.push(std::move(packet));
  return kSuccess;
}

Status TestServerWire::acknowledge(int server, std::uint32_t acknowledgement) {
  network_.push({Network::Packet::kAcknowledgement, number_, server, {}, {}, acknowledgement, {}, nullptr, 0});
  return kSuccess;
}

// --- in between

Network::Network(const NetworkOptions& options, unsigned seed)
    : options_(options), routes_(own_servers(options.servers), options.servers, options.cluster), random_(seed) {
  ServerOptions server_options;
  server_options.credits = options.requests;
  server_options.forwards = options.forwards;
  server_options.chunks = options.long_data ? options.chunks : 0;
  server_options.chunk_bytes = options.long_data ? options.chunk_bytes : 0;
  ClientOptions client_options;
  client_options.small_put_bytes = 64;
  client_options.small_get_bytes = 128;
  client_options.piece_bytes = 256;
  client_options.copied_bytes = options.copied_bytes;
  client_options.copied_piece_bytes = options.copied_bytes != 0 ? 200 : 0;
  client_options.pack_bytes = 32;
  client_options.parts = 8;
  client_options.counts_on_demand = options.counts_on_demand;
  client_options.background = options.background;
  for (int process = 0; process < options.servers; ++process) {
    server_wires_.push_back(std::make_unique<TestServerWire>(this, process));
    servers_.push_back(std::make_unique<Server>(server_wires_.back().get(), routes_, process, server_options));
    (void)servers_.back()->open();
    client_wires_.push_back(std::make_unique<TestClientWire>(this, process));
    clients_.push_back(std::make_unique<Client>(
        client_wires_.back().get(), routes_, process, client_options, [this] { ++wakes_; }, [] {}));
  }
}

Network::~Network() {
  clients_.clear();
  servers_.clear();
}

Status Network::close() {
  for (const auto& client : clients_) ARMCI_RETURN_IF_ERROR(client->close());
  for (const auto& wire : server_wires_) {
    if (!wire->held_.empty()) broken("every message is released");
  }
  return kSuccess;
}

void Network::step() {
  move();
  server(static_cast<int>(random(servers_.size()))).serve_while_waiting();
}

void Network::move() {
  for (auto& [channel, queue] : packets_) {
    if (queue.empty() || random(2) == 0) continue;
    const bool in_order = options_.keeps_order || channel.first == Packet::kData;
    const std::size_t chosen = in_order ? 0 : random(queue.size());
    if (deliver(&queue[chosen])) queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(chosen));
    break;
  }
}

// False: not yet.
bool Network::deliver(Packet* packet) {
  const auto to = static_cast<std::size_t>(packet->to);
  const auto from = static_cast<std::size_t>(packet->from);
  switch (packet->kind) {
    case Packet::kRequest:
    case Packet::kForward: {
      if (packet->kind == Packet::kRequest && options_.requests_follow && packet->writes_before != 0) {
        const auto& pending = client_wires_[from]->accesses_[packet->to];
        if (!pending.empty() && pending.front().epoch < packet->writes_before) return false;
      }
      packet->bytes.insert(packet->bytes.end(), packet->data.begin(), packet->data.end());
      if (packet->part.operation != nullptr) client_wires_[from]->events_->ended(std::move(packet->part), 0);
      auto held = std::make_unique<TestServerWire::Held>();
      held->words.resize((packet->bytes.size() + 7) / 8);
      std::memcpy(held->words.data(), packet->bytes.data(), packet->bytes.size());
      held->bytes = packet->bytes.size();
      held->from = packet->from;
      held->forwarded = packet->kind == Packet::kForward;
      server_wires_[to]->inbox_.push_back({std::move(held), -1, 0});
      return true;
    }
    case Packet::kAcknowledgement:
      server_wires_[to]->inbox_.push_back({nullptr, packet->from, packet->tag});
      return true;
    case Packet::kReply:
      client_wires_[to]->deliver(std::move(packet->bytes), 0);
      return true;
    case Packet::kAlone: {
      std::vector<char> bytes(packet->data.begin(), packet->data.end());
      const auto expected = client_wires_[to]->expected_.find(packet->tag);
      const bool has_header = expected != client_wires_[to]->expected_.end() && expected->second.place == nullptr;
      client_wires_[to]->deliver(std::move(bytes), has_header ? 0 : packet->tag);
      if (packet->chunk != nullptr) server_wires_[from]->sent_.push_back(packet->chunk);
      return true;
    }
    case Packet::kData: {
      TestServerWire& wire = *server_wires_[to];
      const auto posted = wire.receives_.find({packet->from, packet->tag});
      if (posted == wire.receives_.end()) return false;
      if (posted->second.to.size() != packet->data.size()) broken("the data that follow are as long as announced");
      std::memcpy(posted->second.to.data(), packet->data.data(), packet->data.size());
      Chunk* const chunk = posted->second.chunk;
      wire.receives_.erase(posted);
      client_wires_[from]->events_->ended(std::move(packet->part), 0);
      if (!wire.events_->received(chunk).ok()) broken("received() succeeds");
      return true;
    }
  }
  return true;
}

}  // namespace armci::engine::testing
