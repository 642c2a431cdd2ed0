// Failures of UCX, in its own words.
//
// Thread safety: all may be called by several threads.
#pragma once

#include <ucp/api/ucp.h>

#include "impl/base/status.h"

namespace armci::ucx {

inline constexpr int kNoPeer = -1;

// Of `call`, to process `peer` unless that is kNoPeer [ERR-3, MEM-8].
[[gnu::cold]] inline Status fail_ucs(ucs_status_t status, const char* call, int peer = kNoPeer) {
  const auto code = status == UCS_ERR_NO_MEMORY ? Code::kMemory : Code::kLayerBelow;
  if (peer == kNoPeer) return fail(code, nullptr, "%s: %s", call, ucs_status_string(status));
  return fail(code, nullptr, "%s to process %d: %s", call, peer, ucs_status_string(status));
}

#define ARMCI_UCS(expression, call)                                                      \
  do {                                                                                   \
    if (const ucs_status_t armci_ucs = (expression); armci_ucs != UCS_OK) [[unlikely]] { \
      return ::armci::ucx::fail_ucs(armci_ucs, call);                                    \
    }                                                                                    \
  } while (false)

}  // namespace armci::ucx
