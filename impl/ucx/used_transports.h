// The transports that UCX chose: as text for people, and the facts by which the client chooses its way.
#pragma once

#include <string>
#include <string_view>

namespace armci::ucx {

// The transports with their devices in a description of an endpoint (ucp_ep_print_info), each once, in its order:
// "tcp/eth0, tcp/lo"; empty if there are none in it.
std::string transports_of(std::string_view description);

// Whether one of them (as transports_of says them) has a device put and get. For an unknown transport the result is
// false: UCX may make puts of messages there, and copy by bytes.
bool has_rdma(std::string_view transports);

// The device of an endpoint whose description has one lane, of rc_verbs, so that all goes by one queue pair; else
// empty.
std::string device_of_one_lane(std::string_view description);

// Whether a device is Linux's Soft-RoCE, whose driver names the network device below it in a file "parent" in sysfs.
bool is_soft_roce(const std::string& device, const std::string& devices = "/sys/class/infiniband");

}  // namespace armci::ucx
