// The tables of accumulate kernels, one per instruction set.  Private to the accumulate files.

#ifndef IMPL_NODE_ACCUMULATE_TABLE_H_
#define IMPL_NODE_ACCUMULATE_TABLE_H_

#include "impl/node/accumulate.h"

namespace armci::node::internal {

struct AccumulateTable {
  AccumulateKernel kernel[kAccTypes];
};

extern const AccumulateTable kAccumulateBaseline;
extern const AccumulateTable kAccumulateAvx2;
extern const AccumulateTable kAccumulateAvx512;
extern const AccumulateTable kAccumulateAvx512Wide;

}  // namespace armci::node::internal

#endif  // IMPL_NODE_ACCUMULATE_TABLE_H_
