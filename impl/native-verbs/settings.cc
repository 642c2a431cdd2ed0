#include "impl/native-verbs/settings.h"

#include "impl/runtime/config.h"

namespace armci::verbs {

namespace {

Settings the_settings;

const runtime::SettingRow kRows[] = {
    {"ARMCI_VERBS_DEVICE", "", "", 0, 0, "Name of the verbs device (default: the first with a port that is up).",
     &the_settings.device},
    {"ARMCI_VERBS_PORT", "", "0", 0, 255, "Number of its port; 0: the first that is up.", &the_settings.port},
    {"ARMCI_VERBS_GID", "", "-1", -1, 255,
     "Index of the port's GID; -1: the first of RoCE v2 with an IPv4 address, or of RoCE v2; none on InfiniBand.",
     &the_settings.gid},
    {"ARMCI_VERBS_BOUNCES", "", "32", 4, 1024,
     "Registered buffers of a process, for requests and for data that are not registered.", &the_settings.bounces},
    {"ARMCI_VERBS_BOUNCE_BYTES", "bytes", "32K", 1024, 1 << 24,
     "Length of each, and of a server's; the same on all processes.", &the_settings.bounce_bytes},
    {"ARMCI_VERBS_BUFFERS", "", "64", 4, 4096,
     "Receive buffers of a server for the requests and signals of all processes together.", &the_settings.buffers},
    {"ARMCI_VERBS_DEPTH", "", "128", 16, 8192, "Pending work requests on a connection, at most.", &the_settings.depth},
    {"ARMCI_VERBS_PACK_BYTES", "bytes", "4K", 0, 1 << 24,
     "Rows of strided and vector transfers that are shorter are packed, and unpacked by the server or by the process.",
     &the_settings.pack_bytes},
    {"ARMCI_VERBS_IN_PLACE_BYTES", "bytes", "1K", 64, 1 << 24,
     "No effect: the server packs the rows of a get that it sends. Accepted for older job scripts.",
     &the_settings.in_place_bytes},
    {"ARMCI_VERBS_REGISTER_BYTES", "bytes", "64K", 4096, std::int64_t{1} << 40,
     "Transfers from this length on register their local memory instead of copying it.", &the_settings.register_bytes},
    {"ARMCI_VERBS_CACHE_BYTES", "bytes", "256M", 0, std::int64_t{1} << 40,
     "Of the program's own memory that stays registered for later transfers, at most; 0: none.",
     &the_settings.cache_bytes},
    {"ARMCI_VERBS_CACHE_ENTRIES", "", "1024", 0, 1 << 20, "Registrations that stay, at most.",
     &the_settings.cache_entries},
    {"ARMCI_VERBS_CLUSTER", "", "1", 1, 65536,
     "Servers in a cluster: each process sends its requests for all of them to one, which forwards them; the same on "
     "all processes.",
     &the_settings.cluster},
};

const runtime::AppendedSettings appended(kRows);

}  // namespace

Settings& settings() { return the_settings; }

}  // namespace armci::verbs
