// Read-modify-write by CPU atomics in node memory. One definition for all callers: they are atomic together [RMW-2].
//
// Memory ordering: sequentially consistent, so an RMW is ordered after the caller's earlier stores [RMW-5].
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace armci::node {

// The operations of armcix_op_t, in its order; and those of signed words that compare as unsigned ones.
enum class RmwOp : int {
  kAdd = 0,
  kSwap = 1,
  kCompareSwap = 2,
  kAnd = 3,
  kOr = 4,
  kXor = 5,
  kMin = 6,
  kMax = 7,
  kUnsignedMin = 8,
  kUnsignedMax = 9
};
inline constexpr RmwOp kLastRmwOp = RmwOp::kUnsignedMax;

// The operation on a signed word that is `op` on the type.
template <std::integral T>
constexpr RmwOp signed_op(RmwOp op) {
  if (std::is_signed_v<T>) return op;
  return op == RmwOp::kMin ? RmwOp::kUnsignedMin : op == RmwOp::kMax ? RmwOp::kUnsignedMax : op;
}

// The value that replaces `before`. Sums wrap around in two's complement [RMW-6].
template <std::integral T>
T rmw_result(RmwOp op, T before, T operand, T compare) {
  using U = std::make_unsigned_t<T>;
  switch (op) {
    case RmwOp::kAdd:
      return static_cast<T>(static_cast<U>(before) + static_cast<U>(operand));
    case RmwOp::kSwap:
      return operand;
    case RmwOp::kCompareSwap:
      return before == compare ? operand : before;
    case RmwOp::kAnd:
      return before & operand;
    case RmwOp::kOr:
      return before | operand;
    case RmwOp::kXor:
      return before ^ operand;
    case RmwOp::kMin:
      return before < operand ? before : operand;
    case RmwOp::kMax:
      return before > operand ? before : operand;
    case RmwOp::kUnsignedMin:
      return static_cast<U>(before) < static_cast<U>(operand) ? before : operand;
    case RmwOp::kUnsignedMax:
      return static_cast<U>(before) > static_cast<U>(operand) ? before : operand;
  }
  return before;
}

// Applies the operation to the aligned element at `target` and returns what was there before.
template <std::integral T>
T rmw(RmwOp op, void* target, T operand, T compare) {
  std::atomic_ref<T> element(*static_cast<T*>(target));
  if (op == RmwOp::kAdd) return element.fetch_add(operand);
  if (op == RmwOp::kSwap) return element.exchange(operand);
  T before = element.load(std::memory_order_relaxed);
  while (!element.compare_exchange_weak(before, rmw_result(op, before, operand, compare))) {
  }
  return before;
}

}  // namespace armci::node
