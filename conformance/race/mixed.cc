// Programs in which more than one thing happens before the accesses meet: several handles, messages of other lengths,
// flags that are used again, notifications from before a barrier.
#include "conformance/race/pairs.h"

namespace armci_race {
namespace {

constexpr int kBytes = 8;
constexpr int kFlag = 1024;
constexpr int kAnswer = 1032;
constexpr int kTag = 7;

void get(Job& job, int owner, int offset = 0) { ARMCI_Get(job.at(owner, offset), job.buffer, kBytes, owner); }
void put(Job& job, int owner, int offset = 0) { ARMCI_Put(job.buffer + 512, job.at(owner, offset), kBytes, owner); }
void nb_put(Job& job, int from) { ARMCI_NbPut(job.buffer + from, job.at(kThird), kBytes, kThird, &job.handle); }
void await(int from) {
  int times = 0;
  armci_notify_wait(from, &times);
}

// The gets of one line are complete in another order than they were issued in.
void handles_in_another_order(Job& job, bool racy) {
  if (!job.first()) return;
  armci_hdl_t handles[3];
  for (int i = 0; i < 3; ++i) {
    ARMCI_INIT_HANDLE(&handles[i]);
    ARMCI_NbGet(job.at(kThird), job.buffer + 64 * i, kBytes, kThird, &handles[i]);
  }
  ARMCI_Wait(&handles[2]);
  ARMCI_Wait(&handles[0]);
  if (!racy) ARMCI_Wait(&handles[1]);
  put(job, kThird);
  ARMCI_Wait(&handles[1]);
}

// The notification is of the records before.
void notified_before_the_barrier(Job& job, bool racy) {
  if (job.second()) armci_notify(kThird);
  ARMCI_Barrier();
  if (job.third()) {
    await(kSecond);
    put(job, kSecond);
    ARMCI_Fence(kSecond);
    armci_notify(kFirst);
  }
  if (job.first()) {
    if (!racy) await(kThird);
    get(job, kSecond);
    if (racy) await(kThird);
  }
}

// 0 puts with a flag of one value, in turns; 2 takes the data, resets the flag and answers.
void flag_that_is_set_again(Job& job, bool racy) {
  constexpr int kTurns = 4;
  int* const flag = job.word<int>(kSecond, kFlag);
  for (int turn = 0; turn < kTurns; ++turn) {
    const bool hurries = racy && turn == kTurns - 1;
    if (job.first()) {
      ARMCI_Put_flag(job.buffer, job.at(kSecond), kBytes, flag, 1, kSecond);
      await(kSecond);
    } else if (job.second()) {
      if (hurries) get(job, kSecond);
      while (ARMCI_GetValueInt(flag, kSecond) != 1) {
      }
      if (!hurries) get(job, kSecond);
      *flag = 0;
      armci_notify(kFirst);
    }
  }
}

void signal_that_is_set_again(Job& job, bool racy) {
  constexpr int kTurns = 4;
  std::uint64_t* const signal = job.word<std::uint64_t>(kSecond, kFlag);
  for (int turn = 0; turn < kTurns; ++turn) {
    if (job.first()) {
      ARMCIX_Put_signal(job.buffer, job.at(kSecond), kBytes, signal, 1, ARMCIX_SIGNAL_SET, kSecond);
      if (!racy || turn < kTurns - 2) await(kSecond);
    } else if (job.second()) {
      ARMCIX_Signal_wait(signal, ARMCIX_CMP_EQ, 1, nullptr);
      get(job, kSecond);
      if (!racy || turn < kTurns - 2) {
        *signal = 0;
        armci_notify(kFirst);
      }
    }
  }
}

// A process that polls reads its words many times.
void polling_of_two_words(Job& job, bool racy) {
  if (job.first()) {
    await(kSecond);
    ARMCI_Put_flag(job.buffer, job.at(kThird), kBytes, job.word<int>(kThird, kFlag), 1, kThird);
  }
  if (!job.second()) return;
  for (int times = 0; times < 2000; ++times) {
    ARMCI_GetValueInt(job.at(kThird, kFlag), kThird);
    ARMCI_GetValueInt(job.at(kThird, kAnswer), kThird);
  }
  armci_notify(kFirst);
  while (!racy && ARMCI_GetValueInt(job.at(kThird, kFlag), kThird) != 1) {
  }
  get(job, kThird);
}

// Fetch-and-add of nothing, until the word has changed.
void polling_by_atomics(Job& job, bool racy) {
  long before = 0;
  if (job.first()) {
    put(job, kThird);
    ARMCI_Fence(kThird);
    if (!racy) ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &before, job.at(kThird, kFlag), 1, kThird);
  } else if (job.second()) {
    for (int times = 0; times < 500 || (!racy && before == 0); ++times)
      ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &before, job.at(kThird, kFlag), 0, kThird);
    get(job, kThird);
  }
}

void fence_of_a_pending_atomic(Job& job, bool racy) {
  if (!job.first()) return;
  const std::int64_t one = 1;
  std::int64_t before = 0;
  ARMCIX_NbRmw(ARMCIX_ADD, ARMCIX_INT64, &before, &one, nullptr, job.at(kThird), kThird, &job.handle);
  if (!racy) ARMCI_Fence(kThird);
  get(job, kThird);
  ARMCI_Wait(&job.handle);
}

void fence_of_an_aggregate_of_gets(Job& job, bool racy) {
  if (!job.first()) return;
  ARMCI_SET_AGGREGATE_HANDLE(&job.handle);
  ARMCI_NbGet(job.at(kThird), job.buffer, kBytes, kThird, &job.handle);
  if (!racy) ARMCI_Fence(kThird);
  put(job, kThird);
  ARMCI_Wait(&job.handle);
  ARMCI_UNSET_AGGREGATE_HANDLE(&job.handle);
}

// The message is shorter than the buffer, whose end is the source of a pending put.
void message_into_a_pending_buffer(Job& job, bool racy) {
  int length = 0;
  if (job.second()) armci_msg_snd(kTag, job.buffer, kBytes, kFirst);
  if (!job.first()) return;
  nb_put(job, racy ? 0 : 32);
  armci_msg_rcv(kTag, job.buffer, 64, &length, kSecond);
  ARMCI_Wait(&job.handle);
}

void broadcast_into_a_pending_buffer(Job& job, bool racy) {
  if (job.first()) nb_put(job, 0);
  if (job.first() && !racy) ARMCI_Wait(&job.handle);
  armci_msg_brdcst(job.buffer, kBytes, kSecond);
  if (job.first()) ARMCI_Wait(&job.handle);
}

void sum_into_a_pending_buffer(Job& job, bool racy) {
  if (job.first()) nb_put(job, racy ? 0 : 64);
  armci_msg_lgop(reinterpret_cast<long*>(job.buffer), 1, "+");
  if (job.first()) ARMCI_Wait(&job.handle);
}

// One line of a program accumulates numbers of any type, as that of a library does.
void two_types_from_one_line(Job& job, bool racy) {
  if (job.third()) return;
  int one = 1;
  long long_one = 1;
  for (const int type : {ARMCI_ACC_INT, racy && job.first() ? ARMCI_ACC_LNG : ARMCI_ACC_INT}) {
    void* const scale = type == ARMCI_ACC_INT ? static_cast<void*>(&one) : &long_one;
    ARMCI_Acc(type, scale, job.buffer, job.at(kThird), kBytes, kThird);
  }
}

}  // namespace

void add_mixed(std::vector<Pair>* pairs) {
  const Pair all[] = {
      {"handles waited for in another order", handles_in_another_order},
      {"notified before the barrier", notified_before_the_barrier},
      {"flag that is set again", flag_that_is_set_again},
      {"signal that is set again", signal_that_is_set_again},
      {"polling of two words", polling_of_two_words},
      {"polling by atomics", polling_by_atomics},
      {"fence of a pending atomic", fence_of_a_pending_atomic},
      {"fence of an aggregate of gets", fence_of_an_aggregate_of_gets},
      {"message into a pending buffer", message_into_a_pending_buffer},
      {"broadcast into a pending buffer", broadcast_into_a_pending_buffer},
      {"sum into a pending buffer", sum_into_a_pending_buffer},
      {"two types from one line", two_types_from_one_line},
  };
  pairs->insert(pairs->end(), std::begin(all), std::end(all));
}

}  // namespace armci_race
