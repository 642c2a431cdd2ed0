#include "impl/ucx/transport.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "impl/node/agree.h"
#include "impl/runtime/config.h"
#include "impl/ucx/allgather.h"
#include "impl/ucx/regions.h"
#include "impl/ucx/settings.h"
#include "impl/ucx/used_transports.h"

namespace armci::ucx {

using engine::Routes;
using node::agree;
using runtime::Exposed;
using runtime::GroupView;
using runtime::World;

// The settings, as decisions.
struct Transport::Plan {
  PutGet put_get = PutGet::kAuto;
  WireLimits limits;
  engine::ClientOptions options;
  int cluster = 1;

  Status read();
  Routes routes(int processes) const;
};

Status Transport::Plan::read() {
  const Settings& of = settings();
  limits = {static_cast<std::size_t>(of.message_bytes), static_cast<std::uint64_t>(of.requests),
            static_cast<std::size_t>(of.parts), static_cast<std::size_t>(of.copied_bytes)};
  options.counts_on_demand = true;
  options.parts = static_cast<std::size_t>(of.parts);
  options.pack_bytes = static_cast<std::size_t>(of.pack_bytes);
  options.small_put_bytes = static_cast<std::size_t>(of.small_bytes);
  cluster = of.cluster;
  constexpr runtime::Word<PutGet> kWords[] = {
      {"auto", PutGet::kAuto}, {"always", PutGet::kAlways}, {"never", PutGet::kNever}};
  return runtime::read_word("ARMCI_UCX_PUT_GET", of.put_get, kWords, &put_get);
}

// Each process has a server.
Routes Transport::Plan::routes(int processes) const {
  std::vector<int> server_of(static_cast<std::size_t>(processes));
  std::iota(server_of.begin(), server_of.end(), 0);
  return {std::move(server_of), processes, cluster};
}

Transport::Transport() = default;

// A program that ends without finalise().
Transport::~Transport() { end(); }

// The server uses the client. Pending sends end operations of the client. The client has buffers of the wire.
void Transport::end() {
  if (server_ != nullptr) server_->stop();
  regions_.reset();
  if (worker_ != nullptr) worker_->close();
  client_.reset();
  client_wire_.reset();
  server_.reset();
  server_wire_.reset();
  worker_.reset();
  mapped_.reset();
  context_.reset();
}

Status Transport::initialise(const World& world) {
  Plan plan;
  ARMCI_RETURN_IF_ERROR(agree(world.comm(), plan.read(), "reading the settings"));
  // A client has to know the length of the server's messages.
  const node::SharedSetting shared[] = {{"ARMCI_UCX_PUT_GET", static_cast<long>(plan.put_get)},
                                        {"ARMCI_UCX_MESSAGE_BYTES", static_cast<long>(plan.limits.message_bytes)},
                                        {"ARMCI_UCX_CLUSTER", plan.cluster}};
  ARMCI_RETURN_IF_ERROR(node::same_on_all(world.comm(), shared));
  if (world.node_count() == 1) return kSuccess;
  ARMCI_RETURN_IF_ERROR(agree(world.comm(), open(world, plan), "opening UCX"));
  regions_ = std::make_unique<Regions>(*context_, mapped_.get(), client_.get(), client_wire_.get());
  return connect(world);
}

Status Transport::open(const World& world, const Plan& plan) {
  const Routes routes = plan.routes(world.size());
  context_ = std::make_unique<Context>();
  worker_ = std::make_unique<Worker>();
  server_wire_ = std::make_unique<ServerWire>(worker_.get(), world.rank(), plan.limits.message_bytes);
  server_ = std::make_unique<engine::Server>(
      server_wire_.get(), routes, world.rank(),
      engine::ServerOptions{.credits = plan.limits.requests, .forwards = static_cast<int>(plan.limits.requests)});
  mapped_ = std::make_unique<MappedMemory>(*context_);
  client_wire_ = std::make_unique<ClientWire>(worker_.get(), plan.put_get, plan.limits, world.size(), *mapped_);
  client_ = std::make_unique<engine::Client>(
      client_wire_.get(), routes, world.rank(), plan.options, [this] { server_->wake(); },
      [this] { server_->serve_while_waiting(); });
  ARMCI_RETURN_IF_ERROR(context_->open(world.size(), plan.put_get == PutGet::kAlways));
  ARMCI_RETURN_IF_ERROR(worker_->open(*context_));
  ARMCI_RETURN_IF_ERROR(client_wire_->open());
  return server_->open();
}

// The first message to a process creates the endpoint.
Status Transport::connect(const World& world) {
  std::string mine;
  ARMCI_RETURN_IF_ERROR(agree(world.comm(), worker_->address(&mine), "getting the address of a UCX worker"));
  std::vector<std::string> addresses;
  ARMCI_RETURN_IF_ERROR(allgather_strings(world.comm(), mine, &addresses));
  worker_->set_addresses(std::move(addresses));
  ARMCI_RETURN_IF_ERROR(
      agree(world.comm(), server_->start(client_.get(), client_wire_.get(), "armci-ucx"), "starting the servers"));
  server_->serve_in_mpi_waits();
  comm_ = world.comm();
  return share_choices(world);
}

// The transports are those between the first process and the first one of another node.
Status Transport::share_choices(const World& world) {
  Status reached;
  if (world.rank() == 0) {
    const int other = world.node(world.my_node() == 0 ? 1 : 0).ranks[0];
    std::string description;
    reached = client_->with_lock([&] { return client_wire_->describe(other, &description); });
    const std::string transports = transports_of(description);
    choices_.add("transports of UCX",
                 (transports.empty() ? "not reported" : transports) + ", UCX " + ucp_get_version_string());
  }
  ARMCI_RETURN_IF_ERROR(agree(world.comm(), reached, "reaching another node by UCX"));
  return choices_.share(world.comm());
}

// No process closes an endpoint while another one sends on it, and no server stops or worker ends while another one
// closes an endpoint to it.
void Transport::finalise() {
  choices_.clear();
  if (client_ != nullptr) (void)client_->close();
  if (comm_ != MPI_COMM_NULL) {
    MPI_Barrier(comm_);
    worker_->close_endpoints();
    MPI_Barrier(comm_);
    server_->stop();
    MPI_Barrier(comm_);
  }
  comm_ = MPI_COMM_NULL;
  end();
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

void Transport::progress() {
  if (client_ != nullptr) client_->poll_once();
  if (server_ != nullptr) server_->serve_while_waiting();
}

}  // namespace armci::ucx
