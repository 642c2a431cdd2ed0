// Failures of UCX, in its own words, with the next step.
//
// Thread safety: all may be called by several threads.
#pragma once

#include <ucp/api/ucp.h>

#include "impl/base/status.h"

namespace armci::ucx {

inline constexpr int kNoPeer = -1;

// Of `call`, to process `peer` unless that is kNoPeer [ERR-3, MEM-8].
[[gnu::cold]] inline Status fail_ucs(ucs_status_t status, const char* call, int peer = kNoPeer) {
  const bool no_memory = status == UCS_ERR_NO_MEMORY;
  const auto code = no_memory ? Code::kMemory : Code::kLayerBelow;
  const char* const next = no_memory         ? "raise the limit on locked memory (ulimit -l)"
                           : peer == kNoPeer ? "set UCX_LOG_LEVEL=info for UCX's own messages"
                                             : "see the last messages of that process, or set UCX_LOG_LEVEL=info";
  if (peer == kNoPeer) return fail(code, nullptr, "%s: %s; %s", call, ucs_status_string(status), next);
  return fail(code, nullptr, "%s to process %d: %s; %s", call, peer, ucs_status_string(status), next);
}

#define ARMCI_UCS(expression, call)                                                      \
  do {                                                                                   \
    if (const ucs_status_t armci_ucs = (expression); armci_ucs != UCS_OK) [[unlikely]] { \
      return ::armci::ucx::fail_ucs(armci_ucs, call);                                    \
    }                                                                                    \
  } while (false)

}  // namespace armci::ucx
