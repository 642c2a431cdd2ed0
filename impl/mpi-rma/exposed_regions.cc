#include "impl/mpi-rma/exposed_regions.h"

#include <mutex>

namespace armci::rma {

void ExposedRegions::add(Window* window, const void* part, std::size_t bytes) {
  if (bytes == 0) return;
  const char* const begin = static_cast<const char*>(part);
  const std::lock_guard guard(mutex_);
  parts_[begin] = {begin + bytes, window};
}

void ExposedRegions::remove(const Window* window) {
  const std::lock_guard guard(mutex_);
  std::erase_if(parts_, [&](const auto& part) { return part.second.window == window; });
}

Window* ExposedRegions::find(const void* address) const {
  const std::shared_lock guard(mutex_);
  auto after = parts_.upper_bound(static_cast<const char*>(address));
  if (after == parts_.begin()) return nullptr;
  const Part& part = (--after)->second;
  return static_cast<const char*>(address) < part.end ? part.window : nullptr;
}

}  // namespace armci::rma
