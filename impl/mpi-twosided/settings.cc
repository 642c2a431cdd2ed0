#include "impl/mpi-twosided/settings.h"

#include <charconv>
#include <climits>

#include "impl/runtime/config.h"
#include "impl/runtime/mpi_start.h"
#include "impl/runtime/tuning_file.h"

namespace armci::twosided {

namespace {

Settings the_settings;

const runtime::SettingRow kRows[] = {
    {"ARMCI_SERVER", "", "auto", 0, 0,
     "What the server of a node is: thread (of its first process; needs MPI_THREAD_MULTIPLE), process (started with "
     "MPI_Comm_spawn, at any thread level) or auto (thread where MPI has that level); the same on all processes.",
     &the_settings.server},
    {"ARMCI_SERVER_BUFFERS", "", "auto", 0, 0,
     "Receive buffers of a server for the requests of each process of other nodes, from 2 to 1024; auto: 64, and with "
     "many processes as many as 32 MiB have room for, at least 8; the same on all processes.",
     &the_settings.buffers},
    {"ARMCI_SERVER_BUFFER_BYTES", "bytes", "32K", 1024, 1 << 24,
     "Length of such a receive buffer, with the header of the request; the same on all processes.",
     &the_settings.buffer_bytes},
    {"ARMCI_SERVER_CHUNKS", "", "3", 1, 1024,
     "Chunks that a server has for data which do not fit into a request or a short reply, for all processes together.",
     &the_settings.chunks},
    {"ARMCI_SERVER_CHUNK_BYTES", "bytes", "256K", 65536, 1 << 28, "Length of a chunk; the same on all processes.",
     &the_settings.chunk_bytes},
    {"ARMCI_SERVER_SMALL_PUT_BYTES", "bytes", "4K", 0, 4096,
     "Non-blocking puts, accumulates and atomics of up to this length that fit into a request buffer are coalesced "
     "into "
     "batches; 0: none.",
     &the_settings.small_put_bytes},
    {"ARMCI_SERVER_SMALL_GET_BYTES", "bytes", "4K", 0, 1 << 20,
     "The server copies contiguous gets of up to this length that fit into a request buffer into the reply; MPI "
     "receives "
     "longer ones in their final place.",
     &the_settings.small_get_bytes},
    {"ARMCI_SERVER_PIECE_BYTES", "bytes", "256K", 4096, 1 << 28,
     "Long transfers go in four pieces, of at least this length and of at most a chunk.", &the_settings.piece_bytes},
    {"ARMCI_SERVER_COPIED_BYTES", "bytes", "64K", 0, 1 << 24,
     "Stores without gaps are copied into requests if they have at most this length or fit into one request; longer "
     "ones are sent with zero copy.",
     &the_settings.copied_bytes},
    {"ARMCI_SERVER_CLUSTER", "nodes", "1", 0, 0,
     "Nodes in a cluster, whose servers share the buffers for the other processes and forward requests to one another; "
     "auto: about the square root of the number of nodes; the same on all processes.",
     &the_settings.cluster},
    {"ARMCI_SERVER_FORWARDS", "", "8", 1, 1024,
     "Receive buffers of a server for requests that each other server of the cluster forwards; the same on all "
     "processes.",
     &the_settings.forwards},
    {"ARMCI_SERVER_WAIT", "us", "2000", 0, 100000,
     "Longest time that an idle server blocks between two polls; 0: it never blocks.", &the_settings.wait_us},
};

const runtime::AppendedSettings appended(kRows);

// MPI may start before the settings are read.
[[maybe_unused]] const bool level_kept = [] {
  if (runtime::early_setting("ARMCI_SERVER") == "process") runtime::keep_thread_level();
  return true;
}();

}  // namespace

Settings& settings() { return the_settings; }

Status read_number(const char* variable, const std::string& text, int lowest, int highest, int automatic, int* number) {
  *number = automatic;
  if (text == "auto") return kSuccess;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  if (error == std::errc() && end == text.data() + text.size() && *number >= lowest && *number <= highest)
    return kSuccess;
  const std::string range = highest == INT_MAX ? "of at least " + std::to_string(lowest)
                                               : "from " + std::to_string(lowest) + " to " + std::to_string(highest);
  return fail(Code::kArgument, "ERR-1",
              "environment variable %s = '%s' is neither auto nor a number %s; set it to one of them", variable,
              text.c_str(), range.c_str());
}

Status read_server_kind(ServerKind* kind) {
  constexpr runtime::Word<ServerKind> kWords[] = {
      {"auto", ServerKind::kAuto}, {"thread", ServerKind::kThread}, {"process", ServerKind::kProcess}};
  return runtime::read_word("ARMCI_SERVER", the_settings.server, kWords, kind);
}

}  // namespace armci::twosided
