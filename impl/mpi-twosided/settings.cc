#include "impl/mpi-twosided/settings.h"

#include <cstdlib>
#include <cstring>

#include "impl/common/config.h"
#include "impl/common/mpi_init.h"

namespace armci::twosided {

namespace {

Settings the_settings;

const common::SettingRow kRows[] = {
    {"ARMCI_SERVER", "", "auto", 0, 0,
     "What the server of a node is: thread (of its first process; needs MPI_THREAD_MULTIPLE), process (started with "
     "MPI_Comm_spawn, at any thread level) or auto (thread where MPI has that level); the same on all processes.",
     &the_settings.server},
    {"ARMCI_SERVER_BUFFERS", "", "8", 2, 1024,
     "Requests of one process that a server of another node has room for; the same on all processes.",
     &the_settings.buffers},
    {"ARMCI_SERVER_BUFFER_BYTES", "bytes", "32K", 1024, 1 << 24,
     "Length of that room for each request, its header included; the same on all processes.",
     &the_settings.buffer_bytes},
    {"ARMCI_SERVER_WAIT", "us", "500", 0, 100000,
     "How long a server that has nothing to do sleeps at most before it looks again; 0: it never sleeps.",
     &the_settings.wait_us},
};

// The rows have to be there before the environment is read, which no member of the transport is asked before.
[[maybe_unused]] const bool appended = [] {
  common::append_settings(kRows);
  // MPI may start before the settings are read.
  const char* const server = std::getenv("ARMCI_SERVER");
  if (server != nullptr && std::strcmp(server, "process") == 0) common::keep_thread_level();
  return true;
}();

}  // namespace

Settings& settings() { return the_settings; }

common::Status read_server_kind(ServerKind* kind) {
  constexpr struct {
    const char* word;
    ServerKind kind;
  } kWords[] = {{"auto", ServerKind::kAuto}, {"thread", ServerKind::kThread}, {"process", ServerKind::kProcess}};
  for (const auto& known : kWords) {
    if (the_settings.server != known.word) continue;
    *kind = known.kind;
    return common::kSuccess;
  }
  return common::fail(common::Code::kArgument, "ERR-1",
                      "environment variable ARMCI_SERVER = %s is none of auto, thread, process",
                      the_settings.server.c_str());
}

}  // namespace armci::twosided
