#include "impl/node/agree.h"

#include <climits>

#include "impl/node/wait_report.h"

namespace armci::node {

Status agree(MPI_Comm comm, Status mine, const char* what, const char* clause) {
  constexpr int kNone = INT_MAX;
  struct {
    int failed;  // rank
    int code;
  } in{kNone, mine.value()}, first{};
  if (!mine.ok()) ARMCI_MPI(MPI_Comm_rank(comm, &in.failed));
  const CollectiveWait waiting;
  ARMCI_MPI(MPI_Allreduce(&in, &first, 1, MPI_2INT, MPI_MINLOC, comm));
  if (first.failed == kNone || !mine.ok()) return mine;
  return fail(static_cast<Code>(first.code), clause, "%s failed on process %d of the group, see its message", what,
              first.failed);
}

Status same_on_all(MPI_Comm comm, std::span<const SharedSetting> settings) {
  const CollectiveWait waiting;
  for (const SharedSetting& setting : settings) {
    // The largest, and the smallest with its sign turned.
    long most[2] = {setting.value, -setting.value};
    ARMCI_MPI(MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_LONG, MPI_MAX, comm));
    if (most[0] == -most[1]) continue;
    return fail(Code::kArgument, "ERR-1",
                "environment variable %s is not the same on all processes; have the launcher pass it to all",
                setting.name);
  }
  return kSuccess;
}

}  // namespace armci::node
