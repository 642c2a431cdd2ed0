// RegionMemory: memory of regions that MPI makes (ARMCI_RMA_WINDOW), instead of node memory.
//
//   create     node memory | MPI_Win_create over the group                          Transport::register_region
//   allocate   MPI_Win_allocate over the group
//   shared     MPI_Win_allocate_shared over the machine's members of the group | MPI_Win_create over the group
//
// MPI places such memory at another address in every process, so an address is valid for its owner only [MEM-1, MEM-4].
// Every process therefore counts as a node of its own (D54).
//
// When MPI lacks memory on one process, the other processes wait inside MPI for ever, under both tested libraries.
// Pages that MPI returns may also fail to exist. So all processes check the free memory before they call MPI, and each
// process creates its pages before the allocation returns [MEM-8].
//
// Thread safety: make() by any thread, collective over its group.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "impl/base/status.h"
#include "impl/mpi-rma/preflight/faults.h"
#include "impl/mpi-rma/settings.h"
#include "impl/mpi-rma/window.h"
#include "impl/runtime/transport.h"

namespace armci::rma {

// The first known fault that rules out memory of that kind, or nullptr. A fault with a workaround rules out nothing.
const FaultRow* hindrance(RegionKind kind, const Findings& findings);

// Creates the pages of [from, from + bytes) now. kMemory instead of SIGBUS where no pages are left.
Status make_pages(char* from, std::size_t bytes);

class RegionMemory {
 public:
  // Collective over the world.
  Status initialise(const runtime::World& world, RegionKind kind, const Findings& findings);

  // The window of a region, whose parts get their bases; origins[r] is displacement 0 of group rank r. Fails on all
  // alike. The window is not opened.
  Status make(const runtime::GroupView& group, std::span<runtime::Exposed> parts, std::vector<const void*>* origins,
              std::unique_ptr<Window>* out) const;

 private:
  Status check_memory(std::span<const runtime::Exposed> parts, std::size_t bytes_of_each) const;
  Status make_window(const runtime::GroupView& group, std::size_t bytes, std::unique_ptr<Window>* out) const;

  RegionKind kind_ = RegionKind::kCreate;
  bool equal_sizes_ = false;     // win-allocate-unequal
  std::vector<int> machine_of_;  // by absolute id: the lowest process of its machine
  int my_machine_ = -1;
};

}  // namespace armci::rma
