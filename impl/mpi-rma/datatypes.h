// MPI datatypes of one side of a noncontiguous transfer, and a cache of them.
//
// The bytes of a datatype come in the order of the segments, so any two sides of the same transfer match. A datatype
// begins at the lowest byte that it names: MPI libraries have faults with others (accumulate-displaced).
//
// Counts may exceed the int of MPI: longer pieces are built from chunks and a rest.
//
// A side of a store may name a byte several times only where it is read (stride 0, or shorter than the segment): MPI
// forbids the datatype of the other side to overlap itself. The caller must ensure this.
//
// Errors are MPI's own, as Status; they come back only where the error handler of MPI_COMM_WORLD returns.
//
// Thread safety: the functions, and a DatatypeCache, may be called by any thread; a Datatype is a value like a
// std::shared_ptr.
#pragma once

#include <mpi.h>

#include <climits>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "impl/base/status.h"
#include "impl/runtime/shapes.h"

namespace armci::rma {

// Datatype: the count and type arguments of a call of MPI. A side without gaps is a number of elements, with no
// datatype of its own. Every other side is one element of a committed datatype, which lives as long as a copy of the
// Datatype. The last copy may be destroyed once the MPI call has returned, though the operation is still pending. It
// must be destroyed before MPI_Finalize.
class Datatype {
 public:
  Datatype() = default;  // moves nothing
  Datatype(MPI_Datatype element, int count) : type_(element), count_(count) {}
  // Takes a committed datatype over, to be freed with the last copy.
  static Datatype owning(MPI_Datatype derived);

  MPI_Datatype type() const { return type_; }
  int count() const { return count_; }
  bool is_derived() const { return owned_ != nullptr; }  // for tests: false means that no datatype was made

 private:
  struct Owned;
  std::shared_ptr<const Owned> owned_;
  MPI_Datatype type_ = MPI_BYTE;
  int count_ = 0;
};

enum class Side { kSource, kDestination };

struct DatatypeOptions {
  // Take MPI_Type_create_subarray, not nested vectors, where every stride is a multiple of the one below. The extent of
  // the datatype is then the whole array's.
  bool subarray = false;
  // The largest int argument of a call of MPI, at least 2. Less than INT_MAX is for tests.
  int int_max = INT_MAX;
};

// `element` is a predefined type: MPI_BYTE, or the type of an accumulate. kLength: a segment is not a whole number of
// them. Addresses are relative to the lowest byte, lowest_offset() behind the first byte of the shape's first segment.
std::ptrdiff_t lowest_offset(const runtime::Strided& shape, Side side);  // not positive
// Without a cache, for tests; transfers call DatatypeCache::get().
Status strided_datatype(const runtime::Strided& shape, Side side, MPI_Datatype element, const DatatypeOptions& options,
                        Datatype* datatype);

// The list of `count` segments of `bytes` bytes each, relative to `base`, the lowest of them (lowest_address()).
// Segments that continue where the one before them ends are joined.
void* lowest_address(void* const* addresses, std::size_t count);
Status list_datatype(void* const* addresses, std::size_t count, std::size_t bytes, const void* base,
                     MPI_Datatype element, const DatatypeOptions& options, Datatype* datatype);

// One side of a shape in as few levels as it has gaps: the same bytes in the same order.
struct Layout {
  int levels;
  std::size_t count[runtime::kMaxStrideLevels + 1];
  std::ptrdiff_t stride[runtime::kMaxStrideLevels];
  friend bool operator==(const Layout& a, const Layout& b);
};
Layout layout_of(const runtime::Strided& shape, Side side);

// The datatypes of the strided shapes used last. Sides that touch the same bytes in the same order share a datatype,
// even if their counts and strides differ. Invariant: no two entries are equal, and there are entries_max at most.
class DatatypeCache {
 public:
  explicit DatatypeCache(std::size_t entries_max = 64, const DatatypeOptions& options = {});

  Status get(const runtime::Strided& shape, Side side, MPI_Datatype element, Datatype* datatype);

  // Forgets everything. To be called before MPI_Finalize, or the destructor would free datatypes too late.
  void clear();

  struct Counters {
    std::size_t entries;
    std::uint64_t hits;
    std::uint64_t misses;
  };
  Counters counters() const;  // sides without gaps are no entries and count as neither

 private:
  struct Entry {
    Layout layout;
    MPI_Datatype element;
    Datatype datatype;
    std::uint64_t used;  // the time of the last use
  };
  std::size_t find(std::uint64_t hash, const Entry& entry) const;
  bool look_up(std::uint64_t hash, Entry* entry);
  void store(std::uint64_t hash, Entry* entry);

  const std::size_t entries_max_;
  const DatatypeOptions options_;
  mutable std::mutex mutex_;
  // Parallel to entries_, and dense: a look-up reads a few cache lines.
  std::vector<std::uint64_t> hashes_;
  std::vector<Entry> entries_;
  std::uint64_t clock_ = 0;
  std::uint64_t hits_ = 0;
  std::uint64_t misses_ = 0;
};

}  // namespace armci::rma
