// Accumulate kernels for CPUs with AVX-512 (F, DQ, VL), which has a multiplication of 64-bit integers.  The vectors are
// of 32 bytes all the same. Wider ones gain nothing once the data leave the first-level cache, and lose where they
// cross lines. They also lower the clock of the CPUs that this is for.  Multiplications and additions stay separate
// (ACC-4: same bits on every CPU).

#include "impl/node/accumulate_table.h"
// Everything from here on is compiled for that CPU, the loops included.
#pragma GCC target("avx512f,avx512dq,avx512vl,prefer-vector-width=256")
#include "impl/node/accumulate_loop.h"

namespace armci::node::internal {
namespace {

struct Avx512 {
  static constexpr size_t kVectorBytes = 32;
};

}  // namespace

constinit const AccumulateTable kAccumulateAvx512 = accumulate_table<Avx512>();

}  // namespace armci::node::internal
