// The calls of MPI that the library wraps (mpi_calls.cc) do what they do without it, and are noticed while they wait.
//
// With two processes. Status 1 when a check fails.
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "armci.h"
#include "impl/node/inside_mpi.h"
#include "impl/testing/job.h"

namespace {

using namespace armci::runtime::testing;
using armci::node::InsideMpi;

constexpr unsigned kHangSeconds = 120;
constexpr int kTag = 3;

int other() { return 1 - rank; }

void check_messages() {
  int in = -1;
  const int out = 10 + rank;
  MPI_Status status;
  MPI_Sendrecv(&out, 1, MPI_INT, other(), kTag, &in, 1, MPI_INT, other(), kTag, MPI_COMM_WORLD, &status);
  check(in == 10 + other() && status.MPI_SOURCE == other() && status.MPI_TAG == kTag, "MPI_Sendrecv");
  in = -1;
  if (rank == 0) {
    MPI_Send(&out, 1, MPI_INT, 1, kTag, MPI_COMM_WORLD);
  } else {
    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    MPI_Recv(&in, 1, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, &status);
  }
  check(rank == 0 || (in == 10 && status.MPI_TAG == kTag), "MPI_Send, MPI_Probe, MPI_Recv");
}

void check_waits() {
  int in[2] = {-1, -1};
  const int out[2] = {20 + rank, 30 + rank};
  MPI_Request requests[4];
  const auto start = [&] {
    for (int i = 0; i < 2; ++i) {
      MPI_Irecv(&in[i], 1, MPI_INT, other(), i, MPI_COMM_WORLD, &requests[i]);
      MPI_Isend(&out[i], 1, MPI_INT, other(), i, MPI_COMM_WORLD, &requests[2 + i]);
    }
  };
  const auto right = [&] { return in[0] == 20 + other() && in[1] == 30 + other(); };
  start();
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  check(right(), "MPI_Waitall");
  in[0] = in[1] = -1;
  start();
  for (MPI_Request& request : requests) MPI_Wait(&request, MPI_STATUS_IGNORE);
  check(right(), "MPI_Wait");
  in[0] = in[1] = -1;
  start();
  for (int i = 0, index = 0; i < 4; ++i) MPI_Waitany(4, requests, &index, MPI_STATUS_IGNORE);
  check(right(), "MPI_Waitany");
  in[0] = in[1] = -1;
  start();
  int indices[4];
  for (int done = 0, now = 0; done < 4; done += now) MPI_Waitsome(4, requests, &now, indices, MPI_STATUSES_IGNORE);
  check(right(), "MPI_Waitsome");
}

void check_collectives() {
  const int mine = 5 + rank;
  int one = rank == 1 ? 77 : 0;
  int both[2] = {-1, -1};
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Bcast(&one, 1, MPI_INT, 1, MPI_COMM_WORLD);
  check(one == 77, "MPI_Bcast");
  MPI_Reduce(&mine, &one, 1, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD);
  check(rank == 0 || one == 11, "MPI_Reduce");
  MPI_Allreduce(&mine, &one, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  check(one == 6, "MPI_Allreduce");
  MPI_Gather(&mine, 1, MPI_INT, both, 1, MPI_INT, 1, MPI_COMM_WORLD);
  check(rank == 0 || (both[0] == 5 && both[1] == 6), "MPI_Gather");
  MPI_Allgather(&mine, 1, MPI_INT, both, 1, MPI_INT, MPI_COMM_WORLD);
  check(both[0] == 5 && both[1] == 6, "MPI_Allgather");
  const int sent[2] = {100 * rank, 100 * rank + 1};
  MPI_Alltoall(sent, 1, MPI_INT, both, 1, MPI_INT, MPI_COMM_WORLD);
  check(both[0] == rank && both[1] == 100 + rank, "MPI_Alltoall");
}

// Collective: whether the value of the other process is at places `first` to `end` - 1 of this one's memory.
bool has_arrived(MPI_Win window, const int* exposed, int first, int end) {
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
  const bool all = std::all_of(exposed + first, exposed + end, [](int value) { return value == 40 + other(); });
  MPI_Win_unlock(rank, window);
  return all;
}

// Every way to complete a put in a window.
void check_windows() {
  alignas(64) static int exposed[16] = {};
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_create(exposed, sizeof exposed, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  int value = 40 + rank;
  const auto put = [&](int place) { MPI_Put(&value, 1, MPI_INT, other(), place, 1, MPI_INT, window); };
  MPI_Win_fence(0, window);
  put(0);
  MPI_Win_fence(0, window);
  check(exposed[0] == 40 + other(), "MPI_Win_fence");
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, other(), 0, window);
  put(1);
  MPI_Win_unlock(other(), window);
  MPI_Win_lock_all(0, window);
  put(2);
  MPI_Win_flush_local(other(), window);
  MPI_Win_flush(other(), window);
  put(3);
  MPI_Win_flush_local_all(window);
  MPI_Win_flush_all(window);
  put(4);
  MPI_Win_unlock_all(window);
  check(has_arrived(window, exposed, 1, 5), "MPI_Win_lock, flush, flush_all and unlock");
  MPI_Win_free(&window);
}

void check_accumulates() {
  alignas(64) static int exposed[16] = {};
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_create(exposed, sizeof exposed, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  const int value = 40 + rank;
  const int zero = 0;
  int before[3] = {-1, -1, -1};
  MPI_Win_lock_all(0, window);
  MPI_Accumulate(&value, 1, MPI_INT, other(), 0, 1, MPI_INT, MPI_SUM, window);
  MPI_Get_accumulate(&value, 1, MPI_INT, &before[0], 1, MPI_INT, other(), 1, 1, MPI_INT, MPI_SUM, window);
  MPI_Fetch_and_op(&value, &before[1], MPI_INT, other(), 2, MPI_SUM, window);
  MPI_Compare_and_swap(&value, &zero, &before[2], MPI_INT, other(), 3, window);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Raccumulate(&value, 1, MPI_INT, other(), 4, 1, MPI_INT, MPI_SUM, window, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_unlock_all(window);
  check(has_arrived(window, exposed, 0, 5), "accumulates and atomics");
  check(before[0] == 0 && before[1] == 0 && before[2] == 0, "the values before accumulates and atomics");
  MPI_Win_free(&window);
}

// The message that this thread waits for comes only once another one has seen it wait.
void check_noticed() {
  check(!InsideMpi::any(), "no thread is inside MPI between calls");
  int word = 1;
  if (rank == 0) {
    std::thread observer([] {
      while (!InsideMpi::any()) std::this_thread::yield();
      const int seen = 1;
      MPI_Send(&seen, 1, MPI_INT, 1, kTag, MPI_COMM_WORLD);
    });
    MPI_Recv(&word, 1, MPI_INT, 1, kTag + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    observer.join();
  } else {
    MPI_Recv(&word, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&word, 1, MPI_INT, 0, kTag + 1, MPI_COMM_WORLD);
  }
  check(word == 1, "a call that waits is noticed");
  check(!InsideMpi::any(), "and that it is over");
}

}  // namespace

int main(int argc, char** argv) {
  alarm(kHangSeconds);
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  read_rank();
  check(ARMCI_Init() == 0, "init succeeds");
  check_messages();
  check_waits();
  check_collectives();
  check_windows();
  check_accumulates();
  check_noticed();
  check(ARMCI_Finalize() == 0, "finalize");
  return verdict();
}
