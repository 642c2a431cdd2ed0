#include "impl/mpi-rma/window.h"

namespace armci::rma {

using common::kSuccess;
using common::Status;

Status Window::adopt(MPI_Comm comm, MPI_Win handle) {
  handle_ = handle;
  ARMCI_MPI(MPI_Win_set_errhandler(handle_, MPI_ERRORS_RETURN));
  ARMCI_MPI(MPI_Comm_size(comm, &size_));
  ARMCI_MPI(MPI_Comm_rank(comm, &rank_));
  unflushed_ = std::make_unique<std::atomic<bool>[]>(static_cast<std::size_t>(size_));
  return kSuccess;
}

Status Window::create(MPI_Comm comm, void* base, std::size_t bytes, std::unique_ptr<Window>* out) {
  auto window = std::make_unique<Window>();
  MPI_Win handle = MPI_WIN_NULL;
  ARMCI_MPI(MPI_Win_create(base, static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, comm, &handle));
  ARMCI_RETURN_IF_ERROR(window->adopt(comm, handle));
  window->base_ = static_cast<const char*>(base);
  if (bytes > 0) window->parts_[window->base_] = window->base_ + bytes;
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

Status Window::attach(void* base, std::size_t bytes) {
  ARMCI_MPI(MPI_Win_attach(handle_, base, static_cast<MPI_Aint>(bytes)));
  std::lock_guard guard(parts_mutex_);
  parts_[static_cast<const char*>(base)] = static_cast<const char*>(base) + bytes;
  return kSuccess;
}

void Window::detach_all() {
  for (const auto& part : parts_) MPI_Win_detach(handle_, part.first);
  parts_.clear();
}

bool Window::exposes(const void* from, const void* to) {
  std::lock_guard guard(parts_mutex_);
  auto after = parts_.upper_bound(static_cast<const char*>(from));
  return after != parts_.begin() && static_cast<const char*>(to) <= (--after)->second;
}

MPI_Aint Window::displacement(const void* own) const { return static_cast<const char*>(own) - base_; }

Status Window::free() {
  if (handle_ != MPI_WIN_NULL) ARMCI_MPI(MPI_Win_free(&handle_));
  return kSuccess;
}

}  // namespace armci::rma
