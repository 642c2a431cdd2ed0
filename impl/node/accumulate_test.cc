// Accumulate kernels of every instruction set against a scalar model, bit for bit.

#include "impl/node/accumulate.h"

#include <gtest/gtest.h>

#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace armci::node {
namespace {

constexpr unsigned char kGuard = 0xa5;
constexpr size_t kGuardBytes = 64;

template <typename T>
struct TypeOf;
template <>
struct TypeOf<int> {
  static constexpr AccType value = AccType::kInt;
};
template <>
struct TypeOf<long> {
  static constexpr AccType value = AccType::kLong;
};
template <>
struct TypeOf<float> {
  static constexpr AccType value = AccType::kFloat;
};
template <>
struct TypeOf<double> {
  static constexpr AccType value = AccType::kDouble;
};
template <>
struct TypeOf<std::complex<float>> {
  static constexpr AccType value = AccType::kComplexFloat;
};
template <>
struct TypeOf<std::complex<double>> {
  static constexpr AccType value = AccType::kComplexDouble;
};

// The model.  Products go through volatile so that no compiler fuses them into the sum.
int model(int scale, int src, int dst) {
  const int64_t exact = static_cast<int64_t>(scale) * src + dst;
  return static_cast<int>(static_cast<uint32_t>(exact));
}

long model(long scale, long src, long dst) {
  const __int128 exact = static_cast<__int128>(scale) * src + dst;
  return static_cast<long>(static_cast<uint64_t>(exact));
}

template <typename T>
T rounded_product(T a, T b) {
  volatile T product = a * b;
  return product;
}

template <typename T>
requires std::is_floating_point_v<T> T model(T scale, T src, T dst) { return dst + rounded_product(scale, src); }

template <typename T>
std::complex<T> model(std::complex<T> scale, std::complex<T> src, std::complex<T> dst) {
  if (scale == std::complex<T>(1, 0)) return {dst.real() + src.real(), dst.imag() + src.imag()};
  const T re = rounded_product(scale.real(), src.real()) - rounded_product(scale.imag(), src.imag());
  const T im = rounded_product(scale.real(), src.imag()) + rounded_product(scale.imag(), src.real());
  return {dst.real() + re, dst.imag() + im};
}

template <typename T>
struct IsComplex : std::false_type {};
template <typename T>
struct IsComplex<std::complex<T>> : std::true_type {};

// Integers over the whole range, so that products wrap; reals of many magnitudes, so that every rounding counts.
template <typename T>
T any_value(std::mt19937_64& random) {
  if constexpr (IsComplex<T>::value) {
    const auto re = any_value<typename T::value_type>(random);
    return {re, any_value<typename T::value_type>(random)};
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(random());
  } else {
    return std::uniform_real_distribution<T>(-1, 1)(random) * static_cast<T>(1 << (random() % 20));
  }
}

// `elements` elements at `offset` bytes from a 64-byte boundary, with guard bands on both sides.
template <typename T>
class Buffer {
 public:
  Buffer(size_t offset, size_t elements)
      : memory_(kGuardBytes + 64 + offset + elements * sizeof(T) + kGuardBytes, kGuard), elements_(elements) {
    const auto base = reinterpret_cast<uintptr_t>(memory_.data()) + kGuardBytes;
    begin_ = reinterpret_cast<unsigned char*>((base + 63) / 64 * 64 + offset);
  }

  void* data() { return begin_; }
  T get(size_t i) const {
    T value;
    std::memcpy(&value, begin_ + i * sizeof(T), sizeof(T));
    return value;
  }
  void set(size_t i, T value) { std::memcpy(begin_ + i * sizeof(T), &value, sizeof(T)); }

  [[nodiscard]] bool guards_intact() const {
    const unsigned char* end = begin_ + elements_ * sizeof(T);
    for (const unsigned char* p = memory_.data(); p < begin_; ++p) {
      if (*p != kGuard) return false;
    }
    for (const unsigned char* p = end; p < memory_.data() + memory_.size(); ++p) {
      if (*p != kGuard) return false;
    }
    return true;
  }

 private:
  std::vector<unsigned char> memory_;
  size_t elements_;
  unsigned char* begin_;
};

template <typename T>
std::string bits(T value) {
  unsigned char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  return std::string(reinterpret_cast<char*>(bytes), sizeof(T));
}

// Runs one case and compares; `offset` arguments are in components of T.
template <typename T, typename Run>
void check(Run run, T scale, size_t elements, size_t src_offset, size_t dst_offset, std::mt19937_64& random) {
  Buffer<T> src(src_offset, elements), dst(dst_offset, elements);
  std::vector<T> expected(elements);
  for (size_t i = 0; i < elements; ++i) {
    src.set(i, any_value<T>(random));
    dst.set(i, any_value<T>(random));
    expected[i] = model(scale, src.get(i), dst.get(i));
  }
  run(&scale, src.data(), dst.data(), elements);
  for (size_t i = 0; i < elements; ++i) {
    ASSERT_EQ(bits(expected[i]), bits(dst.get(i)))
        << "element " << i << " of " << elements << ", offsets " << src_offset << " and " << dst_offset << " bytes";
  }
  ASSERT_TRUE(dst.guards_intact()) << elements << " elements, target at " << dst_offset;
  ASSERT_TRUE(src.guards_intact()) << elements << " elements, source at " << src_offset;
}

template <typename T>
class AccumulateTest : public ::testing::Test {
 protected:
  static constexpr AccType kType = TypeOf<T>::value;

  // Calls `body(kernel)` for every instruction set that this CPU has.
  template <typename Body>
  void for_each_kernel(Body body) {
    for (int level = 0; level < kAccumulateLevels; ++level) {
      const AccumulateKernel kernel = accumulate_kernel_at(static_cast<AccumulateLevel>(level), kType);
      if (kernel == nullptr) continue;
      SCOPED_TRACE("level " + std::to_string(level));
      body(kernel);
      if (this->HasFatalFailure()) return;
    }
  }

  std::mt19937_64 random_{20060501};
};

using Types = ::testing::Types<int, long, float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(AccumulateTest, Types);

TYPED_TEST(AccumulateTest, EqualsTheModelForEveryLength) {
  this->for_each_kernel([&](AccumulateKernel kernel) {
    for (size_t elements = 0; elements <= 300; ++elements) {
      ASSERT_NO_FATAL_FAILURE(
          check<TypeParam>(kernel, any_value<TypeParam>(this->random_), elements, 0, 0, this->random_));
    }
  });
}

TYPED_TEST(AccumulateTest, EqualsTheModelAtEveryAlignment) {
  constexpr size_t kStep = component_bytes(TypeOf<TypeParam>::value);
  this->for_each_kernel([&](AccumulateKernel kernel) {
    for (size_t src = 0; src < 64; src += kStep) {
      for (size_t dst = 0; dst < 64; dst += kStep) {
        for (size_t elements : {1, 5, 16, 67, 151}) {
          ASSERT_NO_FATAL_FAILURE(
              check<TypeParam>(kernel, any_value<TypeParam>(this->random_), elements, src, dst, this->random_));
        }
      }
    }
  });
}

TYPED_TEST(AccumulateTest, EqualsTheModelForLongArrays) {
  constexpr size_t kStep = component_bytes(TypeOf<TypeParam>::value);
  this->for_each_kernel([&](AccumulateKernel kernel) {
    for (size_t elements : {1023, 4096, 65537}) {
      ASSERT_NO_FATAL_FAILURE(
          check<TypeParam>(kernel, any_value<TypeParam>(this->random_), elements, kStep, 3 * kStep, this->random_));
    }
  });
}

TYPED_TEST(AccumulateTest, ScaleOneAddsExactly) {
  this->for_each_kernel([&](AccumulateKernel kernel) {
    for (size_t elements : {1, 3, 64, 301}) {
      ASSERT_NO_FATAL_FAILURE(check<TypeParam>(kernel, TypeParam(1), elements, 0, 0, this->random_));
    }
  });
}

TYPED_TEST(AccumulateTest, ScaleZeroChangesNothing) {
  this->for_each_kernel([&](AccumulateKernel kernel) {
    for (size_t elements : {1, 64, 301}) {
      ASSERT_NO_FATAL_FAILURE(check<TypeParam>(kernel, TypeParam(0), elements, 0, 0, this->random_));
    }
  });
}

TYPED_TEST(AccumulateTest, SourceMayBeTheTarget) {
  this->for_each_kernel([&](AccumulateKernel kernel) {
    for (size_t elements : {1, 7, 64, 301}) {
      const auto scale = any_value<TypeParam>(this->random_);
      Buffer<TypeParam> both(0, elements);
      std::vector<TypeParam> expected(elements);
      for (size_t i = 0; i < elements; ++i) {
        both.set(i, any_value<TypeParam>(this->random_));
        expected[i] = model(scale, both.get(i), both.get(i));
      }
      kernel(&scale, both.data(), both.data(), elements);
      for (size_t i = 0; i < elements; ++i) ASSERT_EQ(bits(expected[i]), bits(both.get(i))) << i << " of " << elements;
    }
  });
}

TYPED_TEST(AccumulateTest, SmallFormEqualsTheModel) {
  const auto small = [](const void* scale, const void* src, void* dst, size_t elements) {
    accumulate_small(TypeOf<TypeParam>::value, scale, src, dst, elements);
  };
  for (size_t elements = 0; elements <= 8; ++elements) {
    ASSERT_NO_FATAL_FAILURE(
        check<TypeParam>(small, any_value<TypeParam>(this->random_), elements, 16, 8, this->random_));
  }
}

TYPED_TEST(AccumulateTest, AutomaticChoiceIsAKernelOfThisCpu) {
  const AccumulateKernel kernel = accumulate_kernel(this->kType);
  EXPECT_EQ(kernel, accumulate_kernel_at(accumulate_level(), this->kType));
  EXPECT_NE(kernel, nullptr);
}

TEST(AccumulateIntegerTest, WrapsInTwosComplement) {
  for (int level = 0; level < kAccumulateLevels; ++level) {
    const auto where = static_cast<AccumulateLevel>(level);
    if (accumulate_kernel_at(where, AccType::kInt) == nullptr) continue;
    for (size_t elements : {1, 100}) {
      const int one = 1, minus_one = -1;
      std::vector<int> dst(elements, std::numeric_limits<int>::max()), src(elements, 1);
      accumulate_kernel_at(where, AccType::kInt)(&one, src.data(), dst.data(), elements);
      EXPECT_EQ(dst, std::vector<int>(elements, std::numeric_limits<int>::min()));
      accumulate_kernel_at(where, AccType::kInt)(&minus_one, src.data(), dst.data(), elements);
      EXPECT_EQ(dst, std::vector<int>(elements, std::numeric_limits<int>::max()));

      const long huge = std::numeric_limits<long>::max();
      std::vector<long> long_dst(elements, 0), long_src(elements, huge);
      accumulate_kernel_at(where, AccType::kLong)(&huge, long_src.data(), long_dst.data(), elements);
      EXPECT_EQ(long_dst, std::vector<long>(elements, 1));  // (2^63 - 1)^2 = 1 modulo 2^64
    }
  }
}

// Multiplied out, the infinite real part would give 0 * infinity in the imaginary one.
TEST(AccumulateComplexTest, ScaleOneKeepsThePartsOfAnInfinityApart) {
  using Complex = std::complex<double>;
  for (int level = 0; level < kAccumulateLevels; ++level) {
    const AccumulateKernel kernel = accumulate_kernel_at(static_cast<AccumulateLevel>(level), AccType::kComplexDouble);
    if (kernel == nullptr) continue;
    for (size_t elements : {1, 50}) {
      const Complex one(1, 0);
      std::vector<Complex> src(elements, Complex(std::numeric_limits<double>::infinity(), 2)), dst(elements, {1, 1});
      kernel(&one, src.data(), dst.data(), elements);
      EXPECT_EQ(dst, std::vector<Complex>(elements, Complex(std::numeric_limits<double>::infinity(), 3)));
    }
  }
}

TEST(AccumulateComplexTest, ScaleIMultipliesAsComplex) {
  using Complex = std::complex<float>;
  for (int level = 0; level < kAccumulateLevels; ++level) {
    const AccumulateKernel kernel = accumulate_kernel_at(static_cast<AccumulateLevel>(level), AccType::kComplexFloat);
    if (kernel == nullptr) continue;
    for (size_t elements : {1, 50}) {
      const Complex i(0, 1);
      std::vector<Complex> src(elements, Complex(2, 3)), dst(elements, {10, 20});
      kernel(&i, src.data(), dst.data(), elements);
      EXPECT_EQ(dst, std::vector<Complex>(elements, Complex(7, 22)));
    }
  }
}

// A product that needs more than 53 bits: fused, the difference below would be 2^-60 and not 0.
TEST(AccumulateFloatingTest, RoundsTheProductBeforeTheSum) {
  for (int level = 0; level < kAccumulateLevels; ++level) {
    const AccumulateKernel kernel = accumulate_kernel_at(static_cast<AccumulateLevel>(level), AccType::kDouble);
    if (kernel == nullptr) continue;
    for (size_t elements : {1, 100}) {
      const double factor = 1 + 0x1p-30;
      std::vector<double> src(elements, factor), dst(elements, -(1 + 0x1p-29));
      kernel(&factor, src.data(), dst.data(), elements);
      EXPECT_EQ(dst, std::vector<double>(elements, 0.0));
    }
  }
}

TEST(AccumulateTypesTest, ElementIsOneOrTwoComponents) {
  for (int i = 0; i < kAccTypes; ++i) {
    const auto type = static_cast<AccType>(i);
    const bool complex = type == AccType::kComplexFloat || type == AccType::kComplexDouble;
    EXPECT_EQ(element_bytes(type), component_bytes(type) * (complex ? 2 : 1));
  }
}

TEST(AccumulateDispatchTest, FirstCallMayComeFromManyThreads) {
  constexpr int kThreads = 8;
  AccumulateKernel seen[kThreads] = {};
  {
    std::vector<std::jthread> threads;
    for (auto& kernel : seen) threads.emplace_back([&kernel] { kernel = accumulate_kernel(AccType::kDouble); });
  }
  for (const auto kernel : seen) EXPECT_EQ(kernel, accumulate_kernel(AccType::kDouble));
}

}  // namespace
}  // namespace armci::node
