// Defective libraries: what a mutant is, and how one is written.
//
// A mutant is the right library with some functions replaced. It is chosen when the program starts, by
// CONFORMANCE_MUTANT=name; without it the program is the ordinary suite. The suite must fail on every mutant, in a test
// that names the mutant's clause.
//
//    MUTANT(fence_is_a_no_op, "FENCE-1", "stores are on the way for a while, and the fence does not wait for them") {
//      HoldStores(calls);
//      calls->ARMCI_Fence = [](int) {};
//    }
#ifndef CONFORMANCE_MUTANTS_MUTANTS_H_
#define CONFORMANCE_MUTANTS_MUTANTS_H_

#include <string>
#include <vector>

#include "conformance/mutants/calls.h"

namespace conformance::mutants {

struct Mutant {
  std::string name;
  std::string clause;       // the clause that it breaks
  std::string description;  // the defect
  void (*install)(Calls* calls) = nullptr;
  int ranks = 2;       // processes that are needed to see it
  std::string tests;   // --filter of the suite, the clause if empty
  bool hangs = false;  // seen by a deadline, which is then set short
  bool legal = false;  // no defect but a freedom that the clauses leave: every test chosen must pass
};

struct Ranks {
  int count;
};
// A regular expression as --filter takes it; narrower than the clause, where most of its tests could not see it.
struct Tests {
  const char* filter;
};
struct Hangs {};
struct Legal {};

inline void AddTag(Mutant* mutant, Ranks tag) { mutant->ranks = tag.count; }
inline void AddTag(Mutant* mutant, Tests tag) { mutant->tests = tag.filter; }
inline void AddTag(Mutant* mutant, Hangs) { mutant->hangs = true; }
inline void AddTag(Mutant* mutant, Legal) { mutant->legal = true; }

template <typename... Tags>
Mutant MakeMutant(const char* name, void (*install)(Calls*), const char* clause, const char* description,
                  const Tags&... tags) {
  Mutant mutant;
  mutant.name = name;
  mutant.clause = clause;
  mutant.description = description;
  mutant.install = install;
  (AddTag(&mutant, tags), ...);
  return mutant;
}

// Before main() only. Returns true so that it can initialise a static.
bool AddMutant(Mutant mutant);
// All of them, by name.
std::vector<Mutant> AllMutants();

}  // namespace conformance::mutants

// MUTANT(name, "CLAUSE-1", "description", tags) { changes *calls }
#define MUTANT(name_, ...)                                                                                         \
  static void name_##_Install(::conformance::mutants::Calls* calls);                                               \
  static const bool name_##_registered [[maybe_unused]] =                                                          \
      ::conformance::mutants::AddMutant(::conformance::mutants::MakeMutant(#name_, name_##_Install, __VA_ARGS__)); \
  static void name_##_Install([[maybe_unused]] ::conformance::mutants::Calls* calls)

#endif  // CONFORMANCE_MUTANTS_MUTANTS_H_
