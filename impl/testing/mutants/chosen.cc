#include "impl/testing/mutants/chosen.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace armci::mutants {

namespace {

constexpr const char* kVariable = "CONFORMANCE_MUTANT";

// Before main(): prints the table for `list`, and refuses a name that is none, as it would seem to survive.
const bool checked [[maybe_unused]] = [] {
  const char* const name = std::getenv(kVariable);
  if (name == nullptr || *name == '\0') return true;
  if (std::strcmp(name, "list") == 0) {
    std::fputs(TableText(), stdout);
    std::fflush(stdout);
    _exit(0);
  }
  if (("\n" + std::string(TableText())).find("\n" + std::string(name) + "\t") == std::string::npos) {
    std::fprintf(stderr, "conformance: no mutant %s (%s=list prints them)\n", name, kVariable);
    _exit(2);
  }
  return true;
}();

}  // namespace

bool is_chosen(const char* name) {
  const char* const chosen = std::getenv(kVariable);
  return chosen != nullptr && std::strcmp(chosen, name) == 0;
}

}  // namespace armci::mutants
