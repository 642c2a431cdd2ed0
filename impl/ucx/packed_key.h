// PackedKey: the key by which other processes reach memory of a process, as bytes to send.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace armci::ucx {

// A remote key as UCX packs it, which is of no fixed length. A key that does not fit is left out (length
// 0); the client has the key of a region from ClientWire::add_key(), and accesses other memory by requests.
struct PackedKey {
  static constexpr std::size_t kBytesMax = 52;

  std::uint32_t number = 0;  // of the memory, among those of its owner; never used again
  std::uint32_t region = 0;  // that the memory belongs to, in this process; 0: none
  std::uint32_t length = 0;
  unsigned char bytes[kBytesMax] = {};

  void set(const void* packed, std::size_t packed_bytes) {
    length = packed_bytes <= kBytesMax ? static_cast<std::uint32_t>(packed_bytes) : 0;
    std::memcpy(bytes, packed, length);
  }
};
static_assert(sizeof(PackedKey) == 64);

// Whether no memory domain of UCX's gave a key of its own, so that no device reaches the memory: UCX makes puts and
// gets of messages then, or has the kernel copy. A packed key is the map of domains (8 bytes) and the type of the
// memory (1). For each domain the length of its key (1) and that key follow. For an unknown format the result is false.
inline bool has_no_device(const void* packed, std::size_t length) {
  constexpr std::size_t kMapBytes = 8;
  std::uint64_t domains = 0;
  if (length <= kMapBytes) return false;
  std::memcpy(&domains, packed, kMapBytes);
  return length == kMapBytes + 1 + static_cast<std::size_t>(std::popcount(domains));
}

}  // namespace armci::ucx
