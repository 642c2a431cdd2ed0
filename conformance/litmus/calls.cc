// Calls of litmus programs that not every library has, of the classic interface.

#include "armci.h"
#include "conformance/litmus/program.h"

namespace conformance::litmus {

int PutFlag(const Plan& plan, char* src, char* dst, char* flag, int proc, bool /*nonblocking*/) {
  int* int_flag = reinterpret_cast<int*>(flag);
  if (plan.shape == Shape::kContiguous) return ARMCI_Put_flag(src, dst, plan.count[0], int_flag, 1, proc);
  std::vector<int> count = plan.count;
  std::vector<int> src_stride = plan.src_stride;
  std::vector<int> dst_stride = plan.dst_stride;
  return ARMCI_PutS_flag(src, src_stride.data(), dst, dst_stride.data(), count.data(),
                         static_cast<int>(count.size()) - 1, int_flag, 1, proc);
}

}  // namespace conformance::litmus
