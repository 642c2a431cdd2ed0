#include "impl/testing/mutants/chosen.h"

#include "conformance/mutants/choice.h"

namespace armci::mutants {

namespace {

const std::string& chosen() {
  static const std::string name = conformance::mutants::ChosenOf(TableText());
  return name;
}

// Before main(): `list` starts no MPI.
const std::string& checked [[maybe_unused]] = chosen();

}  // namespace

bool is_chosen(const char* name) { return chosen() == name; }

}  // namespace armci::mutants
