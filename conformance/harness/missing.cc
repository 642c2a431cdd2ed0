#include "conformance/harness/missing.h"

#include <set>

#include "conformance/harness/session_internal.h"

namespace conformance {
namespace {

std::set<std::string>& MissingFunctions() {
  static std::set<std::string> functions;
  return functions;
}

}  // namespace

}  // namespace conformance

// Every library of this repository defines it, and no other.
extern "C" {
extern const int armci_abi_version_1 __attribute__((weak));
}

namespace conformance {

bool HasOwnInterface() { return &armci_abi_version_1 != nullptr; }

bool LibraryHas(const std::string& function) { return MissingFunctions().count(function) == 0; }

void LeaveForMissing(const std::string& function) {
  TheSession().missing_function = function;
  throw TestAborted{};
}

std::string MissingText(const std::string& function) { return "the library has no " + function; }

}  // namespace conformance

// The function that the generated definitions call.
extern "C" [[noreturn]] void ConformanceMissingFunction(const char* name) { conformance::LeaveForMissing(name); }

extern "C" int ConformanceNoteMissingFunction(const char* name) {
  conformance::MissingFunctions().insert(name);
  return 0;
}
