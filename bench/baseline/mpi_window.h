// Raw one-sided communication of MPI: what a program writes that does without ARMCI.
//
// The window is the one MPI likes best, allocated by MPI itself, and in one passive epoch towards all from begin to
// end, so that an operation costs its call and its completion, and nothing else.
//
// Thread safety: one thread per process. Construction and destruction are collective. MPI ends the job on errors.
#ifndef ARMCI_BENCH_BASELINE_MPI_WINDOW_H_
#define ARMCI_BENCH_BASELINE_MPI_WINDOW_H_

#include <mpi.h>

#include <cstddef>

namespace armci::bench {

enum class Kind { kPut, kGet, kAccumulate };

// One side of an operation.
struct Layout {
  int count;
  MPI_Datatype type;
};

class MpiWindow {
 public:
  // `bytes` of zeros on each process of `comm`. Operations go to `target`.
  MpiWindow(MPI_Comm comm, size_t bytes, int target);
  ~MpiWindow();
  MpiWindow(const MpiWindow&) = delete;
  MpiWindow& operator=(const MpiWindow&) = delete;

  void Start(Kind kind, void* local, Layout here, MPI_Aint at, Layout there) const {
    switch (kind) {
      case Kind::kPut:
        MPI_Put(local, here.count, here.type, target_, at, there.count, there.type, window_);
        break;
      case Kind::kGet:
        MPI_Get(local, here.count, here.type, target_, at, there.count, there.type, window_);
        break;
      case Kind::kAccumulate:
        MPI_Accumulate(local, here.count, here.type, target_, at, there.count, there.type, MPI_SUM, window_);
        break;
    }
  }

  // Afterwards the local buffers may be used.
  void CompleteLocally(Kind kind) const {
    if (kind == Kind::kGet && kGetsNeedFlush) {
      Flush();
    } else {
      MPI_Win_flush_local(target_, window_);
    }
  }

  // Afterwards everything is done at the target.
  void Flush() const { MPI_Win_flush(target_, window_); }

  // Other ways to the same end, with all of their completion. Accumulates are ordered among each other, so that none
  // has to wait for the one before. No requests: a progress thread may have MPI lose one for good (finding request-lost
  // of impl/mpi-rma/preflight).
  void PutByAccumulate(const void* local, Layout side) const {
    MPI_Accumulate(local, side.count, side.type, target_, 0, side.count, side.type, MPI_REPLACE, window_);
    MPI_Win_flush_local(target_, window_);
  }
  void GetByAccumulate(void* local, Layout side) const {
    MPI_Get_accumulate(nullptr, 0, side.type, local, side.count, side.type, target_, 0, side.count, side.type,
                       MPI_NO_OP, window_);
    CompleteLocally(Kind::kGet);
  }

  template <typename Integer>
  Integer FetchAdd(MPI_Datatype type, MPI_Aint at, Integer value) const {
    Integer before = 0;
    MPI_Fetch_and_op(&value, &before, type, target_, at, MPI_SUM, window_);
    Flush();
    return before;
  }

 private:
#ifdef MPICH_VERSION
  // A local flush returns before the data of a get is there: finding get-flush-local of impl/mpi-rma/preflight.
  static constexpr bool kGetsNeedFlush = true;
#else
  static constexpr bool kGetsNeedFlush = false;
#endif

  MPI_Win window_ = MPI_WIN_NULL;
  int target_;
};

}  // namespace armci::bench

#endif  // ARMCI_BENCH_BASELINE_MPI_WINDOW_H_
