#include "impl/ucx/transport.h"

#include <mpi.h>

#include <cstdio>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "impl/common/agree.h"
#include "impl/common/config.h"
#include "impl/server/compose.h"
#include "impl/ucx/settings.h"

namespace armci::ucx {

using common::AccSpec;
using common::agree;
using common::AtomicOp;
using common::Exposed;
using common::GroupView;
using common::kSuccess;
using common::Segments;
using common::SharedSetting;
using common::Status;
using common::Strided;
using common::World;
using server::Here;
using server::Rows;

namespace {

Status check_settings(MPI_Comm comm) {
  const SharedSetting shared[] = {{"ARMCI_UCX_CHUNK_BYTES", static_cast<long>(settings().chunk_bytes)}};
  return common::same_on_all(comm, shared);
}

Mark* mark_of(Transport::Completion* completion) { return completion != nullptr ? &completion->mark : nullptr; }

}  // namespace

// --- start and end

Status Transport::initialise(const World& world) {
  if (world.node_count() == 1) return kSuccess;
  ARMCI_RETURN_IF_ERROR(check_settings(world.comm()));
  ARMCI_RETURN_IF_ERROR(agree(world.comm(), open(world), "starting UCX"));
  ARMCI_RETURN_IF_ERROR(agree_on_rma(world));
  ARMCI_RETURN_IF_ERROR(connect(world));
  ARMCI_RETURN_IF_ERROR(agree(world.comm(), progress_->start(), "starting the threads"));
  world_ = &world;
  tell_transports(world);
  return kSuccess;
}

// Registering memory is collective.
Status Transport::agree_on_rma(const World& world) {
  const SharedSetting shared[] = {{"ARMCI_UCX_RMA (1: there is a device for puts and gets)", uses_rma_ ? 1 : 0}};
  return common::same_on_all(world.comm(), shared);
}

Status Transport::open(const World& world) {
  const Settings& of = settings();
  const auto chunk_bytes = static_cast<std::size_t>(of.chunk_bytes);
  context_ = std::make_unique<Context>();
  ARMCI_RETURN_IF_ERROR(context_->open());
  uses_rma_ = of.rma < 0 ? context_->has_rdma() : of.rma != 0;
  regions_ = std::make_unique<Regions>(*context_);
  server_ = std::make_unique<Server>(static_cast<std::size_t>(world.size()), chunk_bytes);
  ARMCI_RETURN_IF_ERROR(server_->open(*context_));
  const ClientBounds bounds{static_cast<std::size_t>(of.depth), static_cast<std::size_t>(of.requests), chunk_bytes,
                            std::min(static_cast<std::size_t>(of.pack_bytes), chunk_bytes / 2), uses_rma_};
  client_ = std::make_unique<Client>(world.rank(), bounds, [this] { progress_->attend(); });
  progress_ = std::make_unique<Progress>(server_.get(), client_.get());
  return client_->open(*context_);
}

// Everybody learns where the others' servers are; connections are made at first use.
Status Transport::connect(const World& world) {
  std::vector<char> mine;
  ARMCI_RETURN_IF_ERROR(agree(world.comm(), server_->worker().address(&mine), "asking UCX for addresses"));
  const auto size = static_cast<std::size_t>(world.size());
  const int length = static_cast<int>(mine.size());
  std::vector<int> lengths(size);
  std::vector<int> places(size);
  ARMCI_MPI(MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, world.comm()));
  std::exclusive_scan(lengths.begin(), lengths.end(), places.begin(), 0);
  std::vector<char> all(static_cast<std::size_t>(places.back() + lengths.back()));
  ARMCI_MPI(
      MPI_Allgatherv(mine.data(), length, MPI_BYTE, all.data(), lengths.data(), places.data(), MPI_BYTE, world.comm()));
  std::vector<std::vector<char>> addresses;
  for (std::size_t i = 0; i < size; ++i) {
    const auto from = all.begin() + places[i];
    addresses.emplace_back(from, from + lengths[i]);
  }
  client_->learn(std::move(addresses));
  return kSuccess;
}

void Transport::tell_transports(const World& world) {
  if (common::config().verbose < 1 || world.rank() != 0) return;
  const int other = world.node(world.my_node() == 0 ? 1 : 0).ranks.front();
  std::string transports;
  if (!client_->describe(other, &transports).ok()) return;  // who needs the connection will be told
  std::fprintf(stderr, "armci: ucx: process 0 reaches process %d by %s, with %s\n", other, transports.c_str(),
               uses_rma_ ? "puts and gets" : "messages only");
}

void Transport::finalise() {
  if (world_ != nullptr) {
    (void)client_->flush_all();
    MPI_Barrier(world_->comm());  // nobody asks any more
    client_->disconnect();
    MPI_Barrier(world_->comm());  // nobody needs our thread any more
  }
  progress_.reset();
  client_.reset();
  server_.reset();
  regions_.reset();
  context_.reset();
  world_ = nullptr;
}

// --- memory

Status Transport::register_region(const GroupView& group, std::span<const Exposed> parts, std::span<Key> keys) {
  if (client_ == nullptr || !uses_rma_) return kSuccess;
  Region* region = nullptr;
  ARMCI_RETURN_IF_ERROR(regions_->add(group, parts, &region));
  for (std::size_t r = 0; r < keys.size(); ++r) keys[r].part = &region->parts[r];
  return kSuccess;
}

void Transport::deregister_region(const Key& key) {
  if (key.part == nullptr) return;
  Region* const region = key.part->region;
  client_->forget(region);
  regions_->remove(region);
}

// --- transfers

Status Transport::put(int target, const Key& key, void* remote, const void* local, std::size_t bytes,
                      Completion* completion) {
  return client_->put({target, key.part}, remote, local, bytes, &completion->mark);
}

Status Transport::get(int target, const Key& key, const void* remote, void* local, std::size_t bytes,
                      Completion* completion) {
  return client_->get({target, key.part}, remote, local, bytes, &completion->mark);
}

Status Transport::put_now(int target, const Key& key, void* remote, const void* local, std::size_t bytes) {
  Mark mark;
  ARMCI_RETURN_IF_ERROR(client_->put({target, key.part}, remote, local, bytes, &mark));
  return client_->wait(mark);
}

Status Transport::get_now(int target, const Key& key, const void* remote, void* local, std::size_t bytes) {
  Mark mark;
  ARMCI_RETURN_IF_ERROR(client_->get({target, key.part}, remote, local, bytes, &mark));
  return client_->wait(mark);
}

Status Transport::put_strided(int target, const Key& key, void* remote, const void* local, const Strided& shape,
                              Completion* completion) {
  return client_->put_rows({target, key.part}, Rows(shape, Here::kSource, local, remote), mark_of(completion));
}

Status Transport::get_strided(int target, const Key& key, const void* remote, void* local, const Strided& shape,
                              Completion* completion) {
  return client_->get_rows({target, key.part}, Rows(shape, Here::kDestination, local, remote), mark_of(completion));
}

Status Transport::put_list(int target, const Key& key, const Segments& list, Completion* completion) {
  return client_->put_rows({target, key.part}, Rows(list, Here::kSource), mark_of(completion));
}

Status Transport::get_list(int target, const Key& key, const Segments& list, Completion* completion) {
  return client_->get_rows({target, key.part}, Rows(list, Here::kDestination), mark_of(completion));
}

Status Transport::accumulate_strided(int target, const Key& key, void* remote, const void* local, const Strided& shape,
                                     const AccSpec& acc, Completion*) {
  return client_->add_rows({target, key.part}, server::accumulate_header(acc),
                           Rows(shape, Here::kSource, local, remote));
}

Status Transport::accumulate_list(int target, const Key& key, const Segments& list, const AccSpec& acc, Completion*) {
  return client_->add_rows({target, key.part}, server::accumulate_header(acc), Rows(list, Here::kSource));
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

}  // namespace armci::ucx
