#include "impl/runtime/check.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <vector>

#include "impl/runtime/config.h"
#include "impl/runtime/usage.h"

namespace armci::runtime {
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

// Forgets the buffers for which ended(StoreEnd) holds, and reports one that changed.
template <class Ended>
Status verify(Ended ended) {
  std::lock_guard lock(mutex);
  Status status;
  std::erase_if(watched, [&](const Watched& buffer) {
    if (!ended(buffer.end)) return false;
    if (status.ok() && hash_of(buffer.address, buffer.bytes) != buffer.hash) {
      status = fail(Code::kPromise, "CMPL-3",
                    "the local buffer %p (%zu bytes) of a non-blocking store was changed before the store was waited "
                    "for; wait for the store, then write to the buffer",
                    buffer.address, buffer.bytes);
    }
    return true;
  });
  return status;
}

// Whether each level steps over all that the levels with shorter steps cover, as in a block of an array: then no two
// segments overlap. Other shapes may be free of overlap too.
bool nested(const Strided& shape) {
  struct Level {
    std::size_t step;
    std::size_t count;
  };
  std::vector<Level> levels;
  for (int l = 0; l < shape.levels; ++l) {
    levels.push_back({static_cast<std::size_t>(std::abs(shape.dst_stride[l])), shape.count[l + 1]});
  }
  std::sort(levels.begin(), levels.end(), [](const Level& a, const Level& b) { return a.step < b.step; });
  std::size_t covered = shape.count[0];
  for (const Level& level : levels) {
    if (level.step < covered) return false;
    covered += level.step * (level.count - 1);
  }
  return true;
}

struct Range {
  std::ptrdiff_t begin;
  std::size_t bytes;
};

void warn_of_overlap(const char* kind, std::vector<Range>* ranges) {
  std::sort(ranges->begin(), ranges->end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
  for (std::size_t i = 1; i < ranges->size(); ++i) {
    const Range& before = (*ranges)[i - 1];
    const auto distance = static_cast<std::size_t>((*ranges)[i].begin - before.begin);
    if (distance >= before.bytes) continue;
    warn("%s transfer: destination segments overlap, two of them, one of %zu bytes, begin %zu bytes apart [XFER-7]",
         kind, before.bytes, distance);
    return;
  }
}

}  // namespace

Status read_checks(const std::string& text, Checks* checks) {
  static constexpr Word<Checks> kWords[] = {{"0", Checks::kCheap},    {"no", Checks::kCheap},
                                            {"off", Checks::kCheap},  {"false", Checks::kCheap},
                                            {"1", Checks::kCostly},   {"yes", Checks::kCostly},
                                            {"on", Checks::kCostly},  {"true", Checks::kCostly},
                                            {"race", Checks::kRaces}, {"race-stacks", Checks::kRacesWithStacks}};
  return read_word("ARMCI_CHECK", text, kWords, checks);
}

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

void check_contiguous_overlap(const void* src, const void* dst, std::size_t bytes) {
  const auto from = reinterpret_cast<std::uintptr_t>(src);
  const auto to = reinterpret_cast<std::uintptr_t>(dst);
  if (from == to || std::max(from, to) - std::min(from, to) >= bytes) return;
  warn("transfer of %zu bytes: source %p and destination %p overlap; the copied data are unspecified [ERR-4]", bytes,
       src, dst);
}

void check_strided_overlap(const Strided& shape, bool accumulate) {
  if (accumulate || nested(shape)) return;  // overlapping accumulates add all
  constexpr std::size_t kSegmentsMax = std::size_t{1} << 24;
  if (shape.segments() > kSegmentsMax) return;
  std::vector<Range> ranges;
  for_each_segment(shape, [&](std::ptrdiff_t, std::ptrdiff_t to) { ranges.push_back({to, shape.count[0]}); });
  warn_of_overlap("strided", &ranges);
}

void check_vector_overlap(const Segments* list, std::size_t length) {
  std::vector<Range> ranges;
  for (std::size_t d = 0; d < length; ++d) {
    if (list[d].bytes == 0) continue;
    for (std::size_t i = 0; i < list[d].count; ++i) {
      ranges.push_back({reinterpret_cast<std::ptrdiff_t>(list[d].dst[i]), list[d].bytes});
    }
  }
  warn_of_overlap("vector", &ranges);
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

}  // namespace armci::runtime
