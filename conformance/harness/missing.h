// Functions that a foreign library does not have. The build gives each of them a definition that comes here (see
// third_party/foreign); a test that calls one is skipped on all ranks, with the function's name as the reason.
//
// Thread safety: LibraryHas any; the rest belongs to the thread that runs the test.
#ifndef CONFORMANCE_HARNESS_MISSING_H_
#define CONFORMANCE_HARNESS_MISSING_H_

#include <string>

namespace conformance {

// For tables of calls: whether a row can be tried. Always true for a library of this repository.
bool LibraryHas(const std::string& function);

// Whether the library promises what this repository's armci.h does: beyond the clauses, the form of error lines (its
// convention C4) and the values of result codes.
bool HasOwnInterface();

// Notes that the running test needs `function`, and leaves the test by TestAborted. The caller's rank counts as failed
// at meeting points, so that the others leave too.
[[noreturn]] void LeaveForMissing(const std::string& function);

// As a skip reason.
std::string MissingText(const std::string& function);

}  // namespace conformance

#endif  // CONFORMANCE_HARNESS_MISSING_H_
