// Which mutant CONFORMANCE_MUTANT names, for the defective libraries and for the mutants of ports.
#ifndef CONFORMANCE_MUTANTS_CHOICE_H_
#define CONFORMANCE_MUTANTS_CHOICE_H_

#include <string>

namespace conformance::mutants {

// The name, or an empty text. `table` has a line for each mutant that begins with its name: name, clause, processes,
// traits, filter and description, separated by tabs. For the name `list` the process prints the table and ends. For a
// name that the table does not have, which would seem to survive, it ends with status 2.
std::string ChosenOf(const std::string& table);

}  // namespace conformance::mutants

#endif  // CONFORMANCE_MUTANTS_CHOICE_H_
