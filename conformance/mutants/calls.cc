// Every public function, strong, in front of the weak ones of the implementation; and the choice of the mutant.

#include "conformance/mutants/calls.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "conformance/mutants/choice.h"
#include "conformance/mutants/mutants.h"

// The test of PROF-1 defines some functions itself, as a program would, and counts their callers. Here they are not
// its own, so it sees every call.
extern "C" __attribute__((weak)) void ConformanceTakenOver(void);

namespace conformance::mutants {
namespace {

std::vector<Mutant>& Registry() {
  static std::vector<Mutant> mutants;
  return mutants;
}

std::string Table() {
  std::string table;
  for (const Mutant& mutant : AllMutants()) {
    table += mutant.name + "\t" + mutant.clause + "\t" + std::to_string(mutant.ranks) + "\t" +
             (mutant.legal ? "legal" : "defect") + (mutant.hangs ? ",hangs" : "") + "\t" +
             (mutant.tests.empty() ? mutant.clause : mutant.tests) + "\t" + mutant.description + "\n";
  }
  return table;
}

Calls Choose() {
  Calls calls = Right();
  const std::string name = ChosenOf(Table());
  for (const Mutant& mutant : Registry()) {
    if (mutant.name == name) mutant.install(&calls);
  }
  return calls;
}

const Calls& Current() {
  static const Calls calls = Choose();
  return calls;
}

constexpr bool IsTakenOver(std::string_view name) {
  for (std::string_view known : {"ARMCI_AllFence", "ARMCI_Fence", "ARMCI_Wait", "ARMCI_WaitAll", "armci_msg_barrier"}) {
    if (name == known) return true;
  }
  return false;
}

void TellOfTheCall() {
  if (ConformanceTakenOver != nullptr) ConformanceTakenOver();
}

}  // namespace

const Calls& Right() {
#define MUTANTS_RIGHT(type, strong, weak, parameters, arguments) .weak = strong,
  static const Calls calls{ARMCI_API_ALL(MUTANTS_RIGHT)};
#undef MUTANTS_RIGHT
  return calls;
}

bool AddMutant(Mutant mutant) {
  Registry().push_back(std::move(mutant));
  return true;
}

std::vector<Mutant> AllMutants() {
  std::vector<Mutant> mutants = Registry();
  std::sort(mutants.begin(), mutants.end(), [](const Mutant& a, const Mutant& b) { return a.name < b.name; });
  return mutants;
}

}  // namespace conformance::mutants

extern "C" {
#define MUTANTS_DEFINE(type, strong, weak, parameters, arguments)                                  \
  type weak parameters {                                                                           \
    if constexpr (conformance::mutants::IsTakenOver(#weak)) conformance::mutants::TellOfTheCall(); \
    return conformance::mutants::Current().weak arguments;                                         \
  }
ARMCI_API_ALL(MUTANTS_DEFINE)
#undef MUTANTS_DEFINE
}
