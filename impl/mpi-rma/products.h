// Products: scale * source for accumulates whose scale is not 1, which MPI does not multiply.
//
//   segments  |--a--|  |--b--|  |--c--|        formed one after the other in a buffer of bounded size
//   buffer    |a*s|b*s|c*s|                    full, or at the end: issued as one list of segments
//
// Thread safety: none; a value of one call, one at a time in each thread, which has the buffer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <vector>

#include "impl/base/status.h"
#include "impl/node/accumulate.h"
#include "impl/runtime/shapes.h"

namespace armci::rma {

// Whether the scale changes nothing.
bool is_one(const node::AccSpec& acc);

class Products {
 public:
  // `hand_over` gets segments of equal length and has read their sources when it returns.
  Products(const node::AccSpec& acc, std::function<Status(const runtime::Segments&)> hand_over)
      : acc_(acc), hand_over_(std::move(hand_over)) {}

  // A segment of any length; all of one object have the same.
  Status add(const void* source, void* target, std::size_t bytes);
  Status send();

 private:
  static constexpr std::size_t kBufferBytes = std::size_t{1} << 20;

  Status add_piece(const char* source, char* target, std::size_t bytes);

  const node::AccSpec acc_;
  const std::function<Status(const runtime::Segments&)> hand_over_;
  std::size_t filled_ = 0;
  std::size_t bytes_ = 0;  // of each segment in the buffer
  std::vector<void*> sources_;
  std::vector<void*> targets_;
};

}  // namespace armci::rma
