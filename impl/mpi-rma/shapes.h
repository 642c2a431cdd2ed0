// NoncontiguousTransfer: how a strided or vector transfer becomes operations of MPI.
//
//   direct    one operation whose datatypes describe both sides
//   batched   one operation per segment, completed together every B segments (conservative: B = 1)
//
// `direct` needs a remote side that does not overlap itself, and an MPI library that does datatypes right (preflight);
// `auto` takes it where both hold. These are the four methods for vectors of Dinan et al. (IPDPS 2012).
//
// Thread safety: all members by any thread; release() when nothing is under way.
#pragma once

#include <mpi.h>

#include <cstddef>

#include "impl/common/accumulate.h"
#include "impl/common/shapes.h"
#include "impl/common/status.h"
#include "impl/mpi-rma/datatypes.h"
#include "impl/mpi-rma/preflight/faults.h"
#include "impl/mpi-rma/sync.h"

namespace armci::rma {

// Where a target's part lies.
struct Place {
  Window* window;
  int rank;
  const void* base;  // of displacement 0

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
  // Frees what was cached.
  void release() { cache_.clear(); }

  // `element` is MPI_BYTE, or what an accumulate adds. pending == nullptr: the local memory is free at return.
  common::Status strided(Kind kind, const Place& place, const void* src, void* dst, const common::Strided& shape,
                         MPI_Datatype element, Pending* pending);
  common::Status list(Kind kind, const Place& place, const common::Segments& segments, MPI_Datatype element,
                      Pending* pending);

 private:
  class Batch;
  std::size_t limit(Method method) const;

  Sync* sync_ = nullptr;
  Findings findings_;
  Options options_;
  DatatypeCache cache_;
};

// The predefined datatype that an accumulate of `type` adds.
MPI_Datatype element_type(common::AccType type);

}  // namespace armci::rma
