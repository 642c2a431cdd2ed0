#include "impl/native-verbs/buffers.h"

#include <cerrno>

namespace armci::verbs {

Status Buffers::make(const Device& device, std::size_t count, std::size_t bytes) {
  count_ = count;
  bytes_ = bytes;
  memory_.reset(new char[count * bytes]);
  region_.reset(ibv_reg_mr(device.domain(), memory_.get(), count * bytes, IBV_ACCESS_LOCAL_WRITE));
  return region_ != nullptr ? kSuccess : fail_verbs(errno, "ibv_reg_mr of message buffers");
}

Status BufferPool::make(const Device& device, std::size_t count, std::size_t bytes) {
  ARMCI_RETURN_IF_ERROR(buffers_.make(device, count, bytes));
  for (std::size_t i = 0; i < count; ++i) free_.push_back(buffers_.at(i));
  return kSuccess;
}

}  // namespace armci::verbs
