// MessageMutexes in a real job: every process but one hosts some, all contend, with lock() and try_lock() at once.
//
// Status 1 when a check fails.
#include "impl/mpi-rma/message_mutexes.h"

#include <mpi.h>

#include <memory>
#include <vector>

#include "impl/testing/job.h"

namespace {

using armci::rma::MessageMutexes;
using namespace armci::runtime::testing;

// A number at process 0 that is read and written in two epochs: a process that intervenes loses an update.
class Counter {
 public:
  Counter() { MPI_Win_create(&value_, sizeof value_, sizeof value_, MPI_INFO_NULL, MPI_COMM_WORLD, &window_); }
  ~Counter() { MPI_Win_free(&window_); }
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;

  void add_one() {
    int value = 0;
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window_);
    MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, window_);
    MPI_Win_unlock(0, window_);
    ++value;
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window_);
    MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, window_);
    MPI_Win_unlock(0, window_);
  }
  // Collective.
  int value() {
    MPI_Barrier(MPI_COMM_WORLD);
    int value = 0;
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window_);
    MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, window_);
    MPI_Win_unlock(0, window_);
    MPI_Barrier(MPI_COMM_WORLD);
    return value;
  }

 private:
  alignas(64) int value_ = 0;
  MPI_Win window_ = MPI_WIN_NULL;
};

bool is_free(MessageMutexes& mutexes, int mutex) {
  bool free = false;
  return mutexes.is_free(mutex, &free).ok() && free;
}

bool try_lock(MessageMutexes& mutexes, int mutex, int host) {
  bool taken = false;
  return mutexes.try_lock(mutex, host, &taken).ok() && taken;
}

void check_held(MessageMutexes& mutexes, int host) {
  check(rank != 0 || mutexes.lock(1, host).ok(), "a free mutex is taken");
  check(rank == 0 || !try_lock(mutexes, 1, host), "a mutex that is held is not taken by try_lock");
  check(rank != host || !is_free(mutexes, 1), "a mutex that is held is not free");
  check(rank != host || is_free(mutexes, 0), "its neighbour is free");
  check(rank != 0 || (try_lock(mutexes, 0, host) && mutexes.unlock(0, host).ok()), "and can be taken");
  check(rank != 0 || mutexes.unlock(1, host).ok(), "it is given back");
  check(rank != host || is_free(mutexes, 1), "a mutex that was given back is free: try_lock left nothing behind");
  check(rank != size - 1 || (try_lock(mutexes, 1, host) && mutexes.unlock(1, host).ok()),
        "a mutex that was given back can be taken");
}

// Some rounds wait, the others try until they have it.
void check_exclusion(MessageMutexes& mutexes, int host) {
  constexpr int kRounds = 60;
  Counter counter;
  bool right = true;
  for (int i = 0; i < kRounds; ++i) {
    if (i % 3 == 2) {
      while (!try_lock(mutexes, 0, host)) {
      }
    } else {
      right = mutexes.lock(0, host).ok() && right;
    }
    counter.add_one();
    right = mutexes.unlock(0, host).ok() && right;
  }
  check(right, "lock and unlock succeed");
  check(counter.value() == kRounds * size, "no update is lost under a mutex");
  check(rank != host || is_free(mutexes, 0), "the queue is empty");
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  read_rank();
  // Process 0 hosts none.
  std::vector<int> counts(static_cast<std::size_t>(size), 2);
  counts[0] = 0;
  std::unique_ptr<MessageMutexes> mutexes;
  check(MessageMutexes::create(MPI_COMM_WORLD, counts, &mutexes).ok(), "a set is made");
  if (failures == 0) {
    for (int host = 1; host < size; ++host) {
      check_held(*mutexes, host);
      check_exclusion(*mutexes, host);
    }
  }
  mutexes.reset();
  return verdict();
}
