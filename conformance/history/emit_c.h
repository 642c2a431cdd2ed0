// Writes a program as one C file that needs armci.h and MPI only, runs it many times, and judges by itself what was
// read.
//
// The file carries the legal values of every read as a table. Where mutexes order the program, the table has one part
// for each order in which the mutexes may be obtained, and a round is a violation when no part explains it. Counters
// are judged by a search for a linearization, in the file.
#ifndef CONFORMANCE_HISTORY_EMIT_C_H_
#define CONFORMANCE_HISTORY_EMIT_C_H_

#include <string>

#include "conformance/history/program.h"

namespace conformance::history {

// `story` goes into the comment at the top: what was found, and by which run.
std::string EmitC(const Program& program, const std::string& story);

}  // namespace conformance::history

#endif  // CONFORMANCE_HISTORY_EMIT_C_H_
