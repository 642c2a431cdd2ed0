#include "impl/ucx/transports.h"

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

// Of the names in a list.
std::size_t count_prefix(std::string_view transports, std::string_view prefix) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < transports.size();) {
    count += transports.substr(at).starts_with(prefix) ? 1 : 0;
    const std::size_t next = transports.find(", ", at);
    if (next == std::string_view::npos) break;
    at = next + 2;
  }
  return count;
}

// Those that put and get by themselves.
std::size_t count_rdma(std::string_view transports) {
  return count_prefix(transports, "rc_") + count_prefix(transports, "dc_");
}

}  // namespace

std::string transports_of(std::string_view description) {
  constexpr std::string_view kLane = "lane[";
  std::vector<std::string_view> names;
  for (std::size_t at = description.find(kLane); at != std::string_view::npos; at = description.find(kLane, at + 1)) {
    const std::size_t end = description.find("]:", at);
    if (end == std::string_view::npos) break;
    const std::string_view name = name_of_lane(description.substr(end + 2));
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  std::string text;
  for (const std::string_view name : names) {
    if (!text.empty()) text += ", ";
    text += name;
  }
  return text;
}

bool has_rdma(std::string_view transports) { return count_rdma(transports) > 0; }

bool has_one_rc_verbs(std::string_view transports) {
  return count_prefix(transports, "rc_verbs/") == 1 && count_rdma(transports) == 1;
}

}  // namespace armci::ucx
