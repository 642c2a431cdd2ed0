#include "impl/ucx/transport.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "impl/node/agree.h"
#include "impl/runtime/config.h"
#include "impl/server/compose.h"
#include "impl/server/rows.h"
#include "impl/ucx/allgather.h"
#include "impl/ucx/client.h"
#include "impl/ucx/mapped_memory.h"
#include "impl/ucx/regions.h"
#include "impl/ucx/server.h"
#include "impl/ucx/settings.h"
#include "impl/ucx/used_transports.h"
#include "impl/ucx/worker.h"

namespace armci::ucx {

using node::AccSpec;
using node::agree;
using runtime::AtomicOp;
using runtime::Exposed;
using runtime::GroupView;
using runtime::Segments;
using runtime::Strided;
using runtime::World;
using server::Here;
using server::Rows;

namespace {

Status choose_ways(Ways* ways) {
  const Settings& of = settings();
  ways->parts = static_cast<std::size_t>(of.parts);
  ways->requests = static_cast<std::uint64_t>(of.requests);
  ways->message_bytes = static_cast<std::size_t>(of.message_bytes);
  ways->pack_bytes = static_cast<std::size_t>(of.pack_bytes);
  ways->small_bytes = std::min(static_cast<std::size_t>(of.small_bytes), Client::small_bytes_max(ways->message_bytes));
  constexpr runtime::Word<Ways::PutGet> kWords[] = {
      {"auto", Ways::PutGet::kAuto}, {"always", Ways::PutGet::kAlways}, {"never", Ways::PutGet::kNever}};
  return runtime::read_word("ARMCI_UCX_PUT_GET", of.put_get, kWords, &ways->put_get);
}

// A client has to know the length of the server's messages.
Status check_settings(MPI_Comm comm, const Ways& ways) {
  const node::SharedSetting shared[] = {{"ARMCI_UCX_PUT_GET", static_cast<long>(ways.put_get)},
                                        {"ARMCI_UCX_MESSAGE_BYTES", static_cast<long>(ways.message_bytes)}};
  return node::same_on_all(comm, shared);
}

}  // namespace

Transport::Transport() = default;

// A program that ends without finalise(): the server uses what goes next.
Transport::~Transport() {
  if (server_ != nullptr) server_->stop();
}

Status Transport::initialise(const World& world) {
  Ways ways{};
  ARMCI_RETURN_IF_ERROR(agree(world.comm(), choose_ways(&ways), "reading the settings"));
  ARMCI_RETURN_IF_ERROR(check_settings(world.comm(), ways));
  if (world.node_count() == 1) return kSuccess;
  context_ = std::make_unique<Context>();
  server_ = std::make_unique<Server>(world.rank(), world.size(), ways.message_bytes);
  mapped_ = std::make_unique<MappedMemory>(*context_);
  client_ = std::make_unique<Client>(
      world.rank(), ways, *mapped_, [this] { server_->wake(); }, [this] { server_->serve_while_waiting(); });
  Status status = context_->open(world.size(), ways.put_get == Ways::PutGet::kAlways);
  if (status.ok()) status = server_->open(*context_);
  ARMCI_RETURN_IF_ERROR(agree(world.comm(), status, "opening UCX"));
  regions_ = std::make_unique<Regions>(*context_, mapped_.get(), client_.get());
  return connect(world);
}

// The first operation to a process creates its endpoint.
Status Transport::connect(const World& world) {
  std::string mine;
  ARMCI_RETURN_IF_ERROR(agree(world.comm(), server_->address(&mine), "getting the address of a UCX worker"));
  std::vector<std::string> addresses;
  ARMCI_RETURN_IF_ERROR(allgather_strings(world.comm(), mine, &addresses));
  Status status = client_->open(*context_, std::move(addresses));
  if (status.ok()) status = server_->start(client_.get());
  ARMCI_RETURN_IF_ERROR(agree(world.comm(), status, "starting the servers"));
  comm_ = world.comm();
  return share_choices(world);
}

// The transports are those between the first process and the first one of another node.
Status Transport::share_choices(const World& world) {
  Status reached;
  if (world.rank() == 0) {
    const int other = world.node(world.my_node() == 0 ? 1 : 0).ranks[0];
    std::string description;
    reached = client_->describe(other, &description);
    const std::string transports = transports_of(description);
    choices_.add("transports of UCX",
                 (transports.empty() ? "not reported" : transports) + ", UCX " + ucp_get_version_string());
  }
  ARMCI_RETURN_IF_ERROR(agree(world.comm(), reached, "reaching another node by UCX"));
  return choices_.share(world.comm());
}

// A server stops after all processes have closed their endpoints to it.
void Transport::finalise() {
  choices_.clear();
  if (client_ != nullptr) client_->close();
  if (comm_ != MPI_COMM_NULL) MPI_Barrier(comm_);
  if (server_ != nullptr) server_->stop();
  // No worker is destroyed while another server still polls a connection to it.
  if (comm_ != MPI_COMM_NULL) MPI_Barrier(comm_);
  comm_ = MPI_COMM_NULL;
  regions_.reset();
  client_.reset();
  server_.reset();
  mapped_.reset();
  context_.reset();
}

Status Transport::register_memory(void* base, std::size_t bytes, Key* key) {
  *key = {};
  return regions_ != nullptr ? regions_->register_memory(base, bytes, key) : kSuccess;
}

void Transport::deregister_memory(const Key& key) {
  if (regions_ != nullptr) regions_->deregister(key);
}

Status Transport::register_region(const GroupView& group, std::span<const Exposed> parts, std::span<Key> keys) {
  if (regions_ != nullptr) return regions_->register_all(group, parts, keys);
  for (Key& key : keys) key = {};
  return kSuccess;
}

void Transport::deregister_region(const Key& key) {
  if (regions_ != nullptr) regions_->deregister_all(key);
}

// A hint: UCX finds or registers memory that it refuses here for each transfer.
void Transport::register_local(void* base, std::size_t bytes) {
  ucp_mem_h memory = nullptr;
  if (mapped_ != nullptr) (void)mapped_->map(base, bytes, &memory);
}

void Transport::deregister_local(void* base) {
  if (mapped_ != nullptr) mapped_->unmap(base);
}

// --- transfers

Status Transport::put(int target, const Key& key, void* remote, const void* local, std::size_t bytes,
                      Completion* completion) {
  return client_->put({target, key}, remote, local, bytes, &completion->operation);
}

Status Transport::get(int target, const Key& key, const void* remote, void* local, std::size_t bytes,
                      Completion* completion) {
  return client_->get({target, key}, remote, local, bytes, &completion->operation);
}

Status Transport::put_now(int target, const Key& key, void* remote, const void* local, std::size_t bytes) {
  return client_->put({target, key}, remote, local, bytes, nullptr);
}

Status Transport::put_signal(int target, const Key& key, void* remote, const void* local, std::size_t bytes,
                             const node::Signal& signal) {
  return client_->put_signal({target, key}, remote, local, bytes, signal);
}

Status Transport::get_now(int target, const Key& key, const void* remote, void* local, std::size_t bytes) {
  return client_->get({target, key}, remote, local, bytes, nullptr);
}

Status Transport::put_strided(int target, const Key& key, void* remote, const void* local, const Strided& shape,
                              Completion* completion) {
  std::uint64_t* const operation = completion != nullptr ? &completion->operation : nullptr;
  if (shape.levels == 0) return client_->put({target, key}, remote, local, shape.count[0], operation);
  return client_->put_rows({target, key}, Rows(shape, Here::kSource, local, remote), operation);
}

Status Transport::get_strided(int target, const Key& key, const void* remote, void* local, const Strided& shape,
                              Completion* completion) {
  std::uint64_t* const operation = completion != nullptr ? &completion->operation : nullptr;
  if (shape.levels == 0) return client_->get({target, key}, remote, local, shape.count[0], operation);
  return client_->get_rows({target, key}, Rows(shape, Here::kDestination, local, remote), operation);
}

Status Transport::put_list(int target, const Key& key, const Segments& list, Completion* completion) {
  return client_->put_rows({target, key}, Rows(list, Here::kSource),
                           completion != nullptr ? &completion->operation : nullptr);
}

Status Transport::get_list(int target, const Key& key, const Segments& list, Completion* completion) {
  return client_->get_rows({target, key}, Rows(list, Here::kDestination),
                           completion != nullptr ? &completion->operation : nullptr);
}

Status Transport::accumulate_strided(int target, const Key&, void* remote, const void* local, const Strided& shape,
                                     const AccSpec& acc, Completion*) {
  const server::RequestHeader header = server::accumulate_header(acc);
  if (shape.levels == 0) return client_->add(target, header, remote, local, shape.count[0]);
  return client_->add_rows(target, header, Rows(shape, Here::kSource, local, remote));
}

Status Transport::accumulate_list(int target, const Key&, const Segments& list, const AccSpec& acc, Completion*) {
  return client_->add_rows(target, server::accumulate_header(acc), Rows(list, Here::kSource));
}

Status Transport::atomic64(int target, const Key&, void* remote, AtomicOp op, std::int64_t operand,
                           std::int64_t compare, std::int64_t* before) {
  std::uint64_t value = 0;
  ARMCI_RETURN_IF_ERROR(client_->atomic(target, server::atomic_header(remote, op, operand, compare), &value));
  *before = static_cast<std::int64_t>(value);
  return kSuccess;
}

Status Transport::atomic32(int target, const Key&, void* remote, AtomicOp op, std::int32_t operand,
                           std::int32_t compare, std::int32_t* before) {
  std::uint64_t value = 0;
  ARMCI_RETURN_IF_ERROR(client_->atomic(target, server::atomic_header(remote, op, operand, compare), &value));
  *before = static_cast<std::int32_t>(value);
  return kSuccess;
}

Status Transport::test(Completion* completion, bool* done) { return client_->test(completion->operation, done); }

Status Transport::flush(int target) { return client_->flush(target); }

Status Transport::flush_all() { return client_->flush_all(); }

void Transport::progress() {
  if (client_ != nullptr) client_->progress();
  if (server_ != nullptr) server_->serve_while_waiting();
}

std::size_t Transport::buffer_bytes() {
  return (server_ != nullptr ? server_->buffer_bytes() : 0) + (client_ != nullptr ? client_->buffer_bytes() : 0);
}

}  // namespace armci::ucx
