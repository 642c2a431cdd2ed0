// EXT, THR, MODE: the calls of armcix.h, and threads.

#include <cstdint>
#include <cstring>

#include "conformance/mutants/held.h"
#include "conformance/mutants/mutants.h"
#include "conformance/mutants/pause.h"

namespace conformance::mutants {
namespace {

MUTANT(signal_comes_before_the_data, "EXT-3", "put with signal raises the signal first") {
  calls->ARMCIX_Put_signal = [](const void* src, void* dst, std::size_t bytes, std::uint64_t* signal,
                                std::uint64_t value, armcix_signal_op_t op, int proc) {
    char nothing = 0;
    PARMCIX_Put_signal(&nothing, dst, 0, signal, value, op, proc);
    LetOthersLook();
    return PARMCIX_Put(src, dst, bytes, proc);
  };
}

MUTANT(signals_are_not_added_atomically, "EXT-3", "adding to a signal is a get and a put", Hangs{}) {
  calls->ARMCIX_Put_signal = [](const void* src, void* dst, std::size_t bytes, std::uint64_t* signal,
                                std::uint64_t value, armcix_signal_op_t op, int proc) {
    if (op != ARMCIX_SIGNAL_ADD) return PARMCIX_Put_signal(src, dst, bytes, signal, value, op, proc);
    PARMCIX_Put(src, dst, bytes, proc);
    std::uint64_t sum = 0;
    PARMCIX_Get(signal, &sum, sizeof sum, proc);
    sum += value;
    LetOthersLook();
    return PARMCIX_Put(&sum, signal, sizeof sum, proc);
  };
}

MUTANT(compare_and_swap_has_several_winners, "EXT-2", "a compare-and-swap is a get, a comparison and a put") {
  calls->ARMCIX_Rmw = [](armcix_op_t op, armcix_type_t type, void* result, const void* operand, const void* compare,
                         void* remote, int proc) {
    if (op != ARMCIX_CAS || type != ARMCIX_INT64) return PARMCIX_Rmw(op, type, result, operand, compare, remote, proc);
    if (const int code = PARMCIX_Get(remote, result, 8, proc); code != 0) return code;
    LetOthersLook();
    return std::memcmp(result, compare, 8) == 0 ? PARMCIX_Put(operand, remote, 8, proc) : 0;
  };
}

MUTANT(unsigned_minimum_is_signed, "EXT-2", "min of uint32 compares as signed numbers") {
  calls->ARMCIX_Rmw = [](armcix_op_t op, armcix_type_t type, void* result, const void* operand, const void* compare,
                         void* remote, int proc) {
    return PARMCIX_Rmw(op, op == ARMCIX_MIN && type == ARMCIX_UINT32 ? ARMCIX_INT32 : type, result, operand, compare,
                       remote, proc);
  };
}

MUTANT(non_blocking_atomics_are_none, "EXT-2", "a non-blocking add is a get and a put") {
  calls->ARMCIX_NbRmw = [](armcix_op_t op, armcix_type_t type, void* result, const void* operand, const void* compare,
                           void* remote, int proc, armci_hdl_t* hdl) {
    if (op != ARMCIX_ADD || type != ARMCIX_INT64) {
      return PARMCIX_NbRmw(op, type, result, operand, compare, remote, proc, hdl);
    }
    PARMCIX_Get(remote, result, 8, proc);
    const std::int64_t sum = *static_cast<std::int64_t*>(result) + *static_cast<const std::int64_t*>(operand);
    LetOthersLook();
    return PARMCIX_Put(&sum, remote, 8, proc);
  };
}

MUTANT(fence_forgets_non_blocking_atomics, "EXT-2", "only a wait completes a non-blocking atomic") {
  calls->ARMCIX_NbRmw = [](armcix_op_t op, armcix_type_t type, void* result, const void* operand, const void* compare,
                           void* remote, int proc, armci_hdl_t* hdl) {
    if (op != ARMCIX_ADD || type != ARMCIX_INT64) {
      return PARMCIX_NbRmw(op, type, result, operand, compare, remote, proc, hdl);
    }
    const std::int64_t added = *static_cast<const std::int64_t*>(operand);
    Hold({proc, false, hdl, [=] { PARMCIX_Rmw(op, type, result, &added, nullptr, remote, proc); }});
    return 0;
  };
  calls->ARMCI_Wait = [](armci_hdl_t* hdl) {
    RunHeld();
    return PARMCI_Wait(hdl);
  };
  calls->ARMCI_WaitProc = [](int proc) {
    RunHeld();
    return PARMCI_WaitProc(proc);
  };
  calls->ARMCI_WaitAll = [] {
    RunHeld();
    return PARMCI_WaitAll();
  };
}

MUTANT(signal_test_is_always_satisfied, "EXT-4", "a test of a signal says yes for every value") {
  calls->ARMCIX_Signal_test = [](std::uint64_t* signal, armcix_cmp_t cmp, std::uint64_t value, std::uint64_t* seen,
                                 int* satisfied) {
    const int code = PARMCIX_Signal_test(signal, cmp, value, seen, satisfied);
    *satisfied = 1;
    return code;
  };
}

MUTANT(own_region_has_no_pointer, "EXT-5", "there is no direct address of the caller's own memory") {
  calls->ARMCIX_Ptr = [](int proc, const void* addr) -> void* {
    return proc == parmci_msg_me() ? nullptr : PARMCIX_Ptr(proc, addr);
  };
}

MUTANT(puts_share_a_static_buffer, "THR-1", "small puts of all threads go through one buffer without a lock") {
  calls->ARMCI_Put = [](void* src, void* dst, int bytes, int proc) {
    static char buffer[4096];
    if (bytes <= 0 || bytes > static_cast<int>(sizeof buffer) || src == nullptr) {
      return PARMCI_Put(src, dst, bytes, proc);
    }
    std::memcpy(buffer, src, static_cast<std::size_t>(bytes));
    LetOthersLook();
    return PARMCI_Put(buffer, dst, bytes, proc);
  };
}

MUTANT(broken_promises_go_unnoticed, "MODE-1", "access modes are accepted and forgotten") {
  calls->ARMCIX_Region_mode = [](void*, armcix_mode_t, ARMCI_Group*) { return 0; };
}

}  // namespace
}  // namespace conformance::mutants
