// The environment variables of mpi-twosided, as rows of the common table (impl/common/config.h).
//
// Thread safety: written by load_config() before the transport starts, read-only afterwards.
#pragma once

#include <cstdint>

namespace armci::twosided {

struct Settings {
  int buffers = 0;                // ARMCI_SERVER_BUFFERS: that a server has for each process of other nodes
  std::int64_t buffer_bytes = 0;  // ARMCI_SERVER_BUFFER_BYTES
  int wait_us = 0;                // ARMCI_SERVER_WAIT: the longest sleep of an idle server
};

// The values in force.
Settings& settings();

}  // namespace armci::twosided
