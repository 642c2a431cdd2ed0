// The tables of accumulate kernels, one per instruction set.  Private to the accumulate files.

#ifndef IMPL_COMMON_ACCUMULATE_TABLE_H_
#define IMPL_COMMON_ACCUMULATE_TABLE_H_

#include "impl/common/accumulate.h"

namespace armci::common::internal {

struct AccumulateTable {
  AccumulateKernel kernel[kAccTypes];
};

extern const AccumulateTable kAccumulateBaseline;
extern const AccumulateTable kAccumulateAvx2;
extern const AccumulateTable kAccumulateAvx512;
extern const AccumulateTable kAccumulateAvx512Wide;

}  // namespace armci::common::internal

#endif  // IMPL_COMMON_ACCUMULATE_TABLE_H_
