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

// names[r]: what MPI calls the machine of process r; on process 0.
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

// Where MPI is to start them; freed at the end of the call.
struct Places {
  std::vector<MPI_Info> each;

  ~Places() {
    for (MPI_Info& info : each) MPI_Info_free(&info);
  }
  Status add(const std::string& host) {
    each.push_back(MPI_INFO_NULL);
    ARMCI_MPI(MPI_Info_create(&each.back()));
    ARMCI_MPI(MPI_Info_set(each.back(), "host", host.c_str()));
    return kSuccess;
  }
};

int spawn_on(const Command& command, const Places& places, MPI_Comm* spawned) {
  const auto count = places.each.size();
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
  // Of a spawn that failed it means nothing, and may be anything.
  MPI_Comm made = MPI_COMM_NULL;
  code = MPI_Comm_spawn_multiple(static_cast<int>(count), programs.data(), arguments.data(), one_each.data(),
                                 places.each.data(), 0, self, &made, MPI_ERRCODES_IGNORE);
  MPI_Comm_free(&self);
  if (code == MPI_SUCCESS) *spawned = made;
  return code;
}

Status refusal(int code, const Command& command, const std::string& hosts) {
  // The text of the class is short; that of the code may be a stack of lines.
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
  Places places;
  std::string hosts;
  for (int node = 0; node < world.node_count(); ++node) {
    const std::string& host = names[static_cast<std::size_t>(world.node(node).ranks[0])];
    ARMCI_RETURN_IF_ERROR(places.add(host));
    if (hosts.find(host) == std::string::npos) hosts += (hosts.empty() ? "" : ", ") + host;
  }
  const int code = spawn_on(command, places, &circle_.spawned);
  return code == MPI_SUCCESS ? kSuccess : refusal(code, command, hosts);
}

Status ServerProcesses::instruct(const World& world, Terms terms, int* pid) {
  ARMCI_MPI(MPI_Bcast(&terms, static_cast<int>(sizeof terms), MPI_BYTE, 0, circle_.all));
  std::vector<int> node_of;
  for (int proc = 0; proc < world.size(); ++proc) node_of.push_back(world.node_of(proc));
  ARMCI_MPI(MPI_Bcast(node_of.data(), world.size(), MPI_INT, 0, circle_.all));
  if (!is_first(world)) return kSuccess;
  server_ = world.size() + world.my_node();
  node::NodeMemoryAddress memory{};
  // An address that could not be told is one that the server cannot open.
  const Status told = node::node_memory().address(&memory);
  ARMCI_MPI(MPI_Send(&memory, static_cast<int>(sizeof memory), MPI_BYTE, server_, kMemoryTag, circle_.all));
  ARMCI_MPI(MPI_Recv(pid, 1, MPI_INT, server_, kPidTag, circle_.all, MPI_STATUS_IGNORE));
  return told;
}

Status ServerProcesses::start(const World& world, const Terms& terms) {
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
  step_ = "they run, but MPI has not connected all processes with them";
  ARMCI_RETURN_IF_ERROR(circle_.join(world.comm(), false));
  int pid = 0;
  step_ = "they have not said that they serve";
  const Status instructed = instruct(world, terms, &pid);
  ARMCI_RETURN_IF_ERROR(agree_on_start(circle_, world.size(), instructed));
  serving_ = true;
  if (server_ < 0) return kSuccess;
  return watch_.start_for(pid, [pid, node = world.my_node()] {
    (void)fail(Code::kLayerBelow, "INIT-7", "the server of node %d, process %d, died; ending the job", node, pid);
    print_failure("watching the server", last_cause());
    die(1);
  });
}

void ServerProcesses::stop() {
  watch_.stop();
  if (serving_ && server_ >= 0) MPI_Send(nullptr, 0, MPI_BYTE, server_, kDismissalTag, circle_.all);
  serving_ = false;
  circle_.leave();
}

}  // namespace armci::twosided
