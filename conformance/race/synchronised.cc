// Two accesses of two processes: what orders them, and what is missing in the program with a race.
#include "conformance/race/pairs.h"

namespace armci_race {
namespace {

constexpr int kTag = 7;

void send(Job& job, int to) { armci_msg_snd(kTag, job.buffer, 4, to); }
void receive(Job& job, int from) {
  int length = 0;
  armci_msg_rcv(kTag, job.buffer, 4, &length, from);
}
void notify_second() { armci_notify(kSecond); }
void await(int from) {
  int times = 0;
  armci_notify_wait(from, &times);
}

// One way to order two accesses to memory of `owner`, complete or, with a race, not.
struct Way {
  const char* name;
  int owner;
  void (*run)(Job& job, bool racy, const Access& first, const Access& second, int owner);
};

void with_barrier(Job& job, bool racy, const Access& first, const Access& second, int owner) {
  if (job.first()) first.run(job, owner, 0);
  if (!racy) ARMCI_Barrier();
  if (job.second()) second.run(job, owner, 0);
}

void with_fence_and_notify(Job& job, bool racy, const Access& first, const Access& second, int owner) {
  if (job.first()) {
    first.run(job, owner, 0);
    if (!racy) ARMCI_Fence(owner);
    notify_second();
  } else if (job.second()) {
    await(kFirst);
    second.run(job, owner, 0);
  }
}

void with_fence_of_the_target(Job& job, bool racy, const Access& first, const Access& second, int owner) {
  if (job.first()) {
    first.run(job, owner, 0);
    ARMCI_Fence(racy ? kSecond : owner);
    notify_second();
  } else if (job.second()) {
    await(kFirst);
    second.run(job, owner, 0);
  }
}

void with_fence_before_the_notify(Job& job, bool racy, const Access& first, const Access& second, int owner) {
  if (job.first()) {
    first.run(job, owner, 0);
    if (!racy) ARMCI_Fence(owner);
    notify_second();
    if (racy) ARMCI_Fence(owner);
  } else if (job.second()) {
    await(kFirst);
    second.run(job, owner, 0);
  }
}

void with_notify_to_the_owner(Job& job, bool racy, const Access& first, const Access& second, int owner) {
  if (job.first()) {
    first.run(job, owner, 0);
    notify_second();
  } else if (job.second()) {
    if (racy) second.run(job, owner, 0);
    await(kFirst);
    if (!racy) second.run(job, owner, 0);
  }
}

void with_notify_through_the_owner(Job& job, bool racy, const Access& first, const Access& second, int owner) {
  if (job.first()) {
    first.run(job, owner, 0);
    armci_notify(racy ? kSecond : kThird);
    armci_notify(racy ? kThird : kSecond);
  } else if (job.third()) {
    await(kFirst);
    if (!racy) notify_second();
  } else {
    await(racy ? kFirst : kThird);
    second.run(job, owner, 0);
    if (!racy) await(kFirst);
  }
}

void with_message(Job& job, bool racy, const Access& first, const Access& second, int owner) {
  if (job.first()) {
    first.run(job, owner, 0);
    if (!racy) ARMCI_Fence(owner);
    send(job, kSecond);
  } else if (job.second()) {
    receive(job, kFirst);
    second.run(job, owner, 0);
  }
}

void with_forwarded_message(Job& job, bool racy, const Access& first, const Access& second, int owner) {
  if (job.first()) {
    first.run(job, owner, 0);
    ARMCI_AllFence();
    send(job, kThird);
  } else if (job.third()) {
    if (racy) send(job, kSecond);
    receive(job, kFirst);
    if (!racy) send(job, kSecond);
  } else {
    receive(job, kThird);
    second.run(job, owner, 0);
  }
}

// In the order of locks either process may come first, so both make both accesses.
void with_fenced_lock(Job& job, bool racy, const Access& first, const Access& second, int owner) {
  ARMCI_Create_mutexes(1);
  if (job.first() || job.second()) {
    ARMCI_Lock(0, kThird);
    second.run(job, owner, 0);
    ARMCI_Fence(owner);
    first.run(job, owner, 0);
    if (!racy) ARMCI_Fence(owner);
    ARMCI_Unlock(0, kThird);
  }
  armci_msg_barrier();
  ARMCI_Destroy_mutexes();
}

void with_one_mutex(Job& job, bool racy, const Access& first, const Access& second, int owner) {
  ARMCI_Create_mutexes(2);
  if (job.first() || job.second()) {
    const int mutex = racy && job.second() ? 1 : 0;
    ARMCI_Lock(mutex, kThird);
    second.run(job, owner, 0);
    ARMCI_Fence(owner);
    first.run(job, owner, 0);
    ARMCI_Fence(owner);
    ARMCI_Unlock(mutex, kThird);
  }
  armci_msg_barrier();
  ARMCI_Destroy_mutexes();
}

void with_mutex_of_a_set(Job& job, bool racy, const Access& first, const Access& second, int owner) {
  ARMCI_Group world;
  ARMCI_Group_get_world(&world);
  armcix_mutex_hdl_t one = ARMCIX_Create_mutexes_hdl(1, &world);
  armcix_mutex_hdl_t other = ARMCIX_Create_mutexes_hdl(1, &world);
  if (job.first() || job.second()) {
    armcix_mutex_hdl_t set = racy && job.second() ? other : one;
    while (ARMCIX_Trylock_hdl(set, 0, kThird) != 0) {
    }
    second.run(job, owner, 0);
    ARMCI_Fence(owner);
    first.run(job, owner, 0);
    ARMCI_Fence(owner);
    ARMCIX_Unlock_hdl(set, 0, kThird);
  }
  armci_msg_barrier();
  ARMCIX_Destroy_mutexes_hdl(other);
  ARMCIX_Destroy_mutexes_hdl(one);
}

void with_all_fence_and_barrier(Job& job, bool racy, const Access& first, const Access& second, int owner) {
  if (job.first()) first.run(job, owner, 0);
  if (!racy) ARMCI_AllFence();
  armci_msg_barrier();
  if (job.second()) second.run(job, owner, 0);
}

void with_group_fence_and_barrier(Job& job, bool racy, const Access& first, const Access& second, int owner) {
  ARMCI_Group world;
  ARMCI_Group_get_world(&world);
  if (job.first()) first.run(job, owner, 0);
  if (!racy) ARMCI_GroupFence(&world);
  armci_msg_group_barrier(&world);
  if (job.second()) second.run(job, owner, 0);
}

void with_barrier_of_a_group(Job& job, bool racy, const Access& first, const Access& second, int owner) {
  int pair[] = {kFirst, kSecond};
  int alone[] = {kFirst};
  ARMCI_Group group;
  ARMCI_Group_create(racy ? 1 : 2, racy ? alone : pair, &group);
  int rank = -1;
  ARMCI_Group_rank(&group, &rank);
  if (job.first()) {
    first.run(job, owner, 0);
    ARMCI_AllFence();
  }
  if (rank >= 0) armci_msg_group_barrier(&group);
  if (job.second()) second.run(job, owner, 0);
}

void with_broadcast(Job& job, bool racy, const Access& first, const Access& second, int owner) {
  if (job.first()) {
    first.run(job, owner, 0);
    ARMCI_Fence(owner);
  }
  armci_msg_brdcst(job.buffer, 4, racy ? kThird : kFirst);
  if (job.second()) second.run(job, owner, 0);
}

void with_reduction(Job& job, bool racy, const Access& first, const Access& second, int owner) {
  int sum[] = {1};
  char plus[] = "+";
  if (job.first()) {
    first.run(job, owner, 0);
    if (!racy) ARMCI_Fence(owner);
  }
  armci_msg_igop(sum, 1, plus);
  if (job.second()) second.run(job, owner, 0);
}

void with_reduction_to_the_root(Job& job, bool racy, const Access& first, const Access& second, int owner) {
  // The root is process 0, which accesses second here.
  int sum[] = {1};
  char plus[] = "+";
  if (job.second()) {
    first.run(job, owner, 0);
    if (!racy) ARMCI_Fence(owner);
  }
  armci_msg_reduce(sum, 1, plus, ARMCI_INT);
  if (job.first()) second.run(job, owner, 0);
}

constexpr Way kWays[] = {
    {"barrier", kThird, with_barrier},
    {"fence and notify", kThird, with_fence_and_notify},
    {"fence of the target", kThird, with_fence_of_the_target},
    {"fence before the notify", kThird, with_fence_before_the_notify},
    {"notify to the owner", kSecond, with_notify_to_the_owner},
    {"notify through the owner", kThird, with_notify_through_the_owner},
    {"fence and message", kThird, with_message},
    {"message that is passed on", kThird, with_forwarded_message},
    {"fence in a lock", kThird, with_fenced_lock},
    {"one mutex", kThird, with_one_mutex},
    {"mutex of a set", kFirst, with_mutex_of_a_set},
    {"fence of all and barrier of messages", kThird, with_all_fence_and_barrier},
    {"fence and barrier of a group", kThird, with_group_fence_and_barrier},
    {"barrier of a group of both", kThird, with_barrier_of_a_group},
    {"broadcast by the first", kThird, with_broadcast},
    {"fence and reduction", kThird, with_reduction},
    {"fence and reduction to the root", kThird, with_reduction_to_the_root},
};

// Reads need no fence.
void read_then_notify(Job& job, bool racy, const Access& first, const Access& second, int owner) {
  if (job.first()) {
    if (!racy) first.run(job, owner, 0);
    notify_second();
    if (racy) first.run(job, owner, 0);
  } else if (job.second()) {
    await(kFirst);
    second.run(job, owner, 0);
  }
}

}  // namespace

void add_synchronised(std::vector<Pair>* pairs) {
  // A store, which has to be complete, and another access; different ones for each way.
  const std::pair<const Access*, const Access*> combinations[] = {
      {&kPut, &kGet},          {&kPutStrided, &kGetVector}, {&kAcc, &kGetValue},     {&kPutValue, &kPut},
      {&kNbPut, &kGet},        {&kPutVector, &kAcc},        {&kAccStrided, &kNbGet}, {&kPut, &kRmw},
      {&kPutStrided, &kNbPut}, {&kAcc, &kPutStrided},
  };
  constexpr std::size_t kOfAWay = 5;
  std::size_t next = 0;
  for (const Way& way : kWays) {
    for (std::size_t i = 0; i < kOfAWay; ++i) {
      const auto [first, second] = combinations[next++ % std::size(combinations)];
      pairs->push_back({std::string(way.name) + ": " + first->name + ", " + second->name,
                        [way, first = first, second = second](Job& job, bool racy) {
                          way.run(job, racy, *first, *second, way.owner);
                        }});
    }
  }
  for (const Access* first : {&kGet, &kGetStrided, &kGetVector, &kNbGet}) {
    pairs->push_back({std::string("notify after a read: ") + first->name + ", put",
                      [first](Job& job, bool racy) { read_then_notify(job, racy, *first, kPut, kThird); }});
  }
}

}  // namespace armci_race
