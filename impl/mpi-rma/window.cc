#include "impl/mpi-rma/window.h"

#include <cstdint>

namespace armci::rma {

namespace {

// MPI may align allocated memory to any byte, behind a part of odd size.
constexpr std::size_t kAlignment = 64;

MPI_Aint padded(std::size_t bytes) { return bytes == 0 ? 0 : static_cast<MPI_Aint>(bytes + kAlignment); }

char* aligned(void* base) {
  const auto at = reinterpret_cast<std::uintptr_t>(base);
  return static_cast<char*>(base) + (kAlignment - at % kAlignment) % kAlignment;
}

}  // namespace

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
  window->note_part(static_cast<char*>(base), bytes);
  *out = std::move(window);
  return kSuccess;
}

void Window::note_part(char* begin, std::size_t bytes) {
  if (bytes == 0) return;
  memory_ = begin;
  parts_[begin] = begin + bytes;
}

Status Window::allocate(MPI_Comm comm, std::size_t bytes, std::unique_ptr<Window>* out) {
  auto window = std::make_unique<Window>();
  MPI_Win handle = MPI_WIN_NULL;
  void* base = nullptr;
  ARMCI_MPI(MPI_Win_allocate(padded(bytes), 1, MPI_INFO_NULL, comm, &base, &handle));
  ARMCI_RETURN_IF_ERROR(window->adopt(comm, handle));
  window->base_ = static_cast<const char*>(base);
  window->note_part(aligned(base), bytes);
  *out = std::move(window);
  return kSuccess;
}

Status Window::allocate_shared(MPI_Comm comm, MPI_Comm machine, std::size_t bytes, std::unique_ptr<Window>* out) {
  MPI_Win below = MPI_WIN_NULL;
  void* base = nullptr;
  ARMCI_MPI(MPI_Win_allocate_shared(padded(bytes), 1, MPI_INFO_NULL, machine, &base, &below));
  ARMCI_RETURN_IF_ERROR(create(comm, bytes > 0 ? aligned(base) : nullptr, bytes, out));
  (*out)->below_ = below;
  return kSuccess;
}

Status Window::create_dynamic(MPI_Comm comm, std::unique_ptr<Window>* out) {
  auto window = std::make_unique<Window>();
  MPI_Win handle = MPI_WIN_NULL;
  ARMCI_MPI(MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &handle));
  ARMCI_RETURN_IF_ERROR(window->adopt(comm, handle));
  window->dynamic_ = true;
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
  if (below_ != MPI_WIN_NULL) ARMCI_MPI(MPI_Win_free(&below_));
  return kSuccess;
}

}  // namespace armci::rma
