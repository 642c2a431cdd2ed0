#include "impl/native-verbs/device.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "impl/native-verbs/settings.h"

namespace armci::verbs {

namespace {

constexpr char kInstead[] = "load its driver (ibv_devices lists them), or link mpi-rma or mpi-twosided";

// ::ffff:a.b.c.d
bool holds_ipv4(const ibv_gid& gid) {
  constexpr std::uint8_t kPrefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::memcmp(gid.raw, kPrefix, sizeof kPrefix) == 0;
}

struct DeviceList {
  int count = 0;
  ibv_device** devices = ibv_get_device_list(&count);
  ~DeviceList() {
    if (devices != nullptr) ibv_free_device_list(devices);
  }
};

}  // namespace

Status fail_verbs(int error, const char* call) {
  if (error == ENOMEM) {
    return fail_errno(error, "%s: the device, or the limit on locked memory, has no memory for it; raise ulimit -l",
                      call);
  }
  return fail_errno(error, "%s of the verbs device failed; read its driver's messages (dmesg)", call);
}

Status Device::open() {
  const Settings& of = settings();
  const DeviceList list;
  if (list.count == 0) {
    return fail(Code::kUnsupported, nullptr, "there is no verbs device here; %s", kInstead);
  }
  Status last;
  for (int i = 0; i < list.count; ++i) {
    ibv_device* const device = list.devices[i];
    const bool named = of.device == ibv_get_device_name(device);
    if (!of.device.empty() && !named) continue;
    last = use_port(device, named);
    if (last.ok()) return kSuccess;
  }
  if (last.ok()) {
    return fail(Code::kUnsupported, nullptr,
                "there is no verbs device %s; set ARMCI_VERBS_DEVICE to one that ibv_devices lists", of.device.c_str());
  }
  return last;
}

Status Device::use_port(ibv_device* device, bool named) {
  ARMCI_RETURN_IF_ERROR(choose_port(device, named));
  return choose_gid();
}

// Opens the device if a port of it will do.
Status Device::choose_port(ibv_device* device, bool named) {
  domain_.reset();
  context_.reset(ibv_open_device(device));
  const char* const name = ibv_get_device_name(device);
  if (context_ == nullptr) {
    return fail_errno(
        errno, "the verbs device %s cannot be opened; give this user the rights to /dev/infiniband/uverbs*", name);
  }
  if (const int error = ibv_query_device(context_.get(), &limits_); error != 0) {
    return fail_verbs(error, "ibv_query_device");
  }
  bool up = false;
  ARMCI_RETURN_IF_ERROR(find_port(&up));
  if (!up) {
    const int number = settings().port;
    if (number != 0 || named) {
      return fail(Code::kUnsupported, nullptr,
                  "port %d of the verbs device %s is %s; bring its network up, or choose "
                  "another one (ARMCI_VERBS_DEVICE, ARMCI_VERBS_PORT)",
                  port_number_, name, ibv_port_state_str(port_.state));
    }
    return fail(Code::kUnsupported, nullptr, "no port of a verbs device is up; bring its network up; %s", kInstead);
  }
  domain_.reset(ibv_alloc_pd(context_.get()));
  return domain_ != nullptr ? kSuccess : fail_verbs(errno, "ibv_alloc_pd");
}

Status Device::find_port(bool* up) {
  const int wanted = settings().port;
  *up = false;
  if (wanted > limits_.phys_port_cnt) {
    return fail(Code::kUnsupported, nullptr,
                "the verbs device %s has no port %d; set ARMCI_VERBS_PORT to a number from 1 to %d", name(), wanted,
                limits_.phys_port_cnt);
  }
  for (int number = 1; number <= limits_.phys_port_cnt && !*up; ++number) {
    if (wanted != 0 && number != wanted) continue;
    port_number_ = static_cast<std::uint8_t>(number);
    if (const int error = ibv_query_port(context_.get(), port_number_, &port_); error != 0) {
      return fail_verbs(error, "ibv_query_port");
    }
    *up = port_.state == IBV_PORT_ACTIVE;
  }
  return kSuccess;
}

Status Device::choose_gid() {
  const int wanted = settings().gid;
  if (!is_ethernet() && wanted < 0) return kSuccess;
  int best = -1;
  for (int index = 0; index < port_.gid_tbl_len; ++index) {
    ibv_gid_entry entry{};
    if (ibv_query_gid_ex(context_.get(), port_number_, static_cast<std::uint32_t>(index), &entry, 0) != 0) continue;
    const bool suits = wanted >= 0 ? index == wanted : entry.gid_type == IBV_GID_TYPE_ROCE_V2;
    if (!suits || (best >= 0 && !holds_ipv4(entry.gid))) continue;
    best = index;
    gid_ = entry.gid;
    if (holds_ipv4(entry.gid)) break;
  }
  gid_index_ = best;
  if (best >= 0) return kSuccess;
  return wanted >= 0
             ? fail(Code::kUnsupported, nullptr,
                    "port %d of the verbs device %s has no GID %d; set ARMCI_VERBS_GID to another index, or to -1",
                    port_number_, name(), wanted)
             : fail(Code::kUnsupported, nullptr,
                    "port %d of the verbs device %s has no GID of RoCE v2; give its network an address, or choose one "
                    "(ARMCI_VERBS_GID)",
                    port_number_, name());
}

bool Device::is_software() const {
  constexpr std::uint32_t kSoftRoce = 0xffffff;
  constexpr std::uint32_t kSoftIwarp = 0x626d74;
  return limits_.vendor_id == kSoftRoce || limits_.vendor_id == kSoftIwarp;
}

Status Device::make_queue(std::size_t entries, ibv_comp_channel* channel, Owned<ibv_cq>* queue) const {
  const auto most = static_cast<std::size_t>(limits_.max_cqe);
  queue->reset(ibv_create_cq(context(), static_cast<int>(std::min(entries, most)), nullptr, channel, 0));
  return *queue != nullptr ? kSuccess : fail_verbs(errno, "ibv_create_cq");
}

}  // namespace armci::verbs
