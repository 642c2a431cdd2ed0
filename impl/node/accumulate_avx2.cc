// Accumulate kernels for CPUs with AVX2.  Multiplications and additions stay separate (ACC-4: same bits on every CPU).

#include "impl/node/accumulate_table.h"
// Everything from here on is compiled for that CPU, the loops included.
#pragma GCC target("avx2")
#include "impl/node/accumulate_loop.h"

namespace armci::node::internal {
namespace {

struct Avx2 {
  static constexpr size_t kVectorBytes = 32;
};

}  // namespace

constinit const AccumulateTable kAccumulateAvx2 = accumulate_table<Avx2>();

}  // namespace armci::node::internal
