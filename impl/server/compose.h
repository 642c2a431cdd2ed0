// Requests as a process writes them.
//
// Thread safety: all may be called by several threads.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "impl/common/transport.h"
#include "impl/server/wire.h"

namespace armci::server {

inline RequestHeader put_header() {
  RequestHeader header;
  header.kind = RequestKind::kPut;
  return header;
}

inline RequestHeader accumulate_header(const common::AccSpec& acc) {
  RequestHeader header;
  header.kind = RequestKind::kAccumulate;
  header.type = static_cast<std::uint8_t>(acc.type);
  std::memcpy(header.operand, acc.scale, common::element_bytes(acc.type));
  return header;
}

inline std::uint8_t wire_op(common::AtomicOp op) {
  switch (op) {
    case common::AtomicOp::kFetchAdd:
      return static_cast<std::uint8_t>(node::RmwOp::kAdd);
    case common::AtomicOp::kSwap:
      return static_cast<std::uint8_t>(node::RmwOp::kSwap);
    case common::AtomicOp::kCompareSwap:
      break;
  }
  return static_cast<std::uint8_t>(node::RmwOp::kCompareSwap);
}

template <class Word>
RequestHeader atomic_header(void* remote, common::AtomicOp op, Word operand, Word compare) {
  RequestHeader header;
  header.kind = RequestKind::kAtomic;
  header.type = wire_op(op);
  header.address = reinterpret_cast<std::uintptr_t>(remote);
  header.bytes = sizeof(Word);
  header.operand[0] = static_cast<std::uint64_t>(operand);
  header.operand[1] = static_cast<std::uint64_t>(compare);
  return header;
}

// The strides of the remote side, as they travel.
inline std::vector<WireLevel> wire_levels(const common::Strided& shape, const std::ptrdiff_t* strides) {
  std::vector<WireLevel> levels;
  for (int l = 0; l < shape.levels; ++l) levels.push_back({shape.count[l + 1], strides[l]});
  return levels;
}

// Writes all of a request but its data, whose place it returns.
inline char* compose(const RequestHeader& header, std::span<const char> places, char* message) {
  std::memcpy(message, &header, sizeof header);
  if (!places.empty()) std::memcpy(message + sizeof header, places.data(), places.size());
  return message + sizeof header + places.size();
}

}  // namespace armci::server
