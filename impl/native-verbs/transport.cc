#include "impl/native-verbs/transport.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "impl/base/backtrace.h"
#include "impl/native-verbs/settings.h"
#include "impl/node/agree.h"
#include "impl/runtime/config.h"

namespace armci::verbs {

using node::agree;
using node::SharedSetting;
using runtime::World;

namespace {

constexpr std::size_t kPartsMax = 8192;  // of operations; queues and buffers limit them before

// Pieces of that length end between elements of every type.
std::size_t bounce_bytes() { return static_cast<std::size_t>(settings().bounce_bytes) / 16 * 16; }

// A sender has to know the length of receive buffers and the number of pending requests.
Status check_settings(MPI_Comm comm) {
  const SharedSetting shared[] = {{"ARMCI_VERBS_BOUNCE_BYTES", static_cast<long>(bounce_bytes())},
                                  {"ARMCI_VERBS_BOUNCES", settings().bounces},
                                  {"ARMCI_VERBS_CLUSTER", settings().cluster}};
  return node::same_on_all(comm, shared);
}

int server_of(const World& world, int node) { return world.node(node).ranks[0]; }

void print_links(const World& world, std::size_t links) {
  if (runtime::config().verbose < 1 || world.rank() != 0) return;
  std::fprintf(stderr, "armci: process 0 has made %zu connections to servers of %d nodes\n", links, world.node_count());
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
  const engine::Routes routes = engine::routes_by_node(world, settings().cluster);
  const auto requests = static_cast<std::uint32_t>(of.bounces);
  registrations_ = std::make_unique<Registrations>(
      *device_, CacheBounds{static_cast<std::size_t>(of.cache_bytes), static_cast<std::size_t>(of.cache_entries)});
  caller_ = std::make_unique<Caller>();
  ARMCI_RETURN_IF_ERROR(caller_->open(*device_, world.rank()));
  client_wire_ = std::make_unique<ClientWire>(
      *device_, registrations_.get(), caller_.get(), routes, world.rank(), servers,
      ClientBounds{static_cast<std::size_t>(of.bounces), bounce_bytes(), static_cast<std::uint32_t>(of.depth), requests,
                   static_cast<std::size_t>(of.register_bytes)});
  ARMCI_RETURN_IF_ERROR(client_wire_->open());
  engine::ClientOptions options;
  options.pack_bytes = std::min(static_cast<std::size_t>(of.pack_bytes), bounce_bytes() / 2);
  options.parts = kPartsMax;
  options.background = false;  // devices go on by themselves
  client_ = std::make_unique<engine::Client>(
      client_wire_.get(), routes, world.rank(), options, [] {}, std::function<void()>());
  if (server_of(world, world.my_node()) != world.rank()) return kSuccess;
  server_wire_ = std::make_unique<ServerWire>(
      *device_, ServerBounds{static_cast<std::size_t>(of.buffers), bounce_bytes(), requests}, routes, world.my_node(),
      [&world](int process) { return world.same_node(process); });
  server_ =
      std::make_unique<engine::Server>(server_wire_.get(), routes, world.my_node(),
                                       engine::ServerOptions{.credits = requests, .forwards = Neighbours::kForwards});
  return server_->open();
}

// Exchanges the addresses for calls of the servers. A process connects to a server at its first use.
Status Transport::connect(const World& world) {
  struct CallAddress {
    Address address;
    std::uint64_t secret;
  } mine{};
  if (server_wire_ != nullptr) mine.address = server_wire_->address();
  mine.secret = make_secret();
  std::vector<CallAddress> all(static_cast<std::size_t>(world.size()));
  ARMCI_MPI(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, world.comm()));
  std::vector<Address> servers;
  for (int node = 0; node < world.node_count(); ++node) {
    servers.push_back(all[static_cast<std::size_t>(server_of(world, node))].address);
  }
  caller_->learn(std::move(servers), all[0].secret);
  Status started = connect_servers(world);
  if (started.ok() && server_ != nullptr) {
    server_wire_->set_secret(all[0].secret);
    server_->serve_in_mpi_waits();
    started = server_->start(nullptr, nullptr, "armci-server");
  }
  return agree(world.comm(), started, "starting the servers");
}

// Those of each cluster with each other.
Status Transport::connect_servers(const World& world) {
  const auto cluster = static_cast<std::size_t>(settings().cluster);
  if (cluster == 1) return kSuccess;
  const std::size_t places = std::min(cluster, static_cast<std::size_t>(world.node_count()));
  std::vector<Address> mine(places);
  if (server_wire_ != nullptr) std::ranges::copy(server_wire_->link_addresses(), mine.begin());
  std::vector<Address> all(places * static_cast<std::size_t>(world.size()));
  const int bytes = static_cast<int>(places * sizeof(Address));
  ARMCI_MPI(MPI_Allgather(mine.data(), bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, world.comm()));
  if (server_wire_ == nullptr) return kSuccess;
  const engine::Routes routes = engine::routes_by_node(world, settings().cluster);
  const int number = world.my_node();
  std::vector<Address> others;
  for (const int neighbour : routes.neighbours(number)) {
    const std::vector<int> back = routes.neighbours(neighbour);
    const auto place = static_cast<std::size_t>(std::ranges::find(back, number) - back.begin());
    others.push_back(all[static_cast<std::size_t>(server_of(world, neighbour)) * places + place]);
  }
  return server_wire_->connect_to(others);
}

void Transport::finalise() {
  choices_.clear();
  if (world_ != nullptr) {
    (void)client_->flush_all();
    print_links(*world_, client_wire_->links());
    (void)client_->close();
    if (server_wire_ != nullptr) server_wire_->expect_ends();
    MPI_Barrier(world_->comm());  // no process sends requests after that
  }
  end();
  world_ = nullptr;
}

// The client has buffers of its wire.
void Transport::end() {
  if (server_ != nullptr) server_->stop();
  client_.reset();
  client_wire_.reset();
  server_.reset();
  server_wire_.reset();
  caller_.reset();
  registrations_.reset();
  device_.reset();
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

void Transport::set_wake_ups(std::vector<node::WakeUp*> all) {
  if (server_wire_ != nullptr) server_wire_->set_wake_ups(std::move(all));
}

void Transport::progress() {
  if (server_ != nullptr) server_->serve_while_waiting();
}

}  // namespace armci::verbs
