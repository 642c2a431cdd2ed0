// Every public function, strong, in front of the weak ones of the implementation; and the choice of the mutant.

#include "conformance/mutants/calls.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "conformance/mutants/mutants.h"

// The test of PROF-1 defines some functions itself, as a program would, and counts their callers. Here they are not
// its own, so it sees every call.
extern "C" __attribute__((weak)) void ConformanceTakenOver(void);

namespace conformance::mutants {
namespace {

constexpr const char* kVariable = "CONFORMANCE_MUTANT";
// In place of a name: prints the table and ends.
constexpr const char* kList = "list";
constexpr int kExitUsage = 2;

std::vector<Mutant>& Registry() {
  static std::vector<Mutant> mutants;
  return mutants;
}

// One line per mutant, fields separated by tabs: name, clause, ranks, traits, filter, description.
void PrintTable() {
  for (const Mutant& mutant : AllMutants()) {
    std::printf("%s\t%s\t%d\t%s%s\t%s\t%s\n", mutant.name.c_str(), mutant.clause.c_str(), mutant.ranks,
                mutant.legal ? "legal" : "defect", mutant.hangs ? ",hangs" : "",
                (mutant.tests.empty() ? mutant.clause : mutant.tests).c_str(), mutant.description.c_str());
  }
  std::fflush(stdout);
}

Calls Choose() {
  Calls calls = Right();
  const char* name = std::getenv(kVariable);
  if (name == nullptr || *name == '\0') return calls;
  if (std::strcmp(name, kList) == 0) {
    PrintTable();
    _exit(0);
  }
  for (const Mutant& mutant : Registry()) {
    if (mutant.name != name) continue;
    mutant.install(&calls);
    return calls;
  }
  // A misspelt mutant would be one that survives, or one that seems legal.
  std::fprintf(stderr, "conformance: no mutant %s (%s=%s prints them)\n", name, kVariable, kList);
  _exit(kExitUsage);
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
