// Entry points: groups and locality.
#include "armci.h"
#include "impl/api/entry.h"

namespace armci::runtime::api {
namespace {

Status check_out(const void* out) {
  return out != nullptr ? kSuccess
                        : fail(Code::kNull, "ERR-1", "the argument for the result is NULL; pass the address for it");
}

Status create(Group& parent, int n, int* pids, ARMCI_Group* out) {
  ARMCI_RETURN_IF_ERROR(check_out(out));
  ARMCI_Group handle{};
  Group* made = nullptr;
  ARMCI_RETURN_IF_ERROR(groups().create(parent, pids, n, &handle, &made));
  if (made != nullptr) ARMCI_RETURN_IF_ERROR(runtime().create_resources(*made));
  *out = handle;
  return kSuccess;
}

Status ARMCI_Group_create_child(int n, int* pids, ARMCI_Group* out, ARMCI_Group* parent) {
  Group* group = nullptr;
  ARMCI_RETURN_IF_ERROR(groups().find(parent, &group));
  return create(*group, n, pids, out);
}
Status ARMCI_Group_create(int n, int* pids, ARMCI_Group* out) {
  ARMCI_Group parent = groups().default_handle();
  return api::ARMCI_Group_create_child(n, pids, out, &parent);
}

Status ARMCI_Group_free(ARMCI_Group* handle) {
  Group* group = nullptr;
  ARMCI_RETURN_IF_ERROR(groups().forget(handle, &group));
  return group != nullptr && group->mutex_sets == 0 ? runtime().destroy_resources(*group) : kSuccess;
}

Status ARMCI_Group_rank(ARMCI_Group* handle, int* rank) {
  ARMCI_RETURN_IF_ERROR(check_out(rank));
  if (groups().outside(handle)) {
    *rank = -1;
    return kSuccess;
  }
  Group* group = nullptr;
  ARMCI_RETURN_IF_ERROR(groups().find(handle, &group));
  *rank = group->rank();
  return kSuccess;
}

Status ARMCI_Group_size(ARMCI_Group* handle, int* size) {
  ARMCI_RETURN_IF_ERROR(check_out(size));
  if (groups().outside(handle)) {
    *size = 0;
    return kSuccess;
  }
  Group* group = nullptr;
  ARMCI_RETURN_IF_ERROR(groups().find(handle, &group));
  *size = group->size();
  return kSuccess;
}

Status ARMCI_Group_set_default(ARMCI_Group* handle) {
  Group* group = nullptr;
  ARMCI_RETURN_IF_ERROR(groups().find(handle, &group));
  groups().set_default(*handle);
  return kSuccess;
}
Status ARMCI_Group_get_default(ARMCI_Group* out) {
  ARMCI_RETURN_IF_ERROR(check_out(out));
  *out = groups().default_handle();
  return kSuccess;
}
Status ARMCI_Group_get_world(ARMCI_Group* out) {
  ARMCI_RETURN_IF_ERROR(check_out(out));
  *out = groups().world_handle();
  return kSuccess;
}

Valued<int> ARMCI_Absolute_id(ARMCI_Group* handle, int group_rank) {
  Group* group = nullptr;
  if (Status found = groups().find(handle, &group); !found.ok()) return {found, -1};
  if (group_rank < 0 || group_rank >= group->size()) {
    return {fail(Code::kProc, "GROUP-1", "argument group_rank = %d is outside 0..%d; pass a rank of the group",
                 group_rank, group->size() - 1),
            -1};
  }
  return {kSuccess, group->absolute_id(group_rank)};
}

Valued<MPI_Comm> armci_group_comm(ARMCI_Group* handle) {
  if (groups().outside(handle)) return {kSuccess, MPI_COMM_NULL};
  Group* group = nullptr;
  if (Status found = groups().find(handle, &group); !found.ok()) return {found, MPI_COMM_NULL};
  return {kSuccess, group->comm()};
}
Status ARMCIX_Group_comm_f(ARMCI_Group* handle, MPI_Fint* comm) {
  ARMCI_RETURN_IF_ERROR(check_out(comm));
  const Valued<MPI_Comm> found = api::armci_group_comm(handle);
  if (found.status.ok()) *comm = MPI_Comm_c2f(found.value);
  return found.status;
}

// --- locality: the only kind of domain is the node

Status check_domain(armci_domain_t domain) {
  if (domain == ARMCI_DOMAIN_SMP) return kSuccess;
  return fail(Code::kType, "DOM-1", "argument domain = %d is not ARMCI_DOMAIN_SMP; pass ARMCI_DOMAIN_SMP",
              static_cast<int>(domain));
}
Status check_node(armci_domain_t domain, int id) {
  ARMCI_RETURN_IF_ERROR(check_domain(domain));
  if (id >= 0 && id < world().node_count()) return kSuccess;
  return fail(Code::kProc, "DOM-1", "argument id = %d is outside 0..%d; pass the number of a domain", id,
              world().node_count() - 1);
}

Valued<int> armci_domain_nprocs(armci_domain_t domain, int id) {
  if (id < 0) id = world().my_node();
  Status status = check_node(domain, id);
  return {status, status.ok() ? static_cast<int>(world().node(id).ranks.size()) : -1};
}
Valued<int> armci_domain_id(armci_domain_t domain, int proc) {
  Status status = check_domain(domain);
  if (status.ok()) status = runtime().check_proc(proc);
  return {status, status.ok() ? world().node_of(proc) : -1};
}
Valued<int> armci_domain_glob_proc_id(armci_domain_t domain, int id, int local) {
  Status status = check_node(domain, id);
  if (!status.ok()) return {status, -1};
  const std::vector<int>& ranks = world().node(id).ranks;
  if (local < 0 || local >= static_cast<int>(ranks.size())) {
    return {fail(Code::kProc, "DOM-1", "argument local = %d is outside 0..%zu; pass a number within the domain", local,
                 ranks.size() - 1),
            -1};
  }
  return {kSuccess, ranks[static_cast<std::size_t>(local)]};
}
Valued<int> armci_domain_my_id(armci_domain_t domain) {
  Status status = check_domain(domain);
  return {status, status.ok() ? world().my_node() : -1};
}
Valued<int> armci_domain_count(armci_domain_t domain) {
  Status status = check_domain(domain);
  return {status, status.ok() ? world().node_count() : -1};
}
Valued<int> armci_domain_same_id(armci_domain_t domain, int proc) {
  Status status = check_domain(domain);
  if (status.ok()) status = runtime().check_proc(proc);
  return {status, status.ok() ? (world().same_node(proc) ? 1 : 0) : -1};
}
Valued<int> ARMCI_Same_node(int proc) { return api::armci_domain_same_id(ARMCI_DOMAIN_SMP, proc); }

}  // namespace
}  // namespace armci::runtime::api

ARMCI_API_GROUP(ARMCI_DEFINE_ENTRY)
