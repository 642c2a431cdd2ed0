// Values of all ranks brought together. Each of these is a meeting point (see session.h): a rank that failed an ASSERT
// on the way here does not leave the others waiting.
#ifndef CONFORMANCE_HARNESS_COLLECT_H_
#define CONFORMANCE_HARNESS_COLLECT_H_

#include <mpi.h>

#include <cstddef>
#include <source_location>
#include <type_traits>
#include <vector>

#include "conformance/harness/session.h"

namespace conformance {

template <typename T>
MPI_Datatype MpiType() {
  static_assert(std::is_same_v<T, int> || std::is_same_v<T, long> || std::is_same_v<T, double>);
  if constexpr (std::is_same_v<T, int>) return MPI_INT;
  if constexpr (std::is_same_v<T, long>) return MPI_LONG;
  return MPI_DOUBLE;
}

// Element by element.
template <typename T>
std::vector<T> SumOverRanks(const std::vector<T>& mine,
                            const std::source_location& where = std::source_location::current()) {
  Agree(where);
  std::vector<T> total(mine.size());
  MPI_Allreduce(mine.data(), total.data(), static_cast<int>(mine.size()), MpiType<T>(), MPI_SUM, Comm());
  return total;
}

template <typename T>
T SumOverRanks(T mine, const std::source_location& where = std::source_location::current()) {
  return SumOverRanks(std::vector<T>{mine}, where)[0];
}

// The value that `root` has.
template <typename T>
T FromRank(int root, T mine, const std::source_location& where = std::source_location::current()) {
  static_assert(std::is_trivially_copyable_v<T>);
  Agree(where);
  MPI_Bcast(&mine, sizeof mine, MPI_BYTE, root, Comm());
  return mine;
}

// One item of each rank, by rank.
template <typename T>
std::vector<T> OneOfEachRank(const T& mine, const std::source_location& where = std::source_location::current()) {
  static_assert(std::is_trivially_copyable_v<T>);
  Agree(where);
  std::vector<T> all(static_cast<std::size_t>(Np()));
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, Comm());
  return all;
}

// All ranks' items on rank 0, in the order of the ranks; elsewhere empty.
template <typename T>
std::vector<T> GatherAtZero(const std::vector<T>& mine,
                            const std::source_location& where = std::source_location::current()) {
  static_assert(std::is_trivially_copyable_v<T>);
  const std::vector<int> sizes = OneOfEachRank(static_cast<int>(mine.size() * sizeof(T)), where);
  std::vector<int> offsets(sizes.size(), 0);
  for (std::size_t i = 1; i < sizes.size(); ++i) offsets[i] = offsets[i - 1] + sizes[i - 1];
  std::vector<T> all(Me() == 0 ? static_cast<std::size_t>(offsets.back() + sizes.back()) / sizeof(T) : 0);
  MPI_Gatherv(mine.data(), sizes[static_cast<std::size_t>(Me())], MPI_BYTE, all.data(), sizes.data(), offsets.data(),
              MPI_BYTE, 0, Comm());
  return all;
}

}  // namespace conformance

#endif  // CONFORMANCE_HARNESS_COLLECT_H_
