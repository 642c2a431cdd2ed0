// COMPAT, MSG-2: libraries that take arguments by another convention than programs for other ARMCIs do.

#include <cstdlib>
#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "conformance/mutants/mutants.h"

namespace conformance::mutants {
namespace {

MUTANT(texts_of_operators_have_a_length, "MSG-2", "the library copies the text of an operator as a string") {
  calls->armci_msg_igop = [](int* x, int n, const char* op) {
    // Volatile: the compiler knows what strlen does.
    const volatile std::size_t length = std::strlen(op);
    parmci_msg_igop(x, n, length > 0 ? op : "+");
  };
}

MUTANT(counts_are_scaled_in_place, "COMPAT-2",
       "a strided put counts elements while it runs, in the array of the call") {
  calls->ARMCI_PutS = [](void* src, int* src_stride, void* dst, int* dst_stride, int* count, int levels, int proc) {
    volatile int* const first = count;
    *first = *first + 0;
    return PARMCI_PutS(src, src_stride, dst, dst_stride, count, levels, proc);
  };
}

MUTANT(descriptors_are_normalised_in_place, "COMPAT-2", "a vector put marks the descriptors that it has read") {
  calls->ARMCI_PutV = [](armci_giov_t* iov, int len, int proc) {
    for (int i = 0; i < len; ++i) {
      volatile int* const segments = &iov[i].ptr_array_len;
      *segments = *segments + 0;
    }
    return PARMCI_PutV(iov, len, proc);
  };
}

// Implicit gets that wait for ARMCI_WaitAll.
std::vector<std::function<void()>>& Waiting() {
  static std::vector<std::function<void()>> waiting;
  return waiting;
}

MUTANT(wait_for_no_handle_waits_for_nothing, "COMPAT-3", "ARMCI_Wait of NULL finds no handle and returns") {
  calls->ARMCI_NbGet = [](void* src, void* dst, int bytes, int proc, armci_hdl_t* hdl) {
    if (hdl != nullptr) return PARMCI_NbGet(src, dst, bytes, proc, hdl);
    Waiting().emplace_back([=] { PARMCI_Get(src, dst, bytes, proc); });
    return 0;
  };
  calls->ARMCI_WaitAll = [] {
    for (const auto& get : std::exchange(Waiting(), {})) get();
    return PARMCI_WaitAll();
  };
  calls->ARMCI_Wait = [](armci_hdl_t* hdl) { return hdl == nullptr ? 0 : PARMCI_Wait(hdl); };
}

std::set<const armci_hdl_t*>& Initialised() {
  static std::set<const armci_hdl_t*> initialised;
  return initialised;
}

MUTANT(handles_are_known_by_their_initialisation, "COMPAT-4",
       "a handle that ARMCI_INIT_HANDLE has not seen is an error") {
  calls->ARMCI_INIT_HANDLE = [](armci_hdl_t* hdl) {
    Initialised().insert(hdl);
    PARMCI_INIT_HANDLE(hdl);
  };
  calls->ARMCI_Wait = [](armci_hdl_t* hdl) {
    const bool known = hdl == nullptr || Initialised().count(hdl) > 0;
    return known ? PARMCI_Wait(hdl) : static_cast<int>(ARMCI_ERR_HANDLE);
  };
}

MUTANT(length_of_a_message_is_always_stored, "COMPAT-5", "a receive stores the length, wherever that is") {
  calls->armci_msg_rcv = [](int tag, void* buf, int buflen, int* msglen, int from) {
    int length = 0;
    parmci_msg_rcv(tag, buf, buflen, &length, from);
    *static_cast<volatile int*>(msglen) = length;
  };
}

MUTANT(count_of_notifications_is_always_stored, "COMPAT-5", "armci_notify_wait stores the count, wherever that is") {
  calls->armci_notify_wait = [](int proc, int* pval) {
    int count = 0;
    const int code = parmci_notify_wait(proc, &count);
    *static_cast<volatile int*>(pval) = count;
    return code;
  };
}

MUTANT(init_reads_the_arguments, "COMPAT-5", "ARMCI_Init_args reads the number of arguments") {
  calls->ARMCI_Init_args = [](int* argc, char*** argv) {
    return *static_cast<volatile int*>(argc) < 0 ? static_cast<int>(ARMCI_ERR_LENGTH) : PARMCI_Init_args(argc, argv);
  };
}

MUTANT(empty_messages_are_not_sent, "COMPAT-6", "a message of no bytes is left out", Hangs{}) {
  calls->armci_msg_snd = [](int tag, void* buf, int len, int to) {
    if (len > 0) parmci_msg_snd(tag, buf, len, to);
  };
}

MUTANT(collectives_need_a_buffer, "COMPAT-6", "a broadcast reads the first byte of its buffer") {
  calls->armci_msg_bcast = [](void* buf, int len, int root) {
    [[maybe_unused]] const char first = *static_cast<volatile char*>(buf);
    parmci_msg_bcast(buf, len, root);
  };
}

MUTANT(tags_have_twelve_bits, "COMPAT-7", "the library keeps tags of 4096 and more for itself") {
  calls->armci_msg_snd = [](int tag, void* buf, int len, int to) {
    if (tag >= 4096) PARMCI_Error("the tag is reserved", tag);
    parmci_msg_snd(tag, buf, len, to);
  };
}

MUTANT(scale_is_checked_first, "COMPAT-8", "an accumulate of nothing needs a scale") {
  calls->ARMCI_Acc = [](int type, void* scale, void* src, void* dst, int bytes, int proc) {
    return scale == nullptr ? static_cast<int>(ARMCI_ERR_NULL) : PARMCI_Acc(type, scale, src, dst, bytes, proc);
  };
}

MUTANT(descriptors_are_checked_first, "COMPAT-8", "a vector get of no descriptor needs an array of them") {
  calls->ARMCI_GetV = [](armci_giov_t* iov, int len, int proc) {
    return iov == nullptr ? static_cast<int>(ARMCI_ERR_NULL) : PARMCI_GetV(iov, len, proc);
  };
}

MUTANT(null_is_no_local_memory, "COMPAT-9", "ARMCI_Free_local of NULL is an error") {
  calls->ARMCI_Free_local = [](void* ptr) {
    return ptr == nullptr ? static_cast<int>(ARMCI_ERR_ADDRESS) : PARMCI_Free_local(ptr);
  };
}

std::set<const ARMCI_Group*>& Made() {
  static std::set<const ARMCI_Group*> made;
  return made;
}

MUTANT(groups_are_known_by_their_place, "COMPAT-10", "a group is found by the address that its creation was given") {
  calls->ARMCI_Group_create = [](int n, int* pids, ARMCI_Group* out) {
    Made().insert(out);
    PARMCI_Group_create(n, pids, out);
  };
  calls->ARMCI_Group_rank = [](ARMCI_Group* group, int* rank) {
    return Made().count(group) == 0 ? static_cast<int>(ARMCI_ERR_GROUP) : PARMCI_Group_rank(group, rank);
  };
}

MUTANT(rmw_returns_the_value, "COMPAT-11", "ARMCI_Rmw returns the value that it fetched") {
  calls->ARMCI_Rmw = [](int op, void* ploc, void* prem, int extra, int proc) {
    const int code = PARMCI_Rmw(op, ploc, prem, extra, proc);
    return code != 0 ? code : *static_cast<const int*>(ploc);
  };
}

MUTANT(increments_have_no_sign, "COMPAT-11", "a negative increment of a long is taken as an unsigned int") {
  calls->ARMCI_Rmw = [](int op, void* ploc, void* prem, int extra, int proc) {
    const int code = PARMCI_Rmw(op, ploc, prem, extra, proc);
    if (code != 0 || op != ARMCI_FETCH_AND_ADD_LONG || extra >= 0) return code;
    const long high = 1L << 32;
    long before = 0;
    return PARMCIX_Rmw(ARMCIX_ADD, ARMCIX_INT64, &before, &high, nullptr, prem, proc);
  };
}

MUTANT(notify_wait_returns_the_count, "COMPAT-11", "armci_notify_wait returns the number of notifications") {
  calls->armci_notify_wait = [](int proc, int* pval) {
    int count = 0;
    const int code = parmci_notify_wait(proc, &count);
    if (pval != nullptr) *pval = count;
    return code != 0 ? code : count;
  };
}

MUTANT(memctl_frees, "COMPAT-12", "ARMCI_Memctl frees the memory, as a document of another ARMCI says") {
  calls->ARMCI_Memctl = [](armci_meminfo_t* info) {
    armci_meminfo_t copy = *info;
    PARMCI_Memdt(&copy, 0);
  };
}

MUTANT(variables_of_others_are_errors, "COMPAT-13", "init refuses a variable of ARMCI-MPI") {
  calls->ARMCI_Init = [] {
    return std::getenv("ARMCI_IOV_METHOD") != nullptr ? static_cast<int>(ARMCI_ERR_TYPE) : PARMCI_Init();
  };
}

MUTANT(roots_are_group_ranks, "COMPAT-14", "the root of a broadcast in a group is a rank of the group") {
  calls->armci_msg_group_bcast_scope = [](int scope, void* buf, int len, int root, ARMCI_Group* group) {
    parmci_msg_group_bcast_scope(scope, buf, len, PARMCI_Absolute_id(group, root), group);
  };
}

}  // namespace
}  // namespace conformance::mutants
