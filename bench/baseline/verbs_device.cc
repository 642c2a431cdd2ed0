#include "bench/baseline/verbs_device.h"

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace armci::bench {
namespace {

int NumberFrom(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr && *text != '\0' ? std::atoi(text) : otherwise;
}

// ::ffff:a.b.c.d
bool HoldsIpv4(const ibv_gid& gid) {
  constexpr uint8_t kPrefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::memcmp(gid.raw, kPrefix, sizeof kPrefix) == 0;
}

// The port that is wanted, or the first, if it is up.
bool FindPort(VerbsDevice* device) {
  const int wanted = NumberFrom("ARMCI_VERBS_PORT", 0);
  for (int number = 1; number <= device->limits.phys_port_cnt; ++number) {
    if (wanted != 0 && number != wanted) continue;
    device->port_number = static_cast<uint8_t>(number);
    const int error = ibv_query_port(device->context.get(), device->port_number, &device->port);
    RequireVerbs(error == 0, "ibv_query_port", error);
    if (device->port.state == IBV_PORT_ACTIVE) return true;
  }
  return false;
}

// On Ethernet: the first of RoCE v2 with an IPv4 address, or the first of RoCE v2.
void ChooseGid(VerbsDevice* device) {
  const int wanted = NumberFrom("ARMCI_VERBS_GID", -1);
  if (device->port.link_layer != IBV_LINK_LAYER_ETHERNET && wanted < 0) return;
  for (int index = 0; index < device->port.gid_tbl_len; ++index) {
    ibv_gid_entry entry = {};
    if (ibv_query_gid_ex(device->context.get(), device->port_number, static_cast<uint32_t>(index), &entry, 0) != 0) {
      continue;
    }
    const bool suits = wanted >= 0 ? index == wanted : entry.gid_type == IBV_GID_TYPE_ROCE_V2;
    const bool better = device->gid_index < 0 || (HoldsIpv4(entry.gid) && !HoldsIpv4(device->gid));
    if (!suits || !better) continue;
    device->gid_index = index;
    device->gid = entry.gid;
  }
  RequireVerbs(device->gid_index >= 0, "finding a GID of the verbs device (ARMCI_VERBS_GID)");
}

}  // namespace

void RequireVerbs(bool ok, const char* what, int error) {
  if (ok) return;
  std::fprintf(stderr, "bench: %s failed%s%s\n", what, error != 0 ? ": " : "", error != 0 ? std::strerror(error) : "");
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

VerbsDevice OpenVerbsDevice() {
  const char* named = std::getenv("ARMCI_VERBS_DEVICE");
  const std::string wanted = named != nullptr ? named : "";
  int count = 0;
  ibv_device** list = ibv_get_device_list(&count);
  VerbsDevice device;
  bool found = false;
  for (int i = 0; i < count && !found; ++i) {
    if (!wanted.empty() && wanted != ibv_get_device_name(list[i])) continue;
    device.context.reset(ibv_open_device(list[i]));
    if (device.context == nullptr || ibv_query_device(device.context.get(), &device.limits) != 0) continue;
    found = FindPort(&device);
  }
  if (list != nullptr) ibv_free_device_list(list);
  RequireVerbs(found, "finding a verbs device with a port that is up (ARMCI_VERBS_DEVICE, ARMCI_VERBS_PORT)");
  ChooseGid(&device);
  device.domain.reset(ibv_alloc_pd(device.context.get()));
  RequireVerbs(device.domain != nullptr, "ibv_alloc_pd");
  return device;
}

}  // namespace armci::bench
