// The environment variables of mpi-twosided, as rows of the common table (impl/common/config.h).
//
// Thread safety: written by load_config() before the transport starts, read-only afterwards.
#pragma once

#include <cstdint>
#include <string>

#include "impl/common/status.h"

namespace armci::twosided {

// What a server is. kAuto: a thread where MPI lets several threads call it, else a process.
enum class ServerKind { kAuto, kThread, kProcess };

struct Settings {
  std::string server;             // ARMCI_SERVER
  int buffers = 0;                // ARMCI_SERVER_BUFFERS: that a server has for each process of other nodes
  std::int64_t buffer_bytes = 0;  // ARMCI_SERVER_BUFFER_BYTES
  int wait_us = 0;                // ARMCI_SERVER_WAIT: the longest sleep of an idle server
};

// The values in force.
Settings& settings();

// What ARMCI_SERVER stands for; an error that lists the words there are for any other one [ERR-1].
common::Status read_server_kind(ServerKind* kind);

}  // namespace armci::twosided
