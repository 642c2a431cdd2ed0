// A reliable connection between a process and the server of a node: one queue pair on each side.
//
// add() collects work requests in a batch. submit() posts the batch with one call of the device.
//
// Thread safety: none.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "impl/base/status.h"
#include "impl/native-verbs/address.h"
#include "impl/native-verbs/device.h"

namespace armci::verbs {

// Identifies in a completion what is complete: received or sent, the link, and the number.
struct WorkId {
  static constexpr int kNumberBits = 40;
  static constexpr std::uint64_t kNumberMask = (std::uint64_t{1} << kNumberBits) - 1;
  static constexpr std::uint64_t kReceived = std::uint64_t{1} << 63;

  bool received = false;
  std::uint32_t link = 0;
  std::uint64_t number = 0;  // its last 40 bits

  std::uint64_t packed() const {
    return (received ? kReceived : 0) | std::uint64_t{link} << kNumberBits | (number & kNumberMask);
  }
  static WorkId of(std::uint64_t packed) {
    return {(packed & kReceived) != 0, static_cast<std::uint32_t>((packed & ~kReceived) >> kNumberBits),
            packed & kNumberMask};
  }
};

// The queues of a link.
struct LinkParts {
  ibv_cq* done;
  ibv_srq* shared;         // receive queue; nullptr: one of its own
  std::uint32_t sends;     // pending at most
  std::uint32_t receives;  // of a queue of its own
};

// One send, write or read.
struct Work {
  ibv_wr_opcode opcode;
  std::span<const ibv_sge> pieces;
  std::uint64_t remote = 0;
  std::uint32_t key = 0;
  bool signaled = false;        // produces a completion queue entry
  bool by_value = false;        // its data are free after submit()
  std::uint32_t immediate = 0;  // of a send or a write that has such data
};

class Link {
 public:
  static constexpr std::size_t kBatch = 16;  // posted with one call, at most

  Status create(const Device& device, const LinkParts& parts);
  Address address(const Device& device) const;
  Status connect(const Device& device, const Address& other);

  std::uint32_t number() const { return pair_->qp_num; }
  bool exists() const { return pair_ != nullptr; }
  // The number of work requests that may be pending.
  std::size_t sends_max() const { return sends_max_; }
  // Pieces of one work request: here, of one that reads, on both sides; and bytes that may go by value.
  std::size_t pieces_max() const { return pieces_max_; }
  std::size_t pieces_read_max() const { return pieces_read_max_; }
  std::size_t common_pieces_max() const { return common_pieces_max_; }
  std::size_t by_value_max() const { return by_value_max_; }

  // Adds it to the batch. The memory of its pieces must stay valid until submit().
  Status add(const Work& work, std::uint64_t id);
  Status submit();
  Status receive(std::span<ibv_sge> iov, std::uint64_t id);
  // After it the link accesses no memory.
  void end();

 private:
  Owned<ibv_qp> pair_;
  std::uint32_t first_ = 0;
  std::size_t sends_max_ = 0;
  std::size_t pieces_max_ = 0;
  std::size_t pieces_read_max_ = 0;
  std::size_t common_pieces_max_ = 0;
  std::size_t by_value_max_ = 0;
  std::size_t batched_ = 0;
  std::array<ibv_send_wr, kBatch> works_;
  std::vector<ibv_sge> pieces_;
};

}  // namespace armci::verbs
