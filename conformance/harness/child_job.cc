#include "conformance/harness/child_job.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "conformance/harness/missing.h"
#include "conformance/harness/recording.h"
#include "conformance/harness/session_internal.h"
#include "conformance/harness/stacks.h"
#include "conformance/harness/watchdog.h"

extern char** environ;

namespace conformance {
namespace {

constexpr int kStatusRequire = 99;
// The time that a child needs to print where it hangs, before its job is ended from outside.
constexpr double kReportSeconds = 8;
// Names the file that a child's processes write to. Launchers lose lines when a job is aborted right after printing;
// a file does not.
constexpr const char* kOutputFile = "CONFORMANCE_CHILD_OUTPUT";

std::map<std::string, ChildCase>& Cases() {
  static std::map<std::string, ChildCase> cases;
  return cases;
}

// A launcher passes the ranks of its processes through the environment; a new job must not inherit that.
bool BelongsToThisJob(const std::string& entry) {
  if (entry.rfind("OMPI_ALLOW_RUN_AS_ROOT", 0) == 0) return false;
  // The parent of this job chooses the folder of shared memory files, and clears it.
  if (entry.find("_backing_directory=") != std::string::npos) return false;
  static constexpr const char* kPrefixes[] = {"OMPI_",  "ORTE_", "PMIX_",     "PMI_",     "PRTE_",  "HYDI_",
                                              "HYDRA_", "MPIR_", "MPI_LOCAL", "MPIEXEC_", "GTEST_", "XML_OUTPUT_FILE"};
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [&](const char* prefix) { return entry.rfind(prefix, 0) == 0; });
}

std::vector<std::string> ChildEnvironment(const std::map<std::string, std::string>& added) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!BelongsToThisJob(text) && added.count(text.substr(0, text.find('='))) == 0) result.push_back(text);
  }
  for (const auto& [name, value] : added) result.push_back(name + "=" + value);
  return result;
}

std::vector<char*> Pointers(std::vector<std::string>* words) {
  std::vector<char*> pointers;
  for (std::string& word : *words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Starts the command with stdout and stderr in one pipe, in a process group of its own. Returns its pid, or -1.
pid_t Spawn(std::vector<std::string> words, std::vector<std::string> environment, int* read_end) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return -1;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  pid_t pid = -1;
  std::vector<char*> argv = Pointers(&words);
  std::vector<char*> envp = Pointers(&environment);
  if (posix_spawnp(&pid, argv[0], &actions, &attributes, argv.data(), envp.data()) != 0) pid = -1;
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  close(ends[1]);
  *read_end = ends[0];
  return pid;
}

// Reads until the end of the pipe, or until the launcher has ended and nothing more comes.
std::string ReadAll(int read_end, pid_t pid, double seconds, ChildResult* result) {
  std::string text;
  const double limit = SharedClock() + seconds;
  bool ended = false;
  char buffer[4096];
  while (true) {
    pollfd ready{read_end, POLLIN, 0};
    poll(&ready, 1, 100);
    if (ready.revents != 0) {
      const ssize_t count = read(read_end, buffer, sizeof buffer);
      if (count <= 0) break;
      text.append(buffer, static_cast<std::size_t>(count));
      continue;
    }
    if (ended) break;
    siginfo_t info{};
    ended = waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
    if (!ended && SharedClock() > limit) {
      result->timed_out = true;
      result->lines = DescribeProcesses(pid);
      // The launcher ends its processes when asked; by force only if it does not hear.
      kill(-pid, SIGTERM);
      poll(nullptr, 0, 3000);
      kill(-pid, SIGKILL);
      break;
    }
  }
  return text;
}

// The rank that the launcher gave this process, for before MPI_Init; -1 if it does not say.
int LauncherRank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK"}) {
    if (const char* text = std::getenv(name)) return std::atoi(text);
  }
  return -1;
}

void AppendLines(std::istream* from, std::vector<std::string>* to) {
  for (std::string line; std::getline(*from, line);) to->push_back(line);
}

}  // namespace

bool ChildResult::HasLineWith(const std::vector<std::string>& parts) const {
  return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
    return std::all_of(parts.begin(), parts.end(),
                       [&](const std::string& part) { return line.find(part) != std::string::npos; });
  });
}

int ChildResult::Count(const std::string& part) const {
  return static_cast<int>(std::count_if(lines.begin(), lines.end(),
                                        [&](const std::string& line) { return line.find(part) != std::string::npos; }));
}

std::string ChildResult::Text() const {
  std::string text = (timed_out ? "ended by force, status " : "status ") + std::to_string(status) + "\n";
  for (const std::string& line : lines) text += "  | " + line + "\n";
  return text;
}

std::vector<std::string> LaunchWords() {
  std::vector<std::string> words;
  if (const char* given = std::getenv("CONFORMANCE_LAUNCHER")) {
    std::istringstream stream(given);
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
  }
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(version, &length);
  if (std::string(version).find("Open MPI") == std::string::npos) return {"mpiexec.mpich", "-n"};
  words = {"mpirun.openmpi"};
  if (geteuid() == 0) words.push_back("--allow-run-as-root");
  // The launcher ends the processes of a job that failed without a second's grace.
  for (const char* word : {"--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1", "--mca",
                           "odls_base_sigkill_timeout", "0", "-n"}) {
    words.push_back(word);
  }
  return words;
}

ChildResult RunChildJob(int ranks, const std::string& name, const std::string& argument,
                        const std::map<std::string, std::string>& environment, double seconds) {
  std::vector<std::string> words = LaunchWords();
  words.push_back(std::to_string(ranks));
  words.push_back(std::filesystem::read_symlink("/proc/self/exe").string());
  seconds *= TheSession().options.deadline_scale();
  const double own_deadline = std::max(seconds / 2, seconds - kReportSeconds);
  words.insert(words.end(), {"--child", name, "--deadline", std::to_string(own_deadline)});
  if (!argument.empty()) words.insert(words.end(), {"--child-argument", argument});
  char output_file[] = "/tmp/conformance-child-XXXXXX";
  const int output = mkstemp(output_file);
  // Without a name at once, so that nothing is left when this process is killed while it waits.
  unlink(output_file);
  const std::string reachable = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(output);
  std::map<std::string, std::string> settings = environment;
  settings[kOutputFile] = reachable;
  ChildResult result;
  int read_end = -1;
  const pid_t pid = output < 0 ? -1 : Spawn(words, ChildEnvironment(settings), &read_end);
  if (pid < 0) {
    result.status = 127;
    result.lines = {"cannot start " + words[0]};
    return result;
  }
  const std::string launcher_text = ReadAll(read_end, pid, seconds, &result);
  close(read_end);
  int status = 0;
  waitpid(pid, &status, 0);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  std::ifstream own_lines(reachable);
  AppendLines(&own_lines, &result.lines);
  std::istringstream launcher_lines(launcher_text);
  AppendLines(&launcher_lines, &result.lines);
  close(output);
  return result;
}

bool RunsNextChild() {
  // Asked once: later a process may be inside a child when the next one calls.
  static const int turns = ClockIsShared() ? std::min(Np(), 2) : 1;
  return Me() == TheSession().children++ % turns;
}

bool AddChildCase(const char* name, ChildCase body) { return Cases().emplace(name, body).second; }

int RunChildCase(const std::string& name, const std::string& argument) {
  const auto found = Cases().find(name);
  if (found == Cases().end()) {
    std::fprintf(stderr, "conformance: no child case %s\n", name.c_str());
    return 2;
  }
  if (const char* file = std::getenv(kOutputFile)) {
    const int output = open(file, O_WRONLY | O_APPEND);
    if (output < 0) return kStatusRequire;
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    close(output);
  }
  RecordEvent("child", name + " " + argument);
  InstallStackSignal();
  Watchdog watchdog(LauncherRank());
  watchdog.Arm("the child case " + name, TheSession().options.deadline_s, "the test that starts it");
  try {
    return found->second(argument);
  } catch (const TestAborted&) {
    Require(false, MissingText(TheSession().missing_function).c_str());
    return kStatusRequire;
  }
}

void Require(bool condition, const char* what) {
  if (condition) return;
  RecordEvent("fail", std::string("REQUIRE failed: ") + what);
  Say(std::string("REQUIRE failed: ") + what);
  _exit(kStatusRequire);
}

void Say(const std::string& line) {
  const std::string text = line + "\n";
  if (write(STDOUT_FILENO, text.data(), text.size()) < 0) _exit(kStatusRequire);
}

}  // namespace conformance
