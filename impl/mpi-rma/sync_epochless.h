// Epochless: one shared epoch to all processes for the life of a window, completion by flushes (MPI-3).
#pragma once

#include "impl/mpi-rma/sync.h"

namespace armci::rma {

class Epochless : public Sync {
 public:
  // Handles stand for requests of MPI, not for a flush: of operations without and with derived datatypes.
  // dynamic_requests: in dynamic windows too (request-dynamic).
  // gets_need_flush: a local flush does not complete them (get-flush-local).
  // operations_max: so many may be outstanding in a window (requests-limited); 0: any number.
  // piece_bytes: contiguous transfers are accumulates of so many bytes each (put-slow); 0: they are what they are.
  struct Options {
    bool requests;
    bool derived_requests;
    bool dynamic_requests;
    bool gets_need_flush;
    int operations_max;
    std::size_t piece_bytes;
  };
  explicit Epochless(const Options& options) : options_(options) {}

  Status open(Window* window) override;
  Status close(Window* window) override;
  Status start(const Access& access, Pending* pending) override;
  Status issue(std::span<const Access> accesses) override;
  Status complete_locally(Window* window, int rank, Kind kind) override;
  Status atomic(const Atomic& atomic, void* before, Pending* pending) override;
  Status flush(Window* window, int rank) override;
  Status flush_all(Window* window) override;
  bool flushes() const override { return true; }
  std::size_t piece_bytes() const override { return options_.piece_bytes; }

 private:
  bool in_pieces(const Access& access, const Pending* pending) const;
  bool by_request(const Access& access, const Pending* pending) const;
  Status issue_pieces(const Access& access);
  Status bound_operations(Window* window, std::size_t started);

  const Options options_;
};

}  // namespace armci::rma
