// Accesses of one process: waits, fences, local buffers; and buffers that lie in a region.
#include "conformance/race/pairs.h"

namespace armci_race {
namespace {

constexpr int kBytes = 8;
constexpr int kOwner = kThird;

void nb_put(Job& job, int offset = 0, int from = 0) {
  ARMCI_NbPut(job.buffer + from, job.at(kOwner, offset), kBytes, kOwner, &job.handle);
}
void nb_get(Job& job, int offset = 0, int to = 0) {
  ARMCI_NbGet(job.at(kOwner, offset), job.buffer + to, kBytes, kOwner, &job.handle);
}
void put(Job& job, int offset = 0, int from = 0) {
  ARMCI_Put(job.buffer + from, job.at(kOwner, offset), kBytes, kOwner);
}
void get(Job& job, int offset = 0, int to = 0) { ARMCI_Get(job.at(kOwner, offset), job.buffer + to, kBytes, kOwner); }
void wait(Job& job) { ARMCI_Wait(&job.handle); }

void fence_between_stores(Job& job, bool racy) {
  nb_put(job);
  wait(job);
  if (!racy) ARMCI_Fence(kOwner);
  put(job);
}
void fence_between_non_blocking_stores(Job& job, bool racy) {
  nb_put(job);
  if (!racy) ARMCI_AllFence();
  nb_put(job);
  wait(job);
}
void blocking_store_first(Job& job, bool racy) {
  if (racy) nb_put(job);
  if (!racy) put(job);
  put(job);
  wait(job);
}
void wait_before_the_get(Job& job, bool racy) {
  nb_put(job);
  if (!racy) wait(job);
  get(job, 0, 64);
  wait(job);
}
void wait_before_the_put(Job& job, bool racy) {
  nb_get(job);
  if (!racy) wait(job);
  put(job, 0, 64);
  wait(job);
}
void wait_of_all(Job& job, bool racy) {
  ARMCI_NbGet(job.at(kOwner), job.buffer, kBytes, kOwner, nullptr);
  if (!racy) ARMCI_WaitAll();
  put(job, 0, 64);
  ARMCI_WaitAll();
}
void wait_of_the_target(Job& job, bool racy) {
  ARMCI_NbGet(job.at(kOwner), job.buffer, kBytes, kOwner, nullptr);
  ARMCI_WaitProc(racy ? kFirst : kOwner);
  put(job, 0, 64);
  ARMCI_WaitAll();
}
void wait_of_the_handle(Job& job, bool racy) {
  armci_hdl_t other;
  ARMCI_INIT_HANDLE(&other);
  nb_get(job);
  ARMCI_NbGet(job.at(kOwner, 128), job.buffer + 128, kBytes, kOwner, &other);
  ARMCI_Wait(racy ? &other : &job.handle);
  put(job, 0, 64);
  ARMCI_WaitAll();
}
void test_until_it_is_over(Job& job, bool racy) {
  nb_get(job);
  while (!racy && ARMCI_Test(&job.handle) != 0) {
  }
  put(job, 0, 64);
  wait(job);
}
void aggregate_of_gets(Job& job, bool racy) {
  ARMCI_SET_AGGREGATE_HANDLE(&job.handle);
  nb_get(job);
  nb_get(job, 128, 128);
  if (!racy) wait(job);
  put(job, 128, 64);
  wait(job);
  ARMCI_UNSET_AGGREGATE_HANDLE(&job.handle);
}
void accumulate_before_a_put(Job& job, bool racy) {
  double one = 1;
  ARMCI_NbAcc(ARMCI_ACC_DBL, &one, job.buffer, job.at(kOwner), kBytes, kOwner, &job.handle);
  wait(job);
  if (!racy) ARMCI_Fence(kOwner);
  put(job);
}
void atomic_before_a_get(Job& job, bool racy) {
  const std::int64_t one = 1;
  std::int64_t before = 0;
  ARMCIX_NbRmw(ARMCIX_ADD, ARMCIX_INT64, &before, &one, nullptr, job.at(kOwner), kOwner, &job.handle);
  if (!racy) wait(job);
  get(job);
  wait(job);
}

// --- local buffers

void got_data_sent_on(Job& job, bool racy) {
  nb_get(job);
  if (!racy) wait(job);
  put(job, 128);
  wait(job);
}
void source_overwritten_by_a_get(Job& job, bool racy) {
  nb_put(job);
  if (!racy) wait(job);
  get(job, 128);
  wait(job);
}
void two_gets_into_one_buffer(Job& job, bool racy) {
  nb_get(job, 0, 0);
  ARMCI_NbGet(job.at(kOwner, 128), job.buffer + (racy ? 4 : 8), kBytes, kOwner, nullptr);
  ARMCI_WaitAll();
}
void strided_source(Job& job, bool racy) {
  int stride[] = {16};
  int count[] = {8, 4};
  ARMCI_NbPutS(job.buffer, stride, job.at(kOwner), stride, count, 1, kOwner, &job.handle);
  get(job, 256, racy ? 16 : 24);
  wait(job);
}
void copied_source(Job& job, bool racy) {
  nb_put(job);
  if (!racy) wait(job);
  ARMCI_Copy(job.buffer + 64, job.buffer, kBytes);
  wait(job);
}
void received_into_the_source(Job& job, bool racy) {
  int length = 0;
  if (job.first()) {
    nb_put(job);
    if (!racy) wait(job);
    armci_msg_rcv(3, job.buffer, kBytes, &length, kSecond);
    wait(job);
  } else if (job.second()) {
    armci_msg_snd(3, job.buffer, kBytes, kFirst);
  }
}

// The source of a put lies in the region, and another process writes there.
void source_in_a_region(Job& job, bool racy) {
  if (job.first()) ARMCI_Put(job.at(kFirst), job.at(kOwner), kBytes, kOwner);
  if (!racy) ARMCI_Barrier();
  if (job.second()) ARMCI_Put(job.buffer, job.at(kFirst, 4), kBytes, kFirst);
}
void destination_in_a_region(Job& job, bool racy) {
  if (job.first()) ARMCI_Get(job.at(kOwner), job.at(kFirst), kBytes, kOwner);
  if (!racy) armci_msg_barrier();
  if (job.second()) ARMCI_Get(job.at(kFirst), job.buffer, kBytes, kFirst);
}
void non_blocking_source_in_a_region(Job& job, bool racy) {
  if (job.first()) {
    ARMCI_NbPut(job.at(kFirst), job.at(kOwner), kBytes, kOwner, &job.handle);
    if (!racy) wait(job);
    armci_notify(kSecond);
    wait(job);
  } else if (job.second()) {
    int times = 0;
    armci_notify_wait(kFirst, &times);
    ARMCI_Put(job.buffer, job.at(kFirst), kBytes, kFirst);
  }
}

// A get that is not waited for outlives a barrier.
void get_across_a_barrier(Job& job, bool racy) {
  if (job.first()) {
    nb_get(job);
    if (!racy) wait(job);
  }
  ARMCI_Barrier();
  if (job.second()) put(job);
  if (job.first()) wait(job);
}

// In one process, which is the first.
std::function<void(Job&, bool)> alone(void (*run)(Job&, bool)) {
  return [run](Job& job, bool racy) {
    if (job.first()) run(job, racy);
  };
}

}  // namespace

void add_ordered(std::vector<Pair>* pairs) {
  const Pair all[] = {
      {"fence between a non-blocking and a blocking store", alone(fence_between_stores)},
      {"fence between non-blocking stores", alone(fence_between_non_blocking_stores)},
      {"blocking store first", alone(blocking_store_first)},
      {"wait before the get", alone(wait_before_the_get)},
      {"wait before the put", alone(wait_before_the_put)},
      {"wait of all", alone(wait_of_all)},
      {"wait of the target", alone(wait_of_the_target)},
      {"wait of the handle", alone(wait_of_the_handle)},
      {"test until it is over", alone(test_until_it_is_over)},
      {"aggregate of gets", alone(aggregate_of_gets)},
      {"fence between accumulate and put", alone(accumulate_before_a_put)},
      {"wait between atomic and get", alone(atomic_before_a_get)},
      {"data that were got are sent on", alone(got_data_sent_on)},
      {"a get into the source of a put", alone(source_overwritten_by_a_get)},
      {"two gets into one buffer", alone(two_gets_into_one_buffer)},
      {"strided source", alone(strided_source)},
      {"copy into the source", alone(copied_source)},
      {"message into the source", received_into_the_source},
      {"source in a region", source_in_a_region},
      {"destination in a region", destination_in_a_region},
      {"non-blocking source in a region", non_blocking_source_in_a_region},
      {"get across a barrier", get_across_a_barrier},
  };
  pairs->insert(pairs->end(), std::begin(all), std::end(all));
}

}  // namespace armci_race
