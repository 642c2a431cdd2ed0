#include "impl/mpi-twosided/settings.h"

#include "impl/common/config.h"

namespace armci::twosided {

namespace {

Settings the_settings;

const common::SettingRow kRows[] = {
    {"ARMCI_SERVER_BUFFERS", "", "8", 2, 1024,
     "Requests of one process that a server of another node has room for; the same on all processes.",
     &the_settings.buffers},
    {"ARMCI_SERVER_BUFFER_BYTES", "bytes", "32K", 1024, 1 << 24,
     "Length of that room for each request, its header included; the same on all processes.",
     &the_settings.buffer_bytes},
    {"ARMCI_SERVER_WAIT", "us", "500", 0, 100000,
     "How long a server that has nothing to do sleeps at most before it looks again; 0: it never sleeps.",
     &the_settings.wait_us},
};

// The rows have to be there before the environment is read, which no member of the transport is asked before.
[[maybe_unused]] const bool appended = [] {
  common::append_settings(kRows);
  return true;
}();

}  // namespace

Settings& settings() { return the_settings; }

}  // namespace armci::twosided
