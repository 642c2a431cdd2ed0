#include "conformance/mutants/choice.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace conformance::mutants {
namespace {

constexpr const char* kVariable = "CONFORMANCE_MUTANT";
constexpr const char* kList = "list";
constexpr int kExitUsage = 2;

}  // namespace

std::string ChosenOf(const std::string& table) {
  const char* const value = std::getenv(kVariable);
  const std::string name = value != nullptr ? value : "";
  if (name == kList) {
    std::fputs(table.c_str(), stdout);
    std::fflush(stdout);
    _exit(0);
  }
  if (!name.empty() && ("\n" + table).find("\n" + name + "\t") == std::string::npos) {
    std::fprintf(stderr, "conformance: no mutant %s (%s=%s prints them)\n", name.c_str(), kVariable, kList);
    _exit(kExitUsage);
  }
  return name;
}

}  // namespace conformance::mutants
