// Strided and vector copies against a byte-by-byte loop nest, with the kernels of every instruction set of this CPU.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "impl/node/copy.h"
#include "impl/node/copy_table.h"

namespace armci::node {
namespace {

constexpr char kGuard = 0x5a;

struct Candidate {
  std::string name;
  std::function<void(char*, const ptrdiff_t*, const char*, const ptrdiff_t*, const size_t*, int)> strided;
  std::function<void(void* const*, const void* const*, size_t, size_t)> vector;
};

// One level goes by the function for it.
void copy_rows_if_one_level(char* dst, const ptrdiff_t* dst_stride, const char* src, const ptrdiff_t* src_stride,
                            const size_t* count, int levels) {
  if (levels == 1 && count[0] != 0) {
    copy_rows(dst, dst_stride[0], src, src_stride[0], count[1], count[0]);
  } else {
    copy_strided(dst, dst_stride, src, src_stride, count, levels);
  }
}

void copy_vector_with_known_bits(void* const* dst, const void* const* src, size_t segments, size_t bytes) {
  uintptr_t bits = 0;
  for (size_t i = 0; i < segments; ++i) bits |= reinterpret_cast<uintptr_t>(dst[i]);
  copy_vector(dst, src, segments, bytes, bits);
}

void copy_vector_with_unknown_bits(void* const* dst, const void* const* src, size_t segments, size_t bytes) {
  copy_vector(dst, src, segments, bytes);
}

// The public functions, and each table of kernels forced.
std::vector<Candidate> candidates() {
  std::vector<Candidate> all = {{"chosen", &copy_strided, &copy_vector_with_unknown_bits},
                                {"known", &copy_rows_if_one_level, &copy_vector_with_known_bits}};
  for (int level = 0; level < internal::kCopyLevels; ++level) {
    const internal::CopyTable* table = internal::copy_table(static_cast<internal::CopyLevel>(level));
    if (table == nullptr) continue;
    all.push_back({"level " + std::to_string(level),
                   [table](char* dst, const ptrdiff_t* dst_stride, const char* src, const ptrdiff_t* src_stride,
                           const size_t* count, int levels) {
                     internal::copy_strided_with({table, table}, dst, dst_stride, src, src_stride, count, levels);
                   },
                   [table](void* const* dst, const void* const* src, size_t segments, size_t bytes) {
                     internal::copy_vector_with({table, table}, dst, src, segments, bytes);
                   }});
  }
  return all;
}

struct Shape {
  std::vector<size_t> count;
  std::vector<ptrdiff_t> dst_stride, src_stride;

  [[nodiscard]] int levels() const { return static_cast<int>(dst_stride.size()); }
};

std::string describe(const Shape& shape) {
  std::string text = "count";
  for (const size_t count : shape.count) text += " " + std::to_string(count);
  text += ", dst strides";
  for (const ptrdiff_t stride : shape.dst_stride) text += " " + std::to_string(stride);
  text += ", src strides";
  for (const ptrdiff_t stride : shape.src_stride) text += " " + std::to_string(stride);
  return text;
}

// The model.
void copy_bytes(char* dst, const char* src, const Shape& shape, int level) {
  if (level == 0) {
    for (size_t i = 0; i < shape.count[0]; ++i) dst[i] = src[i];
    return;
  }
  for (size_t i = 0; i < shape.count[level]; ++i) {
    const auto index = static_cast<ptrdiff_t>(i);
    copy_bytes(dst + index * shape.dst_stride[level - 1], src + index * shape.src_stride[level - 1], shape, level - 1);
  }
}

// Lowest and highest byte offset that a side of the shape touches.
struct Extent {
  ptrdiff_t low = 0, high = 0;
};
Extent extent(const Shape& shape, const std::vector<ptrdiff_t>& stride) {
  Extent found;
  found.high = static_cast<ptrdiff_t>(shape.count[0]);
  for (size_t level = 0; level < stride.size(); ++level) {
    const ptrdiff_t reach = stride[level] * (static_cast<ptrdiff_t>(shape.count[level + 1]) - 1);
    (reach < 0 ? found.low : found.high) += reach;
  }
  return found;
}

// Every byte of the destination's memory, touched or not, must be as the model leaves it.
void check(const Candidate& candidate, const Shape& shape, size_t dst_offset, size_t src_offset) {
  constexpr size_t kAround = 128;
  const Extent to = extent(shape, shape.dst_stride), from = extent(shape, shape.src_stride);
  std::vector<char> src(static_cast<size_t>(from.high - from.low) + 64);
  std::iota(src.begin(), src.end(), char{1});
  for (size_t i = 0; i < src.size(); i += 7) src[i] = static_cast<char>(i / 7);
  std::vector<char> expected(static_cast<size_t>(to.high - to.low) + 2 * kAround + 128, kGuard);
  std::vector<char> actual = expected;

  const auto misalign = [&](std::vector<char>& memory, size_t offset) {
    const size_t to_line = -reinterpret_cast<uintptr_t>(memory.data()) % 64;
    return static_cast<ptrdiff_t>(kAround + to_line + offset) - to.low;
  };
  const char* source = src.data() + src_offset - from.low;
  char* actual_begin = actual.data() + misalign(actual, dst_offset);
  char* expected_begin = expected.data() + (actual_begin - actual.data());
  copy_bytes(expected_begin, source, shape, shape.levels());
  candidate.strided(actual_begin, shape.dst_stride.data(), source, shape.src_stride.data(), shape.count.data(),
                    shape.levels());
  ASSERT_EQ(std::memcmp(expected.data(), actual.data(), actual.size()), 0)
      << candidate.name << ": " << describe(shape) << ", offsets " << dst_offset << " and " << src_offset;
}

class CopyStridedTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { copy_initialise(); }
};

// XFER-5.
TEST_F(CopyStridedTest, RowsOfEverySize) {
  for (const Candidate& candidate : candidates()) {
    for (size_t bytes = 1; bytes <= 700; ++bytes) {
      const auto tight = static_cast<ptrdiff_t>(bytes);
      for (const ptrdiff_t gap : {0, 1, 4, 8, 64}) {
        ASSERT_NO_FATAL_FAILURE(check(candidate, {{bytes, 19}, {tight + gap}, {tight + 3}}, bytes % 9, bytes % 5));
      }
    }
    for (size_t bytes : {1024, 1031, 2048, 2056, 5000}) {
      ASSERT_NO_FATAL_FAILURE(check(candidate, {{bytes, 9}, {8192}, {5008}}, 0, 0));
      ASSERT_NO_FATAL_FAILURE(check(candidate, {{bytes, 9}, {8195}, {5003}}, 3, 1));
    }
  }
}

TEST_F(CopyStridedTest, RowsAtEveryAlignment) {
  for (const Candidate& candidate : candidates()) {
    for (size_t bytes : {4, 8, 12, 16, 20, 29, 64, 100}) {
      for (size_t dst = 0; dst < 64; ++dst) {
        for (const ptrdiff_t stride : {128, 132, 133, 134}) {
          ASSERT_NO_FATAL_FAILURE(check(candidate, {{bytes, 13}, {stride}, {120}}, dst, dst * 7 % 64));
        }
      }
    }
  }
}

TEST_F(CopyStridedTest, AnyNumberOfRows) {
  for (const Candidate& candidate : candidates()) {
    for (size_t rows : {1, 2, 3, 4, 5, 7, 8, 31, 32, 33, 100, 257, 1000}) {
      for (size_t bytes : {3, 4, 8, 16, 36, 61, 64, 256, 264}) {
        for (const ptrdiff_t stride : {300, 512, 4096}) {
          ASSERT_NO_FATAL_FAILURE(check(candidate, {{bytes, rows}, {stride}, {272}}, 0, 0));
          ASSERT_NO_FATAL_FAILURE(check(candidate, {{bytes, rows}, {275}, {stride}}, 5, 0));
        }
      }
    }
  }
}

TEST_F(CopyStridedTest, NegativeStrides) {
  for (const Candidate& candidate : candidates()) {
    for (size_t bytes : {5, 8, 40, 130}) {
      ASSERT_NO_FATAL_FAILURE(check(candidate, {{bytes, 17}, {-136}, {144}}, 0, 0));
      ASSERT_NO_FATAL_FAILURE(check(candidate, {{bytes, 17}, {141}, {-133}}, 3, 2));
      ASSERT_NO_FATAL_FAILURE(check(candidate, {{bytes, 6, 5}, {-136, 136 * 6}, {136 * 5, -136}}, 0, 0));
    }
  }
}

// Source rows may overlap each other, even coincide.
TEST_F(CopyStridedTest, SourceStrideSmallerThanTheRow) {
  for (const Candidate& candidate : candidates()) {
    for (const ptrdiff_t stride : {0, 1, 8, 24}) {
      ASSERT_NO_FATAL_FAILURE(check(candidate, {{32, 40}, {32}, {stride}}, 0, 0));
      ASSERT_NO_FATAL_FAILURE(check(candidate, {{27, 40}, {27}, {stride}}, 0, 0));
    }
  }
}

TEST_F(CopyStridedTest, RandomShapesUpToEightLevels) {
  std::mt19937 random(98);
  const auto below = [&](size_t limit) { return random() % limit; };
  const size_t sizes[] = {1, 2, 4, 7, 8, 12, 16, 24, 33, 48, 64, 100};
  for (const Candidate& candidate : candidates()) {
    for (int time = 0; time < 400; ++time) {
      const int levels = static_cast<int>(below(9));
      Shape shape;
      shape.count.push_back(sizes[below(std::size(sizes))]);
      size_t dst_span = shape.count[0], src_span = shape.count[0];
      for (int level = 0; level < levels; ++level) {
        const size_t count = 1 + below(levels > 4 ? 2 : 5);
        const size_t dst_stride = dst_span + below(3) * 8 + below(4) / 3 * below(8);
        const size_t src_stride = src_span + below(20);
        shape.count.push_back(count);
        shape.dst_stride.push_back(static_cast<ptrdiff_t>(dst_stride));
        shape.src_stride.push_back(static_cast<ptrdiff_t>(src_stride));
        dst_span = dst_stride * count;
        src_span = src_stride * count;
      }
      ASSERT_NO_FATAL_FAILURE(check(candidate, shape, below(2) * below(64), below(64)));
    }
  }
}

// XFER-3.
TEST_F(CopyStridedTest, AZeroCountCopiesNothing) {
  for (const Candidate& candidate : candidates()) {
    char src[64] = {}, dst[64];
    std::memset(dst, kGuard, sizeof(dst));
    const ptrdiff_t stride[] = {8, 16, 32};
    for (const std::vector<size_t>& count :
         {std::vector<size_t>{0, 2, 2, 2}, {4, 0, 2, 2}, {4, 2, 0, 2}, {4, 2, 2, 0}}) {
      candidate.strided(dst, stride, src, stride, count.data(), 3);
    }
    const size_t nothing = 0;
    candidate.strided(dst, nullptr, src, nullptr, &nothing, 0);
    for (const char byte : dst) EXPECT_EQ(byte, kGuard);
  }
}

TEST_F(CopyStridedTest, NoLevelsIsOneContiguousCopy) {
  for (const Candidate& candidate : candidates()) {
    for (size_t bytes : {1, 8, 100, 4096}) ASSERT_NO_FATAL_FAILURE(check(candidate, {{bytes}, {}, {}}, 1, 2));
  }
}

// ---- Vector

// Segments at the given distances, copied in a random order of both sides.
void check_vector(const Candidate& candidate, size_t segments, size_t bytes, size_t dst_step, size_t src_step,
                  size_t dst_offset, std::mt19937& random) {
  std::vector<char> src(segments * src_step + bytes + 64), actual(segments * dst_step + bytes + 256, kGuard);
  for (char& byte : src) byte = static_cast<char>(random());
  std::vector<char> expected = actual;
  const size_t base = 64 + -reinterpret_cast<uintptr_t>(actual.data()) % 64 + dst_offset;
  std::vector<size_t> order(segments);
  std::iota(order.begin(), order.end(), size_t{0});
  std::shuffle(order.begin(), order.end(), random);
  std::vector<void*> to;
  std::vector<const void*> from;
  for (size_t i = 0; i < segments; ++i) {
    to.push_back(actual.data() + base + order[i] * dst_step);
    from.push_back(src.data() + i * src_step);
    for (size_t k = 0; k < bytes; ++k) expected[base + order[i] * dst_step + k] = src[i * src_step + k];
  }
  candidate.vector(to.data(), from.data(), segments, bytes);
  ASSERT_EQ(std::memcmp(expected.data(), actual.data(), actual.size()), 0)
      << candidate.name << ": " << segments << " segments of " << bytes << " bytes, steps " << dst_step << " and "
      << src_step << ", offset " << dst_offset;
}

// XFER-6.
TEST_F(CopyStridedTest, VectorSegmentsOfEverySize) {
  std::mt19937 random(20);
  for (const Candidate& candidate : candidates()) {
    for (size_t bytes = 0; bytes <= 600; ++bytes) {
      ASSERT_NO_FATAL_FAILURE(check_vector(candidate, 11, bytes, (bytes + 15) / 8 * 8, bytes + 1, 0, random));
      ASSERT_NO_FATAL_FAILURE(check_vector(candidate, 11, bytes, (bytes + 15) / 8 * 8, bytes, bytes % 8, random));
      ASSERT_NO_FATAL_FAILURE(check_vector(candidate, 11, bytes, bytes + 3, bytes, 0, random));
    }
    for (size_t bytes : {2048, 2056, 4100}) {
      ASSERT_NO_FATAL_FAILURE(check_vector(candidate, 5, bytes, 4104, 4104, 0, random));
    }
  }
}

TEST_F(CopyStridedTest, VectorOfAnyNumberOfSegments) {
  std::mt19937 random(20);
  for (const Candidate& candidate : candidates()) {
    for (size_t segments = 0; segments <= 70; ++segments) {
      for (size_t bytes : {8, 12, 64}) {
        ASSERT_NO_FATAL_FAILURE(check_vector(candidate, segments, bytes, 72, 80, segments % 8, random));
      }
    }
  }
}

}  // namespace
}  // namespace armci::node
