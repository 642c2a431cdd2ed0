// Unreliable datagrams: short messages between queue pairs that are not connected. They may be lost, and come twice.
//
// Thread safety: none.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <span>
#include <vector>

#include "impl/base/status.h"
#include "impl/native-verbs/address.h"
#include "impl/native-verbs/buffers.h"
#include "impl/native-verbs/device.h"

namespace armci::verbs {

class Datagrams {
 public:
  // Messages of up to `bytes`, with `receive_buffers` for those that arrive between two polls. The ids() completion ids
  // start at `first_id`.
  Status create(const Device& device, ibv_cq* done, std::size_t receive_buffers, std::size_t bytes,
                std::uint64_t first_id);
  std::uint64_t ids() const { return received_.count() + sent_.count(); }

  // The address for senders.
  Address address() const { return address_on(device(), pair_->qp_num, kKey); }
  // Sends a message, or drops it if no send buffer is free.
  Status send(const Address& other, std::span<const char> message);

  // Handles a completion. *message: the received message, valid until release(); empty for a send or a failure.
  void ended(const ibv_wc& work, std::span<const char>* message);
  Status release(std::span<const char> message);

 private:
  static constexpr std::uint32_t kKey = 0x41524d43;
  static constexpr std::size_t kHeaderBytes = 40;  // before each received message
  static constexpr std::size_t kSends = 32;

  const Device& device() const { return *device_; }
  Status post_receive(std::size_t buffer);
  Status find_address_handle(const Address& other, ibv_ah** handle);

  // Ways, by what is at their end.
  struct AddressHandle {
    std::uint16_t lid;
    std::uint8_t gid[16];
    Owned<ibv_ah> handle;
  };

  const Device* device_ = nullptr;
  Owned<ibv_qp> pair_;
  Buffers received_;
  Buffers sent_;
  std::uint64_t first_id_ = 0;
  std::vector<std::size_t> free_;
  std::vector<AddressHandle> address_handles_;
};

}  // namespace armci::verbs
