#include "impl/mpi-twosided/transport.h"

#include <algorithm>
#include <climits>
#include <utility>
#include <vector>

#include "impl/engine/routes.h"
#include "impl/mpi-twosided/settings.h"
#include "impl/node/agree.h"
#include "impl/node/wait.h"
#include "impl/runtime/background_thread.h"
#include "impl/runtime/mpi_library.h"

namespace armci::twosided {

using engine::Routes;
using runtime::World;

namespace {

// Decisions that are the same on all processes.
struct Plan {
  ServerKind kind = ServerKind::kAuto;
  ReceiveBuffers receive_buffers;
  int credits = 0;  // kAutomatic, until the routes are known
  int cluster = 1;
  bool threads = false;  // MPI_THREAD_MULTIPLE on all processes
};

constexpr int kAutomatic = 0;
constexpr int kBuffersMax = 1024;

Status read_words(int nodes, Plan* plan) {
  const Settings& of = settings();
  ARMCI_RETURN_IF_ERROR(read_server_kind(&plan->kind));
  ARMCI_RETURN_IF_ERROR(read_number("ARMCI_SERVER_BUFFERS", of.buffers, 2, kBuffersMax, kAutomatic, &plan->credits));
  return read_number("ARMCI_SERVER_CLUSTER", of.cluster, 1, INT_MAX, engine::best_cluster(nodes), &plan->cluster);
}

// With few credits a server reports more counts in messages of their own (D126). The memory of a server bounds them.
int automatic_credits(const Routes& routes, std::size_t bytes) {
  constexpr std::size_t kFewest = 8, kMost = 64, kBytes = 32 << 20;  // of all buffers of a server
  std::size_t clients = 1;
  for (int server = 0; server < routes.servers(); ++server) clients = std::max(clients, routes.clients(server).size());
  return static_cast<int>(std::clamp(kBytes / (clients * bytes), kFewest, kMost));
}

// The settings, limited to the size of the buffers.
engine::ClientOptions client_options(const ReceiveBuffers& receive_buffers) {
  const Settings& of = settings();
  engine::ClientOptions options;
  options.small_put_bytes = static_cast<std::size_t>(of.small_put_bytes);
  options.small_get_bytes = std::min(static_cast<std::size_t>(of.small_get_bytes), receive_buffers.reply_bytes());
  options.counts_on_demand = true;  // a count costs a send and a receive of MPI
  options.copied_bytes = static_cast<std::size_t>(of.copied_bytes);
  options.copied_piece_bytes = (runtime::kStreamedMessageBytes - sizeof(engine::RequestHeader)) / 16 * 16;
  options.piece_bytes = std::min(static_cast<std::size_t>(of.piece_bytes) / 16 * 16, receive_buffers.chunk_bytes);
  return options;
}

// The plan is the same on all processes, since clients count the credits of buffers that servers post. Collective;
// succeeds or fails on all processes.
Status read_plan(const World& world, Plan* plan) {
  ARMCI_RETURN_IF_ERROR(node::agree(world.comm(), read_words(world.node_count(), plan), "reading the environment"));
  const Settings& of = settings();
  // Pieces of that length end between elements of every type.
  const std::size_t chunk_bytes = static_cast<std::size_t>(of.chunk_bytes) / 16 * 16;
  plan->receive_buffers = {plan->credits, static_cast<std::size_t>(of.buffer_bytes), of.forwards, of.chunks,
                           chunk_bytes};
  const node::SharedSetting shared[] = {{"ARMCI_SERVER", static_cast<long>(plan->kind)},
                                        {"ARMCI_SERVER_BUFFERS", plan->credits},
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

}  // namespace

Status Transport::initialise(const World& world) {
  if (world.node_count() == 1) return kSuccess;
  world_comm_ = world.comm();
  Plan plan;
  ARMCI_RETURN_IF_ERROR(read_plan(world, &plan));
  ARMCI_RETURN_IF_ERROR(
      node::agree(world_comm_, choose_kind(world_comm_, &plan), "choosing thread or process for the servers"));
  const engine::Routes routes = engine::routes_by_node(world, plan.cluster);
  int& credits = plan.receive_buffers.credits;
  if (credits == kAutomatic) credits = automatic_credits(routes, plan.receive_buffers.bytes);
  choices_.add("server of a node", plan.kind == ServerKind::kProcess ? "process" : "thread");
  choices_.add("nodes in a cluster", std::to_string(plan.cluster));
  choices_.add("receive buffers of a server for each process", std::to_string(credits));
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
  const bool serves = processes_ == nullptr && servers[static_cast<std::size_t>(world.my_node())] == world.rank();
  engine::ClientOptions options = client_options(receive_buffers);
  options.background = background_progress;
  options.server_polls = serves;
  std::function<void()> serve;
  if (serves) serve = [this] { server_->serve_while_waiting(); };
  client_wire_ = std::make_unique<ClientWire>(comms_, receive_buffers, servers);
  client_ = std::make_unique<engine::Client>(
      client_wire_.get(), routes, world.rank(), options, [this] { wake(); }, std::move(serve));
  if (!serves) return kSuccess;
  server_wire_ = std::make_unique<ServerWire>(comms_, receive_buffers, routes, servers, world.my_node());
  server_ = std::make_unique<engine::Server>(server_wire_.get(), routes, world.my_node(),
                                             server_options(receive_buffers, settings().wait_us));
  return server_->open();
}

// Without threads the operations of a process progress in its calls only.
Status Transport::start_threads(bool threads) {
  if (!threads) return kSuccess;
  if (server_ != nullptr) {
    server_->serve_in_mpi_waits();
    return server_->start(client_.get(), nullptr, "armci-server");
  }
  progress_thread_ = std::make_unique<ProgressThread>(client_.get());
  return progress_thread_->start();
}

void Transport::wake() {
  if (progress_thread_ != nullptr) progress_thread_->event_count().notify();
  if (server_ != nullptr) server_->wake();
}

void Transport::progress() {
  if (progress_thread_ == nullptr && client_ != nullptr) client_->poll_once();
  if (server_ != nullptr) server_->serve_while_waiting();
}

// The threads use the client, which has buffers of its wire.
void Transport::end() {
  if (server_ != nullptr) server_->stop();
  progress_thread_.reset();
  client_.reset();
  client_wire_.reset();
  server_.reset();
  server_wire_.reset();
}

void Transport::finalise() {
  choices_.clear();
  if (client_ != nullptr) (void)client_->close();
  if (world_comm_ != MPI_COMM_NULL) MPI_Barrier(world_comm_);
  end();
  if (processes_ == nullptr) {
    comms_.free();
  } else {
    processes_->stop();
    processes_.reset();
  }
  comms_ = {};
  world_comm_ = MPI_COMM_NULL;
}

}  // namespace armci::twosided
