// Accumulate kernels for every x86-64 CPU (SSE2).

#include "impl/node/accumulate_loop.h"
#include "impl/node/accumulate_table.h"

namespace armci::node::internal {
namespace {

struct Baseline {
  static constexpr size_t kVectorBytes = 16;
};

}  // namespace

constinit const AccumulateTable kAccumulateBaseline = accumulate_table<Baseline>();

}  // namespace armci::node::internal
