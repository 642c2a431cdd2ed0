// UnflushedStores among threads, on a window of a real job: a store is unflushed until a flush that
// began after the store has ended.
//
// Status 1 when a check fails.
#include "impl/mpi-rma/unflushed_stores.h"

#include <mpi.h>

#include <atomic>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

#include "impl/testing/job.h"

namespace {

using armci::Code;
using armci::kSuccess;
using armci::Status;
using armci::rma::UnflushedStores;
using armci::rma::Window;
using namespace armci::runtime::testing;

// Stores have numbers; a flush completes those that were issued before it began.
struct Network {
  std::atomic<long> issued{0};
  std::atomic<long> complete{0};

  Status flush() {
    const long before = issued.load();
    std::this_thread::yield();
    long known = complete.load();
    while (known < before && !complete.compare_exchange_weak(known, before)) {
    }
    return kSuccess;
  }
};

void check_threads(Window* window) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 20000;
  UnflushedStores stores;
  stores.reset(1);
  Network network;
  std::atomic<int> missed{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kRounds; ++i) {
        const long mine = ++network.issued;
        stores.note(0, window, 0);
        if (t == 0) {
          (void)stores.flush_all([&](Window*) { return network.flush(); });
        } else {
          (void)stores.flush(0, [&](Window*, int) { return network.flush(); });
        }
        if (network.complete.load() < mine) ++missed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (missed.load() > 0) std::printf("%d of %d\n", missed.load(), kThreads * kRounds);
  check(missed.load() == 0, "a fence is not over before a flush that covers the thread's stores");
}

void check_failures(Window* window, Window* other) {
  UnflushedStores stores;
  stores.reset(2);
  const Status broken(Code::kLayerBelow);
  stores.note(0, window, 0);
  stores.note(1, window, 1);
  stores.note(1, other, 1);
  int flushed = 0;
  check(!stores.flush(0, [&](Window*, int) { return broken; }).ok(), "a flush that failed");
  check(stores.flush(0, [&](Window*, int) { return ++flushed, kSuccess; }).ok() && flushed == 1, "is tried again");
  check(!stores.flush_all([&](Window* one) { return ++flushed, one == window ? broken : kSuccess; }).ok(),
        "one of two windows failed");
  check(flushed == 3, "and the other was flushed");
  check(stores.flush_all([&](Window* one) { return ++flushed, one == window ? kSuccess : broken; }).ok(),
        "only the first is still unflushed");
  stores.note(1, other, 1);
  stores.forget(other);
  check(stores.flush_all([&](Window*) { return broken; }).ok() && flushed == 4,
        "a forgotten window has no unflushed stores");
}

}  // namespace

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  read_rank();
  std::unique_ptr<Window> window;
  std::unique_ptr<Window> other;
  check(Window::create_dynamic(MPI_COMM_WORLD, &window).ok(), "a window");
  check(Window::create_dynamic(MPI_COMM_WORLD, &other).ok(), "another one");
  check_threads(window.get());
  check_failures(window.get(), other.get());
  (void)window->free();
  (void)other->free();
  return verdict();
}
