#include <dirent.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

#include "conformance/harness/session.h"

namespace conformance {
namespace {

int CountEntries(const char* directory) {
  DIR* open = opendir(directory);
  if (open == nullptr) return -1;
  int count = 0;
  while (const dirent* entry = readdir(open)) count += entry->d_name[0] != '.';
  closedir(open);
  return count;
}

}  // namespace

ProcessState ReadProcessState() {
  ProcessState state;
  state.threads = CountEntries("/proc/self/task");
  state.descriptors = CountEntries("/proc/self/fd");
  std::ifstream statm("/proc/self/statm");
  std::size_t total_pages = 0;
  std::size_t resident_pages = 0;
  statm >> total_pages >> resident_pages;
  state.resident_bytes = resident_pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    ++state.mappings;
    std::size_t low = 0;
    std::size_t high = 0;
    char rights[5] = "";
    if (std::sscanf(line.c_str(), "%zx-%zx %4s", &low, &high, rights) == 3 && rights[3] == 's') {
      state.shared_mapped_bytes += high - low;
    }
  }
  return state;
}

}  // namespace conformance
