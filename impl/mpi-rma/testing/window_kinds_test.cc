// A program under ARMCI_RMA_WINDOW: memory of every kind, what there is not enough of, and what there is not.
//
//   window_kinds_test create|allocate|shared|wrong|differs
//
// wrong: no such kind, and differs: another one on process 1, of which ARMCI_Init says so on all processes. Status 1
// when a check fails.
#include <mpi.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "armci.h"
#include "armcix.h"
#include "impl/testing/trial.h"

namespace {

using namespace armci::runtime::testing;

constexpr unsigned kHangSeconds = 120;

std::string in_force(const char* name) {
  armcix_setting_t setting{};
  for (int index = 0; ARMCIX_Setting(index, &setting) == 0; ++index) {
    if (std::strcmp(setting.name, name) == 0) return setting.value;
  }
  return "";
}

// Whether this MPI library cannot have that kind: the text of the fault gives the reason.
bool is_hindered(const std::string& kind) {
  return is_found(kind == "shared" ? "win-allocate-shared" : "win-allocate-put");
}

// Of a region of that many bytes here: aligned bases, and what a neighbour puts is there.
bool works(armci_size_t bytes) {
  std::vector<char*> parts(static_cast<std::size_t>(size));
  if (ARMCI_Malloc(reinterpret_cast<void**>(parts.data()), bytes) != 0) return false;
  char* const mine = parts[static_cast<std::size_t>(rank)];
  bool right = (mine != nullptr) == (bytes > 0);
  for (const char* part : parts) right = right && reinterpret_cast<std::uintptr_t>(part) % 64 == 0;
  for (armci_size_t at = 0; at < bytes; ++at) mine[at] = static_cast<char>(rank);
  ARMCI_Barrier();
  const int next = (rank + 1) % size;
  char* const there = parts[static_cast<std::size_t>(next)];
  char seen = -1;
  if (there != nullptr) {
    right = right && ARMCI_Get(there, &seen, 1, next) == 0 && seen == static_cast<char>(next);
    const char sent = static_cast<char>(100 + rank);
    right = right && ARMCI_Put(const_cast<char*>(&sent), there, 1, next) == 0;
  }
  ARMCI_Barrier();
  if (bytes > 0) right = right && mine[0] == static_cast<char>(100 + (rank + size - 1) % size);
  for (armci_size_t at = 1; at < bytes; ++at) right = right && mine[at] == static_cast<char>(rank);
  ARMCI_Barrier();
  return ARMCI_Free(mine) == 0 && right;
}

void check_places(bool apart) {
  check(in_force("ARMCI_NODE_SIZE") == (apart ? "1" : "0"), "the size of nodes in force");
  check(armci_domain_count(ARMCI_DOMAIN_SMP) == (apart ? size : 1), "the number of domains");
  std::vector<void*> parts(static_cast<std::size_t>(size));
  check(ARMCI_Malloc(parts.data(), 100) == 0, "memory is there");
  const int next = (rank + 1) % size;
  void* const there = parts[static_cast<std::size_t>(next)];
  check((ARMCIX_Ptr(next, there) == nullptr) == apart, "direct addresses of others");
  void* const mine = parts[static_cast<std::size_t>(rank)];
  check(ARMCIX_Ptr(rank, mine) == mine, "direct addresses of one's own");
  check(ARMCI_Free(mine) == 0, "memory goes");
}

// Groups that share no process allocate at the same time, of different sizes.
void check_groups() {
  std::vector<int> members;
  for (int r = rank % 2; r < size; r += 2) members.push_back(r);
  ARMCI_Group group;
  ARMCI_Group_create(static_cast<int>(members.size()), members.data(), &group);
  bool right = true;
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<long*> parts(members.size());
    const int bytes = 800 + 8 * (rank % 2) * trial;
    right = right && ARMCI_Malloc_group(reinterpret_cast<void**>(parts.data()), bytes, &group) == 0;
    long* const mine = parts[static_cast<std::size_t>(rank / 2)];
    for (int i = 0; i < 100; ++i) mine[i] = 100 * rank + i;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 100; ++i) right = right && mine[i] == 100 * rank + i;
    right = right && ARMCI_Free_group(mine, &group) == 0;
  }
  ARMCI_Group_free(&group);
  check(right, "groups have memory of their own");
}

void check_kind(const std::string& kind) {
  check(ARMCI_Init() == 0, "init succeeds");
  if (failures > 0) return;
  check(in_force("ARMCI_RMA_WINDOW") == kind, "the kind in force");
  check_places(kind != "create" && size > 1 && !is_hindered(kind));
  for (const armci_size_t bytes : {1, 64, 4097, 100000}) {
    check(works(bytes), "parts of one size");
    check(works(bytes * rank), "parts of different sizes, one of them empty");
    check(works(bytes + 7 * rank), "parts of odd sizes");
  }
  check_groups();
  std::vector<void*> parts(static_cast<std::size_t>(size));
  for (int greedy = 0; greedy < size; ++greedy) {
    check(ARMCI_Malloc(parts.data(), rank == greedy ? armci_size_t{1} << 45 : 64) != 0,
          "more than there is is refused");
    check(works(4096), "allocation works as before");
  }
  check(ARMCI_Finalize() == 0, "finalize");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string kind = argc > 1 ? argv[1] : "create";
  alarm(kHangSeconds);
  setenv("ARMCI_RMA_WINDOW", kind.c_str(), 1);
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  read_rank();
  if (kind == "differs") setenv("ARMCI_RMA_WINDOW", rank == 1 ? "shared" : "create", 1);
  if (kind == "wrong" || kind == "differs") {
    check(ARMCI_Init() != 0, "init fails on all processes");
    check(ARMCI_Initialized() == 0, "the library is down");
  } else {
    check_kind(kind);
  }
  return verdict();
}
