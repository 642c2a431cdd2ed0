// A program that knows nothing of the library until it loads it, as an interpreter does: server processes are started
// for it all the same.
//
//   late_library_test LIBRARY
//
// ARMCI_SERVER=process and several nodes. Where MPI starts no processes, ARMCI_Init fails. Status 1 when a check fails.
#define ARMCI_NO_ABI_CHECK
#include <dlfcn.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <vector>

#include "armci.h"
#include "impl/mpi-twosided/testing/spawning.h"
#include "impl/testing/job.h"

namespace {

using namespace armci::runtime::testing;

constexpr unsigned kHangSeconds = 120;

template <class Function>
Function* find(void* library, Function*, const char* name) {
  void* const found = dlsym(library, name);
  check(found != nullptr, name);
  return reinterpret_cast<Function*>(found);
}
#define FIND(library, function) find(library, static_cast<decltype(&function)>(nullptr), #function)

void check_works(void* library) {
  const auto start = FIND(library, ARMCI_Init);
  const auto allocate = FIND(library, ARMCI_Malloc);
  const auto put = FIND(library, ARMCI_Put);
  const auto barrier = FIND(library, ARMCI_Barrier);
  const auto release = FIND(library, ARMCI_Free);
  const auto end = FIND(library, ARMCI_Finalize);
  if (failures > 0) return;
  if (!armci::twosided::testing::can_spawn()) return check(start() != 0, "init fails");
  check(start() == 0, "init succeeds");
  if (failures > 0) return;
  std::vector<void*> parts(static_cast<std::size_t>(size));
  check(allocate(parts.data(), sizeof(long)) == 0, "memory is there");
  long value = 10 + rank;
  const int right = (rank + 1) % size;
  check(put(&value, parts[static_cast<std::size_t>(right)], sizeof value, right) == 0, "put");
  barrier();
  const long* const mine = static_cast<long*>(parts[static_cast<std::size_t>(rank)]);
  check(*mine == 10 + (rank + size - 1) % size, "what was put is there");
  barrier();
  check(release(parts[static_cast<std::size_t>(rank)]) == 0, "memory goes");
  check(end() == 0, "finalize");
}

}  // namespace

int main(int argc, char** argv) {
  alarm(kHangSeconds);
  MPI_Init(&argc, &argv);
  read_rank();
  void* const library = dlopen(argc > 1 ? argv[1] : "libarmci.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) std::fprintf(stderr, "%s\n", dlerror());
  check(library != nullptr, "the library is found");
  if (failures == 0) check_works(library);
  return verdict();
}
