// The address of a queue pair, as bytes for messages.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <cstring>

#include "impl/native-verbs/device.h"

namespace armci::verbs {

struct Address {
  std::uint32_t pair = 0;   // the number of the queue pair
  std::uint32_t first = 0;  // number of its first packet; of datagrams: its key
  std::uint16_t lid = 0;    // InfiniBand
  std::uint8_t mtu = 0;     // as ibv_mtu
  std::uint8_t reads = 0;   // reads that it serves at a time
  std::uint8_t gid[16] = {};
  std::uint8_t pieces = 0;  // of one work request
  std::uint8_t zero[3] = {};
};
static_assert(sizeof(Address) == 32);

// Of a queue pair on this device.
inline Address address_on(const Device& device, std::uint32_t pair, std::uint32_t first) {
  Address mine;
  mine.pair = pair;
  mine.first = first;
  mine.lid = device.lid();
  mine.mtu = static_cast<std::uint8_t>(device.port().active_mtu);
  std::memcpy(mine.gid, device.gid().raw, sizeof mine.gid);
  return mine;
}

// The path to a queue pair: by GID on RoCE, and on InfiniBand if ARMCI_VERBS_GID is set; by LID otherwise.
inline ibv_ah_attr attributes_to(const Device& device, const Address& other) {
  constexpr std::uint8_t kHopLimit = 64;
  ibv_ah_attr way{};
  way.dlid = other.lid;
  way.port_num = device.port_number();
  if (device.gid_index() >= 0) {
    way.is_global = 1;
    way.grh.sgid_index = static_cast<std::uint8_t>(device.gid_index());
    way.grh.hop_limit = kHopLimit;
    std::memcpy(way.grh.dgid.raw, other.gid, sizeof other.gid);
  }
  return way;
}

}  // namespace armci::verbs
