// The active messages of UCX between processes and servers.
//
//   kRequestMessage       a request of a process to a server
//   kReplyMessage         a reply
//   kForwardMessage       a request that one server forwards to another; its header is a ServerPrefix
//   kAcknowledgeMessage   the acknowledgement, a ServerPrefix alone
//
// UCX keeps no order between messages of different lengths: the engine restores it by the numbers of requests.
#pragma once

#include <cstdint>

namespace armci::ucx {

inline constexpr unsigned kRequestMessage = 1;
inline constexpr unsigned kReplyMessage = 2;
inline constexpr unsigned kForwardMessage = 3;
inline constexpr unsigned kAcknowledgeMessage = 4;

struct ServerPrefix {
  std::uint32_t server;           // that sends it
  std::uint32_t acknowledgement;  // as the engine gave it
};

}  // namespace armci::ucx
