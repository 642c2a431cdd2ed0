#include "impl/mpi-twosided/server_process.h"

#include <cstring>
#include <string>
#include <vector>

#include "impl/base/backtrace.h"
#include "impl/mpi-twosided/server_main.h"
#include "impl/node/agree.h"
#include "impl/node/node_memory.h"

namespace armci::twosided {
using runtime::World;

namespace {

constexpr int kStartSeconds = 60;

bool is_first(const World& world) { return world.node(world.my_node()).ranks[0] == world.rank(); }

// names[r]: the MPI processor name of process r; set on process 0.
Status gather_names(const World& world, std::vector<std::string>* names) {
  constexpr std::size_t kLength = MPI_MAX_PROCESSOR_NAME + 1;
  char mine[kLength] = "";
  int length = 0;
  ARMCI_MPI(MPI_Get_processor_name(mine, &length));
  std::vector<char> all(world.rank() == 0 ? kLength * static_cast<std::size_t>(world.size()) : 0);
  ARMCI_MPI(MPI_Gather(mine, kLength, MPI_CHAR, all.data(), kLength, MPI_CHAR, 0, world.comm()));
  for (std::size_t at = 0; at < all.size(); at += kLength) names->emplace_back(all.data() + at);
  return kSuccess;
}

// The hosts of the servers, one MPI_Info each. The destructor frees them.
struct SpawnHosts {
  std::vector<MPI_Info> each;

  ~SpawnHosts() {
    for (MPI_Info& info : each) MPI_Info_free(&info);
  }
  Status add(const std::string& host) {
    each.push_back(MPI_INFO_NULL);
    ARMCI_MPI(MPI_Info_create(&each.back()));
    ARMCI_MPI(MPI_Info_set(each.back(), "host", host.c_str()));
    return kSuccess;
  }
};

int spawn_on(const Command& command, const SpawnHosts& hosts, MPI_Comm* spawned) {
  const auto count = hosts.each.size();
  std::vector<char*> words;
  for (const std::string& word : command.arguments) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  std::vector<char*> programs(count, const_cast<char*>(command.program.c_str()));
  std::vector<char**> arguments(count, words.data());
  const std::vector<int> one_each(count, 1);
  MPI_Comm self = MPI_COMM_NULL;
  int code = MPI_Comm_dup(MPI_COMM_SELF, &self);
  if (code != MPI_SUCCESS) return code;
  MPI_Comm_set_errhandler(self, MPI_ERRORS_RETURN);
  // A spawn that fails may set any value here.
  MPI_Comm made = MPI_COMM_NULL;
  code = MPI_Comm_spawn_multiple(static_cast<int>(count), programs.data(), arguments.data(), one_each.data(),
                                 hosts.each.data(), 0, self, &made, MPI_ERRCODES_IGNORE);
  MPI_Comm_free(&self);
  if (code == MPI_SUCCESS) *spawned = made;
  return code;
}

Status refusal(int code, const Command& command, const std::string& hosts) {
  // The text of the error class is short. The text of the error code may have many lines.
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  int kind = code;
  MPI_Error_class(code, &kind);
  MPI_Error_string(kind, text, &length);
  return fail(Code::kUnsupported, "PROG-1",
              "MPI_Comm_spawn_multiple failed (%.100s) and started no server processes (%s on %s). Set "
              "ARMCI_SERVER=thread and start MPI with MPI_THREAD_MULTIPLE, or have the launcher allow one more process "
              "on each node (Open MPI: --oversubscribe; and tcp, where the components are chosen by --mca btl). MPICH "
              "over UCX starts processes from 4.3 on",
              text, command.program.c_str(), hosts.c_str());
}

}  // namespace

// On process 0.
Status ServerProcesses::spawn(const World& world) {
  std::vector<std::string> names;
  ARMCI_RETURN_IF_ERROR(gather_names(world, &names));
  if (world.rank() != 0) return kSuccess;
  Command command;
  ARMCI_RETURN_IF_ERROR(server_command(&command));
  SpawnHosts hosts;
  std::string host_list;
  for (int node = 0; node < world.node_count(); ++node) {
    const std::string& host = names[static_cast<std::size_t>(world.node(node).ranks[0])];
    ARMCI_RETURN_IF_ERROR(hosts.add(host));
    if (host_list.find(host) == std::string::npos) host_list += (host_list.empty() ? "" : ", ") + host;
  }
  const int code = spawn_on(command, hosts, &bootstrap_.spawned);
  return code == MPI_SUCCESS ? kSuccess : refusal(code, command, host_list);
}

Status ServerProcesses::instruct(const World& world, ServerParameters parameters, int* pid) {
  ARMCI_MPI(MPI_Bcast(&parameters, static_cast<int>(sizeof parameters), MPI_BYTE, 0, bootstrap_.all));
  std::vector<int> node_of;
  for (int proc = 0; proc < world.size(); ++proc) node_of.push_back(world.node_of(proc));
  ARMCI_MPI(MPI_Bcast(node_of.data(), world.size(), MPI_INT, 0, bootstrap_.all));
  if (!is_first(world)) return kSuccess;
  server_ = world.size() + world.my_node();
  node::NodeMemoryAddress memory{};
  // After a failure the server gets an address that it cannot open, and fails as well.
  const Status found = node::node_memory().address(&memory);
  ARMCI_MPI(MPI_Send(&memory, static_cast<int>(sizeof memory), MPI_BYTE, server_, kMemoryTag, bootstrap_.all));
  ARMCI_MPI(MPI_Recv(pid, 1, MPI_INT, server_, kPidTag, bootstrap_.all, MPI_STATUS_IGNORE));
  return found;
}

Status ServerProcesses::start(const World& world, const ServerParameters& parameters) {
  ProcessWatch deadline;
  if (world.rank() == 0) {
    // Without a timer there is no deadline.
    (void)deadline.start_timer(kStartSeconds, [this] {
      (void)fail(Code::kLayerBelow, "PROG-1",
                 "the server processes have not started within %d s: %s; set ARMCI_SERVER=thread", kStartSeconds,
                 step_.load());
      print_failure("starting the server processes", last_cause());
      die(1);
    });
  }
  step_ =
      "MPI_Comm_spawn_multiple has not returned (Open MPI above PMIx 4 hangs there now and then unless the launcher "
      "runs with EVENT_NOEPOLL=1)";
  ARMCI_RETURN_IF_ERROR(node::agree(world.comm(), spawn(world), "starting the server processes"));
  step_ = "the servers run, but MPI has not connected every process to them";
  ARMCI_RETURN_IF_ERROR(bootstrap_.connect(world.comm(), false));
  int pid = 0;
  step_ = "a server process has not reported that it serves";
  const Status instructed = instruct(world, parameters, &pid);
  ARMCI_RETURN_IF_ERROR(agree_on_start(bootstrap_, world.size(), instructed));
  serving_ = true;
  if (server_ < 0) return kSuccess;
  return watch_.start_for(pid, [pid, node = world.my_node()] {
    (void)fail(Code::kLayerBelow, "INIT-7",
               "the server of node %d, process %d, died; the job ends; see the last messages of that process", node,
               pid);
    print_failure("watching the server", last_cause());
    die(1);
  });
}

void ServerProcesses::stop() {
  watch_.stop();
  if (serving_ && server_ >= 0) MPI_Send(nullptr, 0, MPI_BYTE, server_, kStopTag, bootstrap_.all);
  serving_ = false;
  bootstrap_.disconnect();
}

}  // namespace armci::twosided
