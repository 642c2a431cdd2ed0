#include "impl/mpi-rma/window.h"

namespace armci::rma {

using common::kSuccess;
using common::Status;

Status Window::adopt(MPI_Comm comm, MPI_Win handle) {
  handle_ = handle;
  ARMCI_MPI(MPI_Win_set_errhandler(handle_, MPI_ERRORS_RETURN));
  ARMCI_MPI(MPI_Comm_size(comm, &size_));
  unflushed_ = std::make_unique<std::atomic<bool>[]>(static_cast<std::size_t>(size_));
  return kSuccess;
}

Status Window::create(MPI_Comm comm, void* base, std::size_t bytes, std::unique_ptr<Window>* out) {
  auto window = std::make_unique<Window>();
  MPI_Win handle = MPI_WIN_NULL;
  ARMCI_MPI(MPI_Win_create(base, static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, comm, &handle));
  ARMCI_RETURN_IF_ERROR(window->adopt(comm, handle));
  *out = std::move(window);
  return kSuccess;
}

Status Window::create_dynamic(MPI_Comm comm, std::unique_ptr<Window>* out) {
  auto window = std::make_unique<Window>();
  MPI_Win handle = MPI_WIN_NULL;
  ARMCI_MPI(MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &handle));
  ARMCI_RETURN_IF_ERROR(window->adopt(comm, handle));
  *out = std::move(window);
  return kSuccess;
}

Status Window::free() {
  if (handle_ != MPI_WIN_NULL) ARMCI_MPI(MPI_Win_free(&handle_));
  return kSuccess;
}

}  // namespace armci::rma
