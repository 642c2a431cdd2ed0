// Sync: the strategy by which one-sided operations of MPI are issued and completed. A strategy is a class
// (sync_epochless.h, sync_exclusive.h), a word of ARMCI_RMA_SYNC (settings.cc) and a line of Sync::make.
//
//   epochless   lock_all |== put == flush_local ==== get == flush_local ===== flush ====| unlock_all
//   exclusive            |lock put unlock|     |lock get unlock|                             nothing to fence
//
// Thread safety: all members by any thread, except open() and close(), which are collective.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "impl/base/status.h"
#include "impl/mpi-rma/preflight/faults.h"
#include "impl/mpi-rma/settings.h"
#include "impl/mpi-rma/window.h"
#include "impl/runtime/transport.h"

namespace armci::rma {

enum class Kind { kPut, kGet, kAccumulate };

// One operation of MPI. The types are committed; a get writes to `local`. `element` is the predefined type that both
// are made of.
struct Access {
  Kind kind;
  Window* window;
  int rank;
  void* local;
  int local_count;
  MPI_Datatype local_type;
  MPI_Aint displacement;
  int count;
  MPI_Datatype type;
  MPI_Datatype element;
};

// One atomic operation; op: kAdd, kSwap or kCompareSwap.
struct Atomic {
  Window* window;
  int rank;
  MPI_Aint displacement;
  runtime::Rmw rmw;
};

// Issues an operation of MPI in an open epoch; returns MPI's error code. An accumulate adds.
int issue_operation(const Access& access);

class Sync;

// A pending operation: a request of MPI, or "complete after a flush". Its destructor completes it, since
// MPI frees no request of a one-sided operation otherwise.
class Pending {
 public:
  Pending() = default;
  explicit Pending(MPI_Request request) : request_(request) {}
  Pending(Sync* sync, Window* window, int rank, Kind kind) : sync_(sync), window_(window), rank_(rank), kind_(kind) {}
  Pending(Pending&& other) noexcept { *this = std::move(other); }
  Pending& operator=(Pending&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(afterwards_, other.afterwards_);
    std::swap(request_, other.request_);
    std::swap(sync_, other.sync_);
    std::swap(kind_, other.kind_);
    std::swap(window_, other.window_);
    std::swap(rank_, other.rank_);
    return *this;
  }
  ~Pending();

  // Local completion. Blocks only where there is no request, and then not for the target's program.
  Status test(bool* done);

  // Keeps memory until the operation is complete, and a function to call then (a get unpacks its data).
  void hold(std::shared_ptr<char> memory, std::function<void()> afterwards) {
    memory_ = std::move(memory);
    afterwards_ = std::move(afterwards);
  }

 private:
  Status poll(bool* done);

  // Last to go: MPI may use it until the request is complete.
  std::shared_ptr<char> memory_;
  std::function<void()> afterwards_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  Sync* sync_ = nullptr;
  Window* window_ = nullptr;
  int rank_ = -1;
  Kind kind_ = Kind::kPut;
};

class Sync {
 public:
  // Collective over `world`, the communicator of all processes. `requests` as ARMCI_RMA_REQUESTS.
  static Status make(SyncKind kind, int requests, const Findings& findings, MPI_Comm world, std::unique_ptr<Sync>* out);
  // Collective, once every window is closed.
  virtual ~Sync() = default;

  // Around the life of a window. Collective over its processes.
  virtual Status open(Window* window) = 0;
  virtual Status close(Window* window) = 0;

  // Issues an operation. With pending == nullptr the call returns at local completion.
  virtual Status start(const Access& access, Pending* pending) = 0;
  // Issues operations of one kind to one rank; complete_locally() completes all of that kind.
  virtual Status issue(std::span<const Access> accesses) = 0;
  virtual Status complete_locally(Window* window, int rank, Kind kind) = 0;
  // The value before comes as the data of a get. With pending == nullptr the operation is effective at return.
  virtual Status atomic(const Atomic& atomic, void* before, Pending* pending) = 0;
  // Remote completion of all operations of this process to `rank`.
  virtual Status flush(Window* window, int rank) = 0;
  // Remote completion of all operations of this process to all ranks.
  virtual Status flush_all(Window* window) = 0;
  // Whether stores need a flush at all.
  virtual bool flushes() const = 0;
  // The size above which one operation is faster in several pieces (put-slow); 0: never.
  virtual std::size_t piece_bytes() const = 0;
};

}  // namespace armci::rma
