#include "impl/common/agree.h"

namespace armci::common {

Status agree(MPI_Comm comm, Status mine, const char* what) {
  struct {
    int value;
    int rank;
  } in{mine.value(), 0}, out{};
  ARMCI_MPI(MPI_Comm_rank(comm, &in.rank));
  ARMCI_MPI(MPI_Allreduce(&in, &out, 1, MPI_2INT, MPI_MAXLOC, comm));
  if (out.value == 0 || !mine.ok()) return mine;
  return fail(static_cast<Code>(out.value), nullptr, "%s failed on process %d of the group, see its message", what,
              out.rank);
}

}  // namespace armci::common
