// Accumulate kernels for every x86-64 CPU (SSE2).

#include "impl/common/accumulate_loop.h"
#include "impl/common/accumulate_table.h"

namespace armci::common::internal {
namespace {

struct Baseline {
  static constexpr size_t kVectorBytes = 16;
};

}  // namespace

constinit const AccumulateTable kAccumulateBaseline = accumulate_table<Baseline>();

}  // namespace armci::common::internal
