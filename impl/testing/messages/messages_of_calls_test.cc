// How many messages each call of the API takes between two nodes, so that none takes more one day.
//
// Rank 0 calls and counts the messages that it sends; rank 1 counts replies, credits and counts of executed requests.
// The table is of the default settings over TCP or memory of the machine, where ucx sends requests for all operations,
// and of a verbs device. A device reports completions in no fixed order with replies, and a process probes a silent
// server: so now and then a call takes a message more there. The median of several counts is checked.
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <vector>

#include "armci.h"
#include "armcix.h"
#include "impl/testing/job.h"
#include "impl/testing/messages/sent.h"

namespace armci::runtime::testing {
namespace {

constexpr int kRows = 1024;
constexpr int kRowBytes = 16;
constexpr int kStride = 64;

constexpr std::size_t kCounts = 5;  // of each call

struct Memory {
  std::vector<void*> bases;
  std::vector<double> local = std::vector<double>(std::size_t{kRows} * kStride / sizeof(double));

  bool calls_failed = false;  // of an aggregate; check() is collective, and only rank 0 calls

  char* there(std::size_t offset = 0) const { return static_cast<char*>(bases[1]) + offset; }
};

struct Case {
  const char* name;
  std::function<void()> call;
  // Of rank 0, by the way of the port: requests, requests with counts on demand, windows, a device. The second and the
  // third have the request for the count, or for an acknowledgement, of the later fence.
  std::array<std::uint64_t, 4> messages;

  std::uint64_t expected() const { return messages[static_cast<std::size_t>(way())]; }
  std::uint64_t expected_back() const {
    return way() == Way::kOnDemand ? messages[static_cast<std::size_t>(Way::kRequests)] : expected();
  }
};

void aggregate_of_doubles(Memory& memory) {
  armci_hdl_t handle;
  ARMCI_INIT_HANDLE(&handle);
  ARMCI_SET_AGGREGATE_HANDLE(&handle);
  for (int i = 0; i < 1000; ++i) {
    ARMCI_NbPut(&memory.local[static_cast<std::size_t>(i)], memory.there(static_cast<std::size_t>(i) * 16), 8, 1,
                &handle);
  }
  ARMCI_UNSET_AGGREGATE_HANDLE(&handle);
  ARMCI_Wait(&handle);
}

// Puts, an accumulate, rows, a list and a get of one handle.
void mixed_aggregate(Memory& memory) {
  double* const local = memory.local.data();
  armci_hdl_t handle;
  ARMCI_INIT_HANDLE(&handle);
  ARMCI_SET_AGGREGATE_HANDLE(&handle);
  int stride = kStride;
  int count[] = {kRowBytes, 20};
  double scale = 2.0;
  void* sources[] = {local, local + 4};
  void* destinations[] = {memory.there(8192), memory.there(9000)};
  armci_giov_t list = {sources, destinations, 24, 2};
  int failed = ARMCI_NbPut(local, memory.there(), 1000, 1, &handle);
  failed |= ARMCI_NbAccS(ARMCI_ACC_DBL, &scale, local, &stride, memory.there(2048), &stride, count, 1, 1, &handle);
  failed |= ARMCI_NbPutS(local, &stride, memory.there(4096), &stride, count, 1, 1, &handle);
  failed |= ARMCI_NbPutV(&list, 1, 1, &handle);
  failed |= ARMCI_NbGet(memory.there(10000), local + 1000, 2000, 1, &handle);
  failed |= ARMCI_Wait(&handle);
  memory.calls_failed = memory.calls_failed || failed != 0;
}

void rows(Memory& memory) {
  int stride = kStride;
  int count[] = {kRowBytes, kRows};
  ARMCI_PutS(memory.local.data(), &stride, memory.there(), &stride, count, 1, 1);
}

void put_values(char* there) {
  for (int i = 0; i < 16; ++i) ARMCI_NbPutValueLong(i, there + i * sizeof(long), 1, nullptr);
}

// In the order of the calls: an unlock follows its lock.
std::vector<Case> cases(Memory& memory) {
  double* const local = memory.local.data();
  char* const there = memory.there();
  auto* const signal = reinterpret_cast<std::uint64_t*>(memory.there(4096));
  long before = 0;
  return {
      {"put", [=] { ARMCI_Put(local, there, 8, 1); }, {1, 1, 1, 1}},
      {"fence", [] { ARMCI_Fence(1); }, {0, 0, 0, 0}},
      {"put and fence",
       [=] {
         ARMCI_Put(local, there, 8, 1);
         ARMCI_Fence(1);
       },
       {1, 1, 1, 1}},
      {"get", [=] { ARMCI_Get(there, local, 8, 1); }, {1, 1, 1, 1}},
      {"notify", [] { armci_notify(1); }, {1, 2, 2, 1}},
      {"non-blocking put and notify",
       [=] {
         ARMCI_NbPut(local, there, 8, 1, nullptr);
         armci_notify(1);
       },
       {1, 2, 2, 2}},
      {"put with signal", [=] { ARMCIX_Put_signal(local, there, 8, signal, 1, ARMCIX_SIGNAL_ADD, 1); }, {1, 2, 2, 1}},
      {"lock", [] { ARMCI_Lock(0, 1); }, {1, 1, 1, 1}},
      {"unlock", [] { ARMCI_Unlock(0, 1); }, {1, 2, 2, 1}},
      {"fetch-and-add", [=]() mutable { ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &before, there, 1, 1); }, {1, 1, 1, 1}},
      {"aggregate of 1,000 doubles", [&memory] { aggregate_of_doubles(memory); }, {1, 1, 1, 1}},
      {"aggregate of five kinds", [&memory] { mixed_aggregate(memory); }, {1, 1, 5, 1}},
      {"1,024 rows of 16 bytes", [&memory] { rows(memory); }, {1, 1, 1, 1}},
      {"16 non-blocking values", [=] { put_values(there); }, {1, 1, 1, 17}},  // and the flush of a device
      {"AllFence", [] { ARMCI_AllFence(); }, {0, 0, 0, 0}},
  };
}

// Until no message is on its way. The pause is for credits and counts, which no call waits for: MPI's barrier overtakes
// them. Too short a pause would count them with the next call, and fail it.
void settle() {
  constexpr unsigned kQuietUs = 20000;
  ARMCI_Fence(1);
  MPI_Barrier(MPI_COMM_WORLD);
  usleep(kQuietUs);
  MPI_Barrier(MPI_COMM_WORLD);
}

struct Count {
  std::uint64_t messages;
  std::uint64_t later;  // of those, after the call
  std::uint64_t back;   // of rank 1
};

Count count(const Case& one) {
  settle();
  const std::uint64_t before = sent_messages();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) one.call();
  const std::uint64_t at_return = sent_messages() - before;
  settle();
  std::uint64_t sent[2] = {sent_messages() - before, at_return};
  std::uint64_t all[4] = {};
  MPI_Allgather(sent, 2, MPI_UINT64_T, all, 2, MPI_UINT64_T, MPI_COMM_WORLD);
  return {all[0], all[0] - all[1], all[2]};
}

std::uint64_t median(const std::vector<Count>& counts, std::uint64_t Count::*of) {
  std::vector<std::uint64_t> all;
  for (const Count& one : counts) all.push_back(one.*of);
  std::ranges::nth_element(all, all.begin() + kCounts / 2);
  return all[kCounts / 2];
}

void check_counts(const Case& one, const std::vector<Count>& counts) {
  const std::uint64_t messages = median(counts, &Count::messages);
  const std::uint64_t back = median(counts, &Count::back);
  if (rank == 0) {
    std::printf("%-30s %llu messages, %llu of them later; %llu come back\n", one.name,
                static_cast<unsigned long long>(messages),
                static_cast<unsigned long long>(median(counts, &Count::later)), static_cast<unsigned long long>(back));
  }
  check(messages == one.expected(), one.name);
  check(back <= one.expected_back(), "no more come back than were sent");
}

}  // namespace
}  // namespace armci::runtime::testing

int main(int argc, char** argv) {
  using namespace armci::runtime::testing;
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  ARMCI_Init();
  read_rank();
  Memory memory;
  memory.bases.resize(static_cast<std::size_t>(size));
  check(size == 2, "two processes");
  check(ARMCI_Malloc(memory.bases.data(), kRows * kStride) == 0 && ARMCI_Create_mutexes(1) == 0, "ARMCI_Malloc");
  ARMCI_Barrier();
  const auto list = cases(memory);
  // The first calls also connect.
  for (const Case& one : list) {
    if (rank == 0) one.call();
  }
  std::vector<std::vector<Count>> counts(list.size());
  for (std::size_t pass = 0; pass < kCounts; ++pass) {
    for (std::size_t i = 0; i < list.size(); ++i) counts[i].push_back(count(list[i]));
  }
  for (std::size_t i = 0; i < list.size(); ++i) check_counts(list[i], counts[i]);
  check(!memory.calls_failed, "the calls of an aggregate succeed");
  ARMCI_Destroy_mutexes();
  ARMCI_Free(memory.bases[static_cast<std::size_t>(rank)]);
  ARMCI_Finalize();
  return verdict();
}
