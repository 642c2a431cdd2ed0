#include "impl/native-verbs/transport.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "impl/common/agree.h"
#include "impl/common/config.h"
#include "impl/native-verbs/settings.h"
#include "impl/server/compose.h"

namespace armci::verbs {

using common::AccSpec;
using common::agree;
using common::AtomicOp;
using common::kSuccess;
using common::Segments;
using common::SharedSetting;
using common::Status;
using common::Strided;
using common::World;

namespace {

// Pieces of that length end between elements of every type.
std::size_t bounce_bytes() { return static_cast<std::size_t>(settings().bounce_bytes) / 16 * 16; }

// Who sends has to know how long a message may be, and how many answers it may be owed.
Status check_settings(MPI_Comm comm) {
  const SharedSetting shared[] = {{"ARMCI_VERBS_BOUNCE_BYTES", static_cast<long>(bounce_bytes())},
                                  {"ARMCI_VERBS_BOUNCES", settings().bounces}};
  return common::same_on_all(comm, shared);
}

int server_of(const World& world, int node) { return world.node(node).ranks[0]; }

Status exchange(MPI_Comm comm, std::vector<LinkAddress>* addresses) {
  std::vector<LinkAddress> theirs(addresses->size());
  ARMCI_MPI(MPI_Alltoall(addresses->data(), sizeof(LinkAddress), MPI_BYTE, theirs.data(), sizeof(LinkAddress), MPI_BYTE,
                         comm));
  *addresses = std::move(theirs);
  return kSuccess;
}

void print_choice(const World& world, const Device& device) {
  if (common::config().verbose < 1 || world.rank() != 0) return;
  std::fprintf(stderr, "armci: verbs device %s, port %d, GID %d\n", device.name(), device.port_number(),
               device.gid_index());
}

}  // namespace

Status Transport::initialise(const World& world) {
  if (world.node_count() == 1) return kSuccess;
  ARMCI_RETURN_IF_ERROR(check_settings(world.comm()));
  device_ = std::make_unique<Device>();
  ARMCI_RETURN_IF_ERROR(agree(world.comm(), device_->open(), "opening the verbs device"));
  print_choice(world, *device_);
  world_ = &world;
  ARMCI_RETURN_IF_ERROR(agree(world.comm(), open(world), "making queues and buffers"));
  ARMCI_RETURN_IF_ERROR(connect(world));
  return agree(world.comm(), server_ != nullptr ? server_->start() : kSuccess, "starting the servers");
}

Status Transport::open(const World& world) {
  const auto bounces = static_cast<std::size_t>(settings().bounces);
  client_ = std::make_unique<Client>(*device_, world.rank(), world.node_count());
  ARMCI_RETURN_IF_ERROR(client_->open(bounces, bounce_bytes()));
  if (server_of(world, world.my_node()) != world.rank()) return kSuccess;
  server_ =
      std::make_unique<Server>(*device_, world.size(), [&world](int process) { return world.same_node(process); });
  return server_->open(static_cast<std::size_t>(settings().buffers), bounce_bytes(),
                       static_cast<std::uint32_t>(bounces));
}

// Every process with the servers of all nodes: their addresses there, and back.
Status Transport::connect(const World& world) {
  std::vector<LinkAddress> addresses(static_cast<std::size_t>(world.size()));
  for (int node = 0; node < world.node_count(); ++node) {
    addresses[static_cast<std::size_t>(server_of(world, node))] = client_->link(node).address(*device_);
  }
  ARMCI_RETURN_IF_ERROR(exchange(world.comm(), &addresses));
  Status status;
  for (int process = 0; process < world.size() && server_ != nullptr && status.ok(); ++process) {
    LinkAddress& address = addresses[static_cast<std::size_t>(process)];
    status = server_->accept(process, LinkAddress(address), &address);
  }
  ARMCI_RETURN_IF_ERROR(agree(world.comm(), status, "connecting to the processes"));
  ARMCI_RETURN_IF_ERROR(exchange(world.comm(), &addresses));
  for (int node = 0; node < world.node_count() && status.ok(); ++node) {
    status = client_->link(node).connect(*device_, addresses[static_cast<std::size_t>(server_of(world, node))]);
  }
  return agree(world.comm(), status, "connecting to the servers");
}

void Transport::finalise() {
  if (world_ != nullptr) {
    if (client_ != nullptr) (void)client_->flush_all();
    MPI_Barrier(world_->comm());  // nobody asks any more
  }
  server_.reset();
  client_.reset();
  device_.reset();
  world_ = nullptr;
}

Status Transport::register_memory(void* base, std::size_t bytes, Key* key) {
  return client_ != nullptr ? client_->expose(world_->my_node(), base, bytes, &key->remote) : kSuccess;
}

void Transport::deregister_memory(const Key& key) {
  if (client_ != nullptr) (void)client_->conceal(world_->my_node(), key.remote);
}

Status Transport::put(int target, const Key& key, void* remote, const void* local, std::size_t bytes, Completion*) {
  return client_->put(node_of(target), key.remote, remote, local, bytes);
}

Status Transport::put_now(int target, const Key& key, void* remote, const void* local, std::size_t bytes) {
  return client_->put(node_of(target), key.remote, remote, local, bytes);
}

Status Transport::get(int target, const Key& key, const void* remote, void* local, std::size_t bytes,
                      Completion* completion) {
  return client_->get(node_of(target), key.remote, remote, local, bytes, &completion->operation);
}

Status Transport::get_now(int target, const Key& key, const void* remote, void* local, std::size_t bytes) {
  std::uint64_t operation = 0;
  ARMCI_RETURN_IF_ERROR(client_->get(node_of(target), key.remote, remote, local, bytes, &operation));
  return client_->wait(operation);
}

Status Transport::accumulate_strided(int target, const Key&, void* remote, const void* local, const Strided& shape,
                                     const AccSpec& acc, Completion*) {
  return client_->add(node_of(target), server::accumulate_header(acc), remote, local, shape);
}

Status Transport::accumulate_list(int target, const Key&, const Segments& list, const AccSpec& acc, Completion*) {
  return client_->add_list(node_of(target), server::accumulate_header(acc), list);
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

Status Transport::test(Completion* completion, bool* done) {
  *done = true;
  if (completion->operation == 0) return kSuccess;
  return client_->test(completion->operation, done);
}

std::size_t Transport::buffer_bytes() {
  return (server_ != nullptr ? server_->buffer_bytes() : 0) + (client_ != nullptr ? client_->buffer_bytes() : 0);
}

}  // namespace armci::verbs
