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
#include "impl/mpi-twosided/enlist.h"
#include "impl/mpi-twosided/process_watch.h"
#include "impl/mpi-twosided/server.h"
#include "impl/mpi-twosided/settings.h"
#include "impl/node/copy.h"
#include "impl/node/node_memory.h"
#include "impl/node/wait.h"
#include "impl/runtime/background_thread.h"
#include "impl/runtime/mpi_init.h"

namespace armci::twosided {

namespace {

// Where the launcher put this process.
cpu_set_t bound_to;

// What a server has been told.
struct Orders {
  Terms terms;
  int node = -1;   // that it serves
  int first = -1;  // process of it
  std::vector<int> node_of;
  int nodes = 0;
  node::NodeMemoryAddress memory{};
};

Status receive_orders(MPI_Comm all, Orders* orders) {
  int rank = 0;
  ARMCI_MPI(MPI_Comm_rank(all, &rank));
  set_message_rank(rank);
  Terms& terms = orders->terms;
  ARMCI_MPI(MPI_Bcast(&terms, static_cast<int>(sizeof terms), MPI_BYTE, 0, all));
  std::vector<int>& node_of = orders->node_of;
  node_of.resize(static_cast<std::size_t>(terms.processes));
  ARMCI_MPI(MPI_Bcast(node_of.data(), terms.processes, MPI_INT, 0, all));
  int size = 0;
  ARMCI_MPI(MPI_Comm_size(all, &size));
  orders->nodes = size - terms.processes;
  orders->node = rank - terms.processes;
  orders->first = static_cast<int>(std::find(node_of.begin(), node_of.end(), orders->node) - node_of.begin());
  ARMCI_MPI(MPI_Recv(&orders->memory, static_cast<int>(sizeof orders->memory), MPI_BYTE, orders->first, kMemoryTag, all,
                     MPI_STATUS_IGNORE));
  const int pid = getpid();
  ARMCI_MPI(MPI_Send(&pid, 1, MPI_INT, orders->first, kPidTag, all));
  return kSuccess;
}

Status prepare(const Orders& orders, Server* server, ProcessWatch* watch) {
  const Status attached = node::node_memory().attach_as_guest(orders.memory);
  if (!attached.ok()) {
    char host[HOST_NAME_MAX + 1] = "";
    gethostname(host, sizeof host);
    return note(attached,
                "the server of the node of process %d, process %d on %s, must be where that node is; if the launcher "
                "put it elsewhere, set ARMCI_SERVER=thread",
                orders.first, static_cast<int>(getpid()), host);
  }
  const bool stays = CPU_COUNT(&orders.terms.cpus) == 0;
  ARMCI_RETURN_IF_ERROR(runtime::place_server(pthread_self(), stays ? bound_to : orders.terms.cpus));
  // A job whose processes die is ended by the launcher, which says why; nobody is left to be served.
  ARMCI_RETURN_IF_ERROR(watch->start_for(orders.memory.file.pid, [] { _exit(1); }));
  return server->open();
}

Status serve(Circle* circle) {
  ARMCI_MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  ARMCI_RETURN_IF_ERROR(circle->join(MPI_COMM_WORLD, true));
  Orders orders;
  ARMCI_RETURN_IF_ERROR(receive_orders(circle->all, &orders));
  node::set_spin_policy(1, 1, orders.terms.spin_iterations);
  node::copy_initialise();
  ProcessWatch watch;
  std::vector<int> servers;
  for (int node = 0; node < orders.nodes; ++node) servers.push_back(orders.terms.processes + node);
  const Routes routes(orders.node_of, orders.nodes, orders.terms.cluster);
  Server server(circle->comms, orders.terms.room, routes, std::move(servers), orders.node, orders.terms.wait_us);
  const Status mine = prepare(orders, &server, &watch);
  if (!mine.ok()) print_failure("server process", last_cause());
  // Those who started it report the failure.
  if (!agree_on_start(*circle, orders.terms.processes, mine).ok()) return kSuccess;
  MPI_Request dismissal = MPI_REQUEST_NULL;
  ARMCI_MPI(MPI_Irecv(nullptr, 0, MPI_BYTE, orders.first, kDismissalTag, circle->all, &dismissal));
  Status status;
  server.run([&] {
    int here = 0;
    const int code = MPI_Test(&dismissal, &here, MPI_STATUS_IGNORE);
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

// Launchers forward them to every process of a job, and by default they end it.
void ignore_signals_to_programs() {
  for (const int number : {SIGUSR1, SIGUSR2}) signal(number, SIG_IGN);
}

// Off the core that the launcher bound it to before MPI starts, whose threads inherit it.
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
  Circle circle;
  Status status = start_mpi(&circle.spawned);
  if (status.ok()) status = serve(&circle);
  if (!status.ok()) {
    die_of_failure("server process");
  }
  circle.leave();
  MPI_Finalize();
  // Destructors belong to a program that has not run.
  _exit(0);
}

Status own_program(std::string* path) {
  char text[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", text, sizeof text);
  if (length < 0) return fail_errno(errno, "cannot read /proc/self/exe, the path of this program");
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
    return fail(Code::kUnsupported, nullptr,
                "cannot tell how to load %s into a server process; link the program with libarmci.a, or set "
                "ARMCI_SERVER=thread",
                library.dli_fname);
  }
  std::vector<std::string> arguments;
  // Where the program found its libraries, which the launcher need not know.
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
