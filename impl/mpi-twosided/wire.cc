#include "impl/mpi-twosided/wire.h"

#include <cstring>

namespace armci::twosided {

using common::Code;
using common::fail;
using common::kSuccess;
using common::Status;

namespace {

Status malformed(const char* what, std::uint64_t value) {
  return fail(Code::kLayerBelow, nullptr, "a request with %s = %llu came from another process and is refused", what,
              static_cast<unsigned long long>(value));
}

bool is_store(RequestKind kind) { return kind == RequestKind::kPut || kind == RequestKind::kAccumulate; }
bool is_transfer(RequestKind kind) { return is_store(kind) || kind == RequestKind::kGet; }

Status check_atomic(const RequestHeader& header, IsInside inside) {
  if (header.type > static_cast<std::uint8_t>(node::RmwOp::kMax)) return malformed("operation", header.type);
  if (header.bytes != 4 && header.bytes != 8) return malformed("bytes of a word", header.bytes);
  if (header.address % header.bytes != 0 || !inside(header.address, header.bytes)) {
    return malformed("address", header.address);
  }
  return kSuccess;
}

Status check_element(const RequestHeader& header) {
  if (header.type >= common::kAccTypes) return malformed("type", header.type);
  const auto type = static_cast<common::AccType>(header.type);
  if (header.bytes % common::element_bytes(type) != 0) return malformed("bytes", header.bytes);
  return kSuccess;
}

bool misaligned(const RequestHeader& header, std::uint64_t bits) {
  return header.kind == RequestKind::kAccumulate &&
         bits % common::component_bytes(static_cast<common::AccType>(header.type)) != 0;
}

// The strides, and that the whole shape lies in memory. `places` is what follows the header.
Status check_strided(std::span<const char> places, IsInside inside, Request* request, std::size_t* used) {
  const RequestHeader& header = request->header;
  common::Strided& shape = request->shape;
  if (header.levels == 0 || header.levels > common::kMaxStrideLevels) return malformed("levels", header.levels);
  *used = header.levels * sizeof(WireLevel);
  if (places.size() < *used) return malformed("length", places.size());
  shape.levels = header.levels;
  shape.count[0] = header.bytes;
  std::ptrdiff_t strides[common::kMaxStrideLevels];
  std::uint64_t bits = header.address;
  std::size_t segments = 1;
  for (int l = 0; l < shape.levels; ++l) {
    WireLevel level;
    std::memcpy(&level, places.data() + static_cast<std::size_t>(l) * sizeof level, sizeof level);
    if (level.count == 0 || __builtin_mul_overflow(segments, level.count, &segments)) {
      return malformed("count of a level", level.count);
    }
    shape.count[l + 1] = level.count;
    shape.src_stride[l] = 0;
    shape.dst_stride[l] = strides[l] = level.stride;
    bits |= static_cast<std::uint64_t>(level.stride);
  }
  if (header.count == 0 || header.first > segments || header.count > segments - header.first) {
    return malformed("count", header.count);
  }
  common::Extent extent;
  if (!common::extent_of(shape.count, strides, shape.levels, &extent).ok() ||
      !inside(header.address + static_cast<std::uint64_t>(extent.low),
              static_cast<std::size_t>(extent.high - extent.low))) {
    return malformed("address", header.address);
  }
  return misaligned(header, bits) ? malformed("address", header.address) : kSuccess;
}

Status check_list(std::span<const char> places, IsInside inside, Request* request, std::size_t* used) {
  const RequestHeader& header = request->header;
  if (header.count == 0 || header.count > places.size() / sizeof(std::uint64_t)) {
    return malformed("count", header.count);
  }
  *used = header.count * sizeof(std::uint64_t);
  request->addresses = reinterpret_cast<const std::uint64_t*>(places.data());
  for (std::size_t i = 0; i < header.count; ++i) {
    const std::uint64_t address = request->addresses[i];
    if (!inside(address, header.bytes) || misaligned(header, address)) return malformed("address", address);
  }
  return kSuccess;
}

Status check_places(std::span<const char> places, IsInside inside, Request* request, std::size_t* used) {
  const RequestHeader& header = request->header;
  *used = 0;
  switch (header.form) {
    case Form::kContiguous:
      if (!inside(header.address, header.bytes) || misaligned(header, header.address)) {
        return malformed("address", header.address);
      }
      return kSuccess;
    case Form::kStrided:
      return check_strided(places, inside, request, used);
    case Form::kList:
      return check_list(places, inside, request, used);
  }
  return malformed("form", static_cast<std::uint64_t>(header.form));
}

}  // namespace

Status decode(std::span<const char> message, IsInside inside, std::size_t reply_bytes_max, Request* request) {
  if (message.size() < sizeof(RequestHeader)) return malformed("length", message.size());
  RequestHeader& header = request->header;
  std::memcpy(&header, message.data(), sizeof header);
  if (header.magic != kMagic) return malformed("magic", header.magic);
  if (header.kind == RequestKind::kFence || header.kind == RequestKind::kBye) return kSuccess;
  if (header.kind == RequestKind::kAtomic) return check_atomic(header, inside);
  if (!is_transfer(header.kind)) return malformed("kind", static_cast<std::uint64_t>(header.kind));
  if (header.bytes == 0 || header.bytes > kSegmentBytesMax) return malformed("bytes", header.bytes);
  if (header.kind == RequestKind::kAccumulate) ARMCI_RETURN_IF_ERROR(check_element(header));
  const std::span<const char> places = message.subspan(sizeof header);
  std::size_t used = 0;
  ARMCI_RETURN_IF_ERROR(check_places(places, inside, request, &used));
  std::size_t total = 0;
  if (__builtin_mul_overflow(request->segments(), header.bytes, &total)) return malformed("bytes", header.bytes);
  request->data = places.subspan(used);
  if (is_store(header.kind) && request->data.size() != total) return malformed("length", message.size());
  if (header.kind == RequestKind::kGet && header.form != Form::kContiguous && total > reply_bytes_max) {
    return malformed("bytes", total);
  }
  return kSuccess;
}

}  // namespace armci::twosided
