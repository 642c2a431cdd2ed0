#include "bench/common/environment.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <string>
#include <string_view>

namespace armci::bench {
namespace {

std::string ProcessorModel() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

nlohmann::json AllowedProcessors() {
  nlohmann::json allowed = nlohmann::json::array();
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return allowed;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (CPU_ISSET(processor, &set)) allowed.push_back(processor);
  }
  return allowed;
}

nlohmann::json RelevantVariables() {
  constexpr std::array<std::string_view, 6> kPrefixes = {"ARMCI_", "OMPI_MCA_", "MPICH_",
                                                         "MPIR_",  "UCX_",      "GLIBC_TUNABLES"};
  nlohmann::json variables = nlohmann::json::object();
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    for (std::string_view prefix : kPrefixes) {
      const size_t equals = text.find('=');
      if (!text.starts_with(prefix) || equals == std::string_view::npos) continue;
      variables[std::string(text.substr(0, equals))] = std::string(text.substr(equals + 1));
    }
  }
  return variables;
}

std::string UtcTime() {
  const time_t now = time(nullptr);
  tm parts;
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

}  // namespace

nlohmann::json DescribeEnvironment() {
  utsname system;
  uname(&system);
  std::array<double, 3> load{};
  getloadavg(load.data(), static_cast<int>(load.size()));
  return {{"time", UtcTime()},
          {"processor", ProcessorModel()},
          {"processors_online", sysconf(_SC_NPROCESSORS_ONLN)},
          {"processors_allowed", AllowedProcessors()},
          {"machine", system.machine},
          {"system", std::string(system.sysname) + " " + system.release},
          {"compiler", __VERSION__},
          {"load_average", load},
          {"variables", RelevantVariables()}};
}

double SecondsWithoutCore() {
  std::ifstream file("/proc/self/schedstat");
  double running_ns = 0;
  double waiting_ns = 0;
  file >> running_ns >> waiting_ns;
  return waiting_ns * 1e-9;
}

}  // namespace armci::bench
