// The environment variables of mpi-twosided, as rows of the common table (impl/runtime/config.h).
//
// Thread safety: written by load_config() before the transport starts, read-only afterwards.
#pragma once

#include <cstdint>
#include <string>

#include "impl/base/status.h"

namespace armci::twosided {

// The kind of a server. kAuto: a thread where MPI lets several threads call it, else a process.
enum class ServerKind { kAuto, kThread, kProcess };

struct Settings {
  std::string server;             // ARMCI_SERVER
  std::string buffers;            // ARMCI_SERVER_BUFFERS: that a server has for each process of other nodes, or auto
  std::int64_t buffer_bytes = 0;  // ARMCI_SERVER_BUFFER_BYTES
  int forwards = 0;               // ARMCI_SERVER_FORWARDS: that it has for each other server of its cluster
  int chunks = 0;                 // ARMCI_SERVER_CHUNKS: for data that do not fit into those
  std::int64_t chunk_bytes = 0;   // ARMCI_SERVER_CHUNK_BYTES
  // Thresholds of the protocols; each process decides for its own operations.
  std::int64_t small_put_bytes = 0;  // ARMCI_SERVER_SMALL_PUT_BYTES
  std::int64_t small_get_bytes = 0;  // ARMCI_SERVER_SMALL_GET_BYTES
  std::int64_t piece_bytes = 0;      // ARMCI_SERVER_PIECE_BYTES
  std::int64_t copied_bytes = 0;     // ARMCI_SERVER_COPIED_BYTES
  std::string cluster;               // ARMCI_SERVER_CLUSTER: nodes in a cluster, or auto
  int wait_us = 0;                   // ARMCI_SERVER_WAIT: the longest sleep of an idle server
};

// The values in force.
Settings& settings();

// The number in the text of a setting, or `automatic` for the word auto. Other text, and a number out of range, are
// errors [ERR-1].
Status read_number(const char* variable, const std::string& text, int lowest, int highest, int automatic, int* number);

// The kind that ARMCI_SERVER names. For an unknown word, an error that lists the known words [ERR-1].
Status read_server_kind(ServerKind* kind);

}  // namespace armci::twosided
