// The shapes in memory that the datatype probes move, each as an MPI datatype and as a list of indices.
//
// Thread safety: a ProbeLayout is constant after its construction.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <vector>

namespace armci::rma {

enum class Shape { kContiguous, kVector, kSubarray, kIndexed, kDisplaced };

// `count` numbers of type MPI_DOUBLE among kept ones. All begin at their base, as the library's own types do, but for
// kDisplaced, which is indexed.
class ProbeLayout {
 public:
  ProbeLayout(Shape shape, std::size_t count);
  ~ProbeLayout();
  ProbeLayout(const ProbeLayout&) = delete;
  ProbeLayout& operator=(const ProbeLayout&) = delete;

  MPI_Datatype type() const { return type_; }
  // Where number i of the type lies, in numbers from the base.
  const std::vector<std::size_t>& indices() const { return indices_; }
  // Room for any shape of that many numbers.
  static std::size_t room(std::size_t count) { return 2 * count + 32; }

 private:
  void make_vector(std::size_t count);
  void make_subarray(std::size_t count);
  void make_indexed(std::size_t first, std::size_t count);

  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  std::vector<std::size_t> indices_;
};

}  // namespace armci::rma
