#include "impl/ucx/settings.h"

#include "impl/runtime/config.h"

namespace armci::ucx {

namespace {

Settings the_settings;

const runtime::SettingRow kRows[] = {
    {"ARMCI_UCX_PUT_GET", "", "auto", 0, 0,
     "Whether contiguous data go by UCX's put and get: auto (where the network has them; elsewhere by requests), "
     "always or never; the same on all processes.",
     &the_settings.put_get},
    {"ARMCI_UCX_PARTS", "", "256", 4, 65536,
     "Pending puts, gets and replies of a process, at most, and as many requests that UCX has not sent.",
     &the_settings.parts},
    {"ARMCI_UCX_REQUESTS", "", "64", 1, 65536,
     "Requests of a process to another one that have not been executed, at most.", &the_settings.requests},
    {"ARMCI_UCX_MESSAGE_BYTES", "bytes", "64000", 1024, 1 << 24,
     "Data of a request or a reply, at most; the same on all processes.", &the_settings.message_bytes},
    {"ARMCI_UCX_PACK_BYTES", "bytes", "4K", 0, 1 << 24,
     "Rows of strided and vector transfers that are shorter are packed, and unpacked by the server or by the process.",
     &the_settings.pack_bytes},
    {"ARMCI_UCX_SMALL_PUT_BYTES", "bytes", "4K", 0, 1 << 24,
     "Non-blocking puts, accumulates and atomics by request of up to this length that fit into a batch of 8000 bytes "
     "are "
     "coalesced; "
     "0: none.",
     &the_settings.small_bytes},
    {"ARMCI_UCX_COPIED_BYTES", "bytes", "16K", 1, 1 << 30,
     "Shorter data of puts and accumulates by request are copied into the request; others leave from the memory of the "
     "program.",
     &the_settings.copied_bytes},
    {"ARMCI_UCX_CLUSTER", "", "1", 1, 65536,
     "Processes in a cluster: each process sends its requests for all of them to one, whose server forwards them; the "
     "same on all processes.",
     &the_settings.cluster},
};

const runtime::AppendedSettings appended(kRows);

}  // namespace

Settings& settings() { return the_settings; }

}  // namespace armci::ucx
