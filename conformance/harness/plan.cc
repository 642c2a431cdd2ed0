#include "conformance/harness/plan.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace conformance {
namespace {

// All segments of a strided plan in the order of the loop nest, innermost level first.
std::vector<Segment> StridedSegments(const std::vector<int>& count, const std::vector<int>& src_stride,
                                     const std::vector<int>& dst_stride) {
  std::vector<Segment> segments;
  if (std::find(count.begin(), count.end(), 0) != count.end()) return segments;
  std::vector<int> index(count.size(), 0);
  while (true) {
    Segment segment{0, 0, static_cast<std::size_t>(count[0])};
    for (std::size_t level = 1; level < count.size(); ++level) {
      segment.src += static_cast<std::ptrdiff_t>(index[level]) * src_stride[level - 1];
      segment.dst += static_cast<std::ptrdiff_t>(index[level]) * dst_stride[level - 1];
    }
    segments.push_back(segment);
    std::size_t level = 1;
    while (level < count.size() && ++index[level] == count[level]) index[level++] = 0;
    if (level >= count.size()) return segments;
  }
}

Plan StridedOfSize(std::size_t bytes, std::size_t unit) {
  // Rows of about the square root, so that both many and long rows occur over a table of sizes.
  std::size_t row = unit;
  while (row * row * 4 < bytes * unit) row *= 2;
  const std::size_t rows = std::max<std::size_t>(1, bytes / row);
  const int src_stride = static_cast<int>(row + unit);
  const int dst_stride = static_cast<int>(row + 2 * unit);
  return StridedPlan({static_cast<int>(row), static_cast<int>(rows)}, {src_stride}, {dst_stride});
}

Plan VectorOfSize(std::size_t bytes, std::size_t unit) {
  std::size_t piece = unit;
  while (piece * piece * 4 < bytes * unit) piece *= 2;
  std::vector<std::vector<Segment>> descriptors(2);
  std::ptrdiff_t src = 0;
  std::ptrdiff_t dst = 0;
  for (std::size_t done = 0; done < bytes; done += piece) {
    // The second descriptor has segments of another size.
    const bool last = done + 2 * piece >= bytes && piece > unit;
    const std::size_t length = last ? piece - unit : piece;
    descriptors[last ? 1 : 0].push_back({src, dst, length});
    src += static_cast<std::ptrdiff_t>(length + 2 * unit);
    dst += static_cast<std::ptrdiff_t>(length + unit);
  }
  std::erase_if(descriptors, [](const auto& list) { return list.empty(); });
  return VectorPlan(descriptors);
}

Plan RandomStrided(Rng* rng, std::size_t extent, std::size_t unit) {
  const int levels = static_cast<int>(rng->Between(0, ARMCI_MAX_STRIDE_LEVEL));
  std::vector<int> count{static_cast<int>(unit * static_cast<std::size_t>(rng->Between(1, 6)))};
  std::vector<int> src_stride;
  std::vector<int> dst_stride;
  std::size_t src_span = static_cast<std::size_t>(count[0]);
  std::size_t dst_span = src_span;
  for (int level = 0; level < levels; ++level) {
    const std::size_t src_step = src_span + unit * rng->Below(3);
    const std::size_t dst_step = dst_span + unit * rng->Below(3);
    int n = static_cast<int>(rng->Between(1, 4));
    while (n > 1 &&
           (src_step * static_cast<std::size_t>(n) > extent || dst_step * static_cast<std::size_t>(n) > extent))
      --n;
    if (src_step > extent || dst_step > extent) break;
    count.push_back(n);
    src_stride.push_back(static_cast<int>(src_step));
    dst_stride.push_back(static_cast<int>(dst_step));
    src_span += src_step * static_cast<std::size_t>(n - 1);
    dst_span += dst_step * static_cast<std::size_t>(n - 1);
  }
  return StridedPlan(count, src_stride, dst_stride);
}

Plan RandomVector(Rng* rng, std::size_t extent, std::size_t unit) {
  std::vector<std::vector<Segment>> descriptors(static_cast<std::size_t>(rng->Between(1, 4)));
  std::ptrdiff_t src = 0;
  std::ptrdiff_t dst = 0;
  std::vector<Segment> all;
  for (auto& list : descriptors) {
    const std::size_t length = unit * static_cast<std::size_t>(rng->Between(1, 9));
    const int n = static_cast<int>(rng->Between(1, 12));
    for (int i = 0; i < n; ++i) {
      src += static_cast<std::ptrdiff_t>(unit * rng->Below(4));
      dst += static_cast<std::ptrdiff_t>(unit * rng->Below(4));
      if (static_cast<std::size_t>(std::max(src, dst)) + length > extent) break;
      list.push_back({src, dst, length});
      src += static_cast<std::ptrdiff_t>(length);
      dst += static_cast<std::ptrdiff_t>(length);
    }
    // Segments need not come in the order of addresses: destinations of one descriptor change places.
    for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1].dst, list[rng->Below(i)].dst);
  }
  std::erase_if(descriptors, [](const auto& list) { return list.empty(); });
  return VectorPlan(descriptors);
}

}  // namespace

Shape ShapeOf(StoreKind kind) {
  switch (kind) {
    case StoreKind::kStrided:
      return Shape::kStrided;
    case StoreKind::kVector:
      return Shape::kVector;
    case StoreKind::kValue:
      return Shape::kValue;
    default:
      return Shape::kContiguous;
  }
}

const char* NameOf(Shape shape) {
  static constexpr const char* kNames[] = {"contiguous", "strided", "vector", "value"};
  return kNames[static_cast<int>(shape)];
}

const char* NameOf(Mode mode) {
  static constexpr const char* kNames[] = {"blocking", "nonblocking", "implicit", "aggregate"};
  return kNames[static_cast<int>(mode)];
}

const char* NameOf(Op op) {
  static constexpr const char* kNames[] = {"put", "get", "acc"};
  return kNames[static_cast<int>(op)];
}

std::size_t Plan::TotalBytes() const {
  std::size_t total = 0;
  for (const Segment& segment : segments) total += segment.bytes;
  return total;
}

std::ptrdiff_t Plan::SrcEnd() const {
  std::ptrdiff_t end = 0;
  for (const Segment& s : segments) end = std::max(end, s.src + static_cast<std::ptrdiff_t>(s.bytes));
  return end;
}

std::ptrdiff_t Plan::DstEnd() const {
  std::ptrdiff_t end = 0;
  for (const Segment& s : segments) end = std::max(end, s.dst + static_cast<std::ptrdiff_t>(s.bytes));
  return end;
}

std::ptrdiff_t Plan::SrcBegin() const {
  std::ptrdiff_t begin = 0;
  for (const Segment& s : segments) begin = std::min(begin, s.src);
  return begin;
}

std::ptrdiff_t Plan::DstBegin() const {
  std::ptrdiff_t begin = 0;
  for (const Segment& s : segments) begin = std::min(begin, s.dst);
  return begin;
}

std::string Plan::Text() const {
  std::string text = std::string(NameOf(shape)) + " of " + std::to_string(TotalBytes()) + " bytes in " +
                     std::to_string(segments.size()) + " segments";
  if (shape == Shape::kStrided) {
    text += ", count {";
    for (int n : count) text += std::to_string(n) + " ";
    text += "} src_stride {";
    for (int n : src_stride) text += std::to_string(n) + " ";
    text += "} dst_stride {";
    for (int n : dst_stride) text += std::to_string(n) + " ";
    text += "}";
  }
  return text;
}

Plan ContiguousPlan(std::size_t bytes) {
  Plan plan;
  if (bytes > 0) plan.segments.push_back({0, 0, bytes});
  plan.count = {static_cast<int>(bytes)};
  return plan;
}

Plan ValuePlan(std::size_t bytes) {
  Plan plan = ContiguousPlan(bytes);
  plan.shape = Shape::kValue;
  return plan;
}

Plan StridedPlan(std::vector<int> count, std::vector<int> src_stride, std::vector<int> dst_stride) {
  Plan plan;
  plan.shape = Shape::kStrided;
  plan.segments = StridedSegments(count, src_stride, dst_stride);
  plan.count = std::move(count);
  plan.src_stride = std::move(src_stride);
  plan.dst_stride = std::move(dst_stride);
  return plan;
}

Plan VectorPlan(const std::vector<std::vector<Segment>>& descriptors) {
  Plan plan;
  plan.shape = Shape::kVector;
  for (const auto& list : descriptors) {
    plan.descriptors.push_back(static_cast<int>(list.size()));
    plan.segments.insert(plan.segments.end(), list.begin(), list.end());
  }
  return plan;
}

Plan PlanOfSize(Shape shape, std::size_t bytes, std::size_t unit) {
  switch (shape) {
    case Shape::kStrided:
      return StridedOfSize(bytes, unit);
    case Shape::kVector:
      return VectorOfSize(bytes, unit);
    case Shape::kValue:
      return ValuePlan(bytes);
    default:
      return ContiguousPlan(bytes);
  }
}

Plan RandomPlan(Rng* rng, Shape shape, std::size_t extent, std::size_t unit) {
  switch (shape) {
    case Shape::kStrided:
      return RandomStrided(rng, extent, unit);
    case Shape::kVector:
      return RandomVector(rng, extent, unit);
    case Shape::kValue:
      return ValuePlan(rng->Chance(1, 2) ? 4 : 8);
    default:
      return ContiguousPlan(unit * static_cast<std::size_t>(rng->Between(1, static_cast<std::int64_t>(extent / unit))));
  }
}

}  // namespace conformance
