// Notifications, signals of the program and unlocks between nodes: by messages, or by flushes where the job cannot have
// messages.
//
//   signals_test messages|flushes [NAME=VALUE]...
//
// The settings are put into the environment first. Status 1 when a check fails.
#include <mpi.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "armci.h"
#include "armcix.h"
#include "impl/testing/trial.h"

namespace {

using namespace armci::runtime::testing;

constexpr unsigned kHangSeconds = 240;
constexpr std::size_t kBytes = std::size_t{5} << 18;
constexpr int kWords = 8;

// A region with words of signals in front of data, and the two neighbours.
struct Region {
  std::vector<char*> parts = std::vector<char*>(static_cast<std::size_t>(size));
  int next = (rank + 1) % size;
  int previous = (rank + size - 1) % size;

  Region() {
    check(ARMCI_Malloc(reinterpret_cast<void**>(parts.data()), kWords * 8 + kBytes) == 0, "memory is there");
    clear();
  }
  void clear() {
    ARMCI_Barrier();
    std::memset(parts[static_cast<std::size_t>(rank)], 0, kWords * 8 + kBytes);
    ARMCI_Barrier();
  }
  std::uint64_t* word(int process, int index = 0) {
    return reinterpret_cast<std::uint64_t*>(parts[static_cast<std::size_t>(process)]) + index;
  }
  std::uint64_t* word() { return word(rank); }
  char* data(int process) { return parts[static_cast<std::size_t>(process)] + kWords * 8; }
};

std::string chosen(const char* name) {
  armcix_choice_t choice{};
  for (int index = 0; ARMCIX_Choice(index, &choice) == 0; ++index) {
    if (std::strcmp(choice.name, name) == 0) return choice.value;
  }
  return "";
}

// A stream of notifications, each behind a store; more than may be outstanding.
void check_notifications(Region& region) {
  constexpr int kRounds = 400;
  region.clear();
  auto* const there = reinterpret_cast<int*>(region.data(region.next));
  const auto* const here = reinterpret_cast<const int*>(region.data(rank));
  bool right = true;
  for (int i = 1; i <= kRounds; ++i) {
    ARMCI_Put(&i, there + i, sizeof i, region.next);
    armci_notify(region.next);
  }
  for (int i = 1; i <= kRounds; ++i) {
    int count = 0;
    armci_notify_wait(region.previous, &count);
    right = right && count >= i && here[i] == i;
  }
  check(right, "a notification comes behind the stores before it");
}

void check_turns(Region& region) {
  constexpr long kRounds = 300;
  region.clear();
  auto* const there = reinterpret_cast<long*>(region.data(region.next));
  const auto* const here = reinterpret_cast<const long*>(region.data(rank));
  bool right = true;
  for (long i = 1; i <= kRounds; ++i) {
    if (rank == 0) {
      ARMCI_NbPut(const_cast<long*>(&i), there, sizeof i, region.next, nullptr);
      armci_notify(region.next);
    }
    armci_notify_wait(region.previous, nullptr);
    right = right && *here == i;
    if (rank != 0) {
      ARMCI_NbPut(const_cast<long*>(&i), there, sizeof i, region.next, nullptr);
      armci_notify(region.next);
    }
    ARMCI_WaitAll();
  }
  check(right, "notifications go round");
}

// Signals and RMW of all processes and several threads on one word, its owner's among them.
void check_adds(Region& region) {
  constexpr int kRounds = 100;
  region.clear();
  const auto add = [&] {
    for (int i = 0; i < kRounds; ++i) {
      long before = 0;
      ARMCIX_Put_signal(nullptr, nullptr, 0, region.word(0), 1, ARMCIX_SIGNAL_ADD, 0);
      ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &before, region.word(0), 1, 0);
    }
  };
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  const bool threads = level == MPI_THREAD_MULTIPLE;
  std::thread second;
  if (threads) second = std::thread(add);
  add();
  if (threads) second.join();
  ARMCI_Barrier();
  const auto expected = static_cast<std::uint64_t>(2 * kRounds * size * (threads ? 2 : 1));
  check(rank != 0 || *region.word() == expected, "signals and RMW on a word lose nothing");
}

void check_fence(Region& region) {
  constexpr std::uint64_t kRounds = 50;
  region.clear();
  bool right = true;
  for (std::uint64_t i = 1; i <= kRounds; ++i) {
    ARMCIX_Put_signal(&i, region.data(region.next), sizeof i, region.word(region.next), i, ARMCIX_SIGNAL_SET,
                      region.next);
    ARMCI_Fence(region.next);
    // Each process is inside MPI meanwhile.
    MPI_Sendrecv(nullptr, 0, MPI_INT, region.next, 0, nullptr, 0, MPI_INT, region.previous, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    right = right && *region.word() >= i && *reinterpret_cast<std::uint64_t*>(region.data(rank)) >= i;
  }
  check(right, "a fence covers signals");
}

// Short data travel with their signal, long data before it; both come behind earlier stores and signals.
void check_data(Region& region) {
  region.clear();
  bool right = true;
  std::uint64_t number = 0;
  for (const std::size_t bytes : {1, 8, 900, 8112, 16256, 16320, 16384, 32640, 32704, 70000, 1048576, 1100000}) {
    for (int repeat = 0; repeat < 20; ++repeat) {
      ++number;
      const auto letter = static_cast<char>('a' + number % 26);
      const std::vector<char> local(bytes, letter);
      ARMCI_Put(&number, region.word(region.next, 1), sizeof number, region.next);
      ARMCIX_Put_signal(local.data(), region.data(region.next), bytes, region.word(region.next), number,
                        ARMCIX_SIGNAL_SET, region.next);
      ARMCIX_Signal_wait(region.word(), ARMCIX_CMP_GE, number, nullptr);
      const char* const here = region.data(rank);
      right = right && *region.word(rank, 1) == number && here[0] == letter && here[bytes - 1] == letter;
      // The next ones wait until these are read.
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
  check(right, "data and earlier stores are there when the signal is");
}

// Puts of many lengths at any address, held until a signal or a fence takes them along, or streamed. The data of each
// signal go where those of the one before went.
void check_held_puts(Region& region) {
  constexpr std::size_t kSpace = 80000;
  const std::size_t lengths[] = {8, 8, 12, 3, 7000, 8, 4096, 16000, 1, 17000, 60000};
  region.clear();
  bool right = true;
  std::uint64_t number = 0;
  for (std::size_t puts = 0; puts < 20; ++puts) {
    for (const bool signals : {true, false}) {
      ++number;
      const std::vector<char> local(kSpace, static_cast<char>('a' + number % 26));
      std::size_t at = kSpace + puts % 8;
      std::vector<std::pair<std::size_t, std::size_t>> places;
      for (std::size_t k = 0; k < puts; ++k) {
        const std::size_t bytes = lengths[k % std::size(lengths)];
        places.emplace_back(at, bytes);
        ARMCI_NbPut(const_cast<char*>(local.data()), region.data(region.next) + at, static_cast<int>(bytes),
                    region.next, nullptr);
        at += bytes + k % 3;
      }
      if (signals) {
        ARMCIX_Put_signal(local.data(), region.data(region.next), 16000, region.word(region.next), number,
                          ARMCIX_SIGNAL_SET, region.next);
        ARMCIX_Signal_wait(region.word(), ARMCIX_CMP_GE, number, nullptr);
        right = right && std::memcmp(region.data(rank), local.data(), 16000) == 0;
      } else {
        ARMCI_Fence(region.next);
        MPI_Barrier(MPI_COMM_WORLD);
      }
      for (const auto& [place, bytes] : places) {
        right = right && std::memcmp(region.data(rank) + place, local.data(), bytes) == 0;
      }
      ARMCI_WaitAll();
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
  check(right, "held puts leave with a signal and with a fence");
}

// While the program calls nothing [PROG-3]. If the put does not leave, the alarm ends the test.
void check_held_put_leaves(Region& region) {
  region.clear();
  std::uint64_t value = 77;
  ARMCI_NbPut(&value, region.word(region.next), sizeof value, region.next, nullptr);
  while (std::atomic_ref(*region.word()).load(std::memory_order_acquire) != value) usleep(1000);
  ARMCI_WaitAll();
}

// Memory that one process allocates alone is in the dynamic window.
void check_own_memory() {
  armci_meminfo_t info{};
  if (rank == 0) {
    ARMCI_Memget(64, &info, 0);
    std::memset(info.armci_addr, 0, 64);
  }
  MPI_Bcast(&info, sizeof info, MPI_BYTE, 0, MPI_COMM_WORLD);
  auto* const word = static_cast<std::uint64_t*>(rank == 0 ? info.armci_addr : ARMCI_Memat(&info, 0));
  check(word != nullptr, "memory of one process");
  ARMCI_Barrier();
  for (int i = 0; i < 100; ++i) ARMCIX_Put_signal(nullptr, nullptr, 0, word, 1, ARMCIX_SIGNAL_ADD, 0);
  if (rank == 0) ARMCIX_Signal_wait(word, ARMCIX_CMP_EQ, static_cast<std::uint64_t>(100 * size), nullptr);
  ARMCI_Barrier();
  std::uint64_t value = 0;
  ARMCI_Get(word, &value, sizeof value, 0);
  check(value == static_cast<std::uint64_t>(100 * size), "signals to memory of one process count");
  ARMCI_Barrier();
  if (rank != 0) ARMCI_Memdt(&info, 0);
  ARMCI_Barrier();
  if (rank == 0) ARMCI_Memctl(&info);
}

// Regions come and go while signals are in use.
void check_regions() {
  bool right = true;
  for (int i = 0; i < 10; ++i) {
    std::vector<std::uint64_t*> parts(static_cast<std::size_t>(size));
    right = ARMCI_Malloc(reinterpret_cast<void**>(parts.data()), 64 * (1 + i % 3)) == 0 && right;
    std::uint64_t* const mine = parts[static_cast<std::size_t>(rank)];
    *mine = 0;
    ARMCI_Barrier();
    for (int target = 0; target < size; ++target) {
      ARMCIX_Put_signal(nullptr, nullptr, 0, parts[static_cast<std::size_t>(target)], 1, ARMCIX_SIGNAL_ADD, target);
    }
    ARMCIX_Signal_wait(mine, ARMCIX_CMP_EQ, static_cast<std::uint64_t>(size), nullptr);
    right = ARMCI_Free(mine) == 0 && right;
  }
  check(right, "regions come and go");
}

void check_library(const char* how) {
  check(ARMCI_Init() == 0, "init succeeds");
  if (failures > 0) return;
  check(chosen("signals") == how, "the way of signals");
  {
    Region region;
    check_notifications(region);
    check_turns(region);
    check_adds(region);
    check_fence(region);
    check_data(region);
    check_held_puts(region);
    if (std::strcmp(how, "messages") == 0) check_held_put_leaves(region);
    check_integers(region.data(0));
    ARMCI_Free(region.parts[static_cast<std::size_t>(rank)]);
  }
  check_own_memory();
  check_regions();
  // No process waits for this one before the end.
  armci_notify((rank + 1) % size);
  check(ARMCI_Finalize() == 0, "finalize");
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 2; i < argc; ++i) {
    const std::string setting = argv[i];
    const std::size_t name = setting.find('=');
    setenv(setting.substr(0, name).c_str(), setting.c_str() + name + 1, 1);
  }
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  alarm(kHangSeconds);
  read_rank();
  for (int twice = 0; twice < 2; ++twice) check_library(argc > 1 ? argv[1] : "messages");
  return verdict();
}
