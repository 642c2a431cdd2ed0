#include "bench/baseline/mpi_window.h"

#include <cstring>

namespace armci::bench {

MpiWindow::MpiWindow(MPI_Comm comm, size_t bytes, int target) : target_(target) {
  void* base = nullptr;
  MPI_Win_allocate(static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, comm, &base, &window_);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
  std::memset(base, 0, bytes);
  MPI_Win_sync(window_);
  MPI_Barrier(comm);
}

MpiWindow::~MpiWindow() {
  MPI_Win_unlock_all(window_);
  MPI_Win_free(&window_);
}

}  // namespace armci::bench
