// The calls of a library as data: a table with one function pointer per public function.
//
// The program of the mutants defines every public function and goes through the table; what it finds there is the
// right function (the profiling twin of the implementation below) unless the chosen mutant has put another one in its
// place. The table is filled at the first call and read-only afterwards, so any thread may use it.
#ifndef CONFORMANCE_MUTANTS_CALLS_H_
#define CONFORMANCE_MUTANTS_CALLS_H_

#include "parmci.h"
#include "spec/api_table.h"

namespace conformance::mutants {

#define MUTANTS_MEMBER(type, strong, weak, parameters, arguments) type(*weak) parameters;
struct Calls {
  ARMCI_API_ALL(MUTANTS_MEMBER)
};
#undef MUTANTS_MEMBER

// The right library.
const Calls& Right();

// `Member` of the right library, after `first`.
template <auto Member, void (*first)()>
struct Preceded;
template <typename R, typename... A, R (*Calls::*Member)(A...), void (*first)()>
struct Preceded<Member, first> {
  static R Call(A... arguments) {
    first();
    return (Right().*Member)(arguments...);
  }
};

// Has every call of the library preceded by `first`. For mutants that undo it for some calls afterwards.
template <void (*first)()>
void PrecedeAll(Calls* calls) {
#define MUTANTS_PRECEDE(type, strong, weak, parameters, arguments) calls->weak = Preceded<&Calls::weak, first>::Call;
  ARMCI_API_ALL(MUTANTS_PRECEDE)
#undef MUTANTS_PRECEDE
}

}  // namespace conformance::mutants

#endif  // CONFORMANCE_MUTANTS_CALLS_H_
