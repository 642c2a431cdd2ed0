// Services of the harness for a running test: the rank, random numbers, and meeting points that every rank leaves
// together.
//
// How a failure on one rank keeps from hanging the others. Every meeting point inside a test first agrees, over a
// private communicator, whether any rank has failed so far. A rank whose ASSERT returned from the body is already at
// the last meeting point and reports its failure there; the agreement tells every rank of the failure, and ranks still
// inside the body leave it by the exception TestAborted. Collective ARMCI calls in tests therefore come through
// Sync(), Region and the other helpers. Between two meeting points a test may make raw collective calls as long as it
// uses EXPECT only.
//
//    rank 0:  body ... Agree --------- TestAborted -> final agreement
//    rank 1:  body ... ASSERT fails, returns -> Agree (final)
//
// Thread safety: everything here belongs to the thread that runs the test, except Me, Np, Quick.
#ifndef CONFORMANCE_HARNESS_SESSION_H_
#define CONFORMANCE_HARNESS_SESSION_H_

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <source_location>
#include <string>

#include "conformance/harness/random.h"

namespace conformance {

// Thrown by meeting points on every rank alike when the test is over for all of them.
struct TestAborted {};

int Me();
int Np();
bool Quick();
// A count for the full run and one for --quick.
template <typename T>
T Scaled(T full, T quick) {
  return Quick() ? quick : full;
}
// As Scaled, for loops in which the ranks meet each time round: fewer where a meeting takes long, because an MPI
// library that never yields runs more ranks than there are cores. The same on all ranks; at least 10.
int Rounds(int full, int quick);
// For the test's own messages (any tag) and collectives between two meeting points. Its ranks are the ARMCI ids.
MPI_Comm Comm();
int ThreadLevel();

// This rank's stream for the running test: seed x test x rank. SharedRng gives the same numbers on every rank.
Rng& MyRng();
Rng& SharedRng();
// For a failure message: names the seed.
std::string SeedText();
std::uint64_t Seed();
// Where tests write files that show a failure; empty if they are to print them.
const std::string& ArtifactsFolder();

// Meeting point without any ARMCI call. Throws TestAborted on every rank if any rank has failed.
void Agree(const std::source_location& where = std::source_location::current());
// For destructors: as Agree, but aborts the test at the next meeting point instead of throwing.
void AgreeQuietly(const std::source_location& where = std::source_location::current()) noexcept;
// Agree, then ARMCI_Barrier: afterwards every store issued before is visible to every rank.
void Sync(const std::source_location& where = std::source_location::current());

// Ends the test as skipped, on all ranks; every rank must call it with the same decision.
[[noreturn]] void SkipTest(const std::string& reason);
// True if `mine` is true on every rank (collective).
bool AllAgreeOn(bool mine);

// Attaches a fact to the running test: a line `INFO  Name  key = value` and a property in the JUnit file. Keys with the
// prefix `outcome.` count something, add up over all calls and ranks, and may be given on any rank; of other keys the
// last value on rank 0 is taken. A key has no " = " in it; line ends become blanks.
void Report(const std::string& key, const std::string& value);

// Waits for a condition that another rank brings about; yields between looks. Returns false, with a failure recorded,
// after `seconds` (default: well below the deadline), so that a lost message is a failed test and not a hung job.
bool WaitUntil(const std::function<bool()>& condition, const std::string& what, double seconds = 0);

// Seconds on a clock that all processes of one machine share.
double SharedClock();
// Whether all ranks read the same clock (collective).
bool ClockIsShared();

// ARMCI_Initialized as it was before MPI_Init, and between MPI_Init and ARMCI_Init.
int InitializedBeforeMpi();
int InitializedBeforeInit();

// The resources of the process just before ARMCI_Init; compared after finalize.
struct ProcessState {
  int threads = 0;
  int descriptors = 0;
  std::size_t resident_bytes = 0;
  std::size_t shared_mapped_bytes = 0;  // of shared file mappings
  std::size_t mappings = 0;
};
ProcessState ReadProcessState();
const ProcessState& StateBeforeInit();

// The process of that id and all that come from it or are in its process group, a line each: name, state, what it
// waits in. For the report of a job that does not end.
std::vector<std::string> DescribeProcesses(pid_t root);

}  // namespace conformance

#endif  // CONFORMANCE_HARNESS_SESSION_H_
