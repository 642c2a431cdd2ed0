// NoncontiguousTransfer: turns a strided or vector transfer into operations of MPI.
//
//   direct    one operation whose datatypes describe both sides
//   batched   one operation per segment, completed together every B segments (conservative: B = 1)
//   packed    one contiguous operation and a copy on the origin, where the remote side is one run of bytes; a get may
//             also bring narrow gaps along
//
// `direct` needs a written side that does not overlap itself, and an MPI library that does datatypes right (preflight);
// `auto` takes it where both hold, and `packed` before it where MPI moves a datatype row by row (datatype-rows).
// `auto`, `direct`, `batched` and `conservative` are the four methods for vectors of Dinan et al. (IPDPS 2012).
//
// Where the remote side lies in several cells of the dynamic window, operations are batched and cut at their ends.
//
// Thread safety: all members by any thread; release() when no operation is pending.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <functional>

#include "impl/base/status.h"
#include "impl/mpi-rma/bounce_pool.h"
#include "impl/mpi-rma/datatypes.h"
#include "impl/mpi-rma/preflight/faults.h"
#include "impl/mpi-rma/sync.h"
#include "impl/node/accumulate.h"
#include "impl/runtime/shapes.h"

namespace armci::rma {

// Where a target's part lies.
struct Place {
  Window* window;
  int rank;
  const void* base;  // of displacement 0
  bool in_cells;     // no operation may reach beyond a cell (dynamic_window.h)

  MPI_Aint displacement(const void* remote) const {
    return static_cast<const char*>(remote) - static_cast<const char*>(base);
  }
};

class NoncontiguousTransfer {
 public:
  struct Options {
    Method strided = Method::kAuto;
    Method vector = Method::kAuto;
    std::size_t batch = 0;  // segments completed together; 0: all of a call
  };

  void configure(Sync* sync, const Findings& findings, const Options& options);
  // Frees the cached datatypes and buffers.
  void release() {
    cache_.clear();
    pool_.clear();
  }

  // `element` is MPI_BYTE, or the type of an accumulate. pending == nullptr: returns at local completion.
  Status strided(Kind kind, const Place& place, const void* src, void* dst, const runtime::Strided& shape,
                 MPI_Datatype element, Pending* pending);
  Status list(Kind kind, const Place& place, const runtime::Segments& segments, MPI_Datatype element, Pending* pending);

 private:
  class BatchedOperations;
  std::size_t limit(Method method) const { return method == Method::kConservative ? 1 : options_.batch; }
  // The run of bytes that a packed transfer moves.
  struct Run {
    const void* begin;  // remote
    std::size_t bytes;
    BouncePool::Buffer buffer;
  };
  bool packs(Method method) const { return method == Method::kAuto && findings_.has(Fault::kDatatypeRows); }
  Status batched(Kind kind, const Place& place, const void* src, void* dst, const runtime::Strided& shape,
                 MPI_Datatype element, Pending* pending);
  Status batched(Kind kind, const Place& place, const runtime::Segments& segments, MPI_Datatype element,
                 Pending* pending);
  bool find_run(Kind kind, const void* remote, const runtime::Strided& shape, Run* run);
  bool find_run(Kind kind, void* const* remotes, std::size_t count, std::size_t bytes, Run* run);
  Status move_run(Kind kind, const Place& place, const Run& run, MPI_Datatype element, std::function<void()> unpack,
                  Pending* pending);
  Status describe(Kind kind, const Place& place, const void* src, void* dst, const runtime::Strided& shape,
                  MPI_Datatype element, Datatype* origin_type, Datatype* target_type, Access* access);
  Status direct_strided(Kind kind, const Place& place, const void* src, void* dst, const runtime::Strided& shape,
                        MPI_Datatype element, Pending* pending);
  std::size_t together_in_piece(Kind kind, std::size_t bytes, std::size_t count) const;
  Status finish(Kind kind, const Place& place, Pending* pending);
  Status direct_list(Kind kind, const Place& place, const runtime::Segments& segments, MPI_Datatype element,
                     Pending* pending);
  Status packed(Kind kind, const Place& place, const void* src, void* dst, const runtime::Strided& shape,
                MPI_Datatype element, const Run& run, Pending* pending);
  Status packed(Kind kind, const Place& place, const runtime::Segments& segments, MPI_Datatype element, const Run& run,
                Pending* pending);

  Sync* sync_ = nullptr;
  Findings findings_;
  Options options_;
  DatatypeCache cache_;
  BouncePool pool_;
};

// The predefined datatype that an accumulate of `type` adds.
MPI_Datatype element_type(node::AccType type);

// The element type of puts and gets of a shape: the widest integer that divides all addresses, lengths and strides of
// both sides. MPI libraries that copy element by element then keep the program's elements whole [LC-3, D58].
MPI_Datatype word_type(const void* src, const void* dst, const runtime::Strided& shape);
MPI_Datatype word_type(const runtime::Segments& list);

}  // namespace armci::rma
