// Messages: the two-sided half of the interface, on MPI and the library's private communicators [MSG-1].
//
// One function per name of spec/message.h, with its C signature; functions that can fail return Status. The entry layer
// turns that into a code or, for a void call, into the end of the job. Calls without a group concern the world.
// Processes are named by absolute ids everywhere (root, to, from, tree), in the group forms too [MEM-11].
//
// A scope is all processes, those of the caller's node, or the first process of every node; only its members call.
// Collective calls must come in the same order on all members, with the same arguments apart from buffers.
//
// Thread safety: as MPI's, at the thread level in force; two collectives of one communicator must not overlap.
#pragma once

#include <vector>

#include "armci.h"
#include "impl/base/status.h"
#include "impl/runtime/groups.h"
#include "message.h"

namespace armci::runtime {

// The members of a scope in the order of their ranks in the scope's communicator, and the caller's index among them.
class ScopeMembers {
 public:
  Scope scope() const { return scope_; }
  int size() const { return listed_ != nullptr ? static_cast<int>(listed_->size()) : group_->size(); }
  int index() const { return index_; }
  int absolute_id(int index) const;
  int index_of(int absolute_id) const;  // -1: not in the scope

 private:
  friend Status find_scope(Group& group, int scope, ScopeMembers* out);

  Group* group_ = nullptr;
  Scope scope_ = Scope::kAll;
  const std::vector<int>* listed_ = nullptr;  // group ranks; nullptr: all
  int index_ = -1;
};

// Fails when the scope is unknown or the caller not in it.
Status find_scope(Group& group, int scope, ScopeMembers* out);

// Frees the operation and the datatype of messages. Called by finalize before MPI ends; the next use creates them
// again.
void release_messages();

namespace api {

int armci_msg_me();
int armci_msg_nproc();
[[noreturn]] void armci_msg_abort(int code);
double armci_timer();

Status armci_msg_snd(int tag, void* buf, int len, int to);
Status armci_msg_rcv(int tag, void* buf, int buflen, int* msglen, int from);
// `*from` becomes the sender, which the C function returns.
Status armci_msg_rcvany(int tag, void* buf, int buflen, int* msglen, int* from);

Status armci_msg_barrier();
Status armci_msg_bintree(int scope, int* Root, int* Up, int* Left, int* Right);

Status armci_msg_bcast(void* buf, int len, int root);
Status armci_msg_brdcst(void* buf, int len, int root);
Status armci_msg_bcast_scope(int scope, void* buf, int len, int root);
Status armci_msg_group_bcast_scope(int scope, void* buf, int len, int root, ARMCI_Group* group);
Status armci_msg_clus_brdcst(void* buf, int len);

Status armci_msg_reduce(void* x, int n, const char* op, int type);
Status armci_msg_reduce_scope(int scope, void* x, int n, const char* op, int type);
Status armci_msg_sel(void* x, int n, const char* op, int type, int contribute);
Status armci_msg_sel_scope(int scope, void* x, int n, const char* op, int type, int contribute);

Status armci_msg_igop(int* x, int n, const char* op);
Status armci_msg_lgop(long* x, int n, const char* op);
Status armci_msg_llgop(armci_long_long_t* x, int n, const char* op);
Status armci_msg_fgop(float* x, int n, const char* op);
Status armci_msg_dgop(double* x, int n, const char* op);
Status armci_msg_gop_scope(int scope, void* x, int n, const char* op, int type);

Status armci_msg_group_igop(int* x, int n, const char* op, ARMCI_Group* group);
Status armci_msg_group_lgop(long* x, int n, const char* op, ARMCI_Group* group);
Status armci_msg_group_llgop(armci_long_long_t* x, int n, const char* op, ARMCI_Group* group);
Status armci_msg_group_fgop(float* x, int n, const char* op, ARMCI_Group* group);
Status armci_msg_group_dgop(double* x, int n, const char* op, ARMCI_Group* group);
Status armci_msg_group_gop_scope(int scope, void* x, int n, const char* op, int type, ARMCI_Group* group);

Status armci_msg_clus_igop(int* x, int n, const char* op);
Status armci_msg_clus_lgop(long* x, int n, const char* op);
Status armci_msg_clus_llgop(armci_long_long_t* x, int n, const char* op);
Status armci_msg_clus_fgop(float* x, int n, const char* op);
Status armci_msg_clus_dgop(double* x, int n, const char* op);

Status armci_exchange_address(void* ptr[], int n);
Status armci_exchange_address_grp(void* ptr[], int n, ARMCI_Group* group);

Status armci_read_strided(void* ptr, int stride_levels, int stride[], int count[], char* buf);
Status armci_write_strided(void* ptr, int stride_levels, int stride[], int count[], char* buf);

}  // namespace api
}  // namespace armci::runtime
