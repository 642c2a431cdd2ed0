// Epochless: one shared epoch to all processes for the life of a window, completion by flushes (MPI-3).
#pragma once

#include "impl/mpi-rma/sync.h"

namespace armci::rma {

class Epochless : public Sync {
 public:
  // Handles stand for requests of MPI, not for a flush: `contiguous` of operations without derived datatypes, `derived`
  // of the others.
  struct Requests {
    bool contiguous;
    bool derived;
  };
  explicit Epochless(const Requests& requests) : requests_(requests) {}

  common::Status open(Window* window) override;
  common::Status close(Window* window) override;
  common::Status start(const Access& access, Pending* pending) override;
  common::Status issue(const Access& access) override;
  common::Status complete_locally(Window* window, int rank) override;
  common::Status atomic64(Window* window, int rank, MPI_Aint displacement, common::AtomicOp op, std::int64_t operand,
                          std::int64_t compare, std::int64_t* before) override;
  common::Status flush(Window* window, int rank) override;
  bool flushes() const override { return true; }

 private:
  const Requests requests_;
};

}  // namespace armci::rma
