// The loops of the accumulate kernels, for any vector width.
//
// Each accumulate_<instruction set>.cc includes this file inside its target pragma. It instantiates the templates with
// a type of its own anonymous namespace, so the instances are local to that file. The linker can then never merge code
// for a newer CPU into a baseline caller.  For the same reason nothing else is included here.

#ifndef IMPL_NODE_ACCUMULATE_LOOP_H_
#define IMPL_NODE_ACCUMULATE_LOOP_H_

#include <cstddef>
#include <cstdint>

#include "impl/node/accumulate_table.h"

namespace armci::node::internal {

// A product on its way to an addition, rounded.  Hidden from the optimiser, which would otherwise fuse the two where
// the CPU can, for some patterns even when an option forbids it.
template <typename V>
inline V rounded(V product) {
  __asm__("" : "+v"(product));
  return product;
}

// `Isa` has the constant kVectorBytes; T is the scalar (unsigned for the integer types, so that wrapping is defined).
template <typename Isa, typename T>
struct Lanes {
  static constexpr size_t kCount = Isa::kVectorBytes / sizeof(T);
  typedef T Vector __attribute__((vector_size(Isa::kVectorBytes)));
  typedef T Unaligned __attribute__((vector_size(Isa::kVectorBytes), aligned(sizeof(T)), may_alias));

  static Vector get(const T* from) { return *reinterpret_cast<const Unaligned*>(from); }
  static void put(T* to, Vector value) { *reinterpret_cast<Unaligned*>(to) = value; }

  // Exchanges the real and the imaginary parts.
  static Vector swap_parts(Vector v) {
    if constexpr (kCount == 2) {
      return __builtin_shufflevector(v, v, 1, 0);
    } else if constexpr (kCount == 4) {
      return __builtin_shufflevector(v, v, 1, 0, 3, 2);
    } else if constexpr (kCount == 8) {
      return __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6);
    } else {
      static_assert(kCount == 16);
      return __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14);
    }
  }
};

// The three terms that an accumulate can add. Each computes a vector of them, or adds those of one element. kScalars is
// the number of scalars in an element.

template <typename Isa, typename T>
struct Unchanged {
  static constexpr size_t kScalars = 1;
  using Vector = typename Lanes<Isa, T>::Vector;

  Vector term(Vector src) const { return src; }
  void add(const T* src, T* dst) const { *dst += *src; }
};

template <typename Isa, typename T>
struct Scaled {
  static constexpr size_t kScalars = 1;
  using Vector = typename Lanes<Isa, T>::Vector;

  explicit Scaled(T scale) : factor(scale), factors(Vector{} + scale) {}
  Vector term(Vector src) const { return kExact ? factors * src : rounded(factors * src); }
  void add(const T* src, T* dst) const {
    if constexpr (kExact) {
      *dst += factor * *src;
    } else {
      *dst += rounded(factor * *src);
    }
  }

  static constexpr bool kExact = T(1) / T(2) == T(0);  // an integer

  T factor;
  Vector factors;
};

template <typename Isa, typename T>
struct ComplexScaled {
  static constexpr size_t kScalars = 2;
  using Vector = typename Lanes<Isa, T>::Vector;

  ComplexScaled(T real, T imaginary) : re(real), im(imaginary), straight(Vector{} + real), crossed(Vector{} + im) {
    for (size_t lane = 0; lane < Lanes<Isa, T>::kCount; lane += 2) crossed[lane] = -im;
  }
  Vector term(Vector src) const { return rounded(straight * src) + rounded(crossed * Lanes<Isa, T>::swap_parts(src)); }
  void add(const T* src, T* dst) const {
    const T real_part = rounded(re * src[0]) - rounded(im * src[1]);
    const T imaginary_part = rounded(re * src[1]) + rounded(im * src[0]);
    dst[0] += real_part;
    dst[1] += imaginary_part;
  }

  T re, im;
  Vector straight, crossed;
};

// Scalars to handle before `to` reaches a vector boundary, whole elements; none where no element begins on one.
template <typename Isa, typename T>
inline size_t until_aligned(const T* to, size_t scalars_per_element) {
  const size_t bytes = -reinterpret_cast<uintptr_t>(to) & (Isa::kVectorBytes - 1);
  return bytes % (scalars_per_element * sizeof(T)) == 0 ? bytes / sizeof(T) : 0;
}

template <typename Isa, typename T, typename Term>
inline void add_terms(const T* src, T* dst, size_t scalars, const Term& term) {
  using L = Lanes<Isa, T>;
  constexpr size_t kCount = L::kCount;
  size_t i = 0;
  if (scalars >= 8 * kCount) {
    const size_t head = until_aligned<Isa>(dst, Term::kScalars);
    for (; i < head; i += Term::kScalars) term.add(src + i, dst + i);
    for (; i + 4 * kCount <= scalars; i += 4 * kCount) {
      const auto a = L::get(dst + i) + term.term(L::get(src + i));
      const auto b = L::get(dst + i + kCount) + term.term(L::get(src + i + kCount));
      const auto c = L::get(dst + i + 2 * kCount) + term.term(L::get(src + i + 2 * kCount));
      const auto d = L::get(dst + i + 3 * kCount) + term.term(L::get(src + i + 3 * kCount));
      L::put(dst + i, a);
      L::put(dst + i + kCount, b);
      L::put(dst + i + 2 * kCount, c);
      L::put(dst + i + 3 * kCount, d);
    }
  }
  for (; i + kCount <= scalars; i += kCount) L::put(dst + i, L::get(dst + i) + term.term(L::get(src + i)));
  for (; i < scalars; i += Term::kScalars) term.add(src + i, dst + i);
}

template <typename Isa, typename T>
void accumulate_real(const void* scale, const void* src, void* dst, size_t elements) noexcept {
  add_terms<Isa>(static_cast<const T*>(src), static_cast<T*>(dst), elements,
                 Scaled<Isa, T>(*static_cast<const T*>(scale)));
}

template <typename Isa, typename T>
void accumulate_complex(const void* scale, const void* src, void* dst, size_t elements) noexcept {
  const T* from = static_cast<const T*>(src);
  T* to = static_cast<T*>(dst);
  const T re = static_cast<const T*>(scale)[0];
  const T im = static_cast<const T*>(scale)[1];
  // One is not multiplied by: 0 * infinity would spoil the other part.
  if (re == T{1} && im == T{0}) {
    add_terms<Isa>(from, to, 2 * elements, Unchanged<Isa, T>{});
  } else {
    add_terms<Isa>(from, to, 2 * elements, ComplexScaled<Isa, T>(re, im));
  }
}

// The wide kernel where source and destination lie alike within its vectors, the narrow one where each of the wide
// loads would cross two lines.
template <AccumulateKernel kWide, AccumulateKernel kNarrow, size_t kVectorBytes>
void accumulate_as_they_lie(const void* scale, const void* src, void* dst, size_t elements) noexcept {
  const auto apart = reinterpret_cast<uintptr_t>(src) - reinterpret_cast<uintptr_t>(dst);
  (apart % kVectorBytes == 0 ? kWide : kNarrow)(scale, src, dst, elements);
}

template <typename Wide, typename Narrow, typename T>
constexpr AccumulateKernel real_as_they_lie() {
  return &accumulate_as_they_lie<&accumulate_real<Wide, T>, &accumulate_real<Narrow, T>, Wide::kVectorBytes>;
}
template <typename Wide, typename Narrow, typename T>
constexpr AccumulateKernel complex_as_they_lie() {
  return &accumulate_as_they_lie<&accumulate_complex<Wide, T>, &accumulate_complex<Narrow, T>, Wide::kVectorBytes>;
}

template <typename Wide, typename Narrow>
constexpr AccumulateTable accumulate_table_of_both() {
  return {{real_as_they_lie<Wide, Narrow, uint32_t>(), real_as_they_lie<Wide, Narrow, uint64_t>(),
           real_as_they_lie<Wide, Narrow, float>(), real_as_they_lie<Wide, Narrow, double>(),
           complex_as_they_lie<Wide, Narrow, float>(), complex_as_they_lie<Wide, Narrow, double>()}};
}

template <typename Isa>
constexpr AccumulateTable accumulate_table() {
  return {{&accumulate_real<Isa, uint32_t>, &accumulate_real<Isa, uint64_t>, &accumulate_real<Isa, float>,
           &accumulate_real<Isa, double>, &accumulate_complex<Isa, float>, &accumulate_complex<Isa, double>}};
}

}  // namespace armci::node::internal

#endif  // IMPL_NODE_ACCUMULATE_LOOP_H_
