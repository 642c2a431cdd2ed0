// Handles of transfers to ARMCI_Memget memory where the setting demands requests of MPI (ARMCI_RMA_REQUESTS=1). An MPI
// library may have requests in dynamic windows wrong (fault request-dynamic). It then gets no such call, from transfers
// or from probes.
//
// With two processes. Status 1 when a check fails.
#include <mpi.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "armci.h"
#include "impl/testing/trial.h"

namespace {

using namespace armci::runtime::testing;

constexpr unsigned kHangSeconds = 120;
constexpr int kOwner = 1;
constexpr int kRows = 8;
constexpr int kRowWords = 16;
constexpr int kWords = 2 * kRows * kRowWords;

int requests_in_dynamic_windows = 0;
int requests_elsewhere = 0;

void count_request(MPI_Win window) {
  int* flavor = nullptr;
  int set = 0;
  MPI_Win_get_attr(window, MPI_WIN_CREATE_FLAVOR, &flavor, &set);
  const bool dynamic = set != 0 && *flavor == MPI_WIN_FLAVOR_DYNAMIC;
  ++(dynamic ? requests_in_dynamic_windows : requests_elsewhere);
}

bool wait(armci_hdl_t* handle, int started) { return started == 0 && ARMCI_Wait(handle) == 0; }

// There and back, each with a handle.
bool moves_contiguously(double* remote) {
  std::vector<double> sent(kWords);
  std::vector<double> got(kWords, -1.0);
  for (int i = 0; i < kWords; ++i) sent[static_cast<std::size_t>(i)] = i + 1;
  armci_hdl_t handle;
  ARMCI_INIT_HANDLE(&handle);
  bool well = wait(&handle, ARMCI_NbPut(sent.data(), remote, kWords * sizeof(double), kOwner, &handle));
  ARMCI_Fence(kOwner);
  ARMCI_INIT_HANDLE(&handle);
  well = wait(&handle, ARMCI_NbGet(remote, got.data(), kWords * sizeof(double), kOwner, &handle)) && well;
  return well && got == sent;
}

// Every second row, which is added to once.
bool moves_rows(double* remote) {
  constexpr int kRowBytes = kRowWords * static_cast<int>(sizeof(double));
  int stride = 2 * kRowBytes;
  int count[2] = {kRowBytes, kRows};
  std::vector<double> sent(kWords);
  std::vector<double> expected(kWords, 0.0);
  std::vector<double> got(kWords, 0.0);
  for (int i = 0; i < kWords; ++i) {
    sent[static_cast<std::size_t>(i)] = -i - 1;
    if (i / kRowWords % 2 == 0) expected[static_cast<std::size_t>(i)] = 2.0 * (-i - 1);
  }
  armci_hdl_t handle;
  ARMCI_INIT_HANDLE(&handle);
  bool well = wait(&handle, ARMCI_NbPutS(sent.data(), &stride, remote, &stride, count, 1, kOwner, &handle));
  double scale = 1;
  ARMCI_INIT_HANDLE(&handle);
  well = wait(&handle,
              ARMCI_NbAccS(ARMCI_ACC_DBL, &scale, sent.data(), &stride, remote, &stride, count, 1, kOwner, &handle)) &&
         well;
  ARMCI_Fence(kOwner);
  ARMCI_INIT_HANDLE(&handle);
  well = wait(&handle, ARMCI_NbGetS(remote, &stride, got.data(), &stride, count, 1, kOwner, &handle)) && well;
  return well && got == expected;
}

// By the process that does not own it; true on the owner.
bool moves(void* remote) {
  auto* const words = static_cast<double*>(remote);
  const bool well = rank == kOwner || (moves_contiguously(words) && moves_rows(words));
  ARMCI_Barrier();
  return well;
}

// Memory that one process has alone, and describes to the other.
void check_memget() {
  armci_meminfo_t memory{};
  check(rank != kOwner || ARMCI_Memget(kWords * sizeof(double), &memory, 0) == 0, "memory is there");
  MPI_Bcast(&memory, sizeof memory, MPI_BYTE, kOwner, MPI_COMM_WORLD);
  check(moves(ARMCI_Memat(&memory, 0)), "what is put there comes back");
  ARMCI_Memdt(&memory, 0);
}

void check_region() {
  std::vector<void*> parts(static_cast<std::size_t>(size));
  check(ARMCI_Malloc(parts.data(), kWords * sizeof(double)) == 0, "a region is there");
  check(moves(parts[kOwner]), "what is put into a region comes back");
  check(ARMCI_Free(parts[static_cast<std::size_t>(rank)]) == 0, "the region goes");
}

}  // namespace

extern "C" {

[[gnu::visibility("default")]] int MPI_Rput(const void* data, int count, MPI_Datatype type, int target, MPI_Aint place,
                                            int count_there, MPI_Datatype type_there, MPI_Win window,
                                            MPI_Request* request) {
  count_request(window);
  return PMPI_Rput(data, count, type, target, place, count_there, type_there, window, request);
}

[[gnu::visibility("default")]] int MPI_Rget(void* data, int count, MPI_Datatype type, int target, MPI_Aint place,
                                            int count_there, MPI_Datatype type_there, MPI_Win window,
                                            MPI_Request* request) {
  count_request(window);
  return PMPI_Rget(data, count, type, target, place, count_there, type_there, window, request);
}

[[gnu::visibility("default")]] int MPI_Raccumulate(const void* data, int count, MPI_Datatype type, int target,
                                                   MPI_Aint place, int count_there, MPI_Datatype type_there, MPI_Op op,
                                                   MPI_Win window, MPI_Request* request) {
  count_request(window);
  return PMPI_Raccumulate(data, count, type, target, place, count_there, type_there, op, window, request);
}

}  // extern "C"

int main(int argc, char** argv) {
  alarm(kHangSeconds);
  setenv("ARMCI_RMA_REQUESTS", "1", 1);
  // Beside a progress thread requests may be lost (fault request-lost).
  setenv("ARMCI_RMA_PROGRESS", "0", 1);
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  read_rank();
  // Findings are neither kept nor taken from before: the probes are watched too.
  unsetenv("XDG_CACHE_HOME");
  unsetenv("HOME");
  check(ARMCI_Init() == 0, "init succeeds");
  if (failures > 0) return verdict();
  const bool flawed = is_found("request-dynamic");
  const int probes = requests_in_dynamic_windows;
  check((probes > 0) == !flawed, "probes use requests in a dynamic window unless MPI gets them wrong");
  const int before = requests_elsewhere;
  check_region();
  check(rank == kOwner || requests_elsewhere > before, "handles of a region stand for requests of MPI");
  check_memget();
  const bool used = requests_in_dynamic_windows > probes;
  check(!flawed || !used, "no request is used in a dynamic window if MPI gets them wrong");
  check(flawed || used == (rank != kOwner), "handles of ARMCI_Memget memory stand for requests of MPI");
  check(ARMCI_Finalize() == 0, "finalize");
  return verdict();
}
