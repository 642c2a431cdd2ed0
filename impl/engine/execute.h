// A server executes requests that passed decode(). The server uses the same CPU instructions as the processes of its
// node, so that operations of both are atomic together.
//
// Thread safety: all may be called by several threads.
#pragma once

#include <cstdint>

#include "impl/engine/request.h"

namespace armci::engine {

inline char* pointer(std::uint64_t address) { return reinterpret_cast<char*>(static_cast<std::uintptr_t>(address)); }

// Calls visit(place) for every segment of a put, get, accumulate or signal, in its order.
template <class Visit>
void for_places(const Request& request, Visit visit) {
  const RequestHeader& header = request.header;
  switch (header.form) {
    case Form::kContiguous:
      visit(pointer(header.address));
      break;
    case Form::kStrided:
      for_segment_range(request.shape, header.first, header.count,
                        [&](std::ptrdiff_t, std::ptrdiff_t to) { visit(pointer(header.address) + to); });
      break;
    case Form::kList:
      for (std::size_t i = 0; i < header.count; ++i) visit(pointer(request.addresses[i]));
      break;
  }
}

// As for_places(), for runs of segments: visit(place, stride, segments).
template <class Visit>
void for_runs(const Request& request, Visit visit) {
  if (request.header.form != Form::kStrided) {
    return for_places(request, [&](char* place) { visit(place, std::ptrdiff_t{0}, std::size_t{1}); });
  }
  for_run_range(request.shape, request.header.first, request.header.count,
                [&](std::ptrdiff_t, std::ptrdiff_t to, std::size_t segments) {
                  visit(pointer(request.header.address) + to, request.shape.dst_stride[0], segments);
                });
}

// A put, an accumulate or a signal; `data` without gaps, in the order of the segments.
//
// Memory ordering: stores of one process take effect in the order of their requests [ORD-1].
void store(const Request& request, const char* data);

// Copies the data of a get to `to`, without gaps; returns their end.
char* collect(const Request& request, char* to);

// Executes the entries of a batch in their order, up to one that is malformed. Copies the data of its gets, and the
// values before its atomics, to `to`, where there is space for as much as its header says.
Status execute_batch(const Request& batch, const IsInside& inside, char* to);

// Returns the value before.
std::uint64_t execute_atomic(const RequestHeader& header);

}  // namespace armci::engine
