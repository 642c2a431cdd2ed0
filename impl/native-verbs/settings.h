// The environment variables of native-verbs, as rows of the common table (impl/common/config.h).
//
// Thread safety: written by load_config() before the transport starts, read-only afterwards.
#pragma once

#include <cstdint>
#include <string>

namespace armci::verbs {

struct Settings {
  std::string device;             // ARMCI_VERBS_DEVICE
  int port = 0;                   // ARMCI_VERBS_PORT; 0: the first that is up
  int gid = -1;                   // ARMCI_VERBS_GID; -1: chosen
  int bounces = 0;                // ARMCI_VERBS_BOUNCES
  std::int64_t bounce_bytes = 0;  // ARMCI_VERBS_BOUNCE_BYTES
  int buffers = 0;                // ARMCI_VERBS_BUFFERS: of a server
};

// The values in force.
Settings& settings();

}  // namespace armci::verbs
