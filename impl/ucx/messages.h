// The active messages of UCX between processes and servers.
//
//   kRequestMessage       a request of a process to a server
//   kReplyMessage         a reply
//   kForwardMessage       a request that one server forwards to another; its header is a ServerPrefix
//   kAcknowledgeMessage   the acknowledgement, a ServerPrefix alone
//
// UCX keeps no order between messages of different lengths: the engine restores it by the numbers of requests.
#pragma once

#include <ucp/api/ucp.h>

#include <cstdint>

#include "impl/base/backtrace.h"
#include "impl/base/status.h"

namespace armci::ucx {

inline constexpr unsigned kRequestMessage = 1;
inline constexpr unsigned kReplyMessage = 2;
inline constexpr unsigned kForwardMessage = 3;
inline constexpr unsigned kAcknowledgeMessage = 4;

struct ServerPrefix {
  std::uint32_t server;           // that sends it
  std::uint32_t acknowledgement;  // as the engine gave it
};

// UCX delivers a message whole, unless it has announced it for a transfer of its own.
inline void require_whole(const ucp_am_recv_param_t& param) {
  if ((param.recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) == 0) return;
  // A thread that waits for the message would hang.
  (void)fail(Code::kLayerBelow, nullptr,
             "UCX has announced a message that it was to send at once (UCP_AM_SEND_FLAG_EAGER); set "
             "UCX_RNDV_THRESH=inf, which forbids that");
  die_of_failure("a message of UCX");
}

}  // namespace armci::ucx
