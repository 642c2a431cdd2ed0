#include "impl/common/agree.h"

#include <climits>

namespace armci::common {

Status agree(MPI_Comm comm, Status mine, const char* what, const char* clause) {
  constexpr int kNobody = INT_MAX;
  struct {
    int failed;  // rank
    int code;
  } in{kNobody, mine.value()}, first{};
  if (!mine.ok()) ARMCI_MPI(MPI_Comm_rank(comm, &in.failed));
  ARMCI_MPI(MPI_Allreduce(&in, &first, 1, MPI_2INT, MPI_MINLOC, comm));
  if (first.failed == kNobody || !mine.ok()) return mine;
  return fail(static_cast<Code>(first.code), clause, "%s failed on process %d of the group, see its message", what,
              first.failed);
}

}  // namespace armci::common
