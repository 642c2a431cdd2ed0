// DynamicWindow: memory that a process allocates alone (ARMCI_Memget) and others reach by its address.
//
//   node memory  |....|..block..|......|....block....|.......|       cells: 1 GiB, at multiples of their size
//   cells        |      0       |         1          |    2  |       attached whole, when a block first needs them
//
// Cells and not blocks, because MPI libraries attach few pieces of memory (Open MPI 32) and some fail after many
// attachments and detachments; a cell stays attached until the end. A transfer is cut where one cell ends. Where MPI
// gets more than one piece wrong (dynamic-pieces), all of node memory is one.
//
// Thread safety: attach() by any thread; creating and freeing are collective.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>

#include "impl/base/status.h"
#include "impl/mpi-rma/window.h"

namespace armci::rma {

class DynamicWindow {
 public:
  static constexpr std::size_t kCellBytes = std::size_t{1} << 30;
  // From `address` to where its cell ends.
  static std::size_t left_in_cell(const void* address) {
    return kCellBytes - reinterpret_cast<std::uintptr_t>(address) % kCellBytes;
  }

  // Collective over `comm`. `whole`: all of node memory is attached, once.
  Status create(MPI_Comm comm, bool whole);
  Status free();

  // Makes [base, base + bytes) of this process reachable: a range of node memory.
  Status attach(const void* base, std::size_t bytes);

  Window* window() const { return window_.get(); }

 private:
  std::unique_ptr<Window> window_;
  bool whole_ = false;
  std::mutex mutex_;
  std::set<char*> attached_;  // where the attached parts of cells begin
};

}  // namespace armci::rma
