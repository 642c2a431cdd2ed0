// Requests as a process writes them.
//
// Thread safety: all may be called by several threads.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "impl/engine/request.h"
#include "impl/runtime/transport.h"

namespace armci::engine {

inline RequestHeader put_header() {
  RequestHeader header;
  header.kind = RequestKind::kPut;
  return header;
}

// The caller fills in the data as those of a put.
inline RequestHeader signal_header(const node::Signal& signal) {
  RequestHeader header;
  header.kind = RequestKind::kSignal;
  header.type = static_cast<std::uint8_t>(signal.op);
  header.first = reinterpret_cast<std::uintptr_t>(signal.wake_up);
  header.operand[0] = reinterpret_cast<std::uintptr_t>(signal.word);
  header.operand[1] = signal.value;
  return header;
}

inline RequestHeader accumulate_header(const node::AccSpec& acc) {
  RequestHeader header;
  header.kind = RequestKind::kAccumulate;
  header.type = static_cast<std::uint8_t>(acc.type);
  std::memcpy(header.operand, acc.scale, node::element_bytes(acc.type));
  return header;
}

inline RequestHeader atomic_header(void* remote, const runtime::Rmw& rmw) {
  RequestHeader header;
  header.kind = RequestKind::kAtomic;
  header.type = static_cast<std::uint8_t>(rmw.op);
  header.address = reinterpret_cast<std::uintptr_t>(remote);
  header.bytes = rmw.bytes;
  header.operand[0] = rmw.operand;
  header.operand[1] = rmw.compare;
  return header;
}

// The strides of the remote side, as they travel.
inline std::vector<WireLevel> wire_levels(const runtime::Strided& shape, const std::ptrdiff_t* strides) {
  std::vector<WireLevel> levels;
  for (int l = 0; l < shape.levels; ++l) levels.push_back({shape.count[l + 1], strides[l]});
  return levels;
}

// Writes all of a request except its data, and returns the address for the data.
inline char* compose(const RequestHeader& header, std::span<const char> iov, char* message) {
  std::memcpy(message, &header, sizeof header);
  if (!iov.empty()) std::memcpy(message + sizeof header, iov.data(), iov.size());
  return message + sizeof header + iov.size();
}

}  // namespace armci::engine
