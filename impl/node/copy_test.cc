// Copies of all sizes and alignments by every kernel of this CPU, and what other threads can see of them.

#include "impl/node/copy.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <new>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "impl/node/copy_table.h"

namespace armci::node {
namespace {

using internal::BodyKernel;

constexpr unsigned char kGuard = 0xa5;
constexpr size_t kGuardBytes = 192;

using Copy = std::function<void(char* dst, const char* src, size_t bytes)>;

struct Candidate {
  std::string name;
  Copy copy;
};

// copy() itself, and copies with each kernel of this CPU forced.
std::vector<Candidate> candidates() {
  std::vector<Candidate> all;
  all.push_back({"copy()", [](char* dst, const char* src, size_t bytes) { copy(dst, src, bytes); }});
  for (int i = 0; i < internal::kBodyCandidates; ++i) {
    const BodyKernel body = internal::body_candidate(i);
    if (body == nullptr) continue;
    all.push_back({internal::body_candidate_name(i),
                   [body](char* dst, const char* src, size_t bytes) { internal::copy_with(body, dst, src, bytes); }});
  }
  return all;
}

// Memory from a page boundary on, so that an offset is an alignment.
class Pages {
 public:
  explicit Pages(size_t bytes)
      : bytes_((bytes + 4095) / 4096 * 4096),
        data_(static_cast<char*>(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    if (data_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~Pages() { munmap(data_, bytes_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  [[nodiscard]] char* data() const { return data_; }
  [[nodiscard]] size_t bytes() const { return bytes_; }

 private:
  size_t bytes_;
  char* data_;
};

class CopyTest : public ::testing::Test {
 protected:
  static constexpr size_t kBytesMax = (64 << 20) + 1;

  static void SetUpTestSuite() {
    copy_initialise();
    src_ = new Pages(kBytesMax + 64);
    dst_ = new Pages(kBytesMax + 64 + 2 * kGuardBytes);
    std::mt19937_64 random(2006);
    for (size_t i = 0; i + 8 <= src_->bytes(); i += 8) {
      const uint64_t value = random();
      std::memcpy(src_->data() + i, &value, 8);
    }
  }
  static void TearDownTestSuite() {
    delete src_;
    delete dst_;
  }

  // Copies, and checks every byte of the destination and of the guard bands around it.
  static void check(const Candidate& candidate, size_t src_offset, size_t dst_offset, size_t bytes) {
    const char* src = src_->data() + src_offset;
    char* dst = dst_->data() + kGuardBytes + dst_offset;
    std::memset(dst - kGuardBytes, kGuard, kGuardBytes + std::min(bytes, size_t{1} << 20));
    std::memset(dst + bytes, kGuard, kGuardBytes);
    candidate.copy(dst, src, bytes);
    ASSERT_EQ(std::memcmp(dst, src, bytes), 0) << where(candidate, src_offset, dst_offset, bytes);
    for (size_t i = 0; i < kGuardBytes; ++i) {
      ASSERT_EQ(static_cast<unsigned char>(dst[bytes + i]), kGuard)
          << where(candidate, src_offset, dst_offset, bytes) << ": wrote " << i << " bytes behind";
      ASSERT_EQ(static_cast<unsigned char>(dst[-1 - static_cast<ptrdiff_t>(i)]), kGuard)
          << where(candidate, src_offset, dst_offset, bytes) << ": wrote " << i + 1 << " bytes before";
    }
  }

  static std::string where(const Candidate& candidate, size_t src_offset, size_t dst_offset, size_t bytes) {
    return candidate.name + ", " + std::to_string(bytes) + " bytes from offset " + std::to_string(src_offset) + " to " +
           std::to_string(dst_offset);
  }

  static inline Pages* src_ = nullptr;
  static inline Pages* dst_ = nullptr;
};

// XFER-1, XFER-2.
TEST_F(CopyTest, EverySizeTo4KiB) {
  for (const Candidate& candidate : candidates()) {
    for (size_t bytes = 0; bytes <= 4096; ++bytes) {
      ASSERT_NO_FATAL_FAILURE(check(candidate, 0, 0, bytes));
      ASSERT_NO_FATAL_FAILURE(check(candidate, bytes % 61, bytes % 59, bytes));
    }
  }
}

TEST_F(CopyTest, EveryAlignment) {
  for (const Candidate& candidate : candidates()) {
    for (size_t bytes : {1, 3, 8, 13, 16, 31, 64, 100, 128, 129, 255, 640}) {
      for (size_t src = 0; src < 64; ++src) {
        for (size_t dst = 0; dst < 64; ++dst) ASSERT_NO_FATAL_FAILURE(check(candidate, src, dst, bytes));
      }
    }
  }
}

TEST_F(CopyTest, SizesAroundPowersOfTwo) {
  const size_t offsets[][2] = {{0, 0}, {0, 8}, {8, 0}, {17, 43}, {63, 1}};
  for (const Candidate& candidate : candidates()) {
    for (size_t power = 8 << 10; power <= (64 << 20); power *= 2) {
      const size_t pairs = power > (1 << 20) ? 1 : std::size(offsets);
      for (size_t bytes : {power - 1, power, power + 1}) {
        for (size_t i = 0; i < pairs; ++i) {
          const auto& [src, dst] = offsets[power > (1 << 20) ? (power / bytes + bytes % 5) % 5 : i];
          ASSERT_NO_FATAL_FAILURE(check(candidate, src, dst, bytes));
        }
      }
    }
  }
}

TEST_F(CopyTest, OntoItselfChangesNothing) {
  std::vector<char> expected(5000), both(5000);
  std::memcpy(expected.data(), src_->data(), expected.size());
  for (const Candidate& candidate : candidates()) {
    both = expected;
    for (size_t bytes : {1, 8, 24, 100, 129, 1000, 4096}) {
      for (size_t offset : {0, 3, 8}) candidate.copy(both.data() + offset, both.data() + offset, bytes);
    }
    EXPECT_EQ(both, expected) << candidate.name;
  }
}

TEST_F(CopyTest, OverlapStaysInBounds) {
  constexpr size_t kBytes = 700, kAround = 300;
  for (const Candidate& candidate : candidates()) {
    for (int shift = -200; shift <= 200; ++shift) {
      std::vector<unsigned char> memory(kBytes + 2 * kAround, kGuard);
      char* dst = reinterpret_cast<char*>(memory.data()) + kAround;
      candidate.copy(dst, dst + shift, kBytes);
      EXPECT_TRUE(std::all_of(memory.begin(), memory.begin() + kAround, [](auto byte) { return byte == kGuard; }));
      EXPECT_TRUE(std::all_of(memory.end() - kAround, memory.end(), [](auto byte) { return byte == kGuard; }));
    }
  }
}

// The neighbouring pages of source and destination may not be touched: touching them is a fault.
TEST_F(CopyTest, NeighbouringPagesAreNotTouched) {
  Pages src(3 * 4096), dst(3 * 4096);
  for (const Pages* pages : {&src, &dst}) {
    ASSERT_EQ(mprotect(pages->data(), 4096, PROT_NONE), 0);
    ASSERT_EQ(mprotect(pages->data() + 8192, 4096, PROT_NONE), 0);
  }
  std::memcpy(src.data() + 4096, src_->data(), 4096);
  for (const Candidate& candidate : candidates()) {
    for (size_t bytes = 0; bytes <= 600; ++bytes) {
      candidate.copy(dst.data() + 8192 - bytes, src.data() + 8192 - bytes, bytes);
      ASSERT_EQ(std::memcmp(dst.data() + 8192 - bytes, src.data() + 8192 - bytes, bytes), 0) << candidate.name;
      candidate.copy(dst.data() + 4096, src.data() + 8192 - bytes, bytes);
      ASSERT_EQ(std::memcmp(dst.data() + 4096, src.data() + 8192 - bytes, bytes), 0) << candidate.name;
      candidate.copy(dst.data() + 8192 - bytes, src.data() + 4096, bytes);
      ASSERT_EQ(std::memcmp(dst.data() + 8192 - bytes, src.data() + 4096, bytes), 0) << candidate.name;
    }
  }
}

TEST_F(CopyTest, ChoiceIsAKernelOfThisCpu) {
  std::vector<BodyKernel> kernels;
  for (int level = 0; level < internal::kCopyLevels; ++level) {
    const internal::CopyTable* table = internal::copy_table(static_cast<internal::CopyLevel>(level));
    if (table != nullptr) kernels.push_back(table->brief);
  }
  for (int i = 0; i < internal::kBodyCandidates; ++i) kernels.push_back(internal::body_candidate(i));
  for (size_t bytes = 129; bytes < (size_t{1} << 40); bytes *= 2) {
    for (ptrdiff_t offset : {0, 8, -8}) {
      const BodyKernel chosen = internal::chosen_copy_body(dst_->data() + 64 + offset, src_->data(), bytes);
      EXPECT_NE(std::find(kernels.begin(), kernels.end(), chosen), kernels.end()) << bytes;
      ASSERT_NE(chosen, nullptr);
    }
  }
}

// ---- What another thread sees
// These race on purpose, as processes do in node memory.  A thread sanitizer can only report that.

#ifdef __SANITIZE_THREAD__
constexpr bool kRacesReported = true;
#else
constexpr bool kRacesReported = false;
#endif

// True if the naturally aligned elements of sizeof(T) in [begin, end) each consist of equal bytes.
template <typename T>
bool elements_whole(const char* begin, const char* end) {
  constexpr T kOnes = static_cast<T>(0x0101010101010101u);
  auto address = (reinterpret_cast<uintptr_t>(begin) + sizeof(T) - 1) / sizeof(T) * sizeof(T);
  for (; address + sizeof(T) <= reinterpret_cast<uintptr_t>(end); address += sizeof(T)) {
    const T value = __atomic_load_n(reinterpret_cast<const T*>(address), __ATOMIC_RELAXED);
    if (value != static_cast<T>((value & 0xff) * kOnes)) return false;
  }
  return true;
}

// The same for the two ends of a copy, where kernels do anything but aligned moves.
template <typename T>
bool ends_whole(const char* begin, size_t bytes) {
  constexpr size_t kEnd = 24;
  if (bytes <= 2 * kEnd) return elements_whole<T>(begin, begin + bytes);
  return elements_whole<T>(begin, begin + kEnd) && elements_whole<T>(begin + bytes - kEnd, begin + bytes);
}

struct TearingCase {
  size_t bytes, offset;
  int times;
};

// Sizes that all candidates copy with the same code are left to the first of them.
std::vector<TearingCase> tearing_cases(bool first) {
  std::vector<TearingCase> cases;
  for (size_t offset : {0, 1, 2, 3, 4, 5, 6, 7, 44, 49, 52, 57, 60}) {
    if (first) {
      for (size_t bytes : {8, 12, 13, 16, 20, 24, 29, 44, 60, 100, 124}) cases.push_back({bytes, offset, 20000});
    }
    for (size_t bytes : {136, 203, 321, 516}) cases.push_back({bytes, offset, 500});
  }
  return cases;
}

// LC-3, destination: sources of equal bytes are copied in turn while another thread reads the elements.
TEST_F(CopyTest, NoElementOfTheDestinationIsSeenTorn) {
  if (kRacesReported) GTEST_SKIP() << "races on purpose";
  alignas(64) static char dst[1024];
  std::atomic<size_t> offset = 0, length = 0, torn = 0;
  std::atomic<bool> done = false;
  std::jthread reader([&] {
    while (!done.load(std::memory_order_relaxed)) {
      const size_t from = offset.load(), bytes = length.load();
      bool whole = true;
      for (int i = 0; i < 64 && whole; ++i) {
        whole = ends_whole<uint64_t>(dst + from, bytes) && ends_whole<uint32_t>(dst + from, bytes);
      }
      if (!whole && from == offset.load() && bytes == length.load()) torn.fetch_add(1);
    }
  });
  const std::vector<char> ones(1024, 0x11), twos(1024, 0x22);
  for (const Candidate& candidate : candidates()) {
    for (const TearingCase& tearing : tearing_cases(candidate.name == "copy()")) {
      length.store(0);
      std::fill(std::begin(dst), std::end(dst), char{0x11});
      offset.store(tearing.offset);
      length.store(tearing.bytes);
      for (int i = 0; i < tearing.times; ++i) {
        candidate.copy(dst + tearing.offset, (i % 2 == 0 ? twos : ones).data() + i % 5, tearing.bytes);
      }
      EXPECT_EQ(torn.exchange(0), 0u) << where(candidate, 0, tearing.offset, tearing.bytes);
    }
  }
  done.store(true);
}

// LC-3, source: another thread rewrites the elements while they are copied.
TEST_F(CopyTest, NoElementOfTheSourceIsReadTorn) {
  if (kRacesReported) GTEST_SKIP() << "races on purpose";
  alignas(64) static uint64_t shared[1024 / 8];
  alignas(64) static char dst[1024];
  std::atomic<size_t> length = 0;
  std::atomic<bool> done = false;
  std::jthread writer([&] {
    for (uint64_t byte = 1; !done.load(std::memory_order_relaxed); byte = byte % 255 + 1) {
      const size_t elements = length.load(std::memory_order_relaxed) / 8;
      for (size_t i = 0; i < elements; ++i) {
        __atomic_store_n(&shared[i], byte * 0x0101010101010101u, __ATOMIC_RELAXED);
      }
    }
  });
  for (const Candidate& candidate : candidates()) {
    for (const TearingCase& tearing : tearing_cases(candidate.name == "copy()")) {
      length.store(tearing.offset + tearing.bytes + 7);
      size_t torn = 0;
      for (int i = 0; i < tearing.times; ++i) {
        char* to = dst + tearing.offset;
        candidate.copy(to, reinterpret_cast<const char*>(shared) + tearing.offset, tearing.bytes);
        if (!elements_whole<uint64_t>(to, to + tearing.bytes)) ++torn;
      }
      EXPECT_EQ(torn, 0u) << where(candidate, tearing.offset, tearing.offset, tearing.bytes);
    }
  }
  done.store(true);
}

// ORD-1: a thread that sees the flag stored after a copy sees all of the copy, non-temporal stores included.
TEST_F(CopyTest, StoresAfterACopyAreSeenAfterIt) {
  if (kRacesReported) GTEST_SKIP() << "races on purpose";
  constexpr size_t kBytes = 4096 + 64;
  constexpr uint64_t kTimes = 2000;
  const auto at = [](const Pages& pages, size_t byte) { return reinterpret_cast<uint64_t*>(pages.data() + byte); };
  for (const Candidate& candidate : candidates()) {
    Pages src(kBytes), dst(kBytes);
    std::atomic<uint64_t> flag = 0, seen = 0;
    uint64_t early = 0;
    std::jthread reader([&] {
      for (uint64_t time = 1; time <= kTimes; ++time) {
        while (flag.load(std::memory_order_acquire) < time) std::this_thread::yield();
        for (size_t byte = 0; byte < kBytes; byte += 8) {
          if (__atomic_load_n(at(dst, byte), __ATOMIC_RELAXED) != time) ++early;
        }
        seen.store(time, std::memory_order_release);
      }
    });
    for (uint64_t time = 1; time <= kTimes; ++time) {
      std::fill(at(src, 0), at(src, kBytes), time);
      candidate.copy(dst.data(), src.data(), kBytes);
      flag.store(time, std::memory_order_release);
      while (seen.load(std::memory_order_acquire) < time) std::this_thread::yield();
    }
    reader.join();
    EXPECT_EQ(early, 0u) << candidate.name;
  }
}

}  // namespace
}  // namespace armci::node
