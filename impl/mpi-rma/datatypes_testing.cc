#include "impl/mpi-rma/datatypes_testing.h"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace {

std::atomic<int> existing_datatypes{0};
std::atomic<int> calls_until_failure{-1};

template <class Make>
int counted(Make make) {
  if (calls_until_failure >= 0 && calls_until_failure-- == 0) return MPI_ERR_NO_MEM;
  const int result = make();
  existing_datatypes += result == MPI_SUCCESS;
  return result;
}

}  // namespace

// The profiling interface of MPI: these take the place of its own.
extern "C" {
int MPI_Type_create_hvector(int count, int length, MPI_Aint stride, MPI_Datatype type, MPI_Datatype* made) {
  return counted([&] { return PMPI_Type_create_hvector(count, length, stride, type, made); });
}
int MPI_Type_create_struct(int count, const int lengths[], const MPI_Aint displacements[], const MPI_Datatype types[],
                           MPI_Datatype* made) {
  return counted([&] { return PMPI_Type_create_struct(count, lengths, displacements, types, made); });
}
int MPI_Type_create_subarray(int dimensions, const int whole[], const int part[], const int starts[], int order,
                             MPI_Datatype type, MPI_Datatype* made) {
  return counted([&] { return PMPI_Type_create_subarray(dimensions, whole, part, starts, order, type, made); });
}
int MPI_Type_create_hindexed(int count, const int lengths[], const MPI_Aint displacements[], MPI_Datatype type,
                             MPI_Datatype* made) {
  return counted([&] { return PMPI_Type_create_hindexed(count, lengths, displacements, type, made); });
}
int MPI_Type_create_hindexed_block(int count, int length, const MPI_Aint displacements[], MPI_Datatype type,
                                   MPI_Datatype* made) {
  return counted([&] { return PMPI_Type_create_hindexed_block(count, length, displacements, type, made); });
}
int MPI_Type_free(MPI_Datatype* type) {
  --existing_datatypes;
  return PMPI_Type_free(type);
}
}

namespace armci::rma {

using runtime::Strided;

int DatatypeCalls::existing() { return existing_datatypes; }
void DatatypeCalls::fail_after(int calls) { calls_until_failure = calls; }

void DatatypesTest::SetUp() {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  ASSERT_EQ(DatatypeCalls::existing(), 0);
}

void DatatypesTest::TearDown() { EXPECT_EQ(DatatypeCalls::existing(), 0); }

TestBuffer::TestBuffer(const Strided& shape, Side side, unsigned pattern) {
  runtime::Extent extent{};
  const std::ptrdiff_t* stride = side == Side::kSource ? shape.src_stride : shape.dst_stride;
  EXPECT_TRUE(runtime::extent_of(shape.count, stride, shape.levels, &extent).ok());
  low_ = extent.low;
  bytes_.resize(static_cast<std::size_t>(extent.high - extent.low));
  std::mt19937 random(pattern);
  std::generate(bytes_.begin(), bytes_.end(), [&] { return static_cast<char>(random()); });
}

Strided random_shape(std::mt19937& random, std::size_t unit, bool tidy) {
  Strided shape{};
  shape.levels = static_cast<int>(random() % 8);
  shape.count[0] = unit * (1 + random() % 5);
  std::ptrdiff_t src_span = static_cast<std::ptrdiff_t>(shape.count[0]);
  std::ptrdiff_t dst_span = src_span;
  const auto step = static_cast<std::ptrdiff_t>(unit);
  // Behind everything that the levels below touch, with a gap or without; upwards or downwards.
  const auto behind = [&](std::ptrdiff_t span) {
    const std::ptrdiff_t stride = span + (random() % 2 == 0 ? 0 : step * static_cast<std::ptrdiff_t>(random() % 4));
    return random() % 4 == 0 ? -stride : stride;
  };
  const auto anything = [&](std::ptrdiff_t span) {
    return random() % 3 == 0 ? step * (static_cast<std::ptrdiff_t>(random() % 40) - 20) : behind(span);
  };
  for (int l = 0; l < shape.levels; ++l) {
    shape.count[l + 1] = 1 + random() % 3;
    shape.src_stride[l] = anything(src_span);
    shape.dst_stride[l] = tidy || random() % 8 != 0 ? behind(dst_span) : anything(dst_span);
    const auto repeats = static_cast<std::ptrdiff_t>(shape.count[l + 1] - 1);
    src_span += std::abs(shape.src_stride[l]) * repeats;
    dst_span += std::abs(shape.dst_stride[l]) * repeats;
  }
  return shape;
}

bool overlaps_itself(const Strided& shape, Side side) {
  TestBuffer buffer(shape, side, 0);
  std::fill(buffer.bytes().begin(), buffer.bytes().end(), 0);
  bool overlaps = false;
  runtime::for_each_segment(shape, [&](std::ptrdiff_t src, std::ptrdiff_t dst) {
    char* segment = buffer.base() + (side == Side::kSource ? src : dst);
    for (std::size_t i = 0; i < shape.count[0]; ++i) overlaps |= segment[i]++ != 0;
  });
  return overlaps;
}

std::vector<char> pack_by_loop(const Strided& shape, Side side, const char* base) {
  std::vector<char> bytes;
  runtime::for_each_segment(shape, [&](std::ptrdiff_t src, std::ptrdiff_t dst) {
    const char* segment = base + (side == Side::kSource ? src : dst);
    bytes.insert(bytes.end(), segment, segment + shape.count[0]);
  });
  return bytes;
}

std::vector<char> pack(const void* base, const Datatype& datatype) {
  int bytes_max = 0;
  EXPECT_EQ(MPI_Pack_size(datatype.count(), datatype.type(), MPI_COMM_SELF, &bytes_max), MPI_SUCCESS);
  std::vector<char> bytes(static_cast<std::size_t>(bytes_max));
  int length = 0;
  EXPECT_EQ(MPI_Pack(base, datatype.count(), datatype.type(), bytes.data(), bytes_max, &length, MPI_COMM_SELF),
            MPI_SUCCESS);
  bytes.resize(static_cast<std::size_t>(length));
  return bytes;
}

void copy(const Strided& shape, const char* src, char* dst) {
  runtime::for_each_segment(shape, [&](std::ptrdiff_t src_offset, std::ptrdiff_t dst_offset) {
    std::memcpy(dst + dst_offset, src + src_offset, shape.count[0]);
  });
}

}  // namespace armci::rma
