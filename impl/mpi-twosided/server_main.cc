#include "impl/mpi-twosided/server_main.h"

#include <dlfcn.h>
#include <elf.h>
#include <limits.h>
#include <link.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "impl/base/backtrace.h"
#include "impl/engine/server.h"
#include "impl/mpi-twosided/process_watch.h"
#include "impl/mpi-twosided/server_bootstrap.h"
#include "impl/mpi-twosided/server_wire.h"
#include "impl/mpi-twosided/settings.h"
#include "impl/node/copy.h"
#include "impl/node/node_memory.h"
#include "impl/node/wait.h"
#include "impl/runtime/background_thread.h"
#include "impl/runtime/mpi_start.h"

namespace armci::twosided {

namespace {

// The CPUs that the launcher bound this process to.
cpu_set_t bound_to;

// The instructions of a server.
struct Instructions {
  ServerParameters parameters;
  int node = -1;   // the node that the server serves
  int first = -1;  // the first process of that node
  std::vector<int> node_of;
  int nodes = 0;
  node::NodeMemoryAddress memory{};
};

Status receive_instructions(MPI_Comm all, Instructions* instructions) {
  int rank = 0;
  ARMCI_MPI(MPI_Comm_rank(all, &rank));
  set_message_rank(rank);
  ServerParameters& parameters = instructions->parameters;
  ARMCI_MPI(MPI_Bcast(&parameters, static_cast<int>(sizeof parameters), MPI_BYTE, 0, all));
  std::vector<int>& node_of = instructions->node_of;
  node_of.resize(static_cast<std::size_t>(parameters.processes));
  ARMCI_MPI(MPI_Bcast(node_of.data(), parameters.processes, MPI_INT, 0, all));
  int size = 0;
  ARMCI_MPI(MPI_Comm_size(all, &size));
  instructions->nodes = size - parameters.processes;
  instructions->node = rank - parameters.processes;
  instructions->first =
      static_cast<int>(std::find(node_of.begin(), node_of.end(), instructions->node) - node_of.begin());
  ARMCI_MPI(MPI_Recv(&instructions->memory, static_cast<int>(sizeof instructions->memory), MPI_BYTE,
                     instructions->first, kMemoryTag, all, MPI_STATUS_IGNORE));
  const int pid = getpid();
  ARMCI_MPI(MPI_Send(&pid, 1, MPI_INT, instructions->first, kPidTag, all));
  return kSuccess;
}

Status prepare(const Instructions& instructions, engine::Server* server, ProcessWatch* watch) {
  const Status attached = node::node_memory().attach_as_guest(instructions.memory);
  if (!attached.ok()) {
    char host[HOST_NAME_MAX + 1] = "";
    gethostname(host, sizeof host);
    return note(attached,
                "the server of the node of process %d, process %d on %s, has to run on that node; if the launcher put "
                "this process elsewhere, set ARMCI_SERVER=thread",
                instructions.first, static_cast<int>(getpid()), host);
  }
  const bool stays = CPU_COUNT(&instructions.parameters.cpus) == 0;
  ARMCI_RETURN_IF_ERROR(runtime::place_server(pthread_self(), stays ? bound_to : instructions.parameters.cpus));
  // If the processes of a job die, the launcher ends the job and says why. The server ends without a message.
  ARMCI_RETURN_IF_ERROR(watch->start_for(instructions.memory.file.pid, [] { _exit(1); }));
  return server->open();
}

Status serve(ServerBootstrap* bootstrap) {
  ARMCI_MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  ARMCI_RETURN_IF_ERROR(bootstrap->connect(MPI_COMM_WORLD, true));
  Instructions instructions;
  ARMCI_RETURN_IF_ERROR(receive_instructions(bootstrap->all, &instructions));
  node::set_spin_policy(1, 1, instructions.parameters.spin_iterations);
  node::copy_initialise();
  ProcessWatch watch;
  std::vector<int> servers;
  for (int node = 0; node < instructions.nodes; ++node) servers.push_back(instructions.parameters.processes + node);
  const engine::Routes routes(instructions.node_of, instructions.nodes, instructions.parameters.cluster);
  const ReceiveBuffers& receive_buffers = instructions.parameters.receive_buffers;
  ServerWire wire(bootstrap->comms, receive_buffers, routes, std::move(servers), instructions.node);
  engine::Server server(&wire, routes, instructions.node,
                        server_options(receive_buffers, instructions.parameters.wait_us));
  const Status mine = prepare(instructions, &server, &watch);
  if (!mine.ok()) print_failure("server process", last_cause());
  // The processes that started the server report the failure.
  if (!agree_on_start(*bootstrap, instructions.parameters.processes, mine).ok()) return kSuccess;
  MPI_Request stop_request = MPI_REQUEST_NULL;
  ARMCI_MPI(MPI_Irecv(nullptr, 0, MPI_BYTE, instructions.first, kStopTag, bootstrap->all, &stop_request));
  Status status;
  server.run([&] {
    int here = 0;
    const int code = MPI_Test(&stop_request, &here, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) status = fail_mpi(code, "MPI_Test");
    return here != 0 || !status.ok();
  });
  return status;
}

Status start_mpi(MPI_Comm* spawned) {
  runtime::keep_thread_level();
  int level = MPI_THREAD_SINGLE;
  ARMCI_MPI(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SINGLE, &level));
  ARMCI_MPI(MPI_Comm_get_parent(spawned));
  if (*spawned != MPI_COMM_NULL) return kSuccess;
  return fail(Code::kState, nullptr,
              "%s as the argument of a program is for MPI_Comm_spawn; start the program without it", kServerMarker);
}

// Launchers forward these signals to every process of a job. By default a signal ends the process.
void ignore_signals_to_programs() {
  for (const int number : {SIGUSR1, SIGUSR2}) signal(number, SIG_IGN);
}

// Undoes the launcher's binding before MPI starts, since the threads of MPI inherit it.
void leave_binding() {
  pthread_getaffinity_np(pthread_self(), sizeof bound_to, &bound_to);
  (void)runtime::set_server_cpus("");  // this constructor may run before that of the default
  (void)runtime::place_server(pthread_self(), runtime::server_cpus());
}

// glibc calls constructors with the arguments of main().
[[gnu::constructor]] void become_server(int argc, char** argv) {
  if (argc != 2 || std::strcmp(argv[1], kServerMarker) != 0) return;
  prctl(PR_SET_NAME, "armci-server", 0UL, 0UL, 0UL);
  ignore_signals_to_programs();
  leave_binding();
  runtime::request_short_slices();
  ServerBootstrap bootstrap;
  Status status = start_mpi(&bootstrap.spawned);
  if (status.ok()) status = serve(&bootstrap);
  if (!status.ok()) {
    die_of_failure("server process");
  }
  bootstrap.disconnect();
  MPI_Finalize();
  // The program has not run: its destructors must not run either.
  _exit(0);
}

Status own_program(std::string* path) {
  char text[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", text, sizeof text);
  if (length < 0)
    return fail_errno(
        errno,
        "the process cannot read /proc/self/exe, the path of its program; mount /proc, or set ARMCI_SERVER=thread");
  path->assign(text, static_cast<std::size_t>(length));
  return kSuccess;
}

}  // namespace

Status server_command(Command* command) {
  Dl_info library;
  void* map = nullptr;
  ARMCI_RETURN_IF_ERROR(own_program(&command->program));
  command->arguments = {kServerMarker};
  const bool known = dladdr1(kServerMarker, &library, &map, RTLD_DL_LINKMAP) != 0;
  if (!known || static_cast<const link_map*>(map)->l_name[0] == '\0') return kSuccess;
  Dl_info loader;
  char path[PATH_MAX];
  if (dladdr(reinterpret_cast<const void*>(getauxval(AT_BASE)), &loader) == 0 ||
      realpath(library.dli_fname, path) == nullptr) {
    return fail(
        Code::kUnsupported, nullptr,
        "the process cannot find how to load %s into a server process; link the program with libarmci.a, or set "
        "ARMCI_SERVER=thread",
        library.dli_fname);
  }
  std::vector<std::string> arguments;
  // The folders of the program's libraries. The launcher need not know them.
  if (const char* const folders = std::getenv("LD_LIBRARY_PATH"); folders != nullptr && folders[0] != '\0') {
    arguments.emplace_back("--library-path");
    arguments.emplace_back(folders);
  }
  arguments.emplace_back("--preload");
  arguments.push_back(path);
  arguments.push_back(command->program);
  arguments.emplace_back(kServerMarker);
  *command = {loader.dli_fname, std::move(arguments)};
  return kSuccess;
}

}  // namespace armci::twosided
