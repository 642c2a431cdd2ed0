// A region with one slot per (origin, target) pair and the origin's idea of what each slot holds.
//
// An origin changes only its own slots, so every transfer can be checked at once, without meeting the others: by
// reading the whole slot back (guard bands included), and at the end by the owners through plain loads.
#ifndef CONFORMANCE_HARNESS_ARENA_H_
#define CONFORMANCE_HARNESS_ARENA_H_

#include <cstddef>
#include <string>
#include <vector>

#include "conformance/harness/plan.h"
#include "conformance/harness/region.h"

namespace conformance {

// Bytes before and after the part of a buffer that a transfer may touch.
inline constexpr std::size_t kGuard = 128;

class Arena {
 public:
  // Collective.
  explicit Arena(std::size_t slot_bytes);

  std::size_t slot_bytes() const { return slot_bytes_; }
  // The remote address of the caller's slot at `target`.
  char* Slot(int target) const;
  // The expected content of that slot.
  char* Image(int target) { return images_.data() + static_cast<std::size_t>(target) * slot_bytes_; }

  // Random content for the slot (elements of `type` if given), by one contiguous put.
  void Refill(Rng* rng, int target, const AccType* type = nullptr);
  // Fence, get the slot, compare. `text` says what was done.
  bool Verify(int target, const std::string& text);
  // Collective: every owner compares its slots by load with what the origins expect.
  void VerifyByOwners();

 private:
  const std::size_t slot_bytes_;
  Region region_;
  std::vector<char> images_;
  std::vector<char> readback_;
};

// One transfer between a fresh random local buffer and the caller's slot at `target`, checked byte for byte on both
// sides. `src_shift` and `dst_shift` move the plan inside the guarded buffers. Returns false after a failure.
bool CheckPut(Arena* arena, const Plan& plan, Mode mode, int target, std::size_t src_shift, std::size_t dst_shift,
              Width width = Width::kClassic);
bool CheckGet(Arena* arena, const Plan& plan, Mode mode, int target, std::size_t src_shift, std::size_t dst_shift,
              Width width = Width::kClassic);
// The slot must hold elements of `type` (see Refill), shifts are multiples of its alignment.
bool CheckAcc(Arena* arena, const Plan& plan, Mode mode, int target, const AccType& type, std::size_t src_shift,
              std::size_t dst_shift, Width width = Width::kClassic);

}  // namespace conformance

#endif  // CONFORMANCE_HARNESS_ARENA_H_
