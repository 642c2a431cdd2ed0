// RMW: atomics that are not, and results that are slightly wrong.

#include <climits>
#include <cstdint>
#include <map>

#include "conformance/mutants/mutants.h"
#include "conformance/mutants/pause.h"

namespace conformance::mutants {
namespace {

bool OnLong(int op) { return op == ARMCI_FETCH_AND_ADD_LONG || op == ARMCI_SWAP_LONG; }
bool IsSwap(int op) { return op == ARMCI_SWAP || op == ARMCI_SWAP_LONG; }

// Get, then put: right by itself, not atomic.
template <typename T>
int ReadThenWrite(int op, void* ploc, void* prem, int extra, int proc) {
  T old = 0;
  T* local = static_cast<T*>(ploc);
  if (const int code = PARMCI_Get(prem, &old, sizeof old, proc); code != 0) return code;
  T fresh = IsSwap(op) ? *local : static_cast<T>(old + static_cast<T>(extra));
  LetOthersLook();
  *local = old;
  return PARMCI_Put(&fresh, prem, sizeof fresh, proc);
}

MUTANT(fetch_and_add_is_not_atomic, "RMW-3", "a fetch-and-add of long is a get and a put") {
  calls->ARMCI_Rmw = [](int op, void* ploc, void* prem, int extra, int proc) {
    return op == ARMCI_FETCH_AND_ADD_LONG ? ReadThenWrite<unsigned long>(op, ploc, prem, extra, proc)
                                          : PARMCI_Rmw(op, ploc, prem, extra, proc);
  };
}

MUTANT(fetch_and_add_of_int_is_not_atomic, "RMW-3", "a fetch-and-add of int is a get and a put") {
  calls->ARMCI_Rmw = [](int op, void* ploc, void* prem, int extra, int proc) {
    return op == ARMCI_FETCH_AND_ADD ? ReadThenWrite<unsigned>(op, ploc, prem, extra, proc)
                                     : PARMCI_Rmw(op, ploc, prem, extra, proc);
  };
}

MUTANT(swap_is_not_atomic, "RMW-2", "a swap is a get and a put") {
  calls->ARMCI_Rmw = [](int op, void* ploc, void* prem, int extra, int proc) {
    return op == ARMCI_SWAP_LONG ? ReadThenWrite<unsigned long>(op, ploc, prem, extra, proc)
                                 : PARMCI_Rmw(op, ploc, prem, extra, proc);
  };
}

MUTANT(tickets_are_drawn_ahead, "RMW-2", "a process draws two tickets and keeps one for its next fetch-and-add",
       Tests{"RMW2_fetch_and_add_is_linearizable"}) {
  calls->ARMCI_Rmw = [](int op, void* ploc, void* prem, int extra, int proc) {
    static std::map<void*, long> kept;
    if (op != ARMCI_FETCH_AND_ADD_LONG || extra != 1) return PARMCI_Rmw(op, ploc, prem, extra, proc);
    if (const auto found = kept.find(prem); found != kept.end()) {
      *static_cast<long*>(ploc) = found->second;
      kept.erase(found);
      return 0;
    }
    const int code = PARMCI_Rmw(op, ploc, prem, 2, proc);
    kept[prem] = *static_cast<long*>(ploc) + 1;
    return code;
  };
}

MUTANT(rmw_of_int_is_one_of_long, "RMW-4", "an addition to an int carries into the next word") {
  calls->ARMCI_Rmw = [](int op, void* ploc, void* prem, int extra, int proc) {
    if (op != ARMCI_FETCH_AND_ADD || reinterpret_cast<std::uintptr_t>(prem) % 8 != 0) {
      return PARMCI_Rmw(op, ploc, prem, extra, proc);
    }
    long old = 0;
    PARMCI_Get(prem, &old, sizeof old, proc);
    const long fresh = old + extra;
    LetOthersLook();
    *static_cast<int*>(ploc) = static_cast<int>(old);
    return PARMCI_Put(const_cast<long*>(&fresh), prem, sizeof fresh, proc);
  };
}

MUTANT(fetch_and_add_of_int_saturates, "RMW-6", "an int stops at its limit instead of wrapping around") {
  calls->ARMCI_Rmw = [](int op, void* ploc, void* prem, int extra, int proc) {
    if (op != ARMCI_FETCH_AND_ADD) return PARMCI_Rmw(op, ploc, prem, extra, proc);
    const long sum = static_cast<long>(PARMCI_GetValueInt(prem, proc)) + extra;
    if (sum <= INT_MAX && sum >= INT_MIN) return PARMCI_Rmw(op, ploc, prem, extra, proc);
    *static_cast<int*>(ploc) = sum > 0 ? INT_MAX : INT_MIN;
    return PARMCI_Rmw(ARMCI_SWAP, ploc, prem, 0, proc);
  };
}

MUTANT(fetch_and_add_of_long_wraps_at_32_bits, "RMW-6", "a long is added to in its lower half") {
  calls->ARMCI_Rmw = [](int op, void* ploc, void* prem, int extra, int proc) {
    if (op != ARMCI_FETCH_AND_ADD_LONG) return PARMCI_Rmw(op, ploc, prem, extra, proc);
    const int code = PARMCI_Get(prem, ploc, sizeof(long), proc);
    int low = 0;
    PARMCI_Rmw(ARMCI_FETCH_AND_ADD, &low, prem, extra, proc);
    return code;
  };
}

MUTANT(fetch_and_add_ignores_the_sign, "RMW-6", "extra is taken as unsigned") {
  calls->ARMCI_Rmw = [](int op, void* ploc, void* prem, int extra, int proc) {
    if (op != ARMCI_FETCH_AND_ADD_LONG || extra >= 0) return PARMCI_Rmw(op, ploc, prem, extra, proc);
    return ReadThenWrite<unsigned long>(op, ploc, prem, INT_MAX, proc);
  };
}

MUTANT(fetch_and_add_returns_the_new_value, "RMW-1", "the value after the addition is returned") {
  calls->ARMCI_Rmw = [](int op, void* ploc, void* prem, int extra, int proc) {
    const int code = PARMCI_Rmw(op, ploc, prem, extra, proc);
    if (code == 0 && op == ARMCI_FETCH_AND_ADD) *static_cast<int*>(ploc) += extra;
    if (code == 0 && op == ARMCI_FETCH_AND_ADD_LONG) *static_cast<long*>(ploc) += extra;
    return code;
  };
}

MUTANT(swap_returns_nothing, "RMW-1", "a swap of int stores its value and leaves the old one behind") {
  calls->ARMCI_Rmw = [](int op, void* ploc, void* prem, int extra, int proc) {
    if (op != ARMCI_SWAP) return PARMCI_Rmw(op, ploc, prem, extra, proc);
    int value = *static_cast<int*>(ploc);
    return PARMCI_Rmw(op, &value, prem, extra, proc);
  };
}

MUTANT(rmw_at_home_is_not_atomic, "RMW-2", "the owner of the memory uses ordinary loads and stores") {
  calls->ARMCI_Rmw = [](int op, void* ploc, void* prem, int extra, int proc) {
    if (proc != parmci_msg_me() || !OnLong(op)) return PARMCI_Rmw(op, ploc, prem, extra, proc);
    return ReadThenWrite<unsigned long>(op, ploc, prem, extra, proc);
  };
}

}  // namespace
}  // namespace conformance::mutants
