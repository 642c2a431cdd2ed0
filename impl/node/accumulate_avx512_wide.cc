// Accumulate kernels for the generations of AVX-512 (with VBMI2) that keep their clock with vectors of 64 bytes.
// Multiplications and additions stay separate (ACC-4: same bits on every CPU).

#include "impl/node/accumulate_table.h"
// Everything from here on is compiled for that CPU, the loops included.
#pragma GCC target("avx512f,avx512dq,avx512vl,prefer-vector-width=512")
#include "impl/node/accumulate_loop.h"

namespace armci::node::internal {
namespace {

struct Wide {
  static constexpr size_t kVectorBytes = 64;
};
struct Narrow {
  static constexpr size_t kVectorBytes = 32;
};

}  // namespace

constinit const AccumulateTable kAccumulateAvx512Wide = accumulate_table_of_both<Wide, Narrow>();

}  // namespace armci::node::internal
