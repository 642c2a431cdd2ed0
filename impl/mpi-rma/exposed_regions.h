// ExposedRegions: which window exposes an address of this process.
//
//   region windows   [part) -> window   [part) -> window         the same window by which other processes reach it
//   anything else    the dynamic window
//
// MPI makes atomics of one window atomic with each other, so a signal is applied by the window that the other processes
// use. The dynamic window may expose the memory of a region as well, but no process reaches the region by it.
//
// Thread safety: all members by any thread.
#pragma once

#include <cstddef>
#include <map>
#include <shared_mutex>

#include "impl/mpi-rma/window.h"

namespace armci::rma {

class ExposedRegions {
 public:
  // This process's part of a region; a window without a part is not found.
  void add(Window* window, const void* part, std::size_t bytes);
  void remove(const Window* window);
  // nullptr: no region has the address.
  Window* find(const void* address) const;

 private:
  struct Part {
    const char* end;
    Window* window;
  };

  mutable std::shared_mutex mutex_;
  std::map<const char*, Part> parts_;  // by their first byte
};

}  // namespace armci::rma
