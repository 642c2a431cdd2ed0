#include "conformance/litmus/form.h"

#include <utility>

namespace conformance::litmus {
namespace {

constexpr std::size_t kElement = 8;

// The transfer back: what was local is remote.
Plan Mirrored(Plan plan) {
  for (Segment& segment : plan.segments) std::swap(segment.src, segment.dst);
  std::swap(plan.src_stride, plan.dst_stride);
  return plan;
}

std::size_t RoundedUp(std::ptrdiff_t bytes) { return (static_cast<std::size_t>(bytes) + 63) / 64 * 64; }

}  // namespace

Layout::Layout(const Form& form)
    : op_(form.kind == Kind::kAccumulate ? Op::kAcc : Op::kPut),
      whole_(PlanOfSize(ShapeOf(form.kind), form.bytes, kElement)),
      brief_(PlanOfSize(ShapeOf(form.kind), kElement, kElement)),
      whole_read_(Mirrored(whole_)),
      brief_read_(Mirrored(brief_)),
      local_bytes_(RoundedUp(whole_.SrcEnd())),
      remote_bytes_(RoundedUp(whole_.DstEnd())) {}

Layout::Element Layout::Last() const {
  const Segment& segment = whole_.segments.back();
  const auto into = static_cast<std::ptrdiff_t>(segment.bytes - kElement);
  return {segment.src + into, segment.dst + into};
}

}  // namespace conformance::litmus
