#include "impl/mpi-rma/preflight/layouts.h"

#include <array>
#include <numeric>

namespace armci::rma {
namespace {

constexpr std::size_t kWordBytes = sizeof(double);

}  // namespace

ProbeLayout::ProbeLayout(Shape shape, std::size_t count) {
  switch (shape) {
    case Shape::kContiguous:
      indices_.resize(count);
      std::iota(indices_.begin(), indices_.end(), 0);
      MPI_Type_contiguous(static_cast<int>(count), MPI_DOUBLE, &type_);
      break;
    case Shape::kVector:
      make_vector(count);
      break;
    case Shape::kSubarray:
      make_subarray(count);
      break;
    case Shape::kIndexed:
      make_indexed(0, count);
      break;
    case Shape::kDisplaced:
      make_indexed(5, count);
      break;
  }
  MPI_Type_commit(&type_);
}

ProbeLayout::~ProbeLayout() { MPI_Type_free(&type_); }

// Rows of 3 in a distance of 5; the last one is as long as is left.
void ProbeLayout::make_vector(std::size_t count) {
  constexpr std::size_t kRow = 3;
  constexpr std::size_t kDistance = 5;
  for (std::size_t i = 0; i < count; ++i) indices_.push_back(i / kRow * kDistance + i % kRow);
  const std::size_t row = count % kRow == 0 ? kRow : 1;
  if (row == 1) {
    for (std::size_t i = 0; i < count; ++i) indices_[i] = i * 2;
  }
  MPI_Type_create_hvector(static_cast<int>(count / row), static_cast<int>(row),
                          static_cast<MPI_Aint>((row == kRow ? kDistance : 2) * kWordBytes), MPI_DOUBLE, &type_);
}

// The first 4 columns of 8.
void ProbeLayout::make_subarray(std::size_t count) {
  constexpr std::size_t kWide = 4;
  constexpr std::size_t kLine = 8;
  const std::size_t wide = count % kWide == 0 ? kWide : 1;
  const std::size_t line = wide == kWide ? kLine : 2;
  const std::size_t lines = count / wide;
  for (std::size_t i = 0; i < count; ++i) indices_.push_back(i / wide * line + i % wide);
  const std::array<int, 2> sizes = {static_cast<int>(lines), static_cast<int>(line)};
  const std::array<int, 2> part = {static_cast<int>(lines), static_cast<int>(wide)};
  const std::array<int, 2> starts = {0, 0};
  MPI_Type_create_subarray(2, sizes.data(), part.data(), starts.data(), MPI_ORDER_C, MPI_DOUBLE, &type_);
}

// Single numbers in distances of 1, 2 and 3.
void ProbeLayout::make_indexed(std::size_t first, std::size_t count) {
  std::vector<MPI_Aint> displacements;
  std::size_t index = first;
  for (std::size_t i = 0; i < count; ++i) {
    indices_.push_back(index);
    displacements.push_back(static_cast<MPI_Aint>(index * kWordBytes));
    index += 1 + i % 3;
  }
  MPI_Type_create_hindexed_block(static_cast<int>(count), 1, displacements.data(), MPI_DOUBLE, &type_);
}

}  // namespace armci::rma
