#include "impl/node/node_accumulate.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "impl/node/accumulate.h"
#include "impl/testing/processes.h"

namespace armci::node {
namespace {
using testing::run_processes;
using testing::SharedMemory;
using testing::StartLine;

constexpr AccType kTypes[] = {AccType::kInt,    AccType::kLong,         AccType::kFloat,
                              AccType::kDouble, AccType::kComplexFloat, AccType::kComplexDouble};

// Zeroed locks, and memory that begins on a granule; `at` is an offset into it.
class Arena {
 public:
  explicit Arena(std::size_t granules)
      : memory_(kLockBytes + (granules + 1) * kGranuleBytes),
        data_(reinterpret_cast<char*>(
            (reinterpret_cast<std::uintptr_t>(memory_.base()) + kLockBytes + kGranuleBytes - 1) / kGranuleBytes *
            kGranuleBytes)) {}
  AccumulateLock* locks() const { return memory_.at<AccumulateLock>(); }
  char* at(std::size_t offset) const { return data_ + offset; }
  int locks_held() const {
    int held = 0;
    for (int i = 0; i < kAccumulateLocks; ++i) held += locks()[i].held.load() != 0;
    return held;
  }

 private:
  static constexpr std::size_t kLockBytes = kAccumulateLocks * sizeof(AccumulateLock);
  SharedMemory memory_;
  char* data_;
};

// Fills elements with small whole numbers, for which every sum is exact in every type.
void fill(AccType type, char* memory, std::size_t bytes, std::mt19937& random) {
  const auto put = [&](auto zero) {
    for (std::size_t i = 0; i + sizeof zero <= bytes; i += sizeof zero) {
      const auto value = static_cast<decltype(zero)>(random() % 100);
      std::memcpy(memory + i, &value, sizeof value);
    }
  };
  switch (type) {
    case AccType::kInt:
      return put(int{});
    case AccType::kLong:
      return put(long{});
    case AccType::kFloat:
    case AccType::kComplexFloat:
      return put(float{});
    case AccType::kDouble:
    case AccType::kComplexDouble:
      return put(double{});
  }
}

// Every length and place around a granule's end gives what the kernel gives without locks, and frees every lock.
TEST(AccumulatorTest, PiecesAcrossGranulesAreAddedLikeOne) {
  std::mt19937 random(20276);
  Arena arena(4);
  std::vector<char> source(3 * kGranuleBytes);
  std::vector<char> expected(4 * kGranuleBytes);
  for (AccType type : kTypes) {
    const std::size_t element = element_bytes(type);
    const std::size_t component = component_bytes(type);
    char scale[16] = {};
    fill(type, scale, sizeof scale, random);
    for (int round = 0; round < 200; ++round) {
      const std::size_t offset = kGranuleBytes - 64 + random() % (128 / component) * component;
      const std::size_t most = round % 4 == 0 ? 2 * kGranuleBytes / element : 24;
      const std::size_t bytes = (1 + random() % most) * element;
      fill(type, source.data(), bytes, random);
      fill(type, arena.at(0), expected.size(), random);
      std::memcpy(expected.data(), arena.at(0), expected.size());
      accumulate_kernel(type)(scale, source.data(), expected.data() + offset, bytes / element);
      Accumulator(arena.locks(), type, scale).add(arena.at(offset), source.data(), bytes);
      ASSERT_EQ(std::memcmp(arena.at(0), expected.data(), expected.size()), 0)
          << "type " << static_cast<int>(type) << " offset " << offset << " bytes " << bytes;
    }
  }
  EXPECT_EQ(arena.locks_held(), 0);
}

TEST(AccumulatorTest, NeighbouringGranulesHaveDifferentLocks) {
  Arena arena(1);
  const std::uintptr_t base = std::uintptr_t{1} << 40;
  for (std::uintptr_t i = 0; i + 1 < 3 * kAccumulateLocks; ++i) {
    ASSERT_NE(accumulate_lock_of(arena.locks(), base + i * kGranuleBytes),
              accumulate_lock_of(arena.locks(), base + (i + 1) * kGranuleBytes));
  }
}

TEST(AccumulatorTest, OneGranuleHasOneLock) {
  Arena arena(1);
  const std::uintptr_t base = std::uintptr_t{1} << 40;
  EXPECT_EQ(accumulate_lock_of(arena.locks(), base), accumulate_lock_of(arena.locks(), base + kGranuleBytes - 1));
}

// [ACC-2] Processes add ones to the same elements in pieces of different sizes that begin in different places: every
// element ends as the number of additions.
class AccumulatorStress : public ::testing::TestWithParam<AccType> {
 protected:
  static constexpr int kProcesses = 4;
  static constexpr int kRounds = 300;

  template <class Component>
  void run(std::size_t first, std::size_t components_per_element) {
    Arena arena(4);
    const std::size_t element = components_per_element * sizeof(Component);
    const std::size_t elements = (2 * kGranuleBytes + kGranuleBytes / 2) / element;
    const AccType type = GetParam();
    StartLine start(kProcesses);
    const int failed = run_processes(kProcesses, [&](int index) {
      start.wait();
      std::vector<Component> ones(elements * components_per_element);
      for (std::size_t i = 0; i < ones.size(); i += components_per_element) ones[i] = 1;  // 1, or 1 + 0i
      Component scale[2] = {1, 0};
      const Accumulator accumulator(arena.locks(), type, scale);
      std::mt19937 random(static_cast<std::uint32_t>(index));
      for (int round = 0; round < kRounds; ++round) {
        for (std::size_t done = 0; done < elements;) {
          const std::size_t piece = std::min(elements - done, 1 + random() % 300);
          accumulator.add(arena.at(first + done * element), ones.data(), piece * element);
          done += piece;
        }
      }
      return 0;
    });
    EXPECT_EQ(failed, 0);
    const auto* sums = reinterpret_cast<const Component*>(arena.at(first));
    for (std::size_t i = 0; i < elements * components_per_element; ++i) {
      const auto expected = static_cast<Component>(i % components_per_element == 0 ? kProcesses * kRounds : 0);
      ASSERT_EQ(sums[i], expected) << "component " << i;
    }
    EXPECT_EQ(arena.locks_held(), 0);
  }
};
INSTANTIATE_TEST_SUITE_P(Types, AccumulatorStress, ::testing::ValuesIn(kTypes));

TEST_P(AccumulatorStress, NoAdditionIsLost) {
  switch (GetParam()) {
    case AccType::kInt:
      return run<int>(4, 1);
    case AccType::kLong:
      return run<long>(8, 1);
    case AccType::kFloat:
      return run<float>(4, 1);
    case AccType::kDouble:
      return run<double>(8, 1);
    case AccType::kComplexFloat:
      return run<float>(4, 2);  // elements that lie over the end of a granule
    case AccType::kComplexDouble:
      return run<double>(8, 2);
  }
}

// The element over the end of the last granule of a round of locks takes the first lock as well as the last.
TEST(AccumulatorTest, ElementsOverTheLocksWrapAroundLoseNothing) {
  constexpr int kAdds = 200000;
  constexpr std::size_t kRound = kAccumulateLocks * kGranuleBytes;
  SharedMemory memory(2 * kRound + kGranuleBytes);
  SharedMemory locks(kAccumulateLocks * sizeof(AccumulateLock));
  const std::uintptr_t boundary = (reinterpret_cast<std::uintptr_t>(memory.base()) + kRound) / kRound * kRound;
  StartLine start(4);
  const int failed = run_processes(4, [&](int) {
    start.wait();
    const double source[4] = {1, 2, 3, 4};
    const double scale[2] = {1, 0};
    const Accumulator accumulator(locks.at<AccumulateLock>(), AccType::kComplexDouble, scale);
    for (int i = 0; i < kAdds; ++i) {
      accumulator.add(reinterpret_cast<char*>(boundary - 8), source, 16);
      accumulator.add(reinterpret_cast<char*>(boundary + kGranuleBytes - 24), source, sizeof source);
    }
    return 0;
  });
  EXPECT_EQ(failed, 0);
  const auto at = [&](std::uintptr_t address) { return *reinterpret_cast<const double*>(address); };
  EXPECT_EQ(at(boundary - 8), 1.0 * 4 * kAdds);
  EXPECT_EQ(at(boundary), 2.0 * 4 * kAdds);
  EXPECT_EQ(at(boundary + kGranuleBytes - 8), 3.0 * 4 * kAdds);
  EXPECT_EQ(at(boundary + kGranuleBytes), 4.0 * 4 * kAdds);
}

}  // namespace
}  // namespace armci::node
