#include "impl/common/check.h"

#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

#include "impl/common/usage.h"

namespace armci::common {
namespace {

struct Watched {
  StoreEnd end;
  const void* address;
  std::size_t bytes;
  std::size_t hash;
};

std::mutex mutex;
std::vector<Watched> watched;

bool checking() { return (observe_flags & kObserveCheck) != 0; }

std::size_t hash_of(const void* address, std::size_t bytes) {
  return std::hash<std::string_view>()(std::string_view(static_cast<const char*>(address), bytes));
}

void remember(StoreEnd end, const void* address, std::size_t bytes) {
  std::lock_guard lock(mutex);
  watched.push_back({end, address, bytes, hash_of(address, bytes)});
}

// Forgets the buffers for which ended(StoreEnd) holds, and tells of one that changed.
template <class Ended>
Status verify(Ended ended) {
  std::lock_guard lock(mutex);
  Status status;
  std::erase_if(watched, [&](const Watched& buffer) {
    if (!ended(buffer.end)) return false;
    if (status.ok() && hash_of(buffer.address, buffer.bytes) != buffer.hash) {
      status = fail(Code::kPromise, "CMPL-3",
                    "the local buffer %p (%zu bytes) of a non-blocking store was changed before the store was waited "
                    "for",
                    buffer.address, buffer.bytes);
    }
    return true;
  });
  return status;
}

}  // namespace

Status check_promise(AccessMode mode, bool put, bool get, bool accumulate) {
  static constexpr const char* kNames[] = {"default", "read-only", "accumulate-only", "put-only"};
  const bool kept = mode == AccessMode::kDefault || (mode == AccessMode::kReadOnly && get) ||
                    (mode == AccessMode::kAccOnly && accumulate) || (mode == AccessMode::kPutOnly && put);
  if (kept) return kSuccess;
  return fail(Code::kPromise, "MODE-1", "%s on a region in mode %s; change the mode with ARMCIX_Region_mode first",
              put   ? "put"
              : get ? "get"
                    : "accumulate",
              kNames[static_cast<int>(mode)]);
}

void check_strided_overlap(const Strided& shape, bool accumulate) {
  if (accumulate) return;  // overlapping accumulates add all
  for (int l = 0; l < shape.levels; ++l) {
    const std::size_t inner = shape.count[0];
    const std::ptrdiff_t stride = shape.dst_stride[l];
    const auto distance = static_cast<std::size_t>(stride < 0 ? -stride : stride);
    if (distance < inner) {
      warn("strided transfer: destination segments of %zu bytes overlap at level %d (stride %td) [XFER-7]", inner, l,
           stride);
      return;
    }
  }
}

void watch_buffer(StoreEnd end, bool get, const void* src, std::size_t bytes) {
  if (checking() && !get) remember(end, src, bytes);
}

void watch_strided_buffer(StoreEnd end, bool get, const void* src, const Strided& shape) {
  if (!checking() || get) return;
  for_each_segment(shape, [&](std::ptrdiff_t from, std::ptrdiff_t) {
    remember(end, static_cast<const char*>(src) + from, shape.count[0]);
  });
}

void watch_vector_buffer(StoreEnd end, bool get, const Segments& segments) {
  if (!checking() || get) return;
  for (std::size_t i = 0; i < segments.count; ++i) remember(end, segments.src[i], segments.bytes);
}

Status verify_buffers(const armci_hdl_t* handle) {
  return verify([handle](StoreEnd end) { return end.handle == handle; });
}

Status verify_buffers_to(int proc) {
  return verify([proc](StoreEnd end) { return end.proc == proc; });
}

Status verify_all_buffers() {
  return verify([](StoreEnd) { return true; });
}

}  // namespace armci::common
