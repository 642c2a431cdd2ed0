// ERR: wrong state, collective calls, queries.

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "conformance/harness/capture.h"
#include "conformance/harness/test.h"

namespace conformance {
namespace {

std::vector<void*> Pointers() { return std::vector<void*>(static_cast<std::size_t>(Np()), nullptr); }

// Lines printed while `body` runs on this rank.
template <typename Body>
std::vector<std::string> LinesOf(Body body) {
  CapturedStderr capture;
  body();
  return capture.Lines();
}

// One line per mistake; the form is a convention of our own headers, that something is said is not.
void ExpectLines(const std::vector<std::string>& lines, std::size_t mistakes) {
  if (HasOwnInterface()) {
    EXPECT_EQ(lines.size(), mistakes);
  } else {
    EXPECT_GE(lines.size(), mistakes);
  }
}

void ExpectLineNaming(const std::vector<std::string>& lines, const std::string& call) {
  ExpectLines(lines, 1);
  EXPECT_TRUE(std::any_of(lines.begin(), lines.end(),
                          [&](const std::string& line) { return line.find(call) != std::string::npos; }))
      << call << " is not named in: " << (lines.empty() ? "nothing" : lines[0]);
}

CLAUSE_TEST(ERR, ERR1_a_region_already_freed, "ERR-1", "MEM-6") {
  Region kept(4096);
  std::vector<void*> ptr = Pointers();
  Agree();
  ASSERT_EQ(ARMCI_Malloc(ptr.data(), 4096), 0);
  Sync();
  void* mine = ptr[static_cast<std::size_t>(Me())];
  EXPECT_EQ(ARMCI_Free(mine), 0);
  const int target = (Me() + 1) % Np();
  long value = 1;
  int put = 0, get = 0, rmw = 0, free_again = 0;
  const auto lines = LinesOf([&] {
    put = ARMCI_Put(&value, ptr[static_cast<std::size_t>(target)], 8, target);
    get = ARMCI_Get(ptr[static_cast<std::size_t>(target)], &value, 8, target);
    rmw = ARMCI_Rmw(ARMCI_SWAP_LONG, &value, ptr[static_cast<std::size_t>(target)], 0, target);
    free_again = ARMCI_Free(mine);
  });
  EXPECT_NE(put, 0);
  EXPECT_NE(get, 0);
  EXPECT_NE(rmw, 0);
  EXPECT_NE(free_again, 0) << "freed twice";
  ExpectLines(lines, 4);
  EXPECT_EQ(value, 1);
  Sync();
  EXPECT_EQ(ARMCI_Put(&value, kept.At(target), 8, target), 0);
}

CLAUSE_TEST(ERR, ERR1_free_of_what_is_no_base_address, "ERR-1", "MEM-6") {
  Region region(4096);
  int inside = 0, foreign = 0;
  char own = 0;
  Agree();
  const auto lines = LinesOf([&] {
    inside = ARMCI_Free(region.Mine() + 64);
    foreign = ARMCI_Free(&own);
  });
  EXPECT_NE(inside, 0);
  EXPECT_NE(foreign, 0);
  ExpectLines(lines, 2);
  Sync();
  long value = 1;
  EXPECT_EQ(ARMCI_Put(&value, region.At((Me() + 1) % Np()), 8, (Me() + 1) % Np()), 0) << "the region is still there";
}

CLAUSE_TEST(ERR, MEM12_negative_size_fails_on_all_alike, "MEM-12", "ERR-1") {
  for (int culprit = 0; culprit < Np(); ++culprit) {
    std::vector<void*> ptr(static_cast<std::size_t>(Np()), &ptr);
    Agree();
    int code = 0;
    LinesOf([&] { code = ARMCI_Malloc(ptr.data(), Me() == culprit ? -1 : 100); });
    EXPECT_NE(code, 0) << "rank " << culprit << " asked for -1 bytes";
    for (void* entry : ptr) EXPECT_EQ(entry, &ptr) << "the array was written on an error";
  }
  Region works(64);
}

CLAUSE_TEST(ERR, ERR1_negative_number_of_mutexes, "ERR-1", "MUTEX-1") {
  Agree();
  int code = 0;
  LinesOf([&] { code = ARMCI_Create_mutexes(-1); });
  EXPECT_NE(code, 0);
  Agree();
  Mutexes works(1);
  ARMCI_Lock(0, Me());
  ARMCI_Unlock(0, Me());
}

CLAUSE_TEST(ERR, ERR1_destroy_without_create, "ERR-1", "MUTEX-1") {
  Agree();
  int code = 0;
  LinesOf([&] { code = ARMCI_Destroy_mutexes(); });
  EXPECT_NE(code, 0);
  Agree();
}

CLAUSE_TEST(ERR, ERR1_a_handle_survives_a_failed_call, "ERR-1", "CMPL-5") {
  Region region(64);
  const int target = (Me() + 1) % Np();
  armci_hdl_t handle;
  ARMCI_INIT_HANDLE(&handle);
  long value = 5;
  int code = 0;
  LinesOf([&] { code = ARMCI_NbPut(&value, region.At(target), 8, Np(), &handle); });
  EXPECT_NE(code, 0);
  EXPECT_EQ(ARMCI_Test(&handle), 0) << "nothing is outstanding";
  EXPECT_EQ(ARMCI_NbPut(&value, region.At(target), 8, target, &handle), 0);
  EXPECT_EQ(ARMCI_Wait(&handle), 0);
  Sync();
  EXPECT_EQ(LoadShared<long>(region.Mine()), 5);
}

CLAUSE_TEST(ERR, ERR2_queries_answer_minus_one, "ERR-2", "DOM-1", "GROUP-1") {
  Agree();
  ARMCI_Group world;
  ARMCI_Group_get_world(&world);
  const struct {
    const char* what;
    int (*query)(ARMCI_Group*);
  } queries[] = {
      {"ARMCI_Absolute_id", [](ARMCI_Group* group) { return ARMCI_Absolute_id(group, Np()); }},
      {"ARMCI_Absolute_id", [](ARMCI_Group* group) { return ARMCI_Absolute_id(group, -1); }},
      {"armci_domain_nprocs", [](ARMCI_Group*) { return armci_domain_nprocs(ARMCI_DOMAIN_SMP, 1000); }},
      {"armci_domain_id", [](ARMCI_Group*) { return armci_domain_id(ARMCI_DOMAIN_SMP, Np()); }},
      {"armci_domain_glob_proc_id", [](ARMCI_Group*) { return armci_domain_glob_proc_id(ARMCI_DOMAIN_SMP, 0, 1000); }},
      {"armci_domain_glob_proc_id", [](ARMCI_Group*) { return armci_domain_glob_proc_id(ARMCI_DOMAIN_SMP, -1, 0); }},
      {"armci_domain_same_id", [](ARMCI_Group*) { return armci_domain_same_id(ARMCI_DOMAIN_SMP, -1); }},
      {"armci_domain_count", [](ARMCI_Group*) { return armci_domain_count(static_cast<armci_domain_t>(55)); }},
  };
  for (const auto& [what, query] : queries) {
    int answer = 0;
    const auto lines = LinesOf([&, query = query] { answer = query(&world); });
    EXPECT_EQ(answer, -1) << what;
    ExpectLineNaming(lines, what);
  }
}

// Calls that must refuse to work when the library does not run.
void ExpectRefusals(const char* when) {
  char buffer[64] = "untouched";
  long value = 3;
  double scale = 1;
  int count[] = {8};
  std::vector<void*> ptr(static_cast<std::size_t>(Np()), buffer);
  const struct {
    const char* call;
    std::function<int()> run;
  } calls[] = {
      {"ARMCI_Put", [&] { return ARMCI_Put(&value, buffer, 8, 0); }},
      {"ARMCI_Get", [&] { return ARMCI_Get(buffer, &value, 8, 0); }},
      {"ARMCI_Acc", [&] { return ARMCI_Acc(ARMCI_ACC_DBL, &scale, &scale, buffer, 8, 0); }},
      {"ARMCI_PutS", [&] { return ARMCI_PutS(&value, nullptr, buffer, nullptr, count, 0, 0); }},
      {"ARMCI_NbPut", [&] { return ARMCI_NbPut(&value, buffer, 8, 0, nullptr); }},
      {"ARMCI_PutValueLong", [&] { return ARMCI_PutValueLong(1, buffer, 0); }},
      {"ARMCI_Rmw", [&] { return ARMCI_Rmw(ARMCI_SWAP_LONG, &value, buffer, 0, 0); }},
      {"ARMCI_Malloc", [&] { return ARMCI_Malloc(ptr.data(), 64); }},
      {"ARMCI_Free", [&] { return ARMCI_Free(buffer); }},
      {"ARMCI_WaitAll", [&] { return ARMCI_WaitAll(); }},
      {"ARMCI_WaitProc", [&] { return ARMCI_WaitProc(0); }},
      {"ARMCI_Create_mutexes", [&] { return ARMCI_Create_mutexes(1); }},
      {"ARMCI_Destroy_mutexes", [&] { return ARMCI_Destroy_mutexes(); }},
      {"armci_notify", [&] { return armci_notify(0); }},
      {"ARMCI_Finalize", [&] { return ARMCI_Finalize(); }},
  };
  for (const auto& [call, run] : calls) {
    if (!LibraryHas(call)) continue;
    int code = 0;
    const auto lines = LinesOf([&, &run = run] { code = run(); });
    EXPECT_NE(code, 0) << call << " " << when;
    ExpectLineNaming(lines, call);
  }
  EXPECT_STREQ(buffer, "untouched");
  EXPECT_EQ(value, 3);
}

CLAUSE_TEST(ERR, ERR1_use_before_init, "ERR-1", Phase::kBeforeInit) { ExpectRefusals("before init"); }
CLAUSE_TEST(ERR, ERR1_use_after_finalize, "ERR-1", Phase::kAfterFinalize) { ExpectRefusals("after finalize"); }

}  // namespace
}  // namespace conformance
