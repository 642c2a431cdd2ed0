// Window: the exposed memory of one region, or of the memory that processes allocate alone (the dynamic window).
//
//   region   rank 0 |---part---|  rank 1 |--part--|  rank 2 (nothing)      collective, over the group's communicator
//   window   displacement 0 = base of the part                             (process, address) -> (rank, address - base)
//   dynamic  displacement = address                                        over the world, parts attached one by one
//
// Thread safety: all members by any thread, but creating and freeing, which are collective.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>

#include "impl/base/status.h"
#include "impl/runtime/transport.h"

namespace armci::rma {

class Window {
 public:
  // Collective over `comm`: exposes [base, base + bytes) of this process; bytes may be 0.
  static Status create(MPI_Comm comm, void* base, std::size_t bytes, std::unique_ptr<Window>* out);
  // Collective over `comm`: exposes `bytes` of this process, allocated by MPI_Win_allocate.
  static Status allocate(MPI_Comm comm, std::size_t bytes, std::unique_ptr<Window>* out);
  // The same with memory of MPI_Win_allocate_shared over `machine`, the part of `comm` that shares memory.
  static Status allocate_shared(MPI_Comm comm, MPI_Comm machine, std::size_t bytes, std::unique_ptr<Window>* out);
  // Collective over `comm`: a window to attach memory to.
  static Status create_dynamic(MPI_Comm comm, std::unique_ptr<Window>* out);
  // Collective over the same communicator; no epoch is open.
  Status free();

  // Exposes [base, base + bytes) of this process too: a dynamic window.
  Status attach(void* base, std::size_t bytes);
  // Local, when no operation is pending.
  void detach_all();

  MPI_Win handle() const { return handle_; }
  bool dynamic() const { return dynamic_; }
  int size() const { return size_; }
  int rank() const { return rank_; }

  // The part of a region that this process exposes: the address of its bytes and the address of displacement 0. If MPI
  // allocated the bytes, their address is aligned as parts are. nullptr: no part.
  char* memory() const { return memory_; }
  const char* origin() const { return base_; }

  // Whether [from, to) lies in one exposed part of this process, whose bytes then have these displacements.
  bool exposes(const void* from, const void* to);
  MPI_Aint displacement(const void* own) const;

  // The access mode that the program promised. It changes only while no operation is pending.
  runtime::AccessMode mode() const { return mode_.load(std::memory_order_relaxed); }
  void set_mode(runtime::AccessMode mode) { mode_.store(mode, std::memory_order_relaxed); }

  // For a strategy that opens epochs: held while this process has one.
  std::mutex& epochs() { return epochs_; }

  // Operations issued since all were last known to be complete.
  std::atomic<int>& started() { return started_; }

  // By rank: whether the rank has unflushed stores of this process.
  std::atomic<bool>& unflushed(int rank) { return unflushed_[static_cast<std::size_t>(rank)]; }

 private:
  Status adopt(MPI_Comm comm, MPI_Win handle);

  void note_part(char* begin, std::size_t bytes);

  MPI_Win handle_ = MPI_WIN_NULL;
  MPI_Win below_ = MPI_WIN_NULL;  // that the memory belongs to, if it is another window's
  bool dynamic_ = false;
  int size_ = 0;
  int rank_ = -1;
  const char* base_ = nullptr;  // of displacement 0
  char* memory_ = nullptr;
  std::map<const char*, const char*> parts_;  // of this process: begin and end
  std::mutex parts_mutex_;
  std::mutex epochs_;
  std::atomic<runtime::AccessMode> mode_{runtime::AccessMode::kDefault};
  std::unique_ptr<std::atomic<bool>[]> unflushed_;
  std::atomic<int> started_{0};
};

// How a process names memory of a target. Valid in one process only, except keys of the dynamic window, which are sent
// to other processes.
struct Key {
  Window* window = nullptr;    // nullptr: the dynamic window
  const void* base = nullptr;  // of displacement 0
  int rank = -1;               // the target's, in the window

  MPI_Aint displacement(const void* remote) const {
    return static_cast<const char*>(remote) - static_cast<const char*>(base);
  }
};

}  // namespace armci::rma
