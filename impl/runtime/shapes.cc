#include "impl/runtime/shapes.h"

namespace armci::runtime {

void Strided::collapse() {
  int kept = 0;
  for (int l = 0; l < levels; ++l) {
    const std::size_t repeats = count[l + 1];
    if (repeats == 1) continue;
    // Bytes from the start of one group of the level below to the end of its last, when it has no gaps.
    std::ptrdiff_t src_span = static_cast<std::ptrdiff_t>(count[0]);
    std::ptrdiff_t dst_span = src_span;
    bool representable = true;
    if (kept > 0) {
      representable = !__builtin_mul_overflow(src_stride[kept - 1], count[kept], &src_span) &&
                      !__builtin_mul_overflow(dst_stride[kept - 1], count[kept], &dst_span);
    }
    std::size_t joined = 0;
    if (representable && src_stride[l] == src_span && dst_stride[l] == dst_span &&
        !__builtin_mul_overflow(count[kept], repeats, &joined)) {
      count[kept] = joined;
      continue;
    }
    src_stride[kept] = src_stride[l];
    dst_stride[kept] = dst_stride[l];
    count[++kept] = repeats;
  }
  levels = kept;
}

Status extent_of(const std::size_t* count, const std::ptrdiff_t* stride, int levels, Extent* extent) {
  std::ptrdiff_t low = 0;
  std::ptrdiff_t high = 0;
  bool overflow = __builtin_add_overflow(high, count[0], &high);
  for (int l = 0; l < levels && !overflow; ++l) {
    std::ptrdiff_t reach = 0;
    overflow = __builtin_mul_overflow(stride[l], count[l + 1] - 1, &reach);
    std::ptrdiff_t& end = reach < 0 ? low : high;
    overflow = overflow || __builtin_add_overflow(end, reach, &end);
  }
  if (overflow) {
    return fail(Code::kAddress, "ERR-1",
                "arguments count and strides reach over more than 2^63 bytes; pass smaller ones");
  }
  *extent = {low, high};
  return kSuccess;
}

bool is_dense(const Strided& shape, const std::ptrdiff_t* strides) {
  auto next = static_cast<std::ptrdiff_t>(shape.count[0]);
  for (int l = 0; l < shape.levels; ++l) {
    if (strides[l] != next) return false;
    next *= static_cast<std::ptrdiff_t>(shape.count[l + 1]);
  }
  return true;
}

bool is_dense(const void* const* places, std::size_t count, std::size_t bytes) {
  for (std::size_t i = 1; i < count; ++i) {
    if (static_cast<const char*>(places[i]) != static_cast<const char*>(places[i - 1]) + bytes) return false;
  }
  return true;
}

}  // namespace armci::runtime
