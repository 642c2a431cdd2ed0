#include "impl/ucx/settings.h"

#include "impl/common/config.h"

namespace armci::ucx {

namespace {

Settings the_settings;

const common::SettingRow kRows[] = {
    {"ARMCI_UCX_CHUNK_BYTES", "bytes", "64K", 1024, 1 << 24,
     "Length of a request, and of an answer that is packed, at most; the same on all processes.",
     &the_settings.chunk_bytes},
    {"ARMCI_UCX_REQUESTS", "", "16", 1, 1024, "Requests to one process under way, at most.", &the_settings.requests},
    {"ARMCI_UCX_DEPTH", "", "1024", 4, 1 << 20, "Operations of a process under way, at most.", &the_settings.depth},
    {"ARMCI_UCX_PACK_BYTES", "bytes", "8K", 0, 1 << 24,
     "Rows of strided and vector transfers that are shorter are packed, and unpacked by the target; longer ones go by "
     "themselves.",
     &the_settings.pack_bytes},
    {"ARMCI_UCX_RMA", "", "-1", -1, 1,
     "1: contiguous transfers are puts and gets of UCX; 0: requests to the target; -1: puts and gets where there is a "
     "device that carries them out, as without one elements may be torn.",
     &the_settings.rma},
};

// The rows have to be there before the environment is read, which no member of the transport is asked before.
[[maybe_unused]] const bool appended = [] {
  common::append_settings(kRows);
  return true;
}();

}  // namespace

Settings& settings() { return the_settings; }

}  // namespace armci::ucx
