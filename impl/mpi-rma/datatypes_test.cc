// The data that datatypes move, against plain loops.
#include "impl/mpi-rma/datatypes.h"

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <string>

#include "impl/mpi-rma/datatypes_testing.h"

namespace armci::rma {
namespace {
using runtime::Strided;

constexpr std::size_t kGiB = std::size_t{1} << 30;

const MPI_Datatype kElements[] = {
    MPI_BYTE, MPI_INT, MPI_LONG, MPI_FLOAT, MPI_DOUBLE, MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX};

std::size_t size_of(MPI_Datatype element) {
  int size = 0;
  MPI_Type_size(element, &size);
  return static_cast<std::size_t>(size);
}

// Packs, unpacks, and sends to itself.
void check_moves(const Strided& shape, MPI_Datatype element, const DatatypeOptions& options) {
  Datatype src;
  Datatype dst;
  ASSERT_TRUE(strided_datatype(shape, Side::kSource, element, options, &src).ok());
  ASSERT_TRUE(strided_datatype(shape, Side::kDestination, element, options, &dst).ok());
  TestBuffer from(shape, Side::kSource, 1);
  TestBuffer to(shape, Side::kDestination, 2);
  const std::vector<char> stream = pack_by_loop(shape, Side::kSource, from.base());
  ASSERT_EQ(pack(from.lowest(), src), stream);
  ASSERT_EQ(pack(to.lowest(), dst), pack_by_loop(shape, Side::kDestination, to.base()));
  if (overlaps_itself(shape, Side::kDestination)) return;

  TestBuffer expected(shape, Side::kDestination, 2);
  copy(shape, from.base(), expected.base());
  int position = 0;
  const int length = static_cast<int>(stream.size());
  ASSERT_EQ(MPI_Unpack(stream.data(), length, &position, to.lowest(), dst.count(), dst.type(), MPI_COMM_SELF), 0);
  ASSERT_EQ(to.bytes(), expected.bytes());

  TestBuffer received(shape, Side::kDestination, 2);
  ASSERT_EQ(MPI_Sendrecv(from.lowest(), src.count(), src.type(), 0, 0, received.lowest(), dst.count(), dst.type(), 0, 0,
                         MPI_COMM_SELF, MPI_STATUS_IGNORE),
            MPI_SUCCESS);
  ASSERT_EQ(received.bytes(), expected.bytes());
}

TEST_F(DatatypesTest, StridedMovesTheBytesOfThePlainLoop) {
  for (int round = 0; round < 2000; ++round) {
    const MPI_Datatype element = kElements[round % std::size(kElements)];
    const Strided shape = random_shape(random_, size_of(element), false);
    for (const bool subarray : {false, true}) {
      check_moves(shape, element, {.subarray = subarray});
      if (HasFatalFailure()) FAIL() << "round " << round << ", subarray " << subarray;
    }
  }
}

TEST_F(DatatypesTest, StridedMovesTheSameWhateverTheLargestInt) {
  for (int round = 0; round < 2000; ++round) {
    const MPI_Datatype element = kElements[round % std::size(kElements)];
    Strided shape = random_shape(random_, size_of(element), false);
    // Levels with many repeats, of which chunks of chunks are made.
    if (shape.levels > 0 && shape.levels < 3) shape.count[1] += random_() % 40;
    check_moves(shape, element, {.subarray = round % 2 == 0, .int_max = 2 + static_cast<int>(random_() % 6)});
    if (HasFatalFailure()) FAIL() << "round " << round;
  }
}

TEST_F(DatatypesTest, StridesOfOneByteDownwards) {
  for (std::size_t count = 2; count < 12; ++count) {
    for (const int int_max : {2, 3, 4, INT_MAX}) {
      check_moves({1, {1, count}, {-1}, {-1}}, MPI_BYTE, {.int_max = int_max});
      check_moves({2, {3, count, 5}, {-1, 7}, {3, 50}}, MPI_BYTE, {.int_max = int_max});
      if (HasFatalFailure()) FAIL() << "count " << count << ", largest int " << int_max;
    }
  }
}

TEST_F(DatatypesTest, SubarrayIsTakenWhereStridesDivide) {
  const Strided divides = {2, {8, 3, 4}, {16, 64}, {16, 72}};
  int integers = 0, addresses = 0, types = 0, combiner = 0;
  Datatype datatype;
  ASSERT_TRUE(strided_datatype(divides, Side::kSource, MPI_INT, {.subarray = true}, &datatype).ok());
  MPI_Type_get_envelope(datatype.type(), &integers, &addresses, &types, &combiner);
  EXPECT_EQ(combiner, MPI_COMBINER_SUBARRAY);
  ASSERT_TRUE(strided_datatype(divides, Side::kDestination, MPI_INT, {.subarray = true}, &datatype).ok());
  MPI_Type_get_envelope(datatype.type(), &integers, &addresses, &types, &combiner);
  EXPECT_EQ(combiner, MPI_COMBINER_HVECTOR);
}

TEST_F(DatatypesTest, EachSideIsCollapsedByItself) {
  const Strided shape = {3, {8, 3, 4, 2}, {8, 24, 96}, {16, 64, 256}};
  Datatype src;
  ASSERT_TRUE(strided_datatype(shape, Side::kSource, MPI_DOUBLE, {}, &src).ok());
  EXPECT_FALSE(src.is_derived());
  EXPECT_EQ(src.type(), MPI_DOUBLE);
  EXPECT_EQ(src.count(), 24);
  const Layout dst = layout_of(shape, Side::kDestination);
  EXPECT_EQ(dst.levels, 2);
  EXPECT_EQ(dst.count[2], 8u);
  EXPECT_EQ(dst.stride[1], 64);
}

TEST_F(DatatypesTest, NothingIsMovedByAnEmptyShape) {
  Datatype datatype(MPI_INT, 7);
  ASSERT_TRUE(strided_datatype(Strided{}, Side::kSource, MPI_BYTE, {}, &datatype).ok());
  EXPECT_EQ(datatype.count(), 0);
  datatype = Datatype(MPI_INT, 7);
  ASSERT_TRUE(list_datatype(nullptr, 0, 8, nullptr, MPI_BYTE, {}, &datatype).ok());
  EXPECT_EQ(datatype.count(), 0);
  char byte = 0;
  void* const addresses[] = {&byte};
  ASSERT_TRUE(list_datatype(addresses, 1, 0, nullptr, MPI_BYTE, {}, &datatype).ok());
  EXPECT_EQ(datatype.count(), 0);
}

TEST_F(DatatypesTest, SegmentsAreWholeElements) {
  const Strided shape = {1, {12, 2}, {32}, {32}};
  void* const addresses[] = {nullptr};
  Datatype datatype;
  EXPECT_EQ(strided_datatype(shape, Side::kSource, MPI_DOUBLE, {}, &datatype).code(), Code::kLength);
  EXPECT_EQ(list_datatype(addresses, 1, 12, nullptr, MPI_DOUBLE, {}, &datatype).code(), Code::kLength);
}

TEST_F(DatatypesTest, ListMovesTheBytesOfThePlainLoop) {
  std::vector<char> memory(4000);
  std::generate(memory.begin(), memory.end(), [&] { return static_cast<char>(random_()); });
  for (int round = 0; round < 3000; ++round) {
    const MPI_Datatype element = kElements[round % std::size(kElements)];
    const std::size_t unit = size_of(element);
    const std::size_t bytes = unit * (1 + random_() % 8);
    std::vector<void*> addresses(1 + random_() % 40);
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      char* const next = i == 0 ? memory.data() : static_cast<char*>(addresses[i - 1]) + bytes;
      const bool fits = next + bytes <= memory.data() + memory.size();
      addresses[i] = fits && random_() % 3 != 0 ? next : memory.data() + random_() % (memory.size() - bytes);
    }
    std::vector<char> expected;
    for (void* address : addresses) {
      expected.insert(expected.end(), static_cast<char*>(address), static_cast<char*>(address) + bytes);
    }
    // Relative to the first, to something in the middle, or absolute.
    char* const base = round % 3 == 0 ? static_cast<char*>(addresses[0]) : round % 3 == 1 ? &memory[2000] : nullptr;
    const int int_max = random_() % 2 == 0 ? INT_MAX : 2 + static_cast<int>(random_() % 6);
    Datatype datatype;
    ASSERT_TRUE(
        list_datatype(addresses.data(), addresses.size(), bytes, base, element, {.int_max = int_max}, &datatype).ok());
    // MPI_Pack of MPICH 4.0 refuses MPI_BOTTOM; its messages do not.
    std::vector<char> got(expected.size());
    ASSERT_EQ(MPI_Sendrecv(base == nullptr ? MPI_BOTTOM : base, datatype.count(), datatype.type(), 0, 0, got.data(),
                           static_cast<int>(got.size() / unit), element, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE),
              MPI_SUCCESS);
    ASSERT_EQ(got, expected) << "round " << round;
  }
}

TEST_F(DatatypesTest, ListIsScatteredToItsAddresses) {
  for (int round = 0; round < 500; ++round) {
    const std::size_t bytes = 1 + random_() % 8;
    std::vector<char> memory(100 * bytes);
    std::vector<void*> addresses;
    for (std::size_t i = 0; i < 100; ++i) {
      if (random_() % 2 == 0) addresses.push_back(&memory[i * bytes]);
    }
    if (round % 2 == 0) std::shuffle(addresses.begin(), addresses.end(), random_);
    std::vector<char> stream(addresses.size() * bytes);
    std::generate(stream.begin(), stream.end(), [&] { return static_cast<char>(random_()); });
    std::vector<char> expected = memory;
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      std::memcpy(&expected[static_cast<std::size_t>(static_cast<char*>(addresses[i]) - memory.data())],
                  &stream[i * bytes], bytes);
    }
    Datatype datatype;
    ASSERT_TRUE(list_datatype(addresses.data(), addresses.size(), bytes, memory.data(), MPI_BYTE, {}, &datatype).ok());
    int position = 0;
    MPI_Unpack(stream.data(), static_cast<int>(stream.size()), &position, memory.data(), datatype.count(),
               datatype.type(), MPI_COMM_SELF);
    ASSERT_EQ(memory, expected) << "round " << round;
  }
}

TEST_F(DatatypesTest, ListWithoutGapsNeedsNoDatatype) {
  char memory[64] = {};
  void* const addresses[] = {memory, memory + 16, memory + 32, memory + 48};
  Datatype datatype;
  ASSERT_TRUE(list_datatype(addresses, 4, 16, memory, MPI_DOUBLE, {}, &datatype).ok());
  EXPECT_FALSE(datatype.is_derived());
  EXPECT_EQ(datatype.count(), 8);
}

// One-sided calls keep another description of the datatype than messages do: both sides of a put and of an accumulate.
TEST_F(DatatypesTest, PutAndAccumulateTakeBothSides) {
  for (int round = 0; round < 300; ++round) {
    const Strided shape = random_shape(random_, sizeof(int), true);
    const DatatypeOptions options = {.subarray = round % 2 == 0, .int_max = round % 3 == 0 ? 3 : INT_MAX};
    Datatype src;
    Datatype dst;
    ASSERT_TRUE(strided_datatype(shape, Side::kSource, MPI_INT, options, &src).ok());
    ASSERT_TRUE(strided_datatype(shape, Side::kDestination, MPI_INT, options, &dst).ok());
    TestBuffer from(shape, Side::kSource, 1);
    TestBuffer to(shape, Side::kDestination, 2);
    TestBuffer expected(shape, Side::kDestination, 2);
    MPI_Win window = MPI_WIN_NULL;
    char* memory = nullptr;
    const std::size_t bytes = to.bytes().size();
    ASSERT_EQ(MPI_Win_allocate(static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, MPI_COMM_SELF, &memory, &window),
              MPI_SUCCESS);
    std::memcpy(memory, to.bytes().data(), bytes);
    MPI_Win_lock_all(0, window);
    const bool adds = round % 4 >= 2;
    if (adds) {
      MPI_Accumulate(from.lowest(), src.count(), src.type(), 0, 0, dst.count(), dst.type(), MPI_SUM, window);
    } else {
      MPI_Put(from.lowest(), src.count(), src.type(), 0, 0, dst.count(), dst.type(), window);
    }
    src = Datatype();
    dst = Datatype();
    MPI_Win_unlock_all(window);
    std::memcpy(to.bytes().data(), memory, bytes);
    MPI_Win_free(&window);
    runtime::for_each_segment(shape, [&](std::ptrdiff_t src_offset, std::ptrdiff_t dst_offset) {
      for (std::size_t i = 0; i < shape.count[0]; i += sizeof(int)) {
        unsigned sum = 0;
        unsigned term = 0;
        if (adds) std::memcpy(&sum, expected.base() + dst_offset + i, sizeof sum);
        std::memcpy(&term, from.base() + src_offset + i, sizeof term);
        sum += term;
        std::memcpy(expected.base() + dst_offset + i, &sum, sizeof sum);
      }
    });
    ASSERT_EQ(to.bytes(), expected.bytes()) << "round " << round;
  }
}

void expect_reach(const Datatype& datatype, MPI_Count size, MPI_Count low, MPI_Count extent, const char* what) {
  MPI_Count got_size = 0, got_low = 0, got_extent = 0;
  MPI_Type_size_x(datatype.type(), &got_size);
  MPI_Type_get_true_extent_x(datatype.type(), &got_low, &got_extent);
  EXPECT_EQ(got_size, size) << what;
  EXPECT_EQ(got_low, low) << what;
  EXPECT_EQ(got_extent, extent) << what;
  MPI_Type_get_extent_x(datatype.type(), &got_low, &got_extent);
  EXPECT_LE(got_low, low) << what;
  EXPECT_GE(got_low + got_extent, low + extent) << what;
}

TEST_F(DatatypesTest, CountsAndLengthsBeyondAnInt) {
  struct {
    const char* what;
    Strided shape;
    std::size_t size;
    std::ptrdiff_t low;
    std::size_t extent;
  } const cases[] = {
      {"one segment", {0, {5 * kGiB + 3}, {}, {}}, 5 * kGiB + 3, 0, 5 * kGiB + 3},
      {"one segment of whole chunks", {0, {8 * kGiB}, {}, {}}, 8 * kGiB, 0, 8 * kGiB},
      {"one more than an int", {0, {2 * kGiB}, {}, {}}, 2 * kGiB, 0, 2 * kGiB},
      {"long segments", {1, {3 * kGiB + 1, 3}, {4 * kGiB}, {}}, 9 * kGiB + 3, 0, 11 * kGiB + 1},
      {"many segments", {1, {1, 3 * kGiB + 5}, {2}, {}}, 3 * kGiB + 5, 0, 6 * kGiB + 9},
      {"downwards", {1, {1, 3 * kGiB + 5}, {-2}, {}}, 3 * kGiB + 5, 0, 6 * kGiB + 9},
      {"wide strides", {2, {8, 2, 3}, {5 * kGiB, 100 * kGiB}, {}}, 48, 0, 205 * kGiB + 8},
      {"many at both levels", {2, {1, 2 * kGiB, 2 * kGiB}, {2, 8}, {}}, 4 * kGiB * kGiB, 0, 20 * kGiB - 9},
  };
  for (const auto& c : cases) {
    for (const bool subarray : {false, true}) {
      Datatype datatype;
      ASSERT_TRUE(strided_datatype(c.shape, Side::kSource, MPI_BYTE, {.subarray = subarray}, &datatype).ok()) << c.what;
      expect_reach(datatype, static_cast<MPI_Count>(c.size), c.low, static_cast<MPI_Count>(c.extent), c.what);
    }
  }
}

TEST_F(DatatypesTest, ElementsBeyondAnInt) {
  const Strided shape = {1, {24 * kGiB, 2}, {32 * kGiB}, {}};
  Datatype datatype;
  ASSERT_TRUE(strided_datatype(shape, Side::kSource, MPI_DOUBLE, {}, &datatype).ok());
  expect_reach(datatype, 48 * kGiB, 0, 56 * kGiB, "elements");
}

TEST_F(DatatypesTest, ListOfLengthsBeyondAnInt) {
  const auto at = [](std::size_t address) { return reinterpret_cast<void*>(address); };
  void* const addresses[] = {at(64 * kGiB), at(67 * kGiB), at(100 * kGiB), at(10 * kGiB)};
  Datatype datatype;
  ASSERT_TRUE(list_datatype(addresses, 4, 3 * kGiB, at(64 * kGiB), MPI_BYTE, {}, &datatype).ok());
  expect_reach(datatype, 12 * kGiB, -54 * std::ptrdiff_t{kGiB}, 93 * kGiB, "long");
  void* const adjacent[] = {at(64 * kGiB), at(65 * kGiB), at(66 * kGiB), at(67 * kGiB)};
  ASSERT_TRUE(list_datatype(adjacent, 4, kGiB, at(64 * kGiB), MPI_BYTE, {}, &datatype).ok());
  expect_reach(datatype, 4 * kGiB, 0, 4 * kGiB, "joined as far as an int goes");
}

}  // namespace
}  // namespace armci::rma
