// The environment variables of ucx, as rows of the common table (impl/runtime/config.h). UCX has its own, UCX_*.
//
// Thread safety: written by load_config() before the transport starts, read-only afterwards.
#pragma once

#include <cstdint>
#include <string>

namespace armci::ucx {

struct Settings {
  std::string put_get;             // ARMCI_UCX_PUT_GET: auto, always or never
  int parts = 0;                   // ARMCI_UCX_PARTS: of pending operations
  int requests = 0;                // ARMCI_UCX_REQUESTS: to a process
  std::int64_t message_bytes = 0;  // ARMCI_UCX_MESSAGE_BYTES: data in a request or a reply
  std::int64_t pack_bytes = 0;     // ARMCI_UCX_PACK_BYTES: shorter rows are packed
  std::int64_t small_bytes = 0;    // ARMCI_UCX_SMALL_PUT_BYTES: puts that are coalesced
  std::int64_t copied_bytes = 0;   // ARMCI_UCX_COPIED_BYTES: shorter data are copied into their request
  int cluster = 1;                 // ARMCI_UCX_CLUSTER: processes in one
};

// The values in force.
Settings& settings();

}  // namespace armci::ucx
