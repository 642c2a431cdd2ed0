#include "impl/race/source_lines.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <map>

namespace armci::race {
namespace {

struct InModule {
  std::string path;
  std::uintptr_t offset = 0;  // as addr2line counts
};

InModule find_module(const void* address) {
  Dl_info info{};
  link_map* map = nullptr;
  if (dladdr1(address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 || map == nullptr) return {};
  // The name of the program itself is empty.
  const bool is_program = map->l_name == nullptr || map->l_name[0] == '\0';
  std::array<char, 4096> path{};
  if (is_program && readlink("/proc/self/exe", path.data(), path.size() - 1) < 0) path[0] = '\0';
  // One byte back, into the call instruction.
  return {is_program ? path.data() : map->l_name, reinterpret_cast<std::uintptr_t>(address) - map->l_addr - 1};
}

std::string hexadecimal(std::uintptr_t number) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "0x%zx", static_cast<std::size_t>(number));
  return text.data();
}

std::string without_folders(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// The standard output of a command; empty if it cannot run. Without a shell, and without fork, whose child would run
// handlers of the libraries below.
std::string output_of(const std::vector<std::string>& command) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  // Nothing of the job's environment: a preloaded library would run in the child.
  std::array<char*, 1> environment{nullptr};
  pid_t child = -1;
  const int failed = posix_spawnp(&child, words[0], &actions, nullptr, words.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string text;
  std::array<char, 4096> piece{};
  const auto was_interrupted = [](ssize_t result) { return result < 0 && errno == EINTR; };  // by the program's timers
  for (ssize_t got = 1; failed == 0 && got > 0;) {
    do got = read(ends[0], piece.data(), piece.size());
    while (was_interrupted(got));
    if (got > 0) text.append(piece.data(), static_cast<std::size_t>(got));
  }
  close(ends[0]);
  while (failed == 0 && was_interrupted(waitpid(child, nullptr, 0))) {
  }
  return text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    lines.push_back(text.substr(begin, end - begin));
  }
  return lines;
}

// "file.c:12 (discriminator 3)" with its folders becomes "file.c:12"; empty for an unknown one.
std::string short_line(const std::string& line) {
  const std::string place = line.substr(0, line.find(" ("));
  return place.find(":?") != std::string::npos || place.find("??") == 0 || place.ends_with(":0")
             ? ""
             : without_folders(place);
}

}  // namespace

std::vector<std::string> source_lines(const std::vector<const void*>& addresses) {
  std::vector<std::string> found;
  std::map<std::string, std::vector<std::size_t>> of_module;
  std::vector<InModule> places;
  for (const void* address : addresses) {
    places.push_back(find_module(address));
    const InModule& place = places.back();
    of_module[place.path].push_back(found.size());
    found.push_back(place.path.empty() ? "an unknown place"
                                       : without_folders(place.path) + "+" + hexadecimal(place.offset));
  }
  for (const auto& [path, members] : of_module) {
    if (path.empty()) continue;
    std::vector<std::string> command{"addr2line", "-C", "-f", "-e", path};
    for (const std::size_t i : members) command.push_back(hexadecimal(places[i].offset));
    const std::vector<std::string> lines = lines_of(output_of(command));  // a function and a place for each
    for (std::size_t k = 0; k < members.size() && 2 * k + 1 < lines.size(); ++k) {
      const std::string place = short_line(lines[2 * k + 1]);
      if (!place.empty()) found[members[k]] = place;
      if (lines[2 * k] != "??") found[members[k]] += " in " + lines[2 * k];
    }
  }
  return found;
}

}  // namespace armci::race
