// Checking mode (ARMCI_CHECK=1): the costly checks [ERR-4].
//
//   - an access mode's promise is kept [MODE-1]
//   - the local buffer of a non-blocking store is not changed between the call and its completion [CMPL-3, AGG-2]:
//     its contents are hashed at the call and again when the handle completes
//   - the destination segments of one strided or vector put or get do not overlap: legal [XFER-7], but rarely meant, so
//     a warning
//   - source and destination of one contiguous put or get do not overlap: a warning, since the
//     copied data are then unspecified
//
// Thread safety: all functions may be called by several threads.
#pragma once

#include <cstddef>
#include <string>

#include "armci_types.h"
#include "impl/base/status.h"
#include "impl/runtime/region_table.h"
#include "impl/runtime/shapes.h"

namespace armci::runtime {

// The values of ARMCI_CHECK.
enum class Checks { kCheap, kCostly, kRaces, kRacesWithStacks };
Status read_checks(const std::string& text, Checks* checks);

Status check_promise(AccessMode mode, bool put, bool get, bool accumulate);

// Both addresses as this process sees them: for targets on its node.
void check_contiguous_overlap(const void* src, const void* dst, std::size_t bytes);
void check_vector_overlap(const Segments* list, std::size_t length);
void check_strided_overlap(const Strided& shape, bool accumulate);

// The end of a non-blocking store: a wait for its handle (nullptr: implicit), or a completion of all to its target.
struct StoreEnd {
  const armci_hdl_t* handle;
  int proc;
};

// Remembers the source of a non-blocking store; does nothing for a get or when checking is off.
void watch_buffer(StoreEnd end, bool get, const void* src, std::size_t bytes);
void watch_strided_buffer(StoreEnd end, bool get, const void* src, const Strided& shape);
void watch_vector_buffer(StoreEnd end, bool get, const Segments& segments);

// Compares the buffers remembered for a handle, for a target, or for all. Forgets them, since the program may reuse
// them. kPromise names the first buffer that changed.
Status verify_buffers(const armci_hdl_t* handle);
Status verify_buffers_to(int proc);
Status verify_all_buffers();

}  // namespace armci::runtime
