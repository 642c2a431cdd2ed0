// The reductions of the message group: gop in all types, scopes and groups, reduce, and selection of an extreme.
#include <mpi.h>

#include <memory>
#include <mutex>
#include <new>

#include "impl/runtime/message_collectives.h"
#include "impl/runtime/messages.h"
#include "impl/runtime/process_barrier.h"
#include "impl/runtime/reduce_ops.h"

namespace armci::runtime {
namespace {

struct Reduction {
  Operator op;
  Element element;
  ScopeMembers members;
};

// Everything that can be wrong with the arguments is found here, before any process waits for another.
Status prepare(Group& group, int scope, const void* x, int n, const char* op, int type, Reduction* out) {
  ARMCI_RETURN_IF_ERROR(parse_operator(op, &out->op));
  ARMCI_RETURN_IF_ERROR(parse_element(type, &out->element));
  ARMCI_RETURN_IF_ERROR(check_reduction(out->op, out->element));
  if (n < 0) return fail(Code::kLength, "MSG-1", "argument n = %d is negative; pass 0 or more", n);
  if (n > 0 && x == nullptr)
    return fail(Code::kNull, "ERR-1", "argument x is NULL with n = %d; pass a buffer, or n = 0", n);
  return find_scope(group, scope, &out->members);
}

// A barrier of a whole group goes through node memory, which is faster than messages within a node.
Status meet(Group& group, Scope scope, MPI_Comm comm) {
  if (scope == Scope::kAll) return process_barrier(group);
  return barrier_by_messages(node::WaitKind::kCollective, comm);
}

Status all_reduce(Group& group, int scope, void* x, int n, const char* op, int type) {
  Reduction reduction;
  ARMCI_RETURN_IF_ERROR(prepare(group, scope, x, n, op, type, &reduction));
  if (n == 0) return kSuccess;
  MPI_Comm comm;
  ARMCI_RETURN_IF_ERROR(group.messages_comm(reduction.members.scope(), &comm));
  if (needs_preparation(reduction.op)) prepare_operands(reduction.op, reduction.element, x, x, static_cast<size_t>(n));
  if (needs_barrier(static_cast<size_t>(n) * element_bytes(reduction.element)))
    ARMCI_RETURN_IF_ERROR(meet(group, reduction.members.scope(), comm));
  return reduce_to_all(x, n, mpi_element(reduction.op, reduction.element), mpi_operation(reduction.op), comm);
}

Status reduce(Group& group, int scope, void* x, int n, const char* op, int type) {
  Reduction reduction;
  ARMCI_RETURN_IF_ERROR(prepare(group, scope, x, n, op, type, &reduction));
  if (n == 0) return kSuccess;
  const bool is_root = reduction.members.index() == 0;
  const size_t count = static_cast<size_t>(n);
  const void* contribution = is_root ? MPI_IN_PLACE : x;
  std::unique_ptr<char[]> changed;
  if (needs_preparation(reduction.op) && !is_root) {
    // Only the root's x may change.
    changed.reset(new (std::nothrow) char[count * element_bytes(reduction.element)]);
    if (changed == nullptr)
      return fail(Code::kMemory, nullptr,
                  "argument n = %d: the process has no memory for so many operands; reduce fewer in a call", n);
    prepare_operands(reduction.op, reduction.element, x, changed.get(), count);
    contribution = changed.get();
  }
  MPI_Comm comm;
  ARMCI_RETURN_IF_ERROR(group.messages_comm(reduction.members.scope(), &comm));
  if (needs_preparation(reduction.op) && is_root) prepare_operands(reduction.op, reduction.element, x, x, count);
  return reduce_to_first(contribution, is_root ? x : nullptr, n, mpi_element(reduction.op, reduction.element),
                         mpi_operation(reduction.op), comm);
}

// The type and operation of MPI for selection; created at first use, freed by release_messages().
struct Selection {
  std::mutex mutex;
  MPI_Op op = MPI_OP_NULL;
  MPI_Datatype type = MPI_DATATYPE_NULL;
};

Selection& selection() {
  static Selection of_process;
  return of_process;
}

void keep_winner(void* incoming, void* kept, int* count, MPI_Datatype*) {
  const Candidate* challengers = static_cast<const Candidate*>(incoming);
  Candidate* champions = static_cast<Candidate*>(kept);
  for (int i = 0; i < *count; ++i) {
    if (wins(challengers[i], champions[i])) champions[i] = challengers[i];
  }
}

Status selection_types(MPI_Op* op, MPI_Datatype* type) {
  Selection& made = selection();
  const std::lock_guard<std::mutex> lock(made.mutex);
  if (made.op == MPI_OP_NULL) ARMCI_MPI(MPI_Op_create(keep_winner, 1, &made.op));
  if (made.type == MPI_DATATYPE_NULL) {
    MPI_Datatype contiguous;
    ARMCI_MPI(MPI_Type_contiguous(sizeof(Candidate), MPI_BYTE, &contiguous));
    ARMCI_MPI(MPI_Type_commit(&contiguous));
    made.type = contiguous;
  }
  *op = made.op;
  *type = made.type;
  return kSuccess;
}

Status select(Group& group, int scope, void* x, int n, const char* op, int type, bool contribute) {
  Reduction reduction;
  ARMCI_RETURN_IF_ERROR(prepare(group, scope, x, n, op, type, &reduction));
  const Operator order = reduction.op;
  if (order != Operator::kMax && order != Operator::kMin && !takes_magnitudes(order)) {
    return fail(Code::kArgument, "MSG-1", "argument op = \"%s\" selects no element; use max, min, absmax or absmin",
                operator_name(order));
  }
  if (static_cast<size_t>(n) < element_bytes(reduction.element)) {
    return fail(Code::kLength, "MSG-1",
                "argument n = %d bytes is less than one element of type %d; pass whole elements", n, type);
  }
  MPI_Comm comm;
  MPI_Op mpi_op = MPI_OP_NULL;
  MPI_Datatype mpi_type = MPI_DATATYPE_NULL;
  ARMCI_RETURN_IF_ERROR(group.messages_comm(reduction.members.scope(), &comm));
  ARMCI_RETURN_IF_ERROR(selection_types(&mpi_op, &mpi_type));
  Candidate best;
  if (contribute) best = make_candidate(order, reduction.element, reduction.members.index(), x);
  ARMCI_RETURN_IF_ERROR(reduce_to_all(&best, 1, mpi_type, mpi_op, comm));
  // If no process takes part, every x keeps its value.
  return best.rank >= 0 ? broadcast(x, n, best.rank, comm) : kSuccess;
}

Status reduce_in_group(int scope, void* x, int n, const char* op, int type, ARMCI_Group* handle) {
  Group* group = nullptr;
  ARMCI_RETURN_IF_ERROR(groups().find(handle, &group));
  return all_reduce(*group, scope, x, n, op, type);
}

Status reduce_in_world(int scope, void* x, int n, const char* op, int type) {
  return all_reduce(groups().world(), scope, x, n, op, type);
}

}  // namespace

void release_messages() {
  Selection& made = selection();
  const std::lock_guard<std::mutex> lock(made.mutex);
  if (made.op != MPI_OP_NULL) MPI_Op_free(&made.op);
  if (made.type != MPI_DATATYPE_NULL) MPI_Type_free(&made.type);
}

namespace api {

Status armci_msg_reduce(void* x, int n, const char* op, int type) {
  return reduce(groups().world(), SCOPE_ALL, x, n, op, type);
}

Status armci_msg_reduce_scope(int scope, void* x, int n, const char* op, int type) {
  return reduce(groups().world(), scope, x, n, op, type);
}

Status armci_msg_sel(void* x, int n, const char* op, int type, int contribute) {
  return select(groups().world(), SCOPE_ALL, x, n, op, type, contribute != 0);
}

Status armci_msg_sel_scope(int scope, void* x, int n, const char* op, int type, int contribute) {
  return select(groups().world(), scope, x, n, op, type, contribute != 0);
}

Status armci_msg_igop(int* x, int n, const char* op) { return reduce_in_world(SCOPE_ALL, x, n, op, ARMCI_INT); }
Status armci_msg_lgop(long* x, int n, const char* op) { return reduce_in_world(SCOPE_ALL, x, n, op, ARMCI_LONG); }
Status armci_msg_llgop(armci_long_long_t* x, int n, const char* op) {
  return reduce_in_world(SCOPE_ALL, x, n, op, ARMCI_LONG_LONG);
}
Status armci_msg_fgop(float* x, int n, const char* op) { return reduce_in_world(SCOPE_ALL, x, n, op, ARMCI_FLOAT); }
Status armci_msg_dgop(double* x, int n, const char* op) { return reduce_in_world(SCOPE_ALL, x, n, op, ARMCI_DOUBLE); }
Status armci_msg_gop_scope(int scope, void* x, int n, const char* op, int type) {
  return reduce_in_world(scope, x, n, op, type);
}

Status armci_msg_group_igop(int* x, int n, const char* op, ARMCI_Group* group) {
  return reduce_in_group(SCOPE_ALL, x, n, op, ARMCI_INT, group);
}
Status armci_msg_group_lgop(long* x, int n, const char* op, ARMCI_Group* group) {
  return reduce_in_group(SCOPE_ALL, x, n, op, ARMCI_LONG, group);
}
Status armci_msg_group_llgop(armci_long_long_t* x, int n, const char* op, ARMCI_Group* group) {
  return reduce_in_group(SCOPE_ALL, x, n, op, ARMCI_LONG_LONG, group);
}
Status armci_msg_group_fgop(float* x, int n, const char* op, ARMCI_Group* group) {
  return reduce_in_group(SCOPE_ALL, x, n, op, ARMCI_FLOAT, group);
}
Status armci_msg_group_dgop(double* x, int n, const char* op, ARMCI_Group* group) {
  return reduce_in_group(SCOPE_ALL, x, n, op, ARMCI_DOUBLE, group);
}
Status armci_msg_group_gop_scope(int scope, void* x, int n, const char* op, int type, ARMCI_Group* group) {
  return reduce_in_group(scope, x, n, op, type, group);
}

Status armci_msg_clus_igop(int* x, int n, const char* op) { return reduce_in_world(SCOPE_NODE, x, n, op, ARMCI_INT); }
Status armci_msg_clus_lgop(long* x, int n, const char* op) { return reduce_in_world(SCOPE_NODE, x, n, op, ARMCI_LONG); }
Status armci_msg_clus_llgop(armci_long_long_t* x, int n, const char* op) {
  return reduce_in_world(SCOPE_NODE, x, n, op, ARMCI_LONG_LONG);
}
Status armci_msg_clus_fgop(float* x, int n, const char* op) {
  return reduce_in_world(SCOPE_NODE, x, n, op, ARMCI_FLOAT);
}
Status armci_msg_clus_dgop(double* x, int n, const char* op) {
  return reduce_in_world(SCOPE_NODE, x, n, op, ARMCI_DOUBLE);
}

}  // namespace api
}  // namespace armci::runtime
