// The UCX context of this process, opened with UCX's environment (UCX_TLS, ...).
//
// Thread safety: a Context may be used by several threads.
#pragma once

#include <ucp/api/ucp.h>

#include "impl/base/status.h"

namespace armci::ucx {

class Context {
 public:
  Context() = default;
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // The environment of UCX (UCX_TLS, UCX_NET_DEVICES, ...) is in force. `processes`: of the job;
  // `whole_words`: puts and gets of UCX must not show parts of words [LC-3], over any transport.
  Status open(int processes, bool whole_words);
  ucp_context_h handle() const { return context_; }

 private:
  ucp_context_h context_ = nullptr;
};

}  // namespace armci::ucx
