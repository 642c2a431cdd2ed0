#include "impl/runtime/group_comm.h"

#include <algorithm>

#include "impl/node/wait_report.h"
#include "impl/runtime/config.h"

namespace armci::runtime {
namespace {

Status make_at_once(MPI_Comm parent, const int* ranks, int count, MPI_Comm* out) {
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group listed = MPI_GROUP_NULL;
  ARMCI_MPI(MPI_Comm_group(parent, &all));
  const int included = MPI_Group_incl(all, count, ranks, &listed);
  MPI_Group_free(&all);
  if (included != MPI_SUCCESS) return fail_mpi(included, "MPI_Group_incl");
  const node::CollectiveWait waiting;
  const int made = MPI_Comm_create_group(parent, listed, 0, out);
  MPI_Group_free(&listed);
  if (made != MPI_SUCCESS) return fail_mpi(made, "MPI_Comm_create_group");
  return kSuccess;
}

// Joins the subgroup of `mine`, with the one led by rank `leader` of `parent`.
Status join(MPI_Comm parent, MPI_Comm mine, int leader, bool behind, MPI_Comm* joined) {
  MPI_Comm both = MPI_COMM_NULL;
  int tag = 0;
  ARMCI_RETURN_IF_ERROR(largest_tag(parent, &tag));
  ARMCI_MPI(MPI_Intercomm_create(mine, 0, parent, leader, tag, &both));
  const int merged = MPI_Intercomm_merge(both, behind ? 1 : 0, joined);
  MPI_Comm_free(&both);
  if (merged != MPI_SUCCESS) return fail_mpi(merged, "MPI_Intercomm_merge");
  return kSuccess;
}

Status make_recursively(MPI_Comm parent, const int* ranks, int count, MPI_Comm* out) {
  int rank = 0;
  ARMCI_MPI(MPI_Comm_rank(parent, &rank));
  const auto position = static_cast<int>(std::find(ranks, ranks + count, rank) - ranks);
  MPI_Comm subgroup = MPI_COMM_NULL;
  ARMCI_MPI(MPI_Comm_dup(MPI_COMM_SELF, &subgroup));
  ARMCI_MPI(MPI_Comm_set_errhandler(subgroup, MPI_ERRORS_RETURN));
  for (long width = 1; width < count; width *= 2) {
    const long number = position / width;  // of the subgroup, among those of this width
    const long neighbour = (number ^ 1) * width;
    if (neighbour >= count) continue;
    MPI_Comm joined = MPI_COMM_NULL;
    const Status status = join(parent, subgroup, ranks[neighbour], number % 2 == 1, &joined);
    MPI_Comm_free(&subgroup);
    ARMCI_RETURN_IF_ERROR(status);
    subgroup = joined;
  }
  *out = subgroup;
  return kSuccess;
}

}  // namespace

Status largest_tag(MPI_Comm comm, int* tag) {
  constexpr int kLeastUpperBound = 32767;  // of the MPI standard
  void* value = nullptr;
  int found = 0;
  ARMCI_MPI(MPI_Comm_get_attr(comm, MPI_TAG_UB, &value, &found));
  *tag = found != 0 ? *static_cast<int*>(value) : kLeastUpperBound;
  return kSuccess;
}

Status make_comm(MPI_Comm parent, const int* ranks, int count, MPI_Comm* out) {
  return config().group_recursive ? make_recursively(parent, ranks, count, out)
                                  : make_at_once(parent, ranks, count, out);
}

}  // namespace armci::runtime
