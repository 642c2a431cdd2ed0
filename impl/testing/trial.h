// The library in a job: ARMCI_Init and what it says, and whether everything then works.
//
// Thread safety: none.
#pragma once

#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "armci.h"
#include "armcix.h"
#include "impl/testing/job.h"

namespace armci::runtime::testing {

// ARMCI_Init, and what it writes to the standard error.
inline int init(std::string* said) {
  std::FILE* const file = std::tmpfile();
  if (file == nullptr) MPI_Abort(MPI_COMM_WORLD, 2);
  std::fflush(stderr);
  const int kept = dup(STDERR_FILENO);
  dup2(fileno(file), STDERR_FILENO);
  const int code = ARMCI_Init();
  std::fflush(stderr);
  dup2(kept, STDERR_FILENO);
  close(kept);
  std::rewind(file);
  said->clear();
  for (int letter = std::fgetc(file); letter != EOF; letter = std::fgetc(file))
    said->push_back(static_cast<char>(letter));
  std::fclose(file);
  return code;
}

// Whether ARMCIX_Finding lists the fault. Between init and finalize.
inline bool is_found(const std::string& finding) {
  armcix_finding_t found{};
  for (int index = 0; ARMCIX_Finding(index, &found) == 0; ++index) {
    if (finding == found.name) return true;
  }
  return false;
}

inline bool names(const std::string& said, const std::string& words) { return said.find(words) != std::string::npos; }

// Additions to one int at process 0, atomic ones and others under a mutex: none is lost, and each returns the sum
// before.
inline void check_integers(void* place) {
  constexpr int kRounds = 20;
  auto* const counter = static_cast<int*>(place);
  int* const plain = counter + 1;
  const int zeros[2] = {0, 0};
  if (rank == 0) ARMCI_Put(const_cast<int*>(zeros), counter, sizeof zeros, 0);
  ARMCI_Barrier();
  check(ARMCI_Create_mutexes(1) == 0, "mutexes");
  bool well = true;
  int sum_before = 0;
  for (int i = 0; i < kRounds; ++i) {
    int before = -1;
    well = ARMCI_Rmw(ARMCI_FETCH_AND_ADD, &before, counter, 1, 0) == 0 && well;
    sum_before += before;
    int value = 0;
    ARMCI_Lock(0, 0);
    ARMCI_Get(plain, &value, sizeof value, 0);
    ++value;
    ARMCI_Put(&value, plain, sizeof value, 0);
    ARMCI_Fence(0);
    ARMCI_Unlock(0, 0);
  }
  MPI_Allreduce(MPI_IN_PLACE, &sum_before, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  const int all = kRounds * size;
  check(well && sum_before == all * (all - 1) / 2, "each addition returns another sum");
  ARMCI_Barrier();
  int sums[2] = {0, 0};
  ARMCI_Get(counter, sums, sizeof sums, 0);
  check(sums[0] == all, "every addition to an int counts");
  check(sums[1] == all, "every addition under a mutex counts");
  check(ARMCI_Destroy_mutexes() == 0, "mutexes go");
  ARMCI_Barrier();
}

// Four rows of two numbers, dense here and with gaps of a row in the neighbour's memory, there and back; the gaps stay.
inline void check_rows(void* remote, int proc) {
  constexpr int kRows = 4;
  constexpr int kRowBytes = 2 * sizeof(long);
  long sent[4 * kRows];
  long got[4 * kRows];
  for (int i = 0; i < 4 * kRows; ++i) sent[i] = i + 1;
  ARMCI_Put(sent, remote, sizeof sent, proc);
  ARMCI_Fence(proc);
  long rows[2 * kRows];
  for (int i = 0; i < 2 * kRows; ++i) rows[i] = 100 + i;
  int dense[1] = {kRowBytes};
  int spread[1] = {2 * kRowBytes};
  int count[2] = {kRowBytes, kRows};
  bool right = ARMCI_PutS(rows, dense, remote, spread, count, 1, proc) == 0;
  ARMCI_Fence(proc);
  right = ARMCI_Get(remote, got, sizeof got, proc) == 0 && right;
  for (int i = 0; i < 4 * kRows; ++i) {
    right = right && got[i] == (i % 4 < 2 ? 100 + i / 4 * 2 + i % 4 : i + 1);
  }
  check(right, "rows that are put");
  long back[2 * kRows] = {};
  right = ARMCI_GetS(remote, spread, back, dense, count, 1, proc) == 0;
  for (int i = 0; i < 2 * kRows; ++i) right = right && back[i] == 100 + i;
  check(right, "rows that are got");
}

// The library from init to finalize: transfers, atomics and a mutex that all use. Collective.
inline void check_works() {
  std::string said;
  check(init(&said) == 0, "init succeeds");
  if (failures > 0) return;
  std::vector<void*> parts(static_cast<std::size_t>(size));
  check(ARMCI_Malloc(parts.data(), 16 * sizeof(long)) == 0, "memory is there");
  auto* const mine = static_cast<long*>(parts[static_cast<std::size_t>(rank)]);
  mine[0] = mine[1] = 0;
  ARMCI_Barrier();
  const int right = (rank + 1) % size;
  auto* const there = static_cast<long*>(parts[static_cast<std::size_t>(right)]);
  long value = 10 + rank;
  long seen = 0;
  check(ARMCI_Put(&value, there, sizeof value, right) == 0, "put");
  ARMCI_Barrier();
  check(mine[0] == 10 + (rank + size - 1) % size, "what was put is there");
  check(ARMCI_Get(there, &seen, sizeof seen, right) == 0 && seen == value, "get");
  check(ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &seen, static_cast<long*>(parts[0]) + 1, 1, 0) == 0, "fetch-and-add");
  ARMCI_Barrier();
  check(rank != 0 || mine[1] == size, "every addition counts");
  check_integers(parts[0]);
  check_rows(there, right);
  ARMCI_Barrier();
  check(ARMCI_Free(mine) == 0, "memory goes");
  check(ARMCI_Finalize() == 0, "finalize");
}

}  // namespace armci::runtime::testing
