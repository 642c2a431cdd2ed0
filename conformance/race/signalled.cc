// Flags, signals and atomics as synchronisation.
#include "conformance/race/pairs.h"

namespace armci_race {
namespace {

constexpr int kFlag = 1024;  // offsets of words
constexpr int kOtherFlag = 1032;
constexpr int kBytes = 8;

void put(Job& job, int owner, int offset = 0) { ARMCI_Put(job.buffer, job.at(owner, offset), kBytes, owner); }
void get(Job& job, int owner, int offset = 0) { ARMCI_Get(job.at(owner, offset), job.buffer, kBytes, owner); }
void await_signal(Job& job, int offset, std::uint64_t value) {
  ARMCIX_Signal_wait(job.word<std::uint64_t>(job.me, offset), ARMCIX_CMP_GE, value, nullptr);
}
void put_signal(Job& job, int owner, int offset, int signal, armcix_signal_op_t op = ARMCIX_SIGNAL_SET) {
  ARMCIX_Put_signal(job.buffer, job.at(owner, offset), kBytes, job.word<std::uint64_t>(owner, signal), 1, op, owner);
}

void flag_and_polling(Job& job, bool racy) {
  if (job.first()) {
    ARMCI_Put_flag(job.buffer, job.at(kThird), kBytes, job.word<int>(kThird, kFlag), 1, kThird);
  } else if (job.second()) {
    while (!racy && ARMCI_GetValueInt(job.at(kThird, kFlag), kThird) != 1) {
    }
    get(job, kThird);
  }
}

void flag_and_polling_by_get(Job& job, bool racy) {
  int seen = 0;
  if (job.first()) {
    ARMCI_Put_flag(job.buffer, job.at(kThird), kBytes, job.word<int>(kThird, kFlag), 1, kThird);
  } else if (job.second()) {
    while (!racy && seen != 1) ARMCI_Get(job.at(kThird, kFlag), &seen, sizeof seen, kThird);
    put(job, kThird);
  }
}

void strided_flag(Job& job, bool racy) {
  int stride[] = {16};
  int count[] = {4, 3};
  if (job.first()) {
    ARMCI_PutS_flag(job.buffer, stride, job.at(kThird), stride, count, 1, job.word<int>(kThird, kFlag), 1, kThird);
  } else if (job.second()) {
    if (racy) get(job, kThird, 32);
    while (ARMCI_GetValueInt(job.at(kThird, kFlag), kThird) != 1) {
    }
    if (!racy) get(job, kThird, 32);
  }
}

// A flag orders the earlier stores to its target, and no others.
void flag_after_a_put(Job& job, bool racy) {
  if (job.first()) {
    put(job, racy ? kFirst : kThird, 64);
    ARMCI_Put_flag(job.buffer, job.at(kThird), kBytes, job.word<int>(kThird, kFlag), 1, kThird);
  } else if (job.second()) {
    while (ARMCI_GetValueInt(job.at(kThird, kFlag), kThird) != 1) {
    }
    get(job, racy ? kFirst : kThird, 64);
  }
}

void signal_and_wait(Job& job, bool racy) {
  if (job.first()) put_signal(job, kSecond, 0, kFlag);
  if (job.second()) {
    if (!racy) await_signal(job, kFlag, 1);
    get(job, kSecond);
  }
}

void signal_and_test(Job& job, bool racy) {
  if (job.first()) put_signal(job, kSecond, 0, kFlag);
  if (job.second()) {
    for (int done = 0; done == 0 && !racy;) {
      ARMCIX_Signal_test(job.word<std::uint64_t>(kSecond, kFlag), ARMCIX_CMP_EQ, 1, nullptr, &done);
    }
    put(job, kSecond);
  }
}

void the_right_signal(Job& job, bool racy) {
  if (job.first()) {
    put_signal(job, kSecond, 64, kOtherFlag);
    put_signal(job, kSecond, 0, kFlag);
  } else if (job.second()) {
    await_signal(job, racy ? kOtherFlag : kFlag, 1);
    get(job, kSecond);
  }
}

void all_signals_of_two(Job& job, bool racy) {
  if (!job.second()) put_signal(job, kSecond, 64 * job.me, kFlag, ARMCIX_SIGNAL_ADD);
  if (job.second()) {
    if (!racy) await_signal(job, kFlag, 2);
    ARMCI_Get(job.at(kSecond), job.buffer, 128, kSecond);
  }
}

void wait_for_all_signals(Job& job, bool racy) {
  if (!job.second()) put_signal(job, kSecond, 64 * job.me, kFlag + 8 * job.me);
  if (job.second()) {
    const int skip[] = {0, racy ? 1 : 0};
    ARMCIX_Signal_wait_all(job.word<std::uint64_t>(kSecond, kFlag), 2, skip, ARMCIX_CMP_EQ, 1);
    ARMCI_Get(job.at(kSecond), job.buffer, 128, kSecond);
  }
}

void wait_for_any_signal(Job& job, bool racy) {
  if (!job.second()) put_signal(job, kSecond, 64 * job.me, kFlag + 8 * job.me);
  if (job.second()) {
    std::size_t which = 0;
    ARMCIX_Signal_wait_any(job.word<std::uint64_t>(kSecond, kFlag), 2, nullptr, ARMCIX_CMP_EQ, 1, &which);
    if (racy) which = 1 - which;
    get(job, kSecond, static_cast<int>(64 * which));
  }
}

// The third process signals when the second has seen the first signal.
void wait_for_some_signals(Job& job, bool racy) {
  if (job.third()) {
    int length = 0;
    armci_msg_rcv(1, job.buffer, 4, &length, kSecond);
  }
  if (!job.second()) put_signal(job, kSecond, 64 * job.me, kFlag + 8 * job.me);
  if (job.second()) {
    std::size_t which[2] = {};
    std::size_t found = 0;
    ARMCIX_Signal_wait_some(job.word<std::uint64_t>(kSecond, kFlag), 2, nullptr, ARMCIX_CMP_EQ, 1, which, &found);
    armci_msg_snd(1, job.buffer, 4, kThird);
    get(job, kSecond, racy ? 64 : 0);
  }
}

// The non-blocking form orders its own data only.
void non_blocking_signal(Job& job, bool racy) {
  if (job.first()) {
    put(job, kSecond, 64);
    ARMCIX_NbPut_signal(job.buffer, job.at(kSecond), kBytes, job.word<std::uint64_t>(kSecond, kFlag), 1,
                        ARMCIX_SIGNAL_SET, kSecond, &job.handle);
    ARMCI_Wait(&job.handle);
  } else if (job.second()) {
    await_signal(job, kFlag, 1);
    get(job, kSecond, racy ? 64 : 0);
  }
}

void signals_in_turns(Job& job, bool racy) {
  const auto reply = [&] { put_signal(job, kFirst, 64, kFlag, ARMCIX_SIGNAL_ADD); };
  for (std::uint64_t turn = 1; turn <= 3; ++turn) {
    if (job.first()) {
      put_signal(job, kSecond, 0, kFlag, ARMCIX_SIGNAL_ADD);
      await_signal(job, kFlag, turn);
    } else if (job.second()) {
      await_signal(job, kFlag, turn);
      if (racy) reply();
      get(job, kSecond);
      if (!racy) reply();
    }
  }
}

long fetch_and_add(Job& job, int owner, int offset, int extra) {
  long before = 0;
  ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &before, job.at(owner, offset), extra, owner);
  return before;
}

// An atomic is ordered after the earlier stores to its target.
void atomic_as_flag(Job& job, bool racy) {
  const int owner = racy ? kFirst : kThird;
  if (job.first()) {
    put(job, owner);
    fetch_and_add(job, kThird, kFlag, 1);
  } else if (job.second()) {
    while (fetch_and_add(job, kThird, kFlag, 0) != 1) {
    }
    get(job, owner);
  }
}

void swap_as_flag(Job& job, bool racy) {
  long value = 1;
  if (job.first()) {
    put(job, kSecond);
    if (!racy) ARMCI_Fence(kSecond);
    ARMCI_Rmw(ARMCI_SWAP_LONG, &value, job.at(kThird, kFlag), 0, kThird);
  } else if (job.second()) {
    for (value = 0; value != 1;) ARMCI_Rmw(ARMCI_SWAP_LONG, &value, job.at(kThird, kFlag), 0, kThird);
    get(job, kSecond);
  }
}

void compare_and_swap_as_lock(Job& job, bool racy) {
  const std::int64_t free = 0;
  const std::int64_t taken = 1;
  std::int64_t before = 1;
  if (job.third()) return;
  do {
    ARMCIX_Rmw(ARMCIX_CAS, ARMCIX_INT64, &before, &taken, &free, job.at(kThird, kFlag), kThird);
  } while (before != 0);
  get(job, kFirst);
  put(job, kFirst);
  if (!racy) ARMCI_Fence(kFirst);
  ARMCIX_Rmw(ARMCIX_SWAP, ARMCIX_INT64, &before, &free, nullptr, job.at(kThird, kFlag), kThird);
}

// Each process takes numbers, and works on rows of its own.
void rows_from_a_counter(Job& job, bool racy) {
  for (int times = 0; times < 3; ++times) {
    const long row = fetch_and_add(job, kThird, kFlag, 1);
    put(job, kFirst, racy ? 0 : static_cast<int>(8 * row));
  }
}

void atomic_of_another_word(Job& job, bool racy) {
  if (job.first()) {
    put(job, kThird);
    fetch_and_add(job, kThird, kFlag, 1);
  } else if (job.second()) {
    while (fetch_and_add(job, kThird, racy ? kOtherFlag : kFlag, 0) != (racy ? 0 : 1)) {
    }
    get(job, kThird);
  }
}

}  // namespace

void add_signalled(std::vector<Pair>* pairs) {
  const Pair all[] = {
      {"flag and polling", flag_and_polling},
      {"flag and polling by get", flag_and_polling_by_get},
      {"strided flag and polling", strided_flag},
      {"flag after a put to its target", flag_after_a_put},
      {"signal and wait", signal_and_wait},
      {"signal and test", signal_and_test},
      {"the right signal", the_right_signal},
      {"all signals of two processes", all_signals_of_two},
      {"wait for all signals", wait_for_all_signals},
      {"wait for any signal", wait_for_any_signal},
      {"wait for some signals", wait_for_some_signals},
      {"non-blocking signal, earlier put", non_blocking_signal},
      {"signals in turns", signals_in_turns},
      {"atomic as flag for its target", atomic_as_flag},
      {"fence and swap as flag", swap_as_flag},
      {"fence and compare-and-swap as lock", compare_and_swap_as_lock},
      {"rows from a counter", rows_from_a_counter},
      {"atomic of the same word", atomic_of_another_word},
  };
  pairs->insert(pairs->end(), std::begin(all), std::end(all));
}

}  // namespace armci_race
