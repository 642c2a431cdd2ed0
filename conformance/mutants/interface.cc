// ABI, PROF, EXT-6, EXT-7, EXT-9, EXT-10: what programs and tools rely on besides the effect of a call.

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "conformance/mutants/held.h"
#include "conformance/mutants/mutants.h"
#include "mpi.h"

namespace conformance::mutants {
namespace {

MUTANT(handle_is_longer_than_its_type, "ABI-1", "the library keeps 16 bytes in a handle") {
  calls->ARMCI_INIT_HANDLE = [](armci_hdl_t* hdl) {
    // Volatile: the compiler knows how long a handle is.
    volatile char* bytes = reinterpret_cast<char*>(hdl);
    for (int i = 0; i < 16; ++i) bytes[i] = 0;
  };
}

MUTANT(group_has_its_communicator_last, "ABI-1", "the library keeps the communicator at the end of a group") {
  calls->ARMCI_Group_get_world = [](ARMCI_Group* group) {
    PARMCI_Group_get_world(group);
    char bytes[sizeof *group];
    std::memcpy(bytes, group, sizeof bytes);
    std::memcpy(group, bytes + sizeof(MPI_Comm), sizeof bytes - sizeof(MPI_Comm));
    std::memcpy(reinterpret_cast<char*>(group) + sizeof bytes - sizeof(MPI_Comm), bytes, sizeof(MPI_Comm));
  };
}

MUTANT(descriptor_names_the_destination_first, "ABI-1",
       "the library takes the fields of a descriptor in its own order") {
  calls->ARMCI_PutV = [](armci_giov_t* iov, int len, int proc) {
    std::vector<armci_giov_t> own(iov, iov + len);
    for (armci_giov_t& giov : own) std::swap(giov.src_ptr_array, giov.dst_ptr_array);
    return PARMCI_PutV(own.data(), len, proc);
  };
}

MUTANT(operations_have_other_numbers, "ABI-1", "the library counts its read-modify-write operations in its own order") {
  calls->ARMCI_Rmw = [](int op, void* ploc, void* prem, int extra, int proc) {
    constexpr int kOwn[] = {ARMCI_FETCH_AND_ADD, ARMCI_SWAP, ARMCI_FETCH_AND_ADD_LONG, ARMCI_SWAP_LONG};
    return PARMCI_Rmw(op >= 0 && op < 4 ? kOwn[op] : op, ploc, prem, extra, proc);
  };
}

MUTANT(types_have_other_numbers, "ABI-1", "the library knows long as 0 and int as 1") {
  calls->ARMCI_Acc = [](int type, void* scale, void* src, void* dst, int bytes, int proc) {
    if (type == ARMCI_ACC_INT || type == ARMCI_ACC_LNG) type = ARMCI_ACC_INT + ARMCI_ACC_LNG - type;
    return PARMCI_Acc(type, scale, src, dst, bytes, proc);
  };
}

MUTANT(library_calls_public_functions, "PROF-1", "the barrier fences by the public function, which the program has") {
  calls->ARMCI_Barrier = [] {
    ARMCI_AllFence();
    PARMCI_Barrier();
  };
}

MUTANT(notify_waits_by_the_public_function, "PROF-1", "a notification waits for what is outstanding by a public call") {
  calls->armci_notify = [](int proc) {
    const int code = ARMCI_WaitAll();
    return code != 0 ? code : parmci_notify(proc);
  };
}

MUTANT(twins_know_nothing_of_each_other, "PROF-1", "stores by a public name are not seen by calls of its twin") {
  HoldStores(calls);
}

MUTANT(twin_does_something_else, "PROF-1", "a value get by its public name reads an int") {
  calls->ARMCI_GetValueLong = [](void* src, int proc) -> long { return PARMCI_GetValueInt(src, proc) + 1; };
}

MUTANT(library_has_another_name, "EXT-6", "ARMCIX_Implementation and armci_implementation disagree") {
  calls->ARMCIX_Implementation = [] { return "another"; };
}

MUTANT(version_needs_init, "EXT-6", "the version is an error before init") {
  calls->ARMCIX_Version = [](int* major, int* minor, int* patch) {
    return PARMCI_Initialized() == 0 ? static_cast<int>(ARMCI_ERR_STATE) : PARMCIX_Version(major, minor, patch);
  };
}

MUTANT(capabilities_need_init, "EXT-6", "asking for capabilities before init ends the job") {
  calls->ARMCIX_Capabilities = []() -> std::uint64_t {
    if (PARMCI_Initialized() == 0) PARMCI_Error("ARMCIX_Capabilities before init", 1);
    return PARMCIX_Capabilities();
  };
}

MUTANT(thread_level_is_a_guess, "EXT-6", "ARMCIX_Query_thread says MPI_THREAD_SERIALIZED at every level of MPI") {
  calls->ARMCIX_Query_thread = [](int* provided) {
    *provided = MPI_THREAD_SERIALIZED;
    return 0;
  };
}

MUTANT(findings_do_not_end, "EXT-9", "past the last finding comes the same one again and again") {
  calls->ARMCIX_Finding = [](int index, armcix_finding_t* out) {
    const int code = PARMCIX_Finding(index, out);
    if (code == ARMCI_PENDING) *out = {"made-up", "Nothing goes wrong.", "Nothing is done."};
    return code == ARMCI_PENDING ? 0 : code;
  };
}

MUTANT(choices_differ, "EXT-10", "each process tells what it has chosen itself") {
  calls->ARMCIX_Choice = [](int index, armcix_choice_t* out) {
    const int code = PARMCIX_Choice(index, out);
    if (code != ARMCI_PENDING || index > 0) return code;
    static char value[32];
    std::snprintf(value, sizeof value, "fake%d", armci_msg_me());
    *out = {"device", value};
    return 0;
  };
}

MUTANT(failed_calls_are_not_counted, "EXT-7", "the statistics of a function leave out the calls that failed") {
  calls->ARMCIX_Stats_call = [](const char* name, armcix_call_stats_t* out) {
    const int code = PARMCIX_Stats_call(name, out);
    armcix_stats_t all{};
    all.struct_bytes = sizeof all;
    PARMCIX_Stats_get(&all);
    if (code == 0 && std::strcmp(name, "ARMCI_Put") == 0) out->calls -= all.errors;
    return code;
  };
}

MUTANT(totals_leave_value_gets_out, "EXT-7", "value gets are counted as calls of their own and not in the totals") {
  calls->ARMCIX_Stats_get = [](armcix_stats_t* out) {
    const int code = PARMCIX_Stats_get(out);
    armcix_call_stats_t values{};
    PARMCIX_Stats_call("ARMCI_GetValueLong", &values);
    if (code == 0) out->gets -= values.calls;
    if (code == 0) out->get_bytes -= values.bytes;
    return code;
  };
}

MUTANT(bytes_of_strides_are_those_of_a_row, "EXT-7", "a strided put counts for the bytes of its first row") {
  calls->ARMCIX_Stats_call = [](const char* name, armcix_call_stats_t* out) {
    const int code = PARMCIX_Stats_call(name, out);
    if (code == 0 && std::strcmp(name, "ARMCI_PutS") == 0 && out->calls > 0) out->bytes /= 2;
    return code;
  };
}

MUTANT(reset_forgets_the_totals, "EXT-7", "a reset clears the counters of the functions, the totals go on") {
  static armcix_stats_t before;
  calls->ARMCIX_Stats_reset = [] {
    before.struct_bytes = sizeof before;
    PARMCIX_Stats_get(&before);
    PARMCIX_Stats_reset();
  };
  calls->ARMCIX_Stats_get = [](armcix_stats_t* out) {
    const int code = PARMCIX_Stats_get(out);
    if (code == 0) out->puts += before.puts;
    return code;
  };
}

}  // namespace
}  // namespace conformance::mutants
