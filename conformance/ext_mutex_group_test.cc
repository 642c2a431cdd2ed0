// MUTEX-7, GROUP-3: mutex sets, split and duplicated groups.

#include <sched.h>

#include <algorithm>
#include <vector>

#include "armcix.h"
#include "conformance/harness/child_job.h"
#include "conformance/harness/test.h"

namespace conformance {
namespace {

// A group of all processes in reverse order: group ranks and absolute ids differ.
ARMCI_Group Reversed() {
  std::vector<int> list;
  for (int p = Np() - 1; p >= 0; --p) list.push_back(p);
  ARMCI_Group group;
  ARMCI_Group_create(Np(), list.data(), &group);
  return group;
}

// Adds 1 to the long at `at` of process 0 by a get and a put, which is right under mutual exclusion only.
void AddOne(void* at) {
  const long value = ARMCI_GetValueLong(at, 0);
  EXPECT_EQ(ARMCI_PutValueLong(value + 1, at, 0), 0);
  ARMCI_Fence(0);
}

CLAUSE_TEST(MUTEX, MUTEX7_sets_are_independent_and_use_group_ranks, "MUTEX-7", "MUTEX-4") {
  ARMCI_Group world;
  ARMCI_Group_get_world(&world);
  Agree();
  ARMCI_Group reversed = Reversed();
  // In the second set only group rank 0, the last process, has mutexes.
  armcix_mutex_hdl_t first = ARMCIX_Create_mutexes_hdl(1, &world);
  armcix_mutex_hdl_t second = ARMCIX_Create_mutexes_hdl(Me() == Np() - 1 ? 2 : 0, &reversed);
  ASSERT_NE(first, nullptr);
  ASSERT_NE(second, nullptr);
  Mutexes classic(1);
  // Every process holds its own mutex of the first set; the other sets are independent of it.
  ARMCIX_Lock_hdl(first, 0, Me());
  Agree();
  {
    Region region(64);
    for (int i = 0; i < 300; ++i) {
      ARMCIX_Lock_hdl(second, 1, 0);
      AddOne(region.At(0));
      ARMCIX_Unlock_hdl(second, 1, 0);
      ARMCI_Lock(0, Me());
      ARMCI_Unlock(0, Me());
    }
    Sync();
    EXPECT_EQ(ARMCI_GetValueLong(region.At(0), 0), 300L * Np());
  }
  ARMCIX_Unlock_hdl(first, 0, Me());
  Sync();
  EXPECT_EQ(ARMCIX_Destroy_mutexes_hdl(first), 0);
  EXPECT_EQ(ARMCIX_Destroy_mutexes_hdl(second), 0);
  ARMCI_Group_free(&reversed);
}

CLAUSE_TEST(MUTEX, MUTEX7_a_set_outlives_the_handle_of_its_group, "MUTEX-7", "GROUP-1") {
  Agree();
  ARMCI_Group reversed = Reversed();
  armcix_mutex_hdl_t set = ARMCIX_Create_mutexes_hdl(1, &reversed);
  ASSERT_NE(set, nullptr);
  ARMCI_Group_free(&reversed);
  Region region(64);
  for (int i = 0; i < 100; ++i) {
    ARMCIX_Lock_hdl(set, 0, 0);
    AddOne(region.At(0));
    ARMCIX_Unlock_hdl(set, 0, 0);
  }
  Sync();
  EXPECT_EQ(ARMCI_GetValueLong(region.At(0), 0), 100L * Np());
  EXPECT_EQ(ARMCIX_Destroy_mutexes_hdl(set), 0);
}

CLAUSE_TEST(MUTEX, MUTEX7_a_set_with_a_held_mutex_is_not_destroyed, "MUTEX-7", "MUTEX-1") {
  ARMCI_Group world;
  ARMCI_Group_get_world(&world);
  Agree();
  armcix_mutex_hdl_t set = ARMCIX_Create_mutexes_hdl(2, &world);
  ASSERT_NE(set, nullptr);
  if (Me() == 0) ARMCIX_Lock_hdl(set, 1, Np() - 1);
  EXPECT_NE(ARMCIX_Destroy_mutexes_hdl(set), 0);
  if (Me() == 0) ARMCIX_Unlock_hdl(set, 1, Np() - 1);
  Agree();
  ARMCIX_Lock_hdl(set, 1, Np() - 1);
  ARMCIX_Unlock_hdl(set, 1, Np() - 1);
  EXPECT_EQ(ARMCIX_Destroy_mutexes_hdl(set), 0);
}

// Finalize frees the sets that the program forgot; their handles are wrong ones in the next life of the library.
CHILD_CASE(forgotten_set) {
  MPI_Init(nullptr, nullptr);
  Require(ARMCI_Init() == 0, "ARMCI_Init");
  ARMCI_Group world;
  ARMCI_Group_get_world(&world);
  armcix_mutex_hdl_t set = ARMCIX_Create_mutexes_hdl(1, &world);
  Require(set != nullptr, "a set of mutexes");
  Require(ARMCI_Finalize() == 0 && ARMCI_Init() == 0, "finalize and init");
  Require(ARMCIX_Trylock_hdl(set, 0, 0) == ARMCI_ERR_MUTEX, "a handle of the life before");
  Require(ARMCI_Finalize() == 0, "ARMCI_Finalize");
  MPI_Finalize();
  Say("DONE");
  return 0;
}

CLAUSE_TEST(MUTEX, MUTEX7_a_handle_ends_with_finalize, "MUTEX-7", "MUTEX-8", "INIT-5", StartsChildJobs{},
            DeadlineSeconds(60)) {
  if (Me() != 0) return;
  const ChildResult result = RunChildJob(2, "forgotten_set");
  EXPECT_EQ(result.status, 0) << result.Text();
  EXPECT_EQ(result.Count("DONE"), 2) << result.Text();
}

CLAUSE_TEST(MUTEX, MUTEX7_trylock_never_blocks_and_tells_the_truth, "MUTEX-7", NeedsRanks(2)) {
  ARMCI_Group world;
  ARMCI_Group_get_world(&world);
  Agree();
  armcix_mutex_hdl_t set = ARMCIX_Create_mutexes_hdl(1, &world);
  ASSERT_NE(set, nullptr);
  for (int holder = 0; holder < Np(); ++holder) {
    if (Me() == holder) {
      EXPECT_EQ(ARMCIX_Trylock_hdl(set, 0, 0), ARMCI_OK) << "free";
    }
    Agree();
    if (Me() != holder) {
      for (int i = 0; i < 100; ++i) EXPECT_EQ(ARMCIX_Trylock_hdl(set, 0, 0), ARMCI_PENDING) << "held by " << holder;
    }
    Agree();
    if (Me() == holder) {
      ARMCIX_Unlock_hdl(set, 0, 0);
      ARMCI_Fence(0);  // else a try by another rank may still find it held
    }
    Agree();
  }
  EXPECT_EQ(ARMCIX_Destroy_mutexes_hdl(set), 0);
}

CLAUSE_TEST(MUTEX, MUTEX7_a_fence_after_unlock_frees_the_mutex_for_trylock, "MUTEX-7", NeedsRanks(2)) {
  // The ranks hold the mutex in turn; each learns by a message that the one before has unlocked and fenced.
  const int host = Np() - 1;
  ARMCI_Group world;
  ARMCI_Group_get_world(&world);
  armcix_mutex_hdl_t set = ARMCIX_Create_mutexes_hdl(Me() == host ? 1 : 0, &world);
  ASSERT_NE(set, nullptr);
  const int next = (Me() + 1) % Np();
  const int before = (Me() + Np() - 1) % Np();
  const int rounds = static_cast<int>(Rounds(200, 30));
  for (int round = 0; round < rounds; ++round) {
    if (round > 0 || Me() > 0) MPI_Recv(nullptr, 0, MPI_INT, before, 6, Comm(), MPI_STATUS_IGNORE);
    EXPECT_EQ(ARMCIX_Trylock_hdl(set, 0, host), ARMCI_OK) << "round " << round;
    ARMCIX_Unlock_hdl(set, 0, host);
    ARMCI_Fence(host);
    if (round + 1 < rounds || Me() + 1 < Np()) MPI_Send(nullptr, 0, MPI_INT, next, 6, Comm());
  }
  Sync();
  EXPECT_EQ(ARMCIX_Destroy_mutexes_hdl(set), 0);
}

CLAUSE_TEST(MUTEX, MUTEX7_trylock_excludes_under_contention, "MUTEX-7", "MUTEX-2", DeadlineSeconds(60)) {
  ARMCI_Group world;
  ARMCI_Group_get_world(&world);
  Region region(64);
  armcix_mutex_hdl_t set = ARMCIX_Create_mutexes_hdl(1, &world);
  ASSERT_NE(set, nullptr);
  const int host = Np() - 1;
  long mine = 0;
  Race race(AllRanks(), Scaled(5000L, 500L));
  while (race.GoOn()) {
    // Now and then by waiting, so that trylock meets waiting lockers too.
    if (MyRng().Chance(1, 4)) {
      ARMCIX_Lock_hdl(set, 0, host);
    } else if (const int code = ARMCIX_Trylock_hdl(set, 0, host); code != ARMCI_OK) {
      ASSERT_EQ(code, ARMCI_PENDING);
      sched_yield();
      continue;
    }
    AddOne(region.At(0));
    ARMCIX_Unlock_hdl(set, 0, host);
    ++mine;
  }
  Sync();
  const long total = SumOverRanks(mine);
  EXPECT_EQ(ARMCI_GetValueLong(region.At(0), 0), total);
  EXPECT_EQ(ARMCIX_Destroy_mutexes_hdl(set), 0);
}

CLAUSE_TEST(GROUP, GROUP3_split_orders_by_key_then_rank, "GROUP-3") {
  Agree();
  for (int round = 0; round < Scaled(30, 10); ++round) {
    std::vector<int> color(static_cast<std::size_t>(Np()));
    std::vector<int> key(color.size());
    for (std::size_t p = 0; p < color.size(); ++p) {
      color[p] = static_cast<int>(SharedRng().Between(-1, 1));
      key[p] = static_cast<int>(SharedRng().Between(-2, 2));
    }
    ARMCI_Group parent = Reversed();
    const auto me = static_cast<std::size_t>(Me());
    ARMCI_Group part;
    EXPECT_EQ(ARMCIX_Group_split(&parent, color[me], key[me], &part), 0);
    // Members in parent order (descending ids), then stably by key.
    std::vector<int> members;
    for (int p = Np() - 1; p >= 0; --p) {
      if (color[me] >= 0 && color[static_cast<std::size_t>(p)] == color[me]) members.push_back(p);
    }
    std::stable_sort(members.begin(), members.end(),
                     [&](int a, int b) { return key[static_cast<std::size_t>(a)] < key[static_cast<std::size_t>(b)]; });
    int rank = -2;
    EXPECT_EQ(ARMCI_Group_rank(&part, &rank), 0);
    if (color[me] < 0) {
      EXPECT_EQ(rank, -1);
    } else {
      ASSERT_TRUE(rank >= 0 && rank < static_cast<int>(members.size()));
      EXPECT_EQ(members[static_cast<std::size_t>(rank)], Me()) << SeedText();
      for (std::size_t i = 0; i < members.size(); ++i) {
        EXPECT_EQ(ARMCI_Absolute_id(&part, static_cast<int>(i)), members[i]) << SeedText();
      }
      ARMCI_Group_free(&part);
    }
    ARMCI_Group_free(&parent);
    Agree();
  }
}

CLAUSE_TEST(GROUP, GROUP3_a_duplicate_is_a_group_of_its_own, "GROUP-3") {
  Agree();
  ARMCI_Group parent = Reversed();
  ARMCI_Group copy;
  EXPECT_EQ(ARMCIX_Group_dup(&parent, &copy), 0);
  for (int rank = 0; rank < Np(); ++rank) EXPECT_EQ(ARMCI_Absolute_id(&copy, rank), Np() - 1 - rank);
  std::vector<void*> ptr(static_cast<std::size_t>(Np()), nullptr);
  EXPECT_EQ(ARMCI_Malloc_group(ptr.data(), 64, &copy), 0);
  armcix_mutex_hdl_t set = ARMCIX_Create_mutexes_hdl(1, &copy);
  EXPECT_NE(set, nullptr);
  // The parent goes first; the copy lives on.
  ARMCI_Group_free(&parent);
  const int my_rank = Np() - 1 - Me();
  const int next_rank = (my_rank + 1) % Np();
  const int next = ARMCI_Absolute_id(&copy, next_rank);
  EXPECT_EQ(ARMCI_PutValueLong(70 + Me(), ptr[static_cast<std::size_t>(next_rank)], next), 0);
  ARMCI_GroupFence(&copy);
  armci_msg_group_barrier(&copy);
  EXPECT_EQ(LoadShared<long>(ptr[static_cast<std::size_t>(my_rank)]), 70 + (Me() + 1) % Np());
  armci_msg_group_barrier(&copy);
  EXPECT_EQ(ARMCIX_Destroy_mutexes_hdl(set), 0);
  EXPECT_EQ(ARMCI_Free_group(ptr[static_cast<std::size_t>(my_rank)], &copy), 0);
  ARMCI_Group_free(&copy);
}

}  // namespace
}  // namespace conformance
