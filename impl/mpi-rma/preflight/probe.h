// The parts that the probes share: the partners of each process, windows of each kind, and memory with known contents.
//
// Every probe runs on all processes in step. Each process works on the memory of its target, and its own memory is
// worked on by its source; targets are a permutation, so that each memory is written once. A call that returns an
// error counts as wrong data. A probe says what this process saw; preflight() joins what all saw.
//
// Thread safety: one thread.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "impl/mpi-rma/preflight/faults.h"

namespace armci::rma {

// One process's partners.
struct Partners {
  int target;
  int source;
};

// A duplicate of the caller's communicator with errors returned, and where its processes are.
class Neighbourhood {
 public:
  explicit Neighbourhood(MPI_Comm parent);
  ~Neighbourhood();
  Neighbourhood(const Neighbourhood&) = delete;
  Neighbourhood& operator=(const Neighbourhood&) = delete;

  MPI_Comm comm() const { return comm_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  int nodes() const { return nodes_; }
  // The next process on the node; with several nodes also one on another node. Itself when alone.
  const std::vector<Partners>& rounds() const { return rounds_; }
  void barrier() const { MPI_Barrier(comm_); }
  // True on all when it is true on all.
  bool all(bool mine) const;

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
  int nodes_ = 1;
  std::vector<Partners> rounds_;
};

enum class WindowKind { kCreate, kCreateShared, kDynamic, kAllocate };

// A window with `bytes` of zeroed memory of this process, locked for all until its end. Collective.
class ProbeWindow {
 public:
  ProbeWindow(const Neighbourhood& around, WindowKind kind, std::size_t bytes);
  ~ProbeWindow();
  ProbeWindow(const ProbeWindow&) = delete;
  ProbeWindow& operator=(const ProbeWindow&) = delete;

  // False on all processes when there is no such window on one of them; nothing else may be called then.
  bool ok() const { return ok_; }
  MPI_Win win() const { return win_; }
  std::byte* memory() const { return memory_; }
  template <class Type>
  Type* at(std::size_t offset) const {
    return reinterpret_cast<Type*>(memory_ + offset);
  }
  // The displacement of a byte of the memory of process `rank`.
  MPI_Aint displacement(int rank, std::size_t offset) const;

  // Makes what this process stored visible to the others, and the other way round. Memory ordering: MPI_Win_sync before
  // and after a barrier.
  void meet() const;

 private:
  bool create(WindowKind kind, std::size_t bytes);

  const Neighbourhood& around_;
  bool ok_ = false;
  bool locked_ = false;
  WindowKind kind_;
  MPI_Win win_ = MPI_WIN_NULL;
  std::byte* memory_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  std::unique_ptr<std::byte[]> private_memory_;
  std::vector<MPI_Aint> bases_;  // of dynamic windows
};

// True when MPI said yes.
inline bool went_well(int code) { return code == MPI_SUCCESS; }

// Add to `found` what goes wrong.
void probe_windows(const Neighbourhood& around, Findings* found);
void probe_atomics(const Neighbourhood& around, Findings* found);
void probe_order(const Neighbourhood& around, Findings* found);
void probe_datatypes(const Neighbourhood& around, Findings* found);
void probe_speed(const Neighbourhood& around, Findings* found);

}  // namespace armci::rma
