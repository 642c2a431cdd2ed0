#include "impl/runtime/messages.h"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <new>

#include "impl/base/backtrace.h"
#include "impl/runtime/group_comm.h"
#include "impl/runtime/message_collectives.h"
#include "impl/runtime/mpi_wait.h"
#include "impl/runtime/process_barrier.h"
#include "impl/runtime/world.h"

namespace armci::runtime {
namespace {

Status check_buffer(const char* name, const void* buffer, const char* length_name, int length) {
  if (length < 0)
    return fail(Code::kLength, "MSG-1", "argument %s = %d is negative; pass 0 or more", length_name, length);
  if (length > 0 && buffer == nullptr) {
    return fail(Code::kNull, "ERR-1", "argument %s is NULL with %s = %d; pass a buffer, or length 0", name, length_name,
                length);
  }
  return kSuccess;
}

Status check_process(const char* name, int process) {
  const int size = groups().world().size();
  if (process >= 0 && process < size) return kSuccess;
  return fail(Code::kProc, "ERR-1", "argument %s = %d is outside 0..%d; pass a rank in this range", name, process,
              size - 1);
}

Status check_tag(int tag) {
  int reserved = 0;
  ARMCI_RETURN_IF_ERROR(largest_tag(groups().world().comm(), &reserved));
  if (tag >= 0 && tag < reserved) return kSuccess;
  return fail(Code::kArgument, "MSG-1", "argument tag = %d is outside 0..%d; pass a tag within this range", tag,
              reserved - 1);
}

// Takes a message that does not fit out of the queue, so that the next receive finds the next message.
void discard(MPI_Message* message, int bytes) {
  const std::unique_ptr<char[]> scratch(new (std::nothrow) char[static_cast<size_t>(bytes)]);
  if (scratch != nullptr) (void)receive_message(scratch.get(), bytes, message);
}

// The message is probed before it is received: its length decides whether the buffer may be written at all [ERR-1].
Status receive(int tag, void* buf, int buflen, int* msglen, int source, int* from) {
  ARMCI_RETURN_IF_ERROR(check_tag(tag));
  ARMCI_RETURN_IF_ERROR(check_buffer("buf", buf, "buflen", buflen));
  MPI_Message message;
  MPI_Status status;
  ARMCI_RETURN_IF_ERROR(probe_message(source, tag, groups().world().comm(), &message, &status));
  int bytes = 0;
  ARMCI_MPI(MPI_Get_count(&status, MPI_BYTE, &bytes));
  if (bytes > buflen) {
    discard(&message, bytes);
    return fail(Code::kLength, "MSG-1",
                "argument buflen = %d is too small for the message of %d bytes from process %d; pass a longer buffer",
                buflen, bytes, status.MPI_SOURCE);
  }
  ARMCI_RETURN_IF_ERROR(receive_message(buf, bytes, &message));
  if (msglen != nullptr) *msglen = bytes;
  if (from != nullptr) *from = status.MPI_SOURCE;
  return kSuccess;
}

Status broadcast_in_scope(Group& group, int scope, void* buf, int len, int root) {
  ARMCI_RETURN_IF_ERROR(check_buffer("buf", buf, "len", len));
  ARMCI_RETURN_IF_ERROR(check_process("root", root));
  ScopeMembers members;
  ARMCI_RETURN_IF_ERROR(find_scope(group, scope, &members));
  const int index = members.index_of(root);
  if (index < 0) {
    return fail(Code::kProc, "MSG-1",
                "argument root = %d is not in the scope (%d) of this process; pass a process of the scope", root,
                scope);
  }
  if (len == 0) return kSuccess;
  MPI_Comm comm;
  ARMCI_RETURN_IF_ERROR(group.messages_comm(members.scope(), &comm));
  return broadcast(buf, len, index, comm);
}

Status exchange_addresses(Group& group, void* ptr[], int n) {
  if (n != group.size()) {
    return fail(Code::kLength, "MSG-1", "argument n = %d differs from the number of processes; pass %d", n,
                group.size());
  }
  if (ptr == nullptr)
    return fail(Code::kNull, "ERR-1", "argument ptr is NULL; pass an array of one pointer for each process");
  return all_gather(ptr, sizeof(void*), group.comm());
}

}  // namespace

int ScopeMembers::absolute_id(int index) const {
  return group_->absolute_id(listed_ != nullptr ? (*listed_)[static_cast<size_t>(index)] : index);
}

int ScopeMembers::index_of(int absolute_id) const {
  const int rank = group_->group_rank_of(absolute_id);
  if (rank < 0 || listed_ == nullptr) return rank;
  const auto found = std::find(listed_->begin(), listed_->end(), rank);
  return found == listed_->end() ? -1 : static_cast<int>(found - listed_->begin());
}

Status find_scope(Group& group, int scope, ScopeMembers* out) {
  if (scope < SCOPE_ALL || scope > SCOPE_MASTERS) {
    return fail(Code::kArgument, "MSG-1",
                "argument scope = %d is outside SCOPE_ALL..SCOPE_MASTERS (%d..%d); pass a constant of this range",
                scope, SCOPE_ALL, SCOPE_MASTERS);
  }
  out->group_ = &group;
  out->scope_ = static_cast<Scope>(scope);
  if (out->scope_ != Scope::kAll) out->listed_ = out->scope_ == Scope::kNode ? &group.on_node() : &group.masters();
  out->index_ = out->index_of(group.absolute_id(group.rank()));
  if (out->index_ >= 0) return kSuccess;
  return fail(Code::kArgument, "MSG-1",
              "argument scope = SCOPE_MASTERS: process %d is not the first of its node; call on the first only",
              group.absolute_id(group.rank()));
}

namespace api {

int armci_msg_me() { return world().rank(); }

int armci_msg_nproc() { return world().size(); }

void armci_msg_abort(int code) {
  print_fatal("armci_msg_abort", code);
  die(code);
}

double armci_timer() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Status armci_msg_snd(int tag, void* buf, int len, int to) {
  ARMCI_RETURN_IF_ERROR(check_tag(tag));
  ARMCI_RETURN_IF_ERROR(check_buffer("buf", buf, "len", len));
  ARMCI_RETURN_IF_ERROR(check_process("to", to));
  return send_message(buf, len, to, tag, groups().world().comm());
}

Status armci_msg_rcv(int tag, void* buf, int buflen, int* msglen, int from) {
  ARMCI_RETURN_IF_ERROR(check_process("from", from));
  return receive(tag, buf, buflen, msglen, from, nullptr);
}

Status armci_msg_rcvany(int tag, void* buf, int buflen, int* msglen, int* from) {
  return receive(tag, buf, buflen, msglen, MPI_ANY_SOURCE, from);
}

Status armci_msg_barrier() { return process_barrier(groups().world()); }

Status armci_msg_bintree(int scope, int* Root, int* Up, int* Left, int* Right) {
  if (Root == nullptr || Up == nullptr || Left == nullptr || Right == nullptr) {
    const char* name = Root == nullptr ? "Root" : Up == nullptr ? "Up" : Left == nullptr ? "Left" : "Right";
    return fail(Code::kNull, "ERR-1", "argument %s is NULL; pass a valid address", name);
  }
  ScopeMembers members;
  ARMCI_RETURN_IF_ERROR(find_scope(groups().world(), scope, &members));
  const auto process_at = [&](int index) {
    return index >= 0 && index < members.size() ? members.absolute_id(index) : -1;
  };
  *Root = process_at(0);
  *Up = members.index() == 0 ? -1 : process_at((members.index() - 1) / 2);
  *Left = process_at(2 * members.index() + 1);
  *Right = process_at(2 * members.index() + 2);
  return kSuccess;
}

Status armci_msg_bcast(void* buf, int len, int root) {
  return broadcast_in_scope(groups().world(), SCOPE_ALL, buf, len, root);
}

Status armci_msg_brdcst(void* buf, int len, int root) {
  return broadcast_in_scope(groups().world(), SCOPE_ALL, buf, len, root);
}

Status armci_msg_bcast_scope(int scope, void* buf, int len, int root) {
  return broadcast_in_scope(groups().world(), scope, buf, len, root);
}

Status armci_msg_group_bcast_scope(int scope, void* buf, int len, int root, ARMCI_Group* group) {
  Group* found = nullptr;
  ARMCI_RETURN_IF_ERROR(groups().find(group, &found));
  return broadcast_in_scope(*found, scope, buf, len, root);
}

Status armci_msg_clus_brdcst(void* buf, int len) {
  Group& all = groups().world();
  return broadcast_in_scope(all, SCOPE_NODE, buf, len, all.absolute_id(all.on_node()[0]));
}

Status armci_exchange_address(void* ptr[], int n) { return exchange_addresses(groups().world(), ptr, n); }

Status armci_exchange_address_grp(void* ptr[], int n, ARMCI_Group* group) {
  Group* found = nullptr;
  ARMCI_RETURN_IF_ERROR(groups().find(group, &found));
  return exchange_addresses(*found, ptr, n);
}

}  // namespace api
}  // namespace armci::runtime
