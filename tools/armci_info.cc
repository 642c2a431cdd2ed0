// Prints what the linked library is and how it is set: name, version, capabilities, thread level, what it avoids,
// every setting.
//
// Rank 0 prints; all ranks must run the same library, which is checked. Status 0 when that is so.
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "armci.h"
#include "armcix.h"

namespace {

struct Capability {
  uint64_t bit;
  const char* name;
  const char* text;
};

constexpr Capability kCapabilities[] = {
    {ARMCIX_CAP_MULTI_NODE, "multi-node", "a job may span nodes"},
    {ARMCIX_CAP_LOAD_STORE, "load-store", "memory of processes on the node can be loaded and stored directly"},
    {ARMCIX_CAP_ASYNC_PROGRESS, "async-progress", "operations complete without any call by the target"},
    {ARMCIX_CAP_OVERLAP, "overlap", "non-blocking transfers advance while the origin computes"},
    {ARMCIX_CAP_THREAD_MULTIPLE, "thread-multiple", "any thread may call at any time"},
    {ARMCIX_CAP_NATIVE_STRIDED, "native-strided", "strided shapes are moved as one"},
    {ARMCIX_CAP_NATIVE_VECTOR, "native-vector", "vector shapes are moved as one"},
    {ARMCIX_CAP_NATIVE_ACC, "native-accumulate", "the transport adds"},
    {ARMCIX_CAP_NATIVE_RMW, "native-rmw", "the transport does the atomics"},
    {ARMCIX_CAP_NATIVE_LOCK, "native-lock", "the transport queues for mutexes"},
    {ARMCIX_CAP_CHECKING, "checking", "ARMCI_CHECK=1 is understood"},
    {ARMCIX_CAP_SIMULATED_NODES, "simulated-nodes", "ARMCI_NODE_SIZE is set: ranks are treated as on several nodes"},
};

struct Report {
  std::string implementation;
  int version[3] = {0, 0, 0};
  uint64_t capabilities = 0;
  int thread_level = MPI_THREAD_SINGLE;
  std::string mpi;
  int processes = 1;
  int nodes = 1;
  uint64_t buffer_bytes = 0;  // of the process that has the most
  std::vector<armcix_finding_t> findings;
  std::vector<armcix_choice_t> choices;
  std::vector<armcix_setting_t> settings;
};

const char* ThreadLevelName(int level) {
  switch (level) {
    case MPI_THREAD_SINGLE:
      return "single";
    case MPI_THREAD_FUNNELED:
      return "funneled";
    case MPI_THREAD_SERIALIZED:
      return "serialized";
    case MPI_THREAD_MULTIPLE:
      return "multiple";
    default:
      return "unknown";
  }
}

std::string MpiVersion() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string whole(text, static_cast<size_t>(length));
  return whole.substr(0, whole.find_first_of("\n,"));
}

const char* OrEmpty(const char* text) { return text != nullptr ? text : ""; }

Report Collect() {
  Report report;
  report.implementation = ARMCIX_Implementation();
  ARMCIX_Version(&report.version[0], &report.version[1], &report.version[2]);
  report.capabilities = ARMCIX_Capabilities();
  ARMCIX_Query_thread(&report.thread_level);
  report.mpi = MpiVersion();
  MPI_Comm_size(MPI_COMM_WORLD, &report.processes);
  report.nodes = armci_domain_count(ARMCI_DOMAIN_SMP);
  armcix_stats_t totals{};
  totals.struct_bytes = sizeof totals;
  if (ARMCIX_Stats_get(&totals) == 0) report.buffer_bytes = totals.buffer_bytes;
  MPI_Allreduce(MPI_IN_PLACE, &report.buffer_bytes, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  armcix_finding_t finding{};
  for (int index = 0; ARMCIX_Finding(index, &finding) == 0; ++index) report.findings.push_back(finding);
  armcix_choice_t choice{};
  for (int index = 0; ARMCIX_Choice(index, &choice) == 0; ++index) report.choices.push_back(choice);
  armcix_setting_t setting{};
  for (int index = 0; ARMCIX_Setting(index, &setting) == 0; ++index) report.settings.push_back(setting);
  return report;
}

void PrintFindings(const Report& report) {
  std::printf("faults of the layer below that this run avoids%s\n", report.findings.empty() ? ": none" : "");
  for (const armcix_finding_t& one : report.findings) {
    std::printf("  %s: %s\n    Instead: %s\n", one.name, one.text, one.instead);
  }
}

void PrintChoices(const Report& report) {
  std::printf("chosen between nodes%s\n", report.choices.empty() ? ": nothing" : "");
  for (const armcix_choice_t& one : report.choices) std::printf("  %s: %s\n", one.name, one.value);
}

void PrintText(const Report& report) {
  std::printf("implementation  %s %d.%d.%d\n", report.implementation.c_str(), report.version[0], report.version[1],
              report.version[2]);
  std::printf("MPI             %s, thread level %s\n", report.mpi.c_str(), ThreadLevelName(report.thread_level));
  std::printf("job             %d processes on %d nodes\n", report.processes, report.nodes);
  std::printf("buffers         %llu bytes for messages between nodes, in the process that has the most\n",
              static_cast<unsigned long long>(report.buffer_bytes));
  std::printf("capabilities\n");
  for (const Capability& one : kCapabilities) {
    std::printf("  %-3s %-18s %s\n", (report.capabilities & one.bit) != 0 ? "yes" : "no", one.name, one.text);
  }
  PrintChoices(report);
  PrintFindings(report);
  std::printf("settings (environment; * differs from the default)\n");
  int width = 0;
  for (const armcix_setting_t& one : report.settings) width = std::max(width, static_cast<int>(std::strlen(one.name)));
  for (const armcix_setting_t& one : report.settings) {
    const bool changed = std::strcmp(OrEmpty(one.value), OrEmpty(one.default_value)) != 0;
    const std::string type = OrEmpty(one.type);
    const std::string unit = OrEmpty(one.unit);
    const std::string kind = unit.empty() || unit == type ? type : type + ", " + unit;
    std::printf("%c %-*s = %-10s %s [%s, default %s]\n", changed ? '*' : ' ', width, one.name, OrEmpty(one.value),
                OrEmpty(one.text), kind.c_str(), *OrEmpty(one.default_value) != '\0' ? one.default_value : "empty");
  }
}

void PrintJson(const Report& report) {
  nlohmann::json capabilities = nlohmann::json::object();
  for (const Capability& one : kCapabilities) capabilities[one.name] = (report.capabilities & one.bit) != 0;
  nlohmann::json findings = nlohmann::json::array();
  for (const armcix_finding_t& one : report.findings) {
    findings.push_back({{"name", one.name}, {"text", one.text}, {"instead", one.instead}});
  }
  nlohmann::json choices = nlohmann::json::object();
  for (const armcix_choice_t& one : report.choices) choices[one.name] = one.value;
  nlohmann::json settings = nlohmann::json::array();
  for (const armcix_setting_t& one : report.settings) {
    settings.push_back({{"name", OrEmpty(one.name)},
                        {"type", OrEmpty(one.type)},
                        {"unit", OrEmpty(one.unit)},
                        {"default", OrEmpty(one.default_value)},
                        {"value", OrEmpty(one.value)},
                        {"text", OrEmpty(one.text)}});
  }
  const nlohmann::json document = {{"implementation", report.implementation},
                                   {"version", report.version},
                                   {"mpi", report.mpi},
                                   {"thread_level", ThreadLevelName(report.thread_level)},
                                   {"processes", report.processes},
                                   {"nodes", report.nodes},
                                   {"buffer_bytes", report.buffer_bytes},
                                   {"capabilities", capabilities},
                                   {"choices", choices},
                                   {"findings", findings},
                                   {"settings", settings}};
  std::printf("%s\n", document.dump(2).c_str());
}

// One number per library: different ones mean that ranks were started with different libraries.
bool SameOnAllRanks(const Report& report) {
  uint64_t mine = report.capabilities;
  for (const char letter : report.implementation) mine = mine * 31 + static_cast<unsigned char>(letter);
  for (const int part : report.version) mine = mine * 31 + static_cast<uint64_t>(part);
  uint64_t low = 0;
  uint64_t high = 0;
  MPI_Allreduce(&mine, &low, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&mine, &high, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  return low == high;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Prints implementation, version, capabilities and settings of the ARMCI library it is linked with."};
  bool json = false;
  app.add_flag("--json", json, "print JSON");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    std::fprintf(stderr, "armci_info: %s; see armci_info --help\n", error.what());
    return 1;
  }

  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (ARMCI_Init() != 0) MPI_Abort(MPI_COMM_WORLD, 1);
  const Report report = Collect();
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const bool same = SameOnAllRanks(report);
  if (rank == 0) {
    json ? PrintJson(report) : PrintText(report);
    if (!same) std::fprintf(stderr, "armci_info: the ranks run different libraries\n");
  }
  ARMCI_Finalize();
  MPI_Finalize();
  return same ? 0 : 1;
}
