// What UCX chose, for people to read.
#pragma once

#include <string>
#include <string_view>

namespace armci::ucx {

// The transports with their devices in a description of an endpoint (ucp_ep_print_info), each once, in its order:
// "tcp/eth0, tcp/lo"; empty if there are none in it.
std::string transports_of(std::string_view description);

// Whether one of them (as transports_of says them) has a device put and get. Of one that is not known the answer is no:
// UCX may make puts of messages there, and copy by bytes.
bool has_rdma(std::string_view transports);
// Whether exactly one of those is rc_verbs and no other is, as with Soft-RoCE: puts and gets go by one queue pair.
bool has_one_rc_verbs(std::string_view transports);

}  // namespace armci::ucx
