// COMPAT: names, and conventions of memory, groups, results and the environment that programs for other ARMCIs rely on.

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "conformance/harness/child_job.h"
#include "conformance/harness/test.h"

// The functions of other ARMCIs as the linker sees them: here a name has no type, and may be missing.
#define DECLARED_ELSEWHERE(name) extern "C" [[gnu::weak]] const char declared_elsewhere_##name __asm__(#name);
#include "conformance/declared_elsewhere.inc"
#undef DECLARED_ELSEWHERE

namespace conformance {
namespace {

const std::pair<const char*, const void*> kDeclaredElsewhere[] = {
#define DECLARED_ELSEWHERE(name) {#name, &declared_elsewhere_##name},
#include "conformance/declared_elsewhere.inc"
#undef DECLARED_ELSEWHERE
};

CLAUSE_TEST(COMPAT, COMPAT1_functions_of_other_headers_are_there, "COMPAT-1") {
  // A foreign library is linked statically, and a weak reference brings in no part of an archive.
  if (!HasOwnInterface()) SkipTest("names without a call are not linked in");
  EXPECT_GT(std::size(kDeclaredElsewhere), 200u);
  for (const auto& [name, address] : kDeclaredElsewhere) EXPECT_NE(address, nullptr) << name << " is not exported";
}

CLAUSE_TEST(COMPAT, COMPAT8_nothing_to_move_needs_no_scale_and_no_arrays, "COMPAT-8", "XFER-3") {
  Region region(64);
  Sync();
  for (int target = 0; target < Np(); ++target) {
    int none[] = {0}, no_row[] = {8, 0}, odd[] = {3};
    armci_giov_t no_segment = Descriptor(nullptr, nullptr, 8, 0);
    armci_giov_t no_bytes = Descriptor(nullptr, nullptr, 0, 2);
    char* const odd_address = region.At(target, 1);
    for (int type : {ARMCI_ACC_INT, ARMCI_ACC_DBL, ARMCI_ACC_DCP}) {
      EXPECT_EQ(ARMCI_Acc(type, nullptr, nullptr, nullptr, 0, target), 0) << "ARMCI_Acc of no bytes";
      EXPECT_EQ(ARMCI_NbAcc(type, nullptr, nullptr, odd_address, 0, target, nullptr), 0) << "ARMCI_NbAcc of no bytes";
      EXPECT_EQ(ARMCI_AccS(type, nullptr, nullptr, nullptr, nullptr, nullptr, none, 0, target), 0) << "no levels";
      EXPECT_EQ(ARMCI_AccS(type, nullptr, nullptr, odd, odd_address, odd, no_row, 1, target), 0) << "no rows";
      EXPECT_EQ(ARMCI_AccV(type, nullptr, nullptr, 0, target), 0) << "no descriptor";
      EXPECT_EQ(ARMCI_AccV(type, nullptr, &no_segment, 1, target), 0) << "no segment";
      EXPECT_EQ(ARMCI_AccV(type, nullptr, &no_bytes, 1, target), 0) << "segments of no bytes";
    }
    EXPECT_EQ(ARMCI_PutV(nullptr, 0, target), 0) << "ARMCI_PutV of no descriptor";
    EXPECT_EQ(ARMCI_GetV(nullptr, 0, target), 0) << "ARMCI_GetV of no descriptor";
    EXPECT_EQ(ARMCI_PutV(&no_segment, 1, target), 0) << "ARMCI_PutV of no segment";
    EXPECT_EQ(ARMCI_GetV(&no_bytes, 1, target), 0) << "ARMCI_GetV of no bytes";
    EXPECT_EQ(ARMCI_PutS(nullptr, nullptr, nullptr, nullptr, none, 0, target), 0) << "ARMCI_PutS of no bytes";
    EXPECT_EQ(ARMCI_WaitAll(), 0);
  }
  Sync();
  EXPECT_EQ(std::string(region.Mine(), 64), std::string(64, '\0'));
}

CLAUSE_TEST(COMPAT, COMPAT9_local_memory_of_no_bytes_is_freed_as_any, "COMPAT-9") {
  EXPECT_EQ(ARMCI_Free_local(nullptr), 0);
  void* const empty = ARMCI_Malloc_local(0);
  EXPECT_EQ(ARMCI_Free_local(empty), 0);
}

ARMCI_Group ByValue(ARMCI_Group group) { return group; }

CLAUSE_TEST(COMPAT, COMPAT10_copies_of_a_group_are_the_group, "COMPAT-10") {
  std::vector<int> reversed = AllRanks();
  std::reverse(reversed.begin(), reversed.end());
  Agree();
  std::vector<ARMCI_Group> copies(3);
  {
    ARMCI_Group made;
    ARMCI_Group_create(Np(), reversed.data(), &made);
    copies.assign(3, ByValue(made));
    std::memset(&made, 0xff, sizeof made);
  }
  std::vector<void*> part(static_cast<std::size_t>(Np()), nullptr);
  ASSERT_EQ(ARMCI_Malloc_group(part.data(), 64, &copies[0]), 0);
  for (ARMCI_Group& copy : copies) {
    int rank = -1, size = 0;
    EXPECT_EQ(ARMCI_Group_rank(&copy, &rank), 0);
    EXPECT_EQ(rank, Np() - 1 - Me());
    ARMCI_Group_size(&copy, &size);
    EXPECT_EQ(size, Np());
    EXPECT_EQ(ARMCI_Absolute_id(&copy, 0), Np() - 1);
    armci_msg_group_barrier(&copy);
  }
  EXPECT_EQ(ARMCI_Free_group(part[static_cast<std::size_t>(Np() - 1 - Me())], &copies[1]), 0);
  ARMCI_Group_free(&copies[2]);
}

CLAUSE_TEST(COMPAT, COMPAT11_the_result_of_an_rmw_is_a_code, "COMPAT-11", "RMW-1") {
  Region region(64);
  Sync();
  const int target = (Me() + 1) % Np();
  // Words of 4 bytes for this process alone, then one of 8.
  EXPECT_EQ(ARMCI_PutValueInt(41, region.At(target), target), 0);
  EXPECT_EQ(ARMCI_PutValueLong(1000000000000, region.At(target, 8), target), 0);
  int word = -1;
  EXPECT_EQ(ARMCI_Rmw(ARMCI_FETCH_AND_ADD, &word, region.At(target), -2, target), 0);
  EXPECT_EQ(word, 41);
  word = 5;
  EXPECT_EQ(ARMCI_Rmw(ARMCI_SWAP, &word, region.At(target), 12345, target), 0);
  EXPECT_EQ(word, 39);
  EXPECT_EQ(ARMCI_GetValueInt(region.At(target), target), 5);
  long wide = -1;
  EXPECT_EQ(ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &wide, region.At(target, 8), -1, target), 0);
  EXPECT_EQ(wide, 1000000000000);
  EXPECT_EQ(ARMCI_GetValueLong(region.At(target, 8), target), 999999999999) << "a negative increment of a long";
  Sync();
}

CLAUSE_TEST(COMPAT, COMPAT11_the_result_of_a_notification_is_a_code, "COMPAT-11", "ORD-6") {
  Agree();
  const int next = (Me() + 1) % Np(), previous = (Me() + Np() - 1) % Np();
  int before = -1;
  for (int round = 0; round < 3; ++round) {
    int count = 0;
    EXPECT_EQ(armci_notify(next), 0);
    EXPECT_EQ(armci_notify_wait(previous, &count), 0);
    if (round > 0) {
      EXPECT_EQ(count, before + 1);
    }
    before = count;
  }
}

CLAUSE_TEST(COMPAT, COMPAT12_memctl_frees_nothing, "COMPAT-12") {
  Agree();
  armci_meminfo_t mine{};
  ASSERT_EQ(ARMCI_Memget(64, &mine, 0), 0);
  ARMCI_Memctl(&mine);
  const std::vector<armci_meminfo_t> all = OneOfEachRank(mine);
  armci_meminfo_t next = all[static_cast<std::size_t>((Me() + 1) % Np())];
  ARMCI_Memctl(&next);
  void* const address = ARMCI_Memat(&next, 8);
  ASSERT_NE(address, nullptr);
  EXPECT_EQ(ARMCI_PutValueLong(500 + Me(), address, next.cpid), 0);
  EXPECT_EQ(ARMCI_GetValueLong(address, next.cpid), 500 + Me());
  Sync();
  ARMCI_Memdt(&next, 0);
  Sync();
  if (next.cpid != Me()) ARMCI_Memdt(&mine, 0);
}

// Of the documents of other ARMCIs, with values that they advise.
const std::map<std::string, std::string> kVariablesElsewhere{
    {"ARMCI_VERBOSE", "yes"},           {"ARMCI_DEBUG_ALLOC", "no"},
    {"ARMCI_FLUSH_BARRIERS", "1"},      {"ARMCI_CACHE_RANK_TRANSLATION", "t"},
    {"ARMCI_PROGRESS_USLEEP", "100"},   {"ARMCI_USE_REQUEST_ATOMICS", "0"},
    {"ARMCI_USE_WIN_ALLOCATE", "0"},    {"ARMCI_NONCOLLECTIVE_GROUPS", "1"},
    {"ARMCI_SHR_BUF_METHOD", "COPY"},   {"ARMCI_STRIDED_METHOD", "IOV"},
    {"ARMCI_IOV_METHOD", "BATCHED"},    {"ARMCI_IOV_CHECKS", "T"},
    {"ARMCI_IOV_BATCHED_LIMIT", "0"},   {"ARMCI_DEFAULT_SHMMAX", "256"},
    {"COMEX_MAX_NB_OUTSTANDING", "12"}, {"GA_NUM_PROGRESS_RANKS_PER_NODE", "1"},
};

CHILD_CASE(compat_variables_elsewhere) {
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
  Require(ARMCI_Init() == 0, "ARMCI_Init");
  const int me = armci_msg_me(), size = armci_msg_nproc();
  std::vector<void*> part(static_cast<std::size_t>(size), nullptr);
  Require(ARMCI_Malloc(part.data(), 256) == 0, "ARMCI_Malloc");
  const int next = (me + 1) % size;
  Require(ARMCI_PutValueLong(500 + me, part[static_cast<std::size_t>(next)], next) == 0, "put");
  ARMCI_Barrier();
  Require(ARMCI_GetValueLong(part[static_cast<std::size_t>(me)], me) == 500 + (me + size - 1) % size, "its value");
  ARMCI_Barrier();
  Require(ARMCI_Free(part[static_cast<std::size_t>(me)]) == 0, "ARMCI_Free");
  Require(ARMCI_Finalize() == 0, "ARMCI_Finalize");
  MPI_Finalize();
  Say("DONE");
  return 0;
}

CLAUSE_TEST(COMPAT, COMPAT13_variables_of_other_libraries_do_no_harm, "COMPAT-13", StartsChildJobs{},
            DeadlineSeconds(60)) {
  if (!RunsNextChild()) return;
  const ChildResult result = RunChildJob(2, "compat_variables_elsewhere", "", kVariablesElsewhere);
  EXPECT_FALSE(result.timed_out) << result.Text();
  EXPECT_EQ(result.status, 0) << result.Text();
  EXPECT_EQ(result.Count("DONE"), 2) << result.Text();
}

}  // namespace
}  // namespace conformance
