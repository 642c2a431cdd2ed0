// Accumulate kernels: dst[i] += scale * src[i] for the six element types of ARMCI, vectorised for the CPU at hand.
//
// The kernels work on plain memory.  Atomicity against other accumulates (ACC-2) is the caller's business, by the lock
// of the stripe it writes or by being the only writer.
//
// Arithmetic (ACC-1, ACC-4, RMW-6):
//   - int and long wrap in two's complement, at no point is there undefined behaviour;
//   - floating point rounds the product and then the sum, never fused, so all kernels, and the scalar model of the
//     tests, give the same bits on every CPU;
//   - a complex product is (ac - bd) + (ad + bc)i with each operation rounded and without the recovery of infinities of
//     ISO C Annex G; a complex scale of exactly 1 + 0i adds the source unchanged, infinities and NaN parts included.
//
// Thread safety: every function may be called from any thread at any time, static initialisation included.

#ifndef IMPL_NODE_ACCUMULATE_H_
#define IMPL_NODE_ACCUMULATE_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace armci::node {

// The values are those of ARMCI_ACC_INT .. ARMCI_ACC_DCP less ARMCI_ACC_INT.
enum class AccType : int { kInt = 0, kLong = 1, kFloat = 2, kDouble = 3, kComplexFloat = 4, kComplexDouble = 5 };
inline constexpr int kAccTypes = 6;

// The operation of an accumulate on each element: scale * source is added. `scale` points to one element.
struct AccSpec {
  AccType type = AccType::kInt;
  const void* scale = nullptr;
};
// Of puts and gets. Handed on by address: their shortest way then makes none on the stack.
inline constexpr AccSpec kNoAccumulate{};

// The base-2 logarithm of element_bytes(). One hexadecimal digit per type: a table would be copied to the stack.
constexpr int element_shift(AccType type) noexcept { return (0x433232 >> (4 * static_cast<int>(type))) & 0xf; }

// Bytes of one element of `type`, both parts of a complex one.
constexpr size_t element_bytes(AccType type) noexcept { return size_t{1} << element_shift(type); }

// Bytes of the scalar an element consists of, which is also the alignment that source, target and scale need (ACC-5).
constexpr size_t component_bytes(AccType type) noexcept {
  return size_t{1} << ((0x323232 >> (4 * static_cast<int>(type))) & 0xf);
}

static_assert(sizeof(int) == element_bytes(AccType::kInt) && sizeof(long) == element_bytes(AccType::kLong));
static_assert(sizeof(float) == element_bytes(AccType::kFloat) && sizeof(double) == element_bytes(AccType::kDouble));

// Adds scale * src[i] to dst[i] for i in 0 .. elements - 1.  `scale` points to one element.  src and dst are either the
// same or do not overlap, and are aligned to component_bytes().
using AccumulateKernel = void (*)(const void* scale, const void* src, void* dst, size_t elements) noexcept;

// The best kernel of this CPU.  The first call reads the features of the CPU, later calls cost two loads.
[[nodiscard]] AccumulateKernel accumulate_kernel(AccType type) noexcept;

// The instruction sets for which there are kernels, for the tests and for `info`.
enum class AccumulateLevel : int { kBaseline = 0, kAvx2 = 1, kAvx512 = 2, kAvx512Wide = 3 };
inline constexpr int kAccumulateLevels = 4;

[[nodiscard]] constexpr const char* accumulate_level_name(AccumulateLevel level) noexcept {
  constexpr const char* kNames[kAccumulateLevels] = {"baseline", "AVX2", "AVX-512", "AVX-512, vectors of 64 bytes"};
  return kNames[static_cast<int>(level)];
}

// The kernel of one instruction set, or nullptr where this CPU lacks it. For tests of kernels that are not chosen here.
[[nodiscard]] AccumulateKernel accumulate_kernel_at(AccumulateLevel level, AccType type) noexcept;

// The instruction set that accumulate_kernel() uses.
[[nodiscard]] AccumulateLevel accumulate_level() noexcept;

namespace internal {

template <typename T>
inline T load(const void* from, size_t index) noexcept {
  T value;
  std::memcpy(&value, static_cast<const char*>(from) + index * sizeof(T), sizeof(T));
  return value;
}

template <typename T>
inline void add_scaled(const void* scale, const void* src, void* dst, size_t elements) noexcept {
  const T factor = load<T>(scale, 0);
  for (size_t i = 0; i < elements; ++i) {
    const T product = factor * load<T>(src, i);
    const T sum = load<T>(dst, i) + product;
    std::memcpy(static_cast<char*>(dst) + i * sizeof(T), &sum, sizeof(T));
  }
}

}  // namespace internal

// The same for a handful of elements, inline, for callers that avoid a call through a pointer.  Gives the same
// bits as the kernels as long as the caller is not compiled for fused multiply-add.
inline void accumulate_small(AccType type, const void* scale, const void* src, void* dst, size_t elements) noexcept {
  switch (type) {
    case AccType::kInt:
      return internal::add_scaled<uint32_t>(scale, src, dst, elements);
    case AccType::kLong:
      return internal::add_scaled<uint64_t>(scale, src, dst, elements);
    case AccType::kFloat:
      return internal::add_scaled<float>(scale, src, dst, elements);
    case AccType::kDouble:
      return internal::add_scaled<double>(scale, src, dst, elements);
    default:
      return accumulate_kernel(type)(scale, src, dst, elements);
  }
}

}  // namespace armci::node

#endif  // IMPL_NODE_ACCUMULATE_H_
