// One valid request of every kind and form: the seeds for fuzzing decode().
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "impl/engine/request.h"

namespace armci::engine::fuzz {

// The memory that the requests name, which is never accessed.
inline constexpr std::uint64_t kMemory = 0x100000;
inline constexpr std::uint64_t kMemoryBytes = 65536;
inline constexpr Bounds kBounds{8192, 4096};

inline bool is_inside(std::uintptr_t address, std::size_t bytes) {
  return address >= kMemory && bytes <= kMemoryBytes && address - kMemory <= kMemoryBytes - bytes;
}

struct Seed {
  std::string name;  // of its file
  std::string message;
};

std::vector<Seed> seeds();

}  // namespace armci::engine::fuzz
