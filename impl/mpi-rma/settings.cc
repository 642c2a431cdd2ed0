#include "impl/mpi-rma/settings.h"

#include "impl/common/config.h"

namespace armci::rma {

namespace {

Settings the_settings;

constexpr double kLongestIntervalUs = 100000;

const common::SettingRow kRows[] = {
    {"ARMCI_RMA_SYNC", "", "epochless", 0, 0,
     "How transfers are synchronised: epochless (one epoch for good, flushes) or exclusive (an epoch per operation).",
     &the_settings.sync},
    {"ARMCI_RMA_DIRECT", "", "1", 0, 1, "Same-node targets are reached by load and store; 0: by MPI like any other.",
     &the_settings.direct},
    {"ARMCI_RMA_REQUESTS", "", "-1", -1, 1,
     "1: handles stand for requests of MPI; 0: for a flush when they are waited for; -1: what this MPI does right.",
     &the_settings.requests},
    {"ARMCI_RMA_PROGRESS", "us", "100", 0, kLongestIntervalUs,
     "Interval in which a thread lets MPI progress while the program computes; 0: no thread.",
     &the_settings.progress_us},
};

// The rows have to be there before the environment is read, which no member of the transport is asked before.
[[maybe_unused]] const bool appended = [] {
  common::append_settings(kRows);
  return true;
}();

}  // namespace

Settings& settings() { return the_settings; }

common::Status sync_kind(SyncKind* kind) {
  if (the_settings.sync == "epochless") {
    *kind = SyncKind::kEpochless;
  } else if (the_settings.sync == "exclusive") {
    *kind = SyncKind::kExclusive;
  } else {
    return common::fail(common::Code::kArgument, "ERR-1",
                        "environment variable ARMCI_RMA_SYNC = %s is neither epochless nor exclusive",
                        the_settings.sync.c_str());
  }
  return common::kSuccess;
}

}  // namespace armci::rma
