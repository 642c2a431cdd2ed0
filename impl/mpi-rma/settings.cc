#include "impl/mpi-rma/settings.h"

#include "impl/node/agree.h"
#include "impl/runtime/config.h"

namespace armci::rma {
using runtime::read_word;
using runtime::Word;

namespace {

Settings the_settings;

constexpr double kLongestIntervalUs = 100000;
constexpr double kLargestBatch = 1 << 30;

const runtime::SettingRow kRows[] = {
    {"ARMCI_RMA_SYNC", "", "auto", 0, 0,
     "How transfers are synchronised: epochless (one epoch for good, completion by flushes), exclusive (an epoch per "
     "operation, as MPI-2 has it) or auto (exclusive for an MPI whose flushes or atomics are wrong).",
     &the_settings.sync},
    {"ARMCI_RMA_DIRECT", "", "-1", -1, 1,
     "1: same-node targets are reached by load and store; 0: by MPI like any other; -1: by load and store unless "
     "ARMCI_RMA_SYNC=exclusive.",
     &the_settings.direct},
    {"ARMCI_RMA_MUTEX", "", "atomic", 0, 0,
     "The base of mutexes: atomic (a queue of MPI's atomics) or message (put, get and zero-byte messages).",
     &the_settings.mutex},
    {"ARMCI_RMA_WINDOW", "", "create", 0, 0,
     "Where the memory of regions comes from: create (node memory under MPI_Win_create), allocate (MPI_Win_allocate), "
     "shared (MPI_Win_allocate_shared under MPI_Win_create). With the last two each process is a node of its own.",
     &the_settings.window},
    {"ARMCI_RMA_REQUESTS", "", "-1", -1, 1,
     "1: handles stand for requests of MPI (in dynamic windows where it has them right); 0: for a flush when they are "
     "waited for; -1: the form that this MPI has right.",
     &the_settings.requests},
    {"ARMCI_RMA_STRIDED", "", "auto", 0, 0,
     "How strided transfers become operations of MPI: auto, direct (one, with datatypes), batched or conservative (one "
     "per row, completed together or one by one).",
     &the_settings.strided},
    {"ARMCI_RMA_VECTOR", "", "auto", 0, 0,
     "How vector transfers become operations of MPI: auto, direct, batched or conservative.", &the_settings.vector},
    {"ARMCI_RMA_BATCH", "operations", "0", 0, kLargestBatch,
     "Batched transfers complete so many operations together; 0: all of a call.", &the_settings.batch},
    {"ARMCI_PREFLIGHT", "", "1", 0, 0,
     "Probes of the MPI library: 1 once for each library and network, force at every start, 0 none.",
     &the_settings.preflight},
    {"ARMCI_RMA_PROGRESS", "us", "100", 0, kLongestIntervalUs,
     "Interval in which a thread lets MPI progress while the program computes, unless sockets wake it; 0: no thread.",
     &the_settings.progress_us},
};

const runtime::AppendedSettings appended(kRows);

}  // namespace

Settings& settings() { return the_settings; }

namespace {

constexpr Word<SyncKind> kSyncWords[] = {
    {"auto", SyncKind::kAuto}, {"epochless", SyncKind::kEpochless}, {"exclusive", SyncKind::kExclusive}};
constexpr Word<MutexKind> kMutexWords[] = {{"atomic", MutexKind::kAtomic}, {"message", MutexKind::kMessage}};
constexpr Word<RegionKind> kWindowWords[] = {
    {"create", RegionKind::kCreate}, {"allocate", RegionKind::kAllocate}, {"shared", RegionKind::kShared}};
constexpr Word<Method> kMethodWords[] = {{"auto", Method::kAuto},
                                         {"direct", Method::kDirect},
                                         {"batched", Method::kBatched},
                                         {"conservative", Method::kConservative}};

}  // namespace

Status read_choices(Choices* choices) {
  Choices read;
  ARMCI_RETURN_IF_ERROR(read_word("ARMCI_RMA_SYNC", the_settings.sync, kSyncWords, &read.sync));
  ARMCI_RETURN_IF_ERROR(read_word("ARMCI_RMA_MUTEX", the_settings.mutex, kMutexWords, &read.mutex));
  ARMCI_RETURN_IF_ERROR(read_word("ARMCI_RMA_WINDOW", the_settings.window, kWindowWords, &read.window));
  ARMCI_RETURN_IF_ERROR(read_word("ARMCI_RMA_STRIDED", the_settings.strided, kMethodWords, &read.strided));
  ARMCI_RETURN_IF_ERROR(read_word("ARMCI_RMA_VECTOR", the_settings.vector, kMethodWords, &read.vector));
  if (!parse_preflight_mode(the_settings.preflight.c_str(), &read.preflight)) {
    return fail(Code::kArgument, "ERR-1",
                "environment variable ARMCI_PREFLIGHT = %s is none of 0, 1, force; set it to one of them",
                the_settings.preflight.c_str());
  }
  *choices = read;
  return kSuccess;
}

Status read_choices_together(MPI_Comm comm, Choices* choices) {
  ARMCI_RETURN_IF_ERROR(node::agree(comm, read_choices(choices), "reading the environment"));
  const node::SharedSetting shared[] = {{"ARMCI_RMA_SYNC", static_cast<int>(choices->sync)},
                                        {"ARMCI_RMA_MUTEX", static_cast<int>(choices->mutex)},
                                        {"ARMCI_RMA_WINDOW", static_cast<int>(choices->window)},
                                        {"ARMCI_RMA_DIRECT", the_settings.direct},
                                        {"ARMCI_RMA_STRIDED", static_cast<int>(choices->strided)},
                                        {"ARMCI_RMA_VECTOR", static_cast<int>(choices->vector)},
                                        {"ARMCI_RMA_REQUESTS", the_settings.requests},
                                        {"ARMCI_PREFLIGHT", static_cast<int>(choices->preflight)}};
  return node::same_on_all(comm, shared);
}

}  // namespace armci::rma
