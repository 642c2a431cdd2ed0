#include "impl/mpi-rma/dynamic_window.h"

#include <algorithm>

#include "impl/node/node_memory.h"

namespace armci::rma {

namespace {

// Its first byte.
char* cell_of(const void* address) {
  return reinterpret_cast<char*>(reinterpret_cast<std::uintptr_t>(address) / DynamicWindow::kCellBytes *
                                 DynamicWindow::kCellBytes);
}

}  // namespace

Status DynamicWindow::create(MPI_Comm comm, bool whole) {
  whole_ = whole;
  return Window::create_dynamic(comm, &window_);
}

Status DynamicWindow::free() {
  if (window_ == nullptr) return kSuccess;
  window_->detach_all();
  attached_.clear();
  const std::unique_ptr<Window> window = std::move(window_);
  return window->free();
}

Status DynamicWindow::attach(const void* base, std::size_t bytes) {
  const node::NodeMemory& memory = node::node_memory();
  const char* end = static_cast<const char*>(base) + bytes;
  std::lock_guard guard(mutex_);
  char* to = nullptr;
  for (char* from = whole_ ? memory.begin() : std::max(cell_of(base), memory.begin()); from < end; from = to) {
    to = whole_ ? memory.end() : std::min(from + left_in_cell(from), memory.end());
    if (attached_.contains(from)) continue;
    ARMCI_RETURN_IF_ERROR(window_->attach(from, static_cast<std::size_t>(to - from)));
    attached_.insert(from);
  }
  return kSuccess;
}

}  // namespace armci::rma
