#include "impl/mpi-rma/products.h"

#include <array>
#include <complex>

#include "impl/base/thread_block.h"

namespace armci::rma {

using node::AccType;

namespace {

template <class Value>
bool equals_one(const void* scale) {
  Value value;
  std::memcpy(&value, scale, sizeof value);
  return value == Value(1);
}

}  // namespace

bool is_one(const node::AccSpec& acc) {
  switch (acc.type) {
    case AccType::kInt:
      return equals_one<int>(acc.scale);
    case AccType::kLong:
      return equals_one<long>(acc.scale);
    case AccType::kFloat:
      return equals_one<float>(acc.scale);
    case AccType::kDouble:
      return equals_one<double>(acc.scale);
    case AccType::kComplexFloat:
      return equals_one<std::complex<float>>(acc.scale);
    case AccType::kComplexDouble:
      return equals_one<std::complex<double>>(acc.scale);
  }
  return false;
}

Status Products::add(const void* source, void* target, std::size_t bytes) {
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t now = std::min(bytes - done, kBufferBytes);
    ARMCI_RETURN_IF_ERROR(add_piece(static_cast<const char*>(source) + done, static_cast<char*>(target) + done, now));
    done += now;
  }
  return kSuccess;
}

Status Products::add_piece(const char* source, char* target, std::size_t bytes) {
  if (bytes != bytes_ || filled_ + bytes > kBufferBytes) ARMCI_RETURN_IF_ERROR(send());
  bytes_ = bytes;
  auto* const buffer = ThreadBlock<std::array<char, kBufferBytes>>::get();
  if (buffer == nullptr) {
    return fail(Code::kMemory, "MEM-8", "no memory is left for the %zu bytes of an accumulate's buffer", kBufferBytes);
  }
  char* place = buffer->data() + filled_;
  std::memset(place, 0, bytes);
  node::accumulate_kernel(acc_.type)(acc_.scale, source, place, bytes / node::element_bytes(acc_.type));
  sources_.push_back(place);
  targets_.push_back(target);
  filled_ += bytes;
  return kSuccess;
}

Status Products::send() {
  if (sources_.empty()) return kSuccess;
  const Status sent = hand_over_({sources_.data(), targets_.data(), bytes_, sources_.size()});
  sources_.clear();
  targets_.clear();
  filled_ = 0;
  return sent;
}

}  // namespace armci::rma
