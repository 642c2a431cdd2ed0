// What UCX chose, for people to read.
#pragma once

#include <string>
#include <string_view>

namespace armci::ucx {

// The transports with their devices in a description of an endpoint (ucp_ep_print_info), each once, in its order:
// "tcp/eth0, tcp/lo"; empty if there are none in it.
std::string transports_of(std::string_view description);

}  // namespace armci::ucx
