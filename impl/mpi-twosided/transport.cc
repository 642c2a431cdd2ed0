#include "impl/mpi-twosided/transport.h"

#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "impl/common/agree.h"
#include "impl/common/config.h"
#include "impl/mpi-twosided/settings.h"

namespace armci::twosided {

using common::AccSpec;
using common::AtomicOp;
using common::Code;
using common::fail;
using common::kSuccess;
using common::Segments;
using common::Status;
using common::Strided;
using common::World;

namespace {

// The same on all processes: credits are counted by the ones, buffers posted by the others.
Status read_plan(MPI_Comm comm, Room* room, ServerKind* kind) {
  ARMCI_RETURN_IF_ERROR(common::agree(comm, read_server_kind(kind), "reading the environment"));
  *room = {settings().buffers, static_cast<std::size_t>(settings().buffer_bytes)};
  const struct {
    const char* name;
    long value;
  } shared[] = {{"ARMCI_SERVER", static_cast<long>(*kind)},
                {"ARMCI_SERVER_BUFFERS", settings().buffers},
                {"ARMCI_SERVER_BUFFER_BYTES", static_cast<long>(settings().buffer_bytes)}};
  for (const auto& setting : shared) {
    // The largest, and the smallest with its sign turned.
    long most[2] = {setting.value, -setting.value};
    ARMCI_MPI(MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_LONG, MPI_MAX, comm));
    if (most[0] == -most[1]) continue;
    return fail(Code::kArgument, "ERR-1",
                "environment variable %s is not the same on all processes; have the launcher pass it to all",
                setting.name);
  }
  return kSuccess;
}

// What auto stands for here. Every process has to have the level, as every one may be a node's first.
Status choose_kind(MPI_Comm comm, ServerKind* kind) {
  int level = MPI_THREAD_SINGLE;
  ARMCI_MPI(MPI_Query_thread(&level));
  int lowest = level;
  ARMCI_MPI(MPI_Allreduce(MPI_IN_PLACE, &lowest, 1, MPI_INT, MPI_MIN, comm));
  const bool threads = lowest == MPI_THREAD_MULTIPLE;
  if (*kind == ServerKind::kAuto) *kind = threads ? ServerKind::kThread : ServerKind::kProcess;
  if (*kind == ServerKind::kProcess || level == MPI_THREAD_MULTIPLE) return kSuccess;
  return fail(Code::kUnsupported, "PROG-1",
              "the server of a node is a thread (ARMCI_SERVER=thread), and MPI's thread level %d keeps it from calling "
              "MPI; call MPI_Init_thread with MPI_THREAD_MULTIPLE, or set ARMCI_SERVER=process",
              level);
}

void print_kind(const World& world, ServerKind kind) {
  if (common::config().verbose < 1 || world.rank() != 0) return;
  std::fprintf(stderr, "armci: the server of a node is a %s (ARMCI_SERVER=%s)\n",
               kind == ServerKind::kProcess ? "process" : "thread", settings().server.c_str());
}

std::uint8_t wire_op(AtomicOp op) {
  switch (op) {
    case AtomicOp::kFetchAdd:
      return static_cast<std::uint8_t>(node::RmwOp::kAdd);
    case AtomicOp::kSwap:
      return static_cast<std::uint8_t>(node::RmwOp::kSwap);
    case AtomicOp::kCompareSwap:
      break;
  }
  return static_cast<std::uint8_t>(node::RmwOp::kCompareSwap);
}

RequestHeader put_header() {
  RequestHeader header;
  header.kind = RequestKind::kPut;
  return header;
}

RequestHeader accumulate_header(const AccSpec& acc) {
  RequestHeader header;
  header.kind = RequestKind::kAccumulate;
  header.type = static_cast<std::uint8_t>(acc.type);
  std::memcpy(header.operand, acc.scale, common::element_bytes(acc.type));
  return header;
}

template <class Word>
RequestHeader atomic_header(void* remote, AtomicOp op, Word operand, Word compare) {
  RequestHeader header;
  header.type = wire_op(op);
  header.address = reinterpret_cast<std::uintptr_t>(remote);
  header.bytes = sizeof(Word);
  header.operand[0] = static_cast<std::uint64_t>(operand);
  header.operand[1] = static_cast<std::uint64_t>(compare);
  return header;
}

}  // namespace

Status Transport::initialise(const World& world) {
  if (world.node_count() == 1) return kSuccess;
  world_comm_ = world.comm();
  // Nobody sends before every server has posted its buffers.
  return common::agree(world_comm_, open(world), "starting the servers");
}

Status Transport::open(const World& world) {
  Room room;
  ServerKind kind = ServerKind::kAuto;
  ARMCI_RETURN_IF_ERROR(read_plan(world_comm_, &room, &kind));
  ARMCI_RETURN_IF_ERROR(common::agree(world_comm_, choose_kind(world_comm_, &kind), "choosing what a server is"));
  print_kind(world, kind);
  return kind == ServerKind::kProcess ? open_processes(world, room) : open_thread(world, room);
}

Status Transport::open_thread(const World& world, Room room) {
  ARMCI_MPI(MPI_Comm_dup(world_comm_, &requests_));
  ARMCI_MPI(MPI_Comm_dup(world_comm_, &replies_));
  std::vector<int> servers;
  std::vector<int> clients;
  for (int proc = 0; proc < world.size(); ++proc) {
    servers.push_back(world.node(world.node_of(proc)).ranks[0]);
    if (!world.same_node(proc)) clients.push_back(proc);
  }
  if (world.node(world.my_node()).ranks[0] == world.rank()) {
    server_ = std::make_unique<Server>(requests_, replies_, room, settings().wait_us);
    ARMCI_RETURN_IF_ERROR(server_->start(clients));
  }
  client_ = std::make_unique<Client>(requests_, replies_, room, std::move(servers));
  return kSuccess;
}

Status Transport::open_processes(const World& world, Room room) {
  processes_ = std::make_unique<ServerProcesses>();
  ARMCI_RETURN_IF_ERROR(processes_->start(world, room, settings().wait_us));
  std::vector<int> servers;
  for (int proc = 0; proc < world.size(); ++proc) servers.push_back(world.size() + world.node_of(proc));
  client_ = std::make_unique<Client>(processes_->requests(), processes_->replies(), room, std::move(servers));
  return kSuccess;
}

void Transport::finalise() {
  if (client_ != nullptr) (void)client_->leave();
  if (world_comm_ != MPI_COMM_NULL) MPI_Barrier(world_comm_);
  server_.reset();
  client_.reset();
  processes_.reset();
  if (requests_ != MPI_COMM_NULL) MPI_Comm_free(&requests_);
  if (replies_ != MPI_COMM_NULL) MPI_Comm_free(&replies_);
  world_comm_ = MPI_COMM_NULL;
}

Status Transport::finish(std::uint64_t operation, Completion* completion) {
  if (completion == nullptr) return client_->wait(operation);
  completion->operation = operation;
  return kSuccess;
}

Status Transport::put_now(int target, const Key&, void* remote, const void* local, std::size_t bytes) {
  return client_->store(target, put_header(), remote, local, bytes);
}

Status Transport::get_now(int target, const Key&, const void* remote, void* local, std::size_t bytes) {
  std::uint64_t operation = 0;
  ARMCI_RETURN_IF_ERROR(client_->get(target, remote, local, bytes, &operation));
  return client_->wait(operation);
}

Status Transport::put_strided(int target, const Key&, void* remote, const void* local, const Strided& shape,
                              Completion*) {
  return client_->store_strided(target, put_header(), remote, local, shape);
}

Status Transport::get_strided(int target, const Key&, const void* remote, void* local, const Strided& shape,
                              Completion* completion) {
  std::uint64_t operation = 0;
  ARMCI_RETURN_IF_ERROR(client_->get_strided(target, remote, local, shape, &operation));
  return finish(operation, completion);
}

Status Transport::put_list(int target, const Key&, const Segments& list, Completion*) {
  return client_->store_list(target, put_header(), list);
}

Status Transport::get_list(int target, const Key&, const Segments& list, Completion* completion) {
  std::uint64_t operation = 0;
  ARMCI_RETURN_IF_ERROR(client_->get_list(target, list, &operation));
  return finish(operation, completion);
}

Status Transport::accumulate_strided(int target, const Key&, void* remote, const void* local, const Strided& shape,
                                     const AccSpec& acc, Completion*) {
  const RequestHeader header = accumulate_header(acc);
  return shape.levels == 0 ? client_->store(target, header, remote, local, shape.count[0])
                           : client_->store_strided(target, header, remote, local, shape);
}

Status Transport::accumulate_list(int target, const Key&, const Segments& list, const AccSpec& acc, Completion*) {
  return client_->store_list(target, accumulate_header(acc), list);
}

Status Transport::atomic64(int target, const Key&, void* remote, AtomicOp op, std::int64_t operand,
                           std::int64_t compare, std::int64_t* before) {
  std::uint64_t value = 0;
  ARMCI_RETURN_IF_ERROR(client_->atomic(target, atomic_header(remote, op, operand, compare), &value));
  *before = static_cast<std::int64_t>(value);
  return kSuccess;
}

Status Transport::atomic32(int target, const Key&, void* remote, AtomicOp op, std::int32_t operand,
                           std::int32_t compare, std::int32_t* before) {
  std::uint64_t value = 0;
  ARMCI_RETURN_IF_ERROR(client_->atomic(target, atomic_header(remote, op, operand, compare), &value));
  *before = static_cast<std::int32_t>(value);
  return kSuccess;
}

Status Transport::test(Completion* completion, bool* done) {
  *done = true;
  if (completion->operation == 0) return kSuccess;
  return client_->test(completion->operation, done);
}

}  // namespace armci::twosided
