#include <complex>
#include <cstring>
#include <type_traits>

#include "conformance/harness/plan.h"

namespace conformance {
namespace {

// Elements may be aligned for their parts only (complex), so they are copied in and out.
template <typename T>
void AccSegment(const void* scale, const char* src, char* dst, std::size_t bytes) {
  T factor;
  std::memcpy(&factor, scale, sizeof(T));
  for (std::size_t at = 0; at + sizeof(T) <= bytes; at += sizeof(T)) {
    T addend;
    T sum;
    std::memcpy(&addend, src + at, sizeof(T));
    std::memcpy(&sum, dst + at, sizeof(T));
    if constexpr (std::is_integral_v<T>) {
      // Random operands overflow; sums wrap around, which only unsigned arithmetic may.
      using Bits = std::make_unsigned_t<T>;
      sum = static_cast<T>(static_cast<Bits>(sum) + static_cast<Bits>(factor) * static_cast<Bits>(addend));
    } else {
      sum += factor * addend;
    }
    std::memcpy(dst + at, &sum, sizeof(T));
  }
}

template <typename T>
void FillWith(Rng* rng, char* to, std::size_t bytes) {
  for (std::size_t at = 0; at + sizeof(T) <= bytes; at += sizeof(T)) {
    const T value = static_cast<T>(rng->Between(-50, 50));
    std::memcpy(to + at, &value, sizeof(T));
  }
}

template <typename T>
Scale ScaleOf(T value) {
  Scale scale{};
  std::memcpy(scale.bytes, &value, sizeof(T));
  return scale;
}

}  // namespace

void ModelCopy(const Plan& plan, const char* src, char* dst) {
  for (const Segment& segment : plan.segments) std::memmove(dst + segment.dst, src + segment.src, segment.bytes);
}

void ModelAcc(const Plan& plan, const AccType& type, const void* scale, const char* src, char* dst) {
  for (const Segment& s : plan.segments) {
    const char* from = src + s.src;
    char* to = dst + s.dst;
    switch (type.code) {
      case ARMCI_ACC_INT:
        AccSegment<int>(scale, from, to, s.bytes);
        break;
      case ARMCI_ACC_LNG:
        AccSegment<long>(scale, from, to, s.bytes);
        break;
      case ARMCI_ACC_FLT:
        AccSegment<float>(scale, from, to, s.bytes);
        break;
      case ARMCI_ACC_DBL:
        AccSegment<double>(scale, from, to, s.bytes);
        break;
      case ARMCI_ACC_CPL:
        AccSegment<std::complex<float>>(scale, from, to, s.bytes);
        break;
      default:
        AccSegment<std::complex<double>>(scale, from, to, s.bytes);
    }
  }
}

void FillElements(Rng* rng, const AccType& type, char* to, std::size_t bytes) {
  switch (type.code) {
    case ARMCI_ACC_INT:
      return FillWith<int>(rng, to, bytes);
    case ARMCI_ACC_LNG:
      return FillWith<long>(rng, to, bytes);
    case ARMCI_ACC_FLT:
    case ARMCI_ACC_CPL:
      return FillWith<float>(rng, to, bytes);
    default:
      return FillWith<double>(rng, to, bytes);
  }
}

Scale SmallScale(Rng* rng, const AccType& type) {
  const int a = static_cast<int>(rng->Between(2, 9));
  const int b = static_cast<int>(rng->Between(-9, -2));
  switch (type.code) {
    case ARMCI_ACC_INT:
      return ScaleOf<int>(b);
    case ARMCI_ACC_LNG:
      return ScaleOf<long>(b);
    case ARMCI_ACC_FLT:
      return ScaleOf<float>(static_cast<float>(a));
    case ARMCI_ACC_DBL:
      return ScaleOf<double>(a);
    case ARMCI_ACC_CPL:
      return ScaleOf(std::complex<float>(static_cast<float>(a), static_cast<float>(b)));
    default:
      return ScaleOf(std::complex<double>(a, b));
  }
}

Scale UnitScale(const AccType& type) {
  switch (type.code) {
    case ARMCI_ACC_INT:
      return ScaleOf<int>(1);
    case ARMCI_ACC_LNG:
      return ScaleOf<long>(1);
    case ARMCI_ACC_FLT:
      return ScaleOf<float>(1);
    case ARMCI_ACC_DBL:
      return ScaleOf<double>(1);
    case ARMCI_ACC_CPL:
      return ScaleOf(std::complex<float>(1));
    default:
      return ScaleOf(std::complex<double>(1));
  }
}

}  // namespace conformance
