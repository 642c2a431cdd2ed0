// ERR, INIT: mistakes that draw no error, or that do harm.

#include <cstdio>
#include <cstring>

#include "conformance/mutants/mutants.h"

namespace conformance::mutants {
namespace {

MUTANT(errors_are_swallowed, "ERR-1", "a put that fails says so on stderr and returns 0") {
  calls->ARMCI_Put = [](void* src, void* dst, int bytes, int proc) {
    PARMCI_Put(src, dst, bytes, proc);
    return 0;
  };
}

MUTANT(rmw_errors_are_swallowed, "ERR-1", "a read-modify-write that fails returns 0") {
  calls->ARMCI_Rmw = [](int op, void* ploc, void* prem, int extra, int proc) {
    PARMCI_Rmw(op, ploc, prem, extra, proc);
    return 0;
  };
}

MUTANT(failed_put_writes_what_fits, "ERR-1", "of a strided put that leaves its region the rows inside are written") {
  calls->ARMCI_PutS = [](void* src, int* src_stride, void* dst, int* dst_stride, int* count, int levels, int proc) {
    const int code = PARMCI_PutS(src, src_stride, dst, dst_stride, count, levels, proc);
    if (code == ARMCI_ERR_ADDRESS) PARMCI_Put(src, dst, count[0], proc);
    return code;
  };
}

MUTANT(failed_get_clears_the_buffer, "ERR-1", "a get that fails leaves zeros in the local buffer") {
  calls->ARMCI_Get = [](void* src, void* dst, int bytes, int proc) {
    const int code = PARMCI_Get(src, dst, bytes, proc);
    if (code != 0 && dst != nullptr && bytes > 0) std::memset(dst, 0, static_cast<std::size_t>(bytes));
    return code;
  };
}

MUTANT(errors_are_silent, "ERR-1", "a put that fails returns a code and prints nothing") {
  calls->ARMCI_Put = [](void* src, void* dst, int bytes, int proc) {
    if (src != nullptr && dst != nullptr && bytes >= 0 && proc >= 0 && proc < parmci_msg_nproc()) {
      return PARMCI_Put(src, dst, bytes, proc);
    }
    return static_cast<int>(ARMCI_ERR_PROC);
  };
}

MUTANT(error_makes_the_library_unusable, "ERR-1", "after an error all puts fail") {
  static int first_error = 0;
  calls->ARMCI_Put = [](void* src, void* dst, int bytes, int proc) {
    if (first_error == 0) first_error = PARMCI_Put(src, dst, bytes, proc);
    return first_error;
  };
}

MUTANT(calls_after_finalize_are_accepted, "ERR-1", "a put after finalize does nothing and succeeds",
       Tests{"ERR1_use_after_finalize"}) {
  calls->ARMCI_Put = [](void* src, void* dst, int bytes, int proc) {
    return PARMCI_Initialized() == 0 ? 0 : PARMCI_Put(src, dst, bytes, proc);
  };
}

MUTANT(void_call_ignores_bad_input, "ERR-2", "a fence to a process that does not exist returns") {
  calls->ARMCI_Fence = [](int proc) {
    if (proc >= 0 && proc < parmci_msg_nproc()) PARMCI_Fence(proc);
  };
}

MUTANT(queries_answer_zero_to_bad_input, "ERR-2", "the domain of a process that does not exist is 0") {
  calls->armci_domain_id = [](armci_domain_t domain, int proc) {
    return proc < 0 || proc >= parmci_msg_nproc() ? 0 : parmci_domain_id(domain, proc);
  };
}

MUTANT(initialized_for_ever, "INIT-3", "the library says that it is initialised after finalize") {
  static bool was = false;
  calls->ARMCI_Initialized = [] {
    was |= PARMCI_Initialized() != 0;
    return was ? 1 : 0;
  };
}

MUTANT(second_init_does_not_nest, "INIT-2", "the first of two finalizes ends the library") {
  calls->ARMCI_Init = [] { return PARMCI_Initialized() != 0 ? 0 : PARMCI_Init(); };
}

MUTANT(error_call_returns, "INIT-6", "ARMCI_Error prints its text and goes on") {
  calls->ARMCI_Error = [](const char* msg, int code) {
    std::fprintf(stderr, "rank %d: %s %d\n", parmci_msg_me(), msg, code);
  };
}

MUTANT(world_is_always_mpis, "INIT-8", "init with a communicator takes MPI_COMM_WORLD", Hangs{}) {
  calls->ARMCI_Init_mpi_comm = [](MPI_Comm) { return PARMCI_Init(); };
}

MUTANT(finalize_keeps_the_memory, "INIT-5", "finalize leaves what the program has not freed mapped") {
  calls->ARMCI_Finalize = [] { return 0; };
}

}  // namespace
}  // namespace conformance::mutants
