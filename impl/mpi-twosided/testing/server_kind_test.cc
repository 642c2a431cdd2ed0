// Servers that are threads or processes, as ARMCI_SERVER says, below a program that has some thread level.
//
//   server_kind_test works LEVEL thread|process    everything works, and the servers are that; several nodes;
//                                                  ARMCI_SERVER_CPUS=0
//   server_kind_test refused LEVEL                 MPI starts no process: ARMCI_Init says so on all processes
//   server_kind_test wrong LEVEL                   so it does for words that are none, and CPUs that are not there
//   server_kind_test server|first LEVEL            a server, or the process it serves, is killed
//   server_kind_test transfer LEVEL                a process is killed in the middle of long puts and gets; any servers
//   server_kind_test exit LEVEL                    a process calls exit() with servers running
//   server_kind_test stale LEVEL                   a put to memory that its owner has given back; 2 nodes, any servers
//   server_kind_test left LEVEL                    pending operations of a process block no other process; 3 nodes
//
// LEVEL: a number of MPI's. Where MPI starts no processes, ARMCI_Init says so in place of what needs them. Status 1
// when a check fails.
#include <dirent.h>
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "armci.h"
#include "impl/mpi-twosided/testing/spawning.h"
#include "impl/testing/trial.h"

namespace {

using namespace armci::runtime::testing;

constexpr unsigned kHangSeconds = 120;
constexpr unsigned kEndSeconds = 20;

bool refuses = false;

std::string name_of(const std::string& folder) {
  std::string name;
  std::getline(std::ifstream(folder + "/comm"), name);
  return name;
}

// The parent of this process started it.
bool is_sibling(const std::string& folder) {
  std::ostringstream all;
  all << std::ifstream(folder + "/stat").rdbuf();
  const std::string text = all.str();
  int parent = -1;
  const std::size_t end = text.rfind(')');
  return end != std::string::npos && std::sscanf(text.c_str() + end, ") %*c %d", &parent) == 1 && parent == getppid();
}

// Entries of /proc, or of this process's threads, that are called as servers are; the last one's number in *pid.
int count_servers(const std::string& folder, int* pid) {
  int found = 0;
  DIR* const entries = opendir(folder.c_str());
  while (const dirent* entry = readdir(entries)) {
    const std::string path = folder + "/" + entry->d_name;
    if (std::atoi(entry->d_name) == 0 || name_of(path) != "armci-server") continue;
    if (folder == "/proc" && !is_sibling(path)) continue;
    *pid = std::atoi(entry->d_name);
    ++found;
  }
  closedir(entries);
  return found;
}

// Where ARMCI_SERVER_CPUS says so, on CPU 0.
bool runs_where_it_is_to(int pid) {
  cpu_set_t cpus;
  if (std::getenv("ARMCI_SERVER_CPUS") == nullptr) return true;
  return sched_getaffinity(pid, sizeof cpus, &cpus) == 0 && CPU_COUNT(&cpus) == 1 && CPU_ISSET(0, &cpus);
}

void check_kind(const std::string& kind) {
  std::string said;
  int pid = 0;
  check(init(&said) == 0, "init succeeds");
  if (failures > 0) {
    std::fprintf(stderr, "rank %d: %s", rank, said.c_str());
    return;
  }
  int threads = count_servers("/proc/self/task", &pid);
  check(threads == 0 || runs_where_it_is_to(pid), "servers that are threads run on the CPU they are given");
  MPI_Allreduce(MPI_IN_PLACE, &threads, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  check(kind == "thread" ? threads > 0 : threads == 0, "servers are threads just where they are to be");
  const bool processes = count_servers("/proc", &pid) > 0;
  check(processes == (kind == "process"), "and processes where they are to be those");
  check(!processes || runs_where_it_is_to(pid), "servers that are processes run on the CPU they are given");
  // Launchers forward these to all processes of a job; finalize needs the server.
  if (processes) check(kill(pid, SIGUSR1) == 0 && kill(pid, SIGUSR2) == 0, "a server gets signals");
  check(ARMCI_Finalize() == 0, "finalize");
  check_works();
  MPI_Barrier(MPI_COMM_WORLD);
  // The launcher may still look after those that have ended.
  for (int tries = 0; tries < 100 && count_servers("/proc", &pid) > 0; ++tries) usleep(50000);
  check(count_servers("/proc", &pid) == 0, "no server process is left");
}

void check_init_says(const std::string& what, const std::string& advice) {
  std::string said;
  check(init(&said) != 0, "init fails on all processes");
  check(rank != 0 || names(said, what), "the line says what happened");
  check(rank != 0 || names(said, advice), "the line says what to do");
  check(ARMCI_Initialized() == 0, "the library is down");
  if (failures > 0) std::fprintf(stderr, "rank %d: %s", rank, said.c_str());
}

// A name that all processes know, of a file that does not exist.
std::string agree_on_name() {
  char name[64] = "";
  if (rank == 0) std::snprintf(name, sizeof name, "/tmp/server_kind_test.%d", static_cast<int>(getpid()));
  MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
  return name;
}

// Process 0 puts rows to process 1, whose server has one chunk, and then calls neither ARMCI nor MPI until a file is
// there. Process 2 makes the file after a put that needs the chunk. The rows have gaps, so that a put may return when
// they are packed; MPI sends those without gaps with zero copy.
void check_left(int gap) {
  constexpr int kRow = 4096;
  constexpr int kRows = 2048;
  constexpr int kTries = 3000;
  std::string said;
  const std::string file = agree_on_name();
  check(init(&said) == 0, "init succeeds");
  std::vector<void*> bases(3);
  check(ARMCI_Malloc(bases.data(), armci_size_t{2} * kRow * kRows) == 0, "malloc");
  std::vector<char> local(static_cast<std::size_t>(kRow + gap) * kRows, 'x');
  int count[2] = {kRow, kRows};
  int own = kRow + gap;
  int spread = 2 * kRow;
  int failed = 0;
  bool seen = rank != 0;
  ARMCI_Barrier();
  if (rank == 0) {
    failed = ARMCI_NbPutS(local.data(), &own, bases[1], &spread, count, 1, 1, nullptr);
    for (int tries = 0; tries < kTries && !seen; ++tries) {
      seen = access(file.c_str(), F_OK) == 0;
      usleep(10000);  // between two looks at a file, without a call of MPI
    }
  } else if (rank == 2) {
    usleep(20000);  // most of the rows are on their way then; without it they may come after what is put here
    failed = ARMCI_Put(local.data(), bases[1], 1 << 20, 1);
    ARMCI_Fence(1);
    std::ofstream(file).put('x');
  }
  ARMCI_Barrier();
  if (rank == 2) unlink(file.c_str());
  check(failed == 0, "both puts succeed");
  check(seen, "the one does not wait for what the other one does next");
  ARMCI_Free(bases[static_cast<std::size_t>(rank)]);
  check(ARMCI_Finalize() == 0, "finalize");
}

// The transfers of the last process are pending when it is killed. Does not return.
void kill_in_transfer() {
  constexpr armci_size_t kBytes = armci_size_t{32} << 20;
  std::string said;
  check(init(&said) == 0, "init succeeds");
  std::vector<void*> bases(static_cast<std::size_t>(size));
  check(ARMCI_Malloc(bases.data(), 2 * kBytes) == 0, "malloc");
  if (rank == size - 1) {
    std::vector<char> local(2 * kBytes, 'x');
    // Long before the transfers have ended, which take tens of milliseconds.
    std::thread([] {
      usleep(2000);  // after the first transfer has begun
      std::printf("killing\n");
      std::fflush(stdout);
      kill(getpid(), SIGKILL);
    }).detach();
    ARMCI_NbPut(local.data(), bases[0], static_cast<int>(kBytes), 0, nullptr);
    ARMCI_NbGet(static_cast<char*>(bases[0]) + kBytes, local.data() + kBytes, static_cast<int>(kBytes), 0, nullptr);
  }
  sleep(kEndSeconds);
  std::printf("UNEXPECTED: the job goes on\n");
  _exit(1);
}

// Nothing else has been allocated since: the server refuses, which ends the job. Does not come back.
void put_to_stale_memory() {
  constexpr std::size_t kBytes = 10000;
  std::string said;
  check(init(&said) == 0, "init succeeds");
  const int owner = size - 1;
  armci_meminfo_t info;
  check(rank != owner || ARMCI_Memget(kBytes, &info, 0) == 0, "memory of one process");
  MPI_Bcast(&info, sizeof info, MPI_BYTE, owner, MPI_COMM_WORLD);
  char* const place = static_cast<char*>(ARMCI_Memat(&info, 0));
  std::vector<char> local(kBytes, 'x');
  check(rank != 0 || ARMCI_Put(local.data(), place, static_cast<int>(kBytes), owner) == 0, "a put");
  ARMCI_Barrier();
  check(rank != owner || (place[0] == 'x' && place[kBytes - 1] == 'x'), "memory that is there is put to");
  if (rank == owner) ARMCI_Memdt(&info, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0 && failures == 0) {
    ARMCI_Put(local.data(), place, static_cast<int>(kBytes), owner);
    ARMCI_Fence(owner);
  }
  sleep(kEndSeconds);
  std::printf("UNEXPECTED: the job goes on\n");
  _exit(1);
}

// Does not come back.
void kill_one(const std::string& task) {
  std::string said;
  int pid = 0;
  check(init(&said) == 0, "init succeeds");
  if (rank == 0) {
    check(count_servers("/proc", &pid) > 0, "there are servers");
    std::printf("killing\n");
    std::fflush(stdout);
    if (task == "exit") std::exit(3);
    kill(task == "server" ? pid : getpid(), SIGKILL);
  } else {
    check(true, "");
  }
  sleep(kEndSeconds);
  std::printf("UNEXPECTED: the job goes on\n");
  _exit(1);
}

}  // namespace

// MPI as the library sees it.
extern "C" int MPI_Comm_spawn_multiple(int count, char* programs[], char** arguments[], const int processes[],
                                       const MPI_Info infos[], int root, MPI_Comm comm, MPI_Comm* spawned,
                                       int errors[]) {
  // As Open MPI does, which leaves no MPI_COMM_NULL behind.
  if (refuses) return *spawned = MPI_COMM_WORLD, MPI_ERR_SPAWN;
  return PMPI_Comm_spawn_multiple(count, programs, arguments, processes, infos, root, comm, spawned, errors);
}

int main(int argc, char** argv) {
  const std::string task = argc > 1 ? argv[1] : "";
  alarm(kHangSeconds);
  // MPI_Init_thread is ours and might ask for more (impl/api/entry_mpi.cc).
  setenv("OMPI_MCA_osc", "^rdma", 0);
  int level = MPI_THREAD_SINGLE;
  PMPI_Init_thread(&argc, &argv, argc > 2 ? std::atoi(argv[2]) : MPI_THREAD_SINGLE, &level);
  read_rank();
  const std::string kind = argc > 3 ? argv[3] : "process";
  const bool needs_spawn = (task == "works" && kind == "process") || task == "server" || task == "first" ||
                           task == "exit" || task == "left" ||
                           ((task == "transfer" || task == "stale") && kind == "process");
  if (needs_spawn && !armci::twosided::testing::can_spawn()) {
    if (rank == 0) std::printf("this MPI library starts no processes\n");
    check_init_says("MPI_Comm_spawn_multiple", "ARMCI_SERVER=thread");
  } else if (task == "works") {
    check_kind(kind);
  } else if (task == "refused") {
    refuses = true;
    check_init_says("MPI_Comm_spawn_multiple", "ARMCI_SERVER=thread");
    refuses = false;
    if (level == MPI_THREAD_MULTIPLE) {
      setenv("ARMCI_SERVER", "thread", 1);
      check_kind("thread");
    }
  } else if (task == "wrong") {
    setenv("ARMCI_SERVER", "both", 1);
    check_init_says("ARMCI_SERVER = both", "auto, thread, process");
    setenv("ARMCI_SERVER", "auto", 1);
    for (const char* const buffers : {"1", "1025", "many"}) {
      setenv("ARMCI_SERVER_BUFFERS", buffers, 1);
      check_init_says("ARMCI_SERVER_BUFFERS", "neither auto nor a number from 2 to 1024");
    }
    unsetenv("ARMCI_SERVER_BUFFERS");
    setenv("ARMCI_SERVER_CLUSTER", "0", 1);
    check_init_says("ARMCI_SERVER_CLUSTER", "neither auto nor a number of at least 1");
    unsetenv("ARMCI_SERVER_CLUSTER");
    setenv("ARMCI_SERVER_CPUS", "0-", 1);
    check_init_says("ARMCI_SERVER_CPUS = '0-'", "such as 0-3,8");
    setenv("ARMCI_SERVER_CPUS", "1000", 1);
    check_init_says("the CPUs of ARMCI_SERVER_CPUS", "taskset");
  } else if (task == "left") {
    check_left(16);
    check_left(0);
  } else if (task == "stale") {
    put_to_stale_memory();
  } else if (task == "transfer") {
    kill_in_transfer();
  } else if (task == "server" || task == "first" || task == "exit") {
    kill_one(task);
  } else {
    check(false, "a task that is known");
  }
  return verdict();
}
