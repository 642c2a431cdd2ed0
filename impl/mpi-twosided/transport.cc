#include "impl/mpi-twosided/transport.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "impl/base/backtrace.h"
#include "impl/mpi-twosided/settings.h"
#include "impl/node/agree.h"
#include "impl/node/wait.h"
#include "impl/runtime/background_thread.h"
#include "impl/server/compose.h"

namespace armci::twosided {

using node::AccSpec;
using runtime::AtomicOp;
using runtime::Segments;
using runtime::Strided;
using runtime::World;
using server::accumulate_header;
using server::atomic_header;
using server::put_header;

namespace {

// Decisions that are the same on all processes.
struct Plan {
  ServerKind kind = ServerKind::kAuto;
  ReceiveBuffers receive_buffers;
  int cluster = 1;
  bool threads = false;  // MPI_THREAD_MULTIPLE on all processes
};

Status read_words(int nodes, Plan* plan) {
  ARMCI_RETURN_IF_ERROR(read_server_kind(&plan->kind));
  return cluster_size(nodes, &plan->cluster);
}

// The settings, limited to the size of the buffers.
Thresholds thresholds(const ReceiveBuffers& receive_buffers) {
  const Settings& of = settings();
  const std::size_t batch = (receive_buffers.bytes - sizeof(RequestHeader) - sizeof(BatchEntry)) / 8 * 8;
  return {std::min(static_cast<std::size_t>(of.small_put_bytes), batch),
          std::min(static_cast<std::size_t>(of.small_get_bytes), receive_buffers.reply_bytes()),
          std::min(static_cast<std::size_t>(of.piece_bytes) / 16 * 16, receive_buffers.chunk_bytes)};
}

// The plan is the same on all processes, since clients count the credits of buffers that servers post. Collective;
// succeeds or fails on all processes.
Status read_plan(const World& world, Plan* plan) {
  ARMCI_RETURN_IF_ERROR(node::agree(world.comm(), read_words(world.node_count(), plan), "reading the environment"));
  const Settings& of = settings();
  // Pieces of that length end between elements of every type.
  const std::size_t chunk_bytes = static_cast<std::size_t>(of.chunk_bytes) / 16 * 16;
  plan->receive_buffers = {of.buffers, static_cast<std::size_t>(of.buffer_bytes), of.forwards, of.chunks, chunk_bytes};
  const node::SharedSetting shared[] = {{"ARMCI_SERVER", static_cast<long>(plan->kind)},
                                        {"ARMCI_SERVER_BUFFERS", of.buffers},
                                        {"ARMCI_SERVER_BUFFER_BYTES", static_cast<long>(of.buffer_bytes)},
                                        {"ARMCI_SERVER_FORWARDS", of.forwards},
                                        {"ARMCI_SERVER_CHUNK_BYTES", static_cast<long>(of.chunk_bytes)},
                                        {"ARMCI_SERVER_CLUSTER", plan->cluster}};
  return node::same_on_all(world.comm(), shared);
}

// Resolves auto. Every process needs the thread level, since each may be the first one of a node.
Status choose_kind(MPI_Comm comm, Plan* plan) {
  int level = MPI_THREAD_SINGLE;
  ARMCI_MPI(MPI_Query_thread(&level));
  int lowest = level;
  ARMCI_MPI(MPI_Allreduce(MPI_IN_PLACE, &lowest, 1, MPI_INT, MPI_MIN, comm));
  plan->threads = lowest == MPI_THREAD_MULTIPLE;
  if (plan->kind == ServerKind::kAuto) plan->kind = plan->threads ? ServerKind::kThread : ServerKind::kProcess;
  if (plan->kind == ServerKind::kProcess || level == MPI_THREAD_MULTIPLE) return kSuccess;
  return fail(Code::kUnsupported, "PROG-1",
              "the server of a node is a thread (ARMCI_SERVER=thread), and MPI's thread level %d keeps it from calling "
              "MPI; call MPI_Init_thread with MPI_THREAD_MULTIPLE, or set ARMCI_SERVER=process",
              level);
}

std::uint64_t* operation_of(Transport::Completion* completion) {
  return completion != nullptr ? &completion->operation : nullptr;
}

}  // namespace

Status Transport::initialise(const World& world) {
  if (world.node_count() == 1) return kSuccess;
  world_comm_ = world.comm();
  Plan plan;
  ARMCI_RETURN_IF_ERROR(read_plan(world, &plan));
  ARMCI_RETURN_IF_ERROR(
      node::agree(world_comm_, choose_kind(world_comm_, &plan), "choosing thread or process for the servers"));
  choices_.add("server of a node", plan.kind == ServerKind::kProcess ? "process" : "thread");
  choices_.add("nodes in a cluster", std::to_string(plan.cluster));
  std::vector<int> node_of;
  for (int process = 0; process < world.size(); ++process) node_of.push_back(world.node_of(process));
  const Routes routes(std::move(node_of), world.node_count(), plan.cluster);
  if (plan.kind == ServerKind::kProcess) {
    processes_ = std::make_unique<ServerProcesses>();
    const ServerParameters parameters{plan.receive_buffers,    plan.cluster, settings().wait_us,
                                      node::spin_iterations(), world.size(), runtime::server_cpus()};
    ARMCI_RETURN_IF_ERROR(
        node::agree(world_comm_, processes_->start(world, parameters), "starting the server processes"));
    comms_ = processes_->comms();
  }
  // No process sends before every server has posted its buffers.
  ARMCI_RETURN_IF_ERROR(node::agree(world_comm_, open(world, plan.receive_buffers, routes, plan.threads),
                                    "creating the receive buffers"));
  return node::agree(world_comm_, start_threads(plan.threads), "starting the servers");
}

Status Transport::open(const World& world, ReceiveBuffers receive_buffers, const Routes& routes,
                       bool background_progress) {
  std::vector<int> servers;
  for (int node = 0; node < world.node_count(); ++node) {
    servers.push_back(processes_ != nullptr ? world.size() + node : world.node(node).ranks[0]);
  }
  if (processes_ == nullptr) ARMCI_RETURN_IF_ERROR(comms_.duplicate(world_comm_));
  client_ = std::make_unique<Client>(comms_, receive_buffers, thresholds(receive_buffers), routes, servers,
                                     world.rank(), background_progress);
  if (processes_ != nullptr || servers[static_cast<std::size_t>(world.my_node())] != world.rank()) return kSuccess;
  server_ = std::make_unique<Server>(comms_, receive_buffers, routes, servers, world.my_node(), settings().wait_us);
  client_->call_while_waiting([server = server_.get()] { server->serve_while_waiting(); });
  return server_->open();
}

// Without threads the operations of a process progress in its calls only.
Status Transport::start_threads(bool threads) {
  without_threads_ = !threads;
  if (without_threads_) return client_->await_transfers();
  if (server_ == nullptr) {
    progress_thread_ = std::make_unique<ProgressThread>(client_.get());
    return progress_thread_->start();
  }
  const auto progress = [client = client_.get()] {
    Client::Progress found = Client::Progress::kIdle;
    const Status status = client->progress(&found);
    if (!status.ok()) {
      die_of_failure("server");
    }
    return found == Client::Progress::kPending;
  };
  return server_->start(progress);
}

// A server thread finds batches in its next pass, so that only a progress thread must be notified of them.
Status Transport::issued() {
  if (without_threads_) return client_->await_transfers();
  bool needed = false;
  ARMCI_RETURN_IF_ERROR(client_->needs_progress(progress_thread_ != nullptr, &needed));
  if (needed) (progress_thread_ != nullptr ? progress_thread_->event_count() : server_->event_count()).notify();
  return kSuccess;
}

void Transport::progress() {
  Client::Progress found = Client::Progress::kIdle;
  if (without_threads_) (void)client_->progress(&found);
  if (server_ != nullptr) server_->serve_while_waiting();
}

void Transport::finalise() {
  choices_.clear();
  if (client_ != nullptr) (void)client_->disconnect();
  if (world_comm_ != MPI_COMM_NULL) MPI_Barrier(world_comm_);
  server_.reset();
  progress_thread_.reset();
  client_.reset();
  if (processes_ == nullptr) {
    comms_.free();
  } else {
    processes_->stop();
    processes_.reset();
  }
  without_threads_ = false;
  comms_ = {};
  world_comm_ = MPI_COMM_NULL;
}

Status Transport::finish(std::uint64_t operation, Completion* completion) {
  if (completion == nullptr) return client_->wait(operation);
  completion->operation = operation;
  return issued();
}

Status Transport::put(int target, const Key&, void* remote, const void* local, std::size_t bytes,
                      Completion* completion) {
  ARMCI_RETURN_IF_ERROR(client_->store(target, put_header(), remote, local, bytes, &completion->operation));
  return issued();
}

Status Transport::get(int target, const Key&, const void* remote, void* local, std::size_t bytes,
                      Completion* completion) {
  ARMCI_RETURN_IF_ERROR(client_->get(target, remote, local, bytes, &completion->operation));
  return issued();
}

Status Transport::put_now(int target, const Key&, void* remote, const void* local, std::size_t bytes) {
  ARMCI_RETURN_IF_ERROR(client_->store(target, put_header(), remote, local, bytes, nullptr));
  return issued();
}

Status Transport::put_signal(int target, const Key&, void* remote, const void* local, std::size_t bytes,
                             const node::Signal& signal) {
  ARMCI_RETURN_IF_ERROR(client_->put_signal(target, remote, local, bytes, signal));
  return issued();
}

Status Transport::get_now(int target, const Key&, const void* remote, void* local, std::size_t bytes) {
  std::uint64_t operation = 0;
  ARMCI_RETURN_IF_ERROR(client_->get(target, remote, local, bytes, &operation));
  return client_->wait(operation);
}

Status Transport::put_strided(int target, const Key&, void* remote, const void* local, const Strided& shape,
                              Completion* completion) {
  ARMCI_RETURN_IF_ERROR(client_->store_strided(target, put_header(), remote, local, shape, operation_of(completion)));
  return issued();
}

Status Transport::get_strided(int target, const Key&, const void* remote, void* local, const Strided& shape,
                              Completion* completion) {
  std::uint64_t operation = 0;
  ARMCI_RETURN_IF_ERROR(client_->get_strided(target, remote, local, shape, &operation));
  return finish(operation, completion);
}

Status Transport::put_list(int target, const Key&, const Segments& list, Completion* completion) {
  ARMCI_RETURN_IF_ERROR(client_->store_list(target, put_header(), list, operation_of(completion)));
  return issued();
}

Status Transport::get_list(int target, const Key&, const Segments& list, Completion* completion) {
  std::uint64_t operation = 0;
  ARMCI_RETURN_IF_ERROR(client_->get_list(target, list, &operation));
  return finish(operation, completion);
}

Status Transport::accumulate_strided(int target, const Key&, void* remote, const void* local, const Strided& shape,
                                     const AccSpec& acc, Completion* completion) {
  const RequestHeader header = accumulate_header(acc);
  std::uint64_t* const operation = operation_of(completion);
  ARMCI_RETURN_IF_ERROR(shape.levels == 0 ? client_->store(target, header, remote, local, shape.count[0], operation)
                                          : client_->store_strided(target, header, remote, local, shape, operation));
  return issued();
}

Status Transport::accumulate_list(int target, const Key&, const Segments& list, const AccSpec& acc,
                                  Completion* completion) {
  ARMCI_RETURN_IF_ERROR(client_->store_list(target, accumulate_header(acc), list, operation_of(completion)));
  return issued();
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

std::size_t Transport::buffer_bytes() {
  return (server_ != nullptr ? server_->buffer_bytes() : 0) + (client_ != nullptr ? client_->buffer_bytes() : 0);
}

Status Transport::test(Completion* completion, bool* done) {
  *done = true;
  if (completion->operation == 0) return kSuccess;
  return client_->test(completion->operation, done);
}

}  // namespace armci::twosided
