// Exclusive: every operation in an exclusive epoch of its own, as MPI-2 has it. No flushes, no requests, no atomics.
//
//   put, get, accumulate   |lock  op  unlock|                                            complete at the target
//   batch                  |lock  op op op  unlock|
//   atomic                 mutex |lock get unlock| |lock put unlock| mutex               an epoch gives what it got at
//                                                                                        its end, too late for a put
//   from exposed memory    |lock own, get into a copy, unlock|  |lock  put from the copy  unlock|
//   into exposed memory    |lock  get into a copy  unlock|  |lock own, put the copy, unlock|
//
// The form of Dinan, Balaji, Hammond, Krishnamoorthy, Tipparaju: Supporting the Global Arrays PGAS model using MPI
// one-sided communication (IPDPS 2012). Differences:
// - Mutexes of atomics are one per target process, not per region and process. The mutex only has to exclude another
//   atomic on the same word, and a region then costs no second window. Atomics on two regions of a process wait for
//   each other.
// - Memory that a process allocates alone is in a window of MPI-3's dynamic kind, which MPI-2 lacks, under the same
//   epochs.
// - The owner's direct accesses [DLA] are no epochs. They rely on the unified memory model of MPI-3: a window's memory
//   has no second, public copy.
//
// Exposed memory is staged because MPI-2 lets a process use its part of a window only in an epoch to itself, also as
// the local buffer of an operation. MPI-2 does not allow two epochs of one window at once. Epochs of two windows could
// make processes wait for each other in a circle. So no thread ever waits for an epoch while it has one.
//
// Thread safety: as Sync. A process has one epoch of a window at a time, for all targets together: MPI-2 demands this,
// and Open MPI 4.1 (osc/ucx) fails with MPI_ERR_RMA_SYNC or hangs where threads use MPI-3's permission to have several.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <vector>

#include "impl/mpi-rma/message_mutexes.h"
#include "impl/mpi-rma/sync.h"

namespace armci::rma {

class Exclusive : public Sync {
 public:
  ~Exclusive() override;
  // Collective over `world`.
  Status initialise(MPI_Comm world);

  Status open(Window* window) override;
  Status close(Window* window) override;
  Status start(const Access& access, Pending* pending) override;
  Status issue(std::span<const Access> accesses) override;
  Status complete_locally(Window*, int, Kind) override { return kSuccess; }
  Status atomic(const Atomic& atomic, void* before, Pending* pending) override;
  Status flush(Window*, int) override { return kSuccess; }
  Status flush_all(Window*) override { return kSuccess; }
  bool flushes() const override { return false; }
  std::size_t piece_bytes() const override { return 0; }

 private:
  struct Opened {
    Window* window;
    std::vector<int> processes;  // by rank in the window: rank in the world
  };

  template <class Word>
  Status atomic_on(MPI_Datatype type, const Atomic& atomic, void* before);
  Window* exposing(const Access& access, Status* status);
  int process_of(const Window* window, int rank);

  MPI_Group world_ = MPI_GROUP_NULL;
  std::unique_ptr<MessageMutexes> atomics_;  // mutex 0 of each process: of the atomics on its memory
  std::vector<std::mutex> threads_;          // by process: the thread of this one that is at the mutex
  std::vector<Opened> opened_;               // in the order of opening: the dynamic window comes first
  std::shared_mutex opened_mutex_;
  std::atomic<bool> elsewhere_{false};  // a window exposes memory that is not node memory
};

}  // namespace armci::rma
