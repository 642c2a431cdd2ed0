// The environment variables of native-verbs, as rows of the common table (impl/runtime/config.h).
//
// Thread safety: written by load_config() before the transport starts, read-only afterwards.
#pragma once

#include <cstdint>
#include <string>

namespace armci::verbs {

struct Settings {
  std::string device;               // ARMCI_VERBS_DEVICE
  int port = 0;                     // ARMCI_VERBS_PORT; 0: the first that is up
  int gid = -1;                     // ARMCI_VERBS_GID; -1: chosen
  int bounces = 0;                  // ARMCI_VERBS_BOUNCES
  std::int64_t bounce_bytes = 0;    // ARMCI_VERBS_BOUNCE_BYTES
  int buffers = 0;                  // ARMCI_VERBS_BUFFERS: of a server
  int depth = 0;                    // ARMCI_VERBS_DEPTH: of a link
  std::int64_t pack_bytes = 0;      // ARMCI_VERBS_PACK_BYTES: shorter rows are packed
  std::int64_t in_place_bytes = 0;  // ARMCI_VERBS_IN_PLACE_BYTES: without effect
  std::int64_t register_bytes = 0;  // ARMCI_VERBS_REGISTER_BYTES: longer transfers register their memory
  std::int64_t cache_bytes = 0;     // ARMCI_VERBS_CACHE_BYTES: of registrations that are kept
  int cache_entries = 0;            // ARMCI_VERBS_CACHE_ENTRIES
  int cluster = 0;                  // ARMCI_VERBS_CLUSTER: servers in one
};

// The values in force.
Settings& settings();

}  // namespace armci::verbs
