#include "impl/native-verbs/transport.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <random>
#include <vector>

#include "impl/base/backtrace.h"
#include "impl/native-verbs/settings.h"
#include "impl/node/agree.h"
#include "impl/runtime/config.h"
#include "impl/server/compose.h"

namespace armci::verbs {

using node::AccSpec;
using node::agree;
using node::SharedSetting;
using runtime::AtomicOp;
using runtime::Segments;
using runtime::Strided;
using runtime::World;

namespace {

// Pieces of that length end between elements of every type.
std::size_t bounce_bytes() { return static_cast<std::size_t>(settings().bounce_bytes) / 16 * 16; }

// A sender has to know the length of receive buffers and the number of pending requests.
Status check_settings(MPI_Comm comm) {
  const SharedSetting shared[] = {{"ARMCI_VERBS_BOUNCE_BYTES", static_cast<long>(bounce_bytes())},
                                  {"ARMCI_VERBS_BOUNCES", settings().bounces}};
  return node::same_on_all(comm, shared);
}

int server_of(const World& world, int node) { return world.node(node).ranks[0]; }

void print_links(const World& world, std::size_t links) {
  if (runtime::config().verbose < 1 || world.rank() != 0) return;
  std::fprintf(stderr, "armci: process 0 has made %zu connections to %d other nodes\n", links, world.node_count() - 1);
}

// Distinguishes messages of this job from messages of other jobs.
std::uint64_t make_secret() {
  std::random_device random;
  return std::uint64_t{random()} << 32 | random();
}

}  // namespace

Status Transport::initialise(const World& world) {
  if (world.node_count() == 1) return kSuccess;
  ARMCI_RETURN_IF_ERROR(check_settings(world.comm()));
  device_ = std::make_unique<Device>();
  ARMCI_RETURN_IF_ERROR(agree(world.comm(), device_->open(), "opening the verbs device"));
  choices_.add("verbs device", device_->name());
  choices_.add("port", std::to_string(device_->port_number()));
  choices_.add("GID", std::to_string(device_->gid_index()));
  ARMCI_RETURN_IF_ERROR(choices_.share(world.comm()));
  ARMCI_RETURN_IF_ERROR(agree(world.comm(), open(world), "making queues and buffers"));
  world_ = &world;
  return connect(world);
}

Status Transport::open(const World& world) {
  const Settings& of = settings();
  std::vector<int> servers;
  for (int node = 0; node < world.node_count(); ++node) servers.push_back(server_of(world, node));
  registrations_ = std::make_unique<Registrations>(
      *device_, CacheBounds{static_cast<std::size_t>(of.cache_bytes), static_cast<std::size_t>(of.cache_entries)});
  caller_ = std::make_unique<Caller>();
  ARMCI_RETURN_IF_ERROR(caller_->open(*device_, world.rank()));
  connections_ = std::make_unique<ConnectionManager>(*device_, registrations_.get(), caller_.get(), std::move(servers));
  const auto requests = static_cast<std::uint32_t>(of.bounces);
  ARMCI_RETURN_IF_ERROR(connections_->open(
      {static_cast<std::size_t>(of.bounces), bounce_bytes(), static_cast<std::uint32_t>(of.depth), requests}));
  const Thresholds thresholds{std::min(static_cast<std::size_t>(of.pack_bytes), bounce_bytes() / 2),
                              static_cast<std::size_t>(of.in_place_bytes), static_cast<std::size_t>(of.register_bytes)};
  client_ = std::make_unique<Client>(*device_, world.rank(), registrations_.get(), connections_.get(), thresholds);
  if (server_of(world, world.my_node()) != world.rank()) return kSuccess;
  server_ =
      std::make_unique<Server>(*device_, world.size(), [&world](int process) { return world.same_node(process); });
  return server_->open({static_cast<std::size_t>(of.buffers), bounce_bytes(), requests});
}

// Exchanges the addresses for calls of the servers. A process connects to a server at its first use.
Status Transport::connect(const World& world) {
  struct CallAddress {
    Address address;
    std::uint64_t secret;
  } mine{};
  if (server_ != nullptr) mine.address = server_->address();
  mine.secret = make_secret();
  std::vector<CallAddress> all(static_cast<std::size_t>(world.size()));
  ARMCI_MPI(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, world.comm()));
  std::vector<Address> servers;
  for (int node = 0; node < world.node_count(); ++node) {
    servers.push_back(all[static_cast<std::size_t>(server_of(world, node))].address);
  }
  caller_->learn(std::move(servers), all[0].secret);
  const Status started = server_ != nullptr ? server_->start(all[0].secret) : kSuccess;
  return agree(world.comm(), started, "starting the servers");
}

void Transport::finalise() {
  choices_.clear();
  if (world_ != nullptr) {
    (void)client_->flush_all();
    print_links(*world_, connections_->links());
    if (server_ != nullptr) server_->expect_ends();
    MPI_Barrier(world_->comm());  // no process sends requests after that
  }
  server_.reset();
  client_.reset();
  connections_.reset();
  caller_.reset();
  registrations_.reset();
  device_.reset();
  world_ = nullptr;
}

// The node's server registers the memory for other nodes. This process registers it for the local side of transfers; in
// the server's own process both are the same registration.
Status Transport::register_memory(void* base, std::size_t bytes, Key* key) {
  if (client_ == nullptr) return kSuccess;
  Call call;
  call.kind = CallKind::kRegister;
  call.address = reinterpret_cast<std::uintptr_t>(base);
  call.bytes = bytes;
  Reply reply;
  ARMCI_RETURN_IF_ERROR(caller_->call(world_->my_node(), call, &reply));
  if (reply.error == ENOMEM && server_ != nullptr && registrations_->evict_idle()) {
    ARMCI_RETURN_IF_ERROR(caller_->call(world_->my_node(), call, &reply));
  }
  if (reply.error != 0) {
    return fail(reply.error == ENOMEM ? Code::kMemory : Code::kLayerBelow, nullptr,
                "the server of this node, process %d: %s", server_of(*world_, world_->my_node()), reply.text);
  }
  *key = {reply.remote_key, call.address};
  if (server_ != nullptr) {
    registrations_->keep_registered(base, bytes, reply.local_key);
  } else {
    registrations_->keep(base, bytes);
  }
  return kSuccess;
}

void Transport::deregister_memory(const Key& key) {
  if (client_ == nullptr) return;
  registrations_->forget(reinterpret_cast<void*>(key.base));
  Call call;
  call.kind = CallKind::kDeregister;
  call.address = key.base;
  call.key = key.remote;
  Reply reply;
  Status status = caller_->call(world_->my_node(), call, &reply);
  if (status.ok() && reply.error != 0) {
    status = fail(Code::kLayerBelow, nullptr, "the server of this node: %s", reply.text);
  }
  if (!status.ok()) print_failure("ARMCI_Free", last_cause());
}

void Transport::register_local(void* base, std::size_t bytes) {
  if (registrations_ != nullptr) registrations_->keep(base, bytes);
}

void Transport::deregister_local(void* base) {
  if (registrations_ != nullptr) registrations_->forget(base);
}

Status Transport::put(int target, const Key& key, void* remote, const void* local, std::size_t bytes,
                      Completion* completion) {
  return client_->put(at(target, key), remote, local, bytes, &completion->point);
}

Status Transport::put_now(int target, const Key& key, void* remote, const void* local, std::size_t bytes) {
  return client_->put(at(target, key), remote, local, bytes, nullptr);
}

Status Transport::put_signal(int target, const Key& key, void* remote, const void* local, std::size_t bytes,
                             const node::Signal& signal) {
  return client_->put_signal(at(target, key), remote, local, bytes, signal);
}

Status Transport::get(int target, const Key& key, const void* remote, void* local, std::size_t bytes,
                      Completion* completion) {
  return client_->get(at(target, key), remote, local, bytes, &completion->point);
}

Status Transport::get_now(int target, const Key& key, const void* remote, void* local, std::size_t bytes) {
  return client_->get(at(target, key), remote, local, bytes, nullptr);
}

Status Transport::put_strided(int target, const Key& key, void* remote, const void* local, const Strided& shape,
                              Completion* completion) {
  CompletionPoint* const point = completion != nullptr ? &completion->point : nullptr;
  if (shape.levels == 0) return client_->put(at(target, key), remote, local, shape.count[0], point);
  return client_->put_rows(at(target, key), Rows(shape, Here::kSource, local, remote), point);
}

Status Transport::get_strided(int target, const Key& key, const void* remote, void* local, const Strided& shape,
                              Completion* completion) {
  CompletionPoint* const point = completion != nullptr ? &completion->point : nullptr;
  if (shape.levels == 0) return client_->get(at(target, key), remote, local, shape.count[0], point);
  return client_->get_rows(at(target, key), Rows(shape, Here::kDestination, local, remote), point);
}

Status Transport::put_list(int target, const Key& key, const Segments& list, Completion* completion) {
  return client_->put_rows(at(target, key), Rows(list, Here::kSource),
                           completion != nullptr ? &completion->point : nullptr);
}

Status Transport::get_list(int target, const Key& key, const Segments& list, Completion* completion) {
  return client_->get_rows(at(target, key), Rows(list, Here::kDestination),
                           completion != nullptr ? &completion->point : nullptr);
}

Status Transport::accumulate_strided(int target, const Key& key, void* remote, const void* local, const Strided& shape,
                                     const AccSpec& acc, Completion*) {
  const server::RequestHeader header = server::accumulate_header(acc);
  if (shape.levels == 0) return client_->add(at(target, key), header, remote, local, shape.count[0]);
  return client_->add_rows(at(target, key), header, Rows(shape, Here::kSource, local, remote));
}

Status Transport::accumulate_list(int target, const Key& key, const Segments& list, const AccSpec& acc, Completion*) {
  return client_->add_rows(at(target, key), server::accumulate_header(acc), Rows(list, Here::kSource));
}

Status Transport::atomic64(int target, const Key&, void* remote, AtomicOp op, std::int64_t operand,
                           std::int64_t compare, std::int64_t* before) {
  std::uint64_t value = 0;
  ARMCI_RETURN_IF_ERROR(client_->atomic(node_of(target), server::atomic_header(remote, op, operand, compare), &value));
  *before = static_cast<std::int64_t>(value);
  return kSuccess;
}

Status Transport::atomic32(int target, const Key&, void* remote, AtomicOp op, std::int32_t operand,
                           std::int32_t compare, std::int32_t* before) {
  std::uint64_t value = 0;
  ARMCI_RETURN_IF_ERROR(client_->atomic(node_of(target), server::atomic_header(remote, op, operand, compare), &value));
  *before = static_cast<std::int32_t>(value);
  return kSuccess;
}

Status Transport::test(Completion* completion, bool* done) { return client_->test(completion->point, done); }

void Transport::progress() {
  if (server_ != nullptr) server_->serve_while_waiting();
}

std::size_t Transport::buffer_bytes() {
  return (server_ != nullptr ? server_->buffer_bytes() : 0) +
         (connections_ != nullptr ? connections_->buffer_bytes() : 0);
}

}  // namespace armci::verbs
