#include "impl/ucx/used_transports.h"

#include <unistd.h>

#include <algorithm>
#include <vector>

namespace armci::ucx {

namespace {

// Behind "lane[N]:", as in "lane[0]:  3:sysv/memory.0 md[2] -> ...": the part between the number and the blank, without
// the number of the path.
std::string_view name_of_lane(std::string_view rest) {
  const std::size_t begin = rest.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  std::string_view name = rest.substr(begin, rest.find_first_of(" \n", begin) - begin);
  name.remove_prefix(std::min(name.size(), name.find(':') + 1));
  return name.substr(0, name.rfind('.'));
}

// Calls use(name) with each lane's.
template <class Use>
void visit_lanes(std::string_view description, Use use) {
  constexpr std::string_view kLane = "lane[";
  for (std::size_t at = description.find(kLane); at != std::string_view::npos; at = description.find(kLane, at + 1)) {
    const std::size_t end = description.find("]:", at);
    if (end == std::string_view::npos) break;
    const std::string_view name = name_of_lane(description.substr(end + 2));
    if (!name.empty()) use(name);
  }
}

}  // namespace

std::string transports_of(std::string_view description) {
  std::vector<std::string_view> names;
  visit_lanes(description, [&](std::string_view name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  });
  std::string text;
  for (const std::string_view name : names) {
    if (!text.empty()) text += ", ";
    text += name;
  }
  return text;
}

bool has_rdma(std::string_view transports) {
  for (std::size_t at = 0; at < transports.size();) {
    const std::string_view name = transports.substr(at);
    if (name.starts_with("rc_") || name.starts_with("dc_")) return true;
    const std::size_t next = transports.find(", ", at);
    if (next == std::string_view::npos) break;
    at = next + 2;
  }
  return false;
}

std::string device_of_one_lane(std::string_view description) {
  constexpr std::string_view kTransport = "rc_verbs/";
  std::vector<std::string_view> names;
  visit_lanes(description, [&](std::string_view name) { names.push_back(name); });
  if (names.size() != 1 || !names.front().starts_with(kTransport)) return {};
  const std::string_view device = names.front().substr(kTransport.size());
  return std::string(device.substr(0, device.find(':')));
}

bool is_soft_roce(const std::string& device, const std::string& devices) {
  return !device.empty() && access((devices + "/" + device + "/parent").c_str(), F_OK) == 0;
}

}  // namespace armci::ucx
