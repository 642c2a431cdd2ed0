#include <dirent.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

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

struct Process {
  std::string name;
  char state = '?';
  pid_t parent = 0;
  pid_t group = 0;
};

// Every process of the machine, as far as it can be seen from here.
std::map<pid_t, Process> AllProcesses() {
  std::map<pid_t, Process> all;
  DIR* directory = opendir("/proc");
  if (directory == nullptr) return all;
  while (const dirent* entry = readdir(directory)) {
    const pid_t pid = static_cast<pid_t>(std::atoi(entry->d_name));
    if (pid <= 0) continue;
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string line;
    std::getline(file, line);
    // The name stands in brackets and may contain any.
    const std::size_t begin = line.find('(');
    const std::size_t end = line.rfind(')');
    if (begin == std::string::npos || end == std::string::npos) continue;
    Process process{.name = line.substr(begin + 1, end - begin - 1)};
    std::istringstream rest(line.substr(end + 1));
    rest >> process.state >> process.parent >> process.group;
    all[pid] = process;
  }
  closedir(directory);
  return all;
}

bool ComesFrom(const std::map<pid_t, Process>& all, pid_t pid, pid_t root) {
  for (auto at = all.find(pid); at != all.end() && at->first > 1; at = all.find(at->second.parent)) {
    if (at->first == root || at->second.group == root) return true;
  }
  return false;
}

std::string FirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

std::vector<std::string> DescribeProcesses(pid_t root) {
  std::vector<std::string> lines;
  const std::map<pid_t, Process> all = AllProcesses();
  for (const auto& [pid, process] : all) {
    if (!ComesFrom(all, pid, root)) continue;
    const std::string folder = "/proc/" + std::to_string(pid) + "/";
    lines.push_back("process " + std::to_string(pid) + " (" + process.name + "), child of " +
                    std::to_string(process.parent) + ", state " + process.state + ", " +
                    std::to_string(CountEntries((folder + "task").c_str())) + " threads, the first waits in " +
                    FirstLine(folder + "wchan") + ", system call " + FirstLine(folder + "syscall"));
  }
  return lines;
}

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
