// MUTEX: locks that do not exclude, are not fair, or are not apart.

#include <sched.h>
#include <unistd.h>

#include <cstring>
#include <set>
#include <utility>
#include <vector>

#include "conformance/mutants/mutants.h"
#include "conformance/mutants/shared_words.h"

namespace conformance::mutants {
namespace {

MUTANT(mutex_excludes_only_pairs, "MUTEX-2", "processes 2 k and 2 k + 1 exclude each other, and no others", Ranks{3}) {
  // Twice as many mutexes; a pair uses every second one.
  calls->ARMCI_Create_mutexes = [](int n) { return PARMCI_Create_mutexes(2 * n); };
  calls->ARMCI_Lock = [](int mutex, int proc) { PARMCI_Lock(2 * mutex + parmci_msg_me() / 2 % 2, proc); };
  calls->ARMCI_Unlock = [](int mutex, int proc) { PARMCI_Unlock(2 * mutex + parmci_msg_me() / 2 % 2, proc); };
}

MUTANT(host_takes_its_own_mutex_unasked, "MUTEX-2", "the host of a mutex goes in without waiting") {
  calls->ARMCI_Lock = [](int mutex, int proc) {
    if (proc != parmci_msg_me()) PARMCI_Lock(mutex, proc);
  };
  calls->ARMCI_Unlock = [](int mutex, int proc) {
    if (proc != parmci_msg_me()) PARMCI_Unlock(mutex, proc);
  };
}

MUTANT(mutex_ignores_its_host, "MUTEX-4", "mutex m of any process is mutex m of process 0", Hangs{}) {
  calls->ARMCI_Lock = [](int mutex, int) { PARMCI_Lock(mutex, 0); };
  calls->ARMCI_Unlock = [](int mutex, int) { PARMCI_Unlock(mutex, 0); };
}

MUTANT(mutexes_come_in_pairs, "MUTEX-4", "mutexes 2 k and 2 k + 1 of a process are one", Hangs{}) {
  calls->ARMCI_Lock = [](int mutex, int proc) { PARMCI_Lock(mutex / 2, proc); };
  calls->ARMCI_Unlock = [](int mutex, int proc) { PARMCI_Unlock(mutex / 2, proc); };
}

// A lock of the mutants' own: a word per mutex, 1 while held, and a word that counts the unlocks.
std::vector<void*> locks;

int CreateLocks(int n) {
  std::vector<void*> parts(static_cast<std::size_t>(parmci_msg_nproc()));
  const armci_size_t bytes = (2 * n + 2) * static_cast<armci_size_t>(sizeof(long));
  if (const int code = PARMCI_Malloc(parts.data(), bytes); code != 0) return code;
  std::memset(parts[static_cast<std::size_t>(parmci_msg_me())], 0, static_cast<std::size_t>(bytes));
  PARMCI_Barrier();
  locks = parts;
  return 0;
}

int DestroyLocks() {
  PARMCI_Barrier();
  return PARMCI_Free(locks[static_cast<std::size_t>(parmci_msg_me())]);
}

std::atomic_ref<long> LockWord(int mutex, int proc) {
  return std::atomic_ref<long>(static_cast<long*>(locks[static_cast<std::size_t>(proc)])[2 * mutex]);
}

std::atomic_ref<long> UnlockCount(int mutex, int proc) {
  return std::atomic_ref<long>(static_cast<long*>(locks[static_cast<std::size_t>(proc)])[2 * mutex + 1]);
}

void ReplaceLocks(Calls* calls, void (*lock)(int mutex, int proc)) {
  calls->ARMCI_Create_mutexes = CreateLocks;
  calls->ARMCI_Destroy_mutexes = DestroyLocks;
  calls->ARMCI_Lock = lock;
  calls->ARMCI_Unlock = [](int mutex, int proc) {
    PARMCI_AllFence();
    LockWord(mutex, proc) = 0;
    ++UnlockCount(mutex, proc);
  };
}

// Returns after `turns` more unlocks, or when no unlock has come for a second.
void LetOthersPass(int mutex, int proc, long turns) {
  const long first = UnlockCount(mutex, proc);
  long seen = first;
  for (int idle_ms = 0; idle_ms < 1000 && seen - first < turns; ++idle_ms) {
    usleep(1000);  // leaves the core to the others; the turns they take end the loop, or a second without one
    const long now = UnlockCount(mutex, proc);
    if (now != seen) idle_ms = 0;
    seen = now;
  }
}

MUTANT(mutex_starves_one_process, "MUTEX-3", "the last process lets the others have 200 turns before each of its own",
       Ranks{3}) {
  ReplaceLocks(calls, [](int mutex, int proc) {
    if (parmci_msg_me() == parmci_msg_nproc() - 1) LetOthersPass(mutex, proc, 200);
    while (LockWord(mutex, proc).exchange(1) != 0) sched_yield();
  });
}

MUTANT(mutex_loses_a_wakeup, "MUTEX-3",
       "a process that finds the mutex held polls for the next unlock only a while later", Hangs{}) {
  ReplaceLocks(calls, [](int mutex, int proc) {
    while (LockWord(mutex, proc).exchange(1) != 0) {
      // An unlock in this gap is missed; it may be the last one.
      usleep(1000);
      const long seen = UnlockCount(mutex, proc).load();
      while (UnlockCount(mutex, proc).load() == seen) usleep(50);
    }
  });
}

MUTANT(mutex_spins_the_holder_away, "MUTEX-6", "a waiter for a mutex never yields its core") {
  ReplaceLocks(calls, [](int mutex, int proc) {
    while (LockWord(mutex, proc).exchange(1) != 0) {
    }
  });
}

MUTANT(mutexes_can_be_created_twice, "MUTEX-1", "creating mutexes while there are some succeeds and does nothing") {
  static bool exist = false;
  calls->ARMCI_Create_mutexes = [](int n) {
    if (exist) return 0;
    const int code = PARMCI_Create_mutexes(n);
    exist = code == 0;
    return code;
  };
  calls->ARMCI_Destroy_mutexes = [] {
    exist = false;
    return PARMCI_Destroy_mutexes();
  };
}

MUTANT(unlock_of_a_free_mutex_is_accepted, "MUTEX-8",
       "an unlock by a process that does not hold the mutex is ignored") {
  static std::set<std::pair<int, int>> held;
  calls->ARMCI_Lock = [](int mutex, int proc) {
    PARMCI_Lock(mutex, proc);
    held.insert({mutex, proc});
  };
  calls->ARMCI_Unlock = [](int mutex, int proc) {
    if (held.erase({mutex, proc}) != 0) PARMCI_Unlock(mutex, proc);
  };
}

MUTANT(trylock_blocks, "MUTEX-7", "trylock waits until the mutex is free", Hangs{}) {
  calls->ARMCIX_Trylock_hdl = [](armcix_mutex_hdl_t hdl, int mutex, int proc) {
    PARMCIX_Lock_hdl(hdl, mutex, proc);
    return 0;
  };
}

MUTANT(trylock_always_succeeds, "MUTEX-7", "trylock says that the caller holds the mutex when another one does",
       Tests{"MUTEX7_trylock"}) {
  calls->ARMCIX_Trylock_hdl = [](armcix_mutex_hdl_t hdl, int mutex, int proc) {
    PARMCIX_Trylock_hdl(hdl, mutex, proc);
    return 0;
  };
}

// Shared words: notifications that a process has received, from any process.
constexpr int kNotified = 0;

MUTANT(notification_of_anyone_will_do, "ORD-6", "a wait for a process returns on the notification of another one",
       Ranks{3}) {
  static long taken = 0;
  ProvideSharedWords(calls);
  calls->armci_notify = [](int proc) {
    if (proc < 0 || proc >= parmci_msg_nproc()) return parmci_notify(proc);
    PARMCI_AllFence();
    ++SharedWord(proc, kNotified);
    return 0;
  };
  calls->armci_notify_wait = [](int proc, int* pval) {
    if (proc < 0 || proc >= parmci_msg_nproc()) return parmci_notify_wait(proc, pval);
    ++taken;
    while (SharedWord(parmci_msg_me(), kNotified).load() < taken) sched_yield();
    *pval = static_cast<int>(taken);
    return 0;
  };
}

}  // namespace
}  // namespace conformance::mutants
