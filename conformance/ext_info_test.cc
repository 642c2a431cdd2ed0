// EXT-5 to EXT-10, MODE-1, ERR-3, ERR-4, PROG-4: addresses, introspection, statistics, settings, access modes,
// checking.

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "armcix.h"
#include "conformance/harness/capture.h"
#include "conformance/harness/child_job.h"
#include "conformance/harness/test.h"

namespace conformance {
namespace {

CLAUSE_TEST(EXT, EXT5_direct_pointers, "EXT-5", "MEM-4") {
  Region region(4096);
  const bool load_store = (ARMCIX_Capabilities() & ARMCIX_CAP_LOAD_STORE) != 0;
  for (int p = 0; p < Np(); ++p) {
    void* direct = ARMCIX_Ptr(p, region.At(p, 1000));
    EXPECT_TRUE(direct != nullptr || !load_store || !SameNode(p)) << "process " << p;
    if (direct == nullptr) continue;
    StoreShared<long>(static_cast<char*>(direct) + 8 * Me(), 60 * p + Me());
  }
  Sync();
  for (int p = 0; p < Np(); ++p) {
    if (ARMCIX_Ptr(p, region.At(p, 1000)) == nullptr) continue;
    EXPECT_EQ(ARMCI_GetValueLong(region.At(p, 1000) + 8 * Me(), p), 60 * p + Me());
  }
  // An address in no region is no error, and nothing is printed.
  long local = 0;
  std::vector<std::string> lines;
  void* nowhere = &local;
  {
    CapturedStderr capture;
    nowhere = ARMCIX_Ptr(Me(), &local);
    lines = capture.Lines();
  }
  EXPECT_EQ(nowhere, nullptr);
  EXPECT_TRUE(lines.empty());
}

void ExpectIdentity() {
  ASSERT_NE(ARMCIX_Implementation(), nullptr);
  EXPECT_STREQ(ARMCIX_Implementation(), armci_implementation);
  int major = -1, minor = -1, patch = -1;
  EXPECT_EQ(ARMCIX_Version(&major, &minor, &patch), 0);
  EXPECT_TRUE(major >= 0 && minor >= 0 && patch >= 0);
  EXPECT_EQ(ARMCIX_Version(nullptr, nullptr, nullptr), 0);
  const std::uint64_t capabilities = ARMCIX_Capabilities();
  EXPECT_EQ(ARMCIX_Capabilities(), capabilities) << "another answer to the same question";
}

CLAUSE_TEST(EXT, EXT6_identity_before_init, "EXT-6", Phase::kBeforeInit) { ExpectIdentity(); }

CLAUSE_TEST(EXT, EXT6_identity_and_thread_level, "EXT-6") {
  ExpectIdentity();
  int level = -1;
  EXPECT_EQ(ARMCIX_Query_thread(&level), 0);
  EXPECT_EQ(level, ThreadLevel());
  const std::uint64_t mine = ARMCIX_Capabilities();
  EXPECT_EQ(mine, FromRank(0, mine)) << "the same on all processes";
}

CLAUSE_TEST(EXT, EXT8_settings_are_enumerated, "EXT-8") {
  Agree();
  std::set<std::string> names;
  armcix_setting_t setting{};
  int index = 0;
  for (; index < 10000 && ARMCIX_Setting(index, &setting) == 0; ++index) {
    ASSERT_NE(setting.name, nullptr);
    EXPECT_EQ(std::string(setting.name).rfind("ARMCI_", 0), 0u) << setting.name;
    EXPECT_TRUE(names.insert(setting.name).second) << setting.name << " twice";
    EXPECT_TRUE(setting.type != nullptr && setting.unit != nullptr && setting.default_value != nullptr &&
                setting.value != nullptr && setting.text != nullptr)
        << setting.name;
    EXPECT_GT(std::string(setting.text).size(), 5u) << setting.name;
    if (const char* given = std::getenv(setting.name); given != nullptr && *given != '\0') {
      EXPECT_STRNE(setting.value, "") << setting.name;
    }
  }
  for (const char* named : {"ARMCI_CHECK", "ARMCI_STATS"}) EXPECT_EQ(names.count(named), 1u) << named;
  EXPECT_LT(index, 10000) << "the enumeration does not end";
  EXPECT_EQ(ARMCIX_Setting(index, &setting), ARMCI_PENDING);
  CapturedStderr capture;
  EXPECT_NE(ARMCIX_Setting(-1, &setting), 0);
}

// The size of simulated nodes in force, for the tests of domains.
int NodeSizeInForce() {
  armcix_setting_t setting{};
  for (int index = 0; ARMCIX_Setting(index, &setting) == 0; ++index) {
    if (setting.name == std::string("ARMCI_NODE_SIZE")) return std::atoi(setting.value);
  }
  return 0;
}
[[maybe_unused]] const bool node_size_is_asked = (AskForNodeSize(&NodeSizeInForce), true);

// Everything that `ask` enumerates, as one text, which ends where the enumeration does. `texts`: of one, the name
// first.
template <class One>
std::string Everything(int (*ask)(int, One*), const std::function<std::vector<std::string>(const One&)>& texts) {
  std::string all;
  std::set<std::string> names;
  One one{};
  int index = 0;
  for (; index < 1000 && ask(index, &one) == 0; ++index) {
    const std::vector<std::string> parts = texts(one);
    EXPECT_TRUE(names.insert(parts[0]).second) << parts[0] << " twice";
    for (const std::string& part : parts) all += part + "\n";
  }
  EXPECT_LT(index, 1000) << "the enumeration does not end";
  EXPECT_EQ(ask(index, &one), ARMCI_PENDING);
  return all;
}

// The enumeration is the same on all processes and at all times, and ends at both ends.
template <class One>
void ExpectEnumeratedAlike(int (*ask)(int, One*), const std::function<std::vector<std::string>(const One&)>& texts) {
  Agree();
  const std::string first = Everything<One>(ask, texts);
  const std::size_t hash = std::hash<std::string>()(first);
  EXPECT_EQ(hash, FromRank(0, hash)) << "the same on all processes";
  Region region(64);
  Sync();
  EXPECT_EQ(Everything<One>(ask, texts), first) << "another answer to the same question";
  CapturedStderr capture;
  One one{};
  EXPECT_NE(ask(-1, &one), 0);
  EXPECT_NE(ask(0, nullptr), 0);
}

CLAUSE_TEST(EXT, EXT9_findings_are_enumerated_alike, "EXT-9") {
  ExpectEnumeratedAlike<armcix_finding_t>(&ARMCIX_Finding, [](const armcix_finding_t& finding) {
    for (const char* sentence : {finding.text, finding.instead}) {
      EXPECT_GT(std::string(sentence).size(), 5u) << finding.name;
    }
    return std::vector<std::string>{finding.name, finding.text, finding.instead};
  });
}

CLAUSE_TEST(EXT, EXT10_choices_are_enumerated_alike, "EXT-10") {
  ExpectEnumeratedAlike<armcix_choice_t>(&ARMCIX_Choice, [](const armcix_choice_t& choice) {
    EXPECT_STRNE(choice.name, "");
    EXPECT_STRNE(choice.value, "") << choice.name;
    return std::vector<std::string>{choice.name, choice.value};
  });
}

CLAUSE_TEST(PROG, PROG4_progress_helps_at_most, "PROG-4") {
  Region region(64);
  EXPECT_EQ(ARMCIX_Progress(), 0);
  long value = 3;
  EXPECT_EQ(ARMCI_NbPut(&value, region.At((Me() + 1) % Np()), 8, (Me() + 1) % Np(), nullptr), 0);
  EXPECT_EQ(ARMCIX_Progress(), 0);
  Sync();
  EXPECT_EQ(LoadShared<long>(region.Mine()), 3);
}

CLAUSE_TEST(MODE, MODE1_kept_promises_change_no_result, "MODE-1") {
  constexpr int kElements = 1000;
  Region region(kElements * 8);
  const int right = (Me() + 1) % Np();
  const int left = (Me() + Np() - 1) % Np();
  const auto mode = [&](armcix_mode_t wanted) {
    Agree();
    EXPECT_EQ(ARMCIX_Region_mode(region.Mine(), wanted, nullptr), 0);
  };
  std::vector<long> buffer(kElements);
  std::vector<long> back(kElements);
  for (long round = 0; round < 20; ++round) {
    mode(ARMCIX_MODE_PUT_ONLY);
    std::fill(buffer.begin(), buffer.end(), 1000 * round + Me());
    EXPECT_EQ(ARMCI_Put(buffer.data(), region.At(right), kElements * 8, right), 0);
    Sync();
    mode(ARMCIX_MODE_READ_ONLY);
    EXPECT_EQ(ARMCI_Get(region.At(right), back.data(), kElements * 8, right), 0);
    EXPECT_EQ(back, buffer);
    mode(ARMCIX_MODE_ACC_ONLY);
    long scale = 2;
    EXPECT_EQ(ARMCI_Acc(ARMCI_ACC_LNG, &scale, buffer.data(), region.At(right), kElements * 8, right), 0);
    EXPECT_EQ(ARMCI_Acc(ARMCI_ACC_LNG, &scale, buffer.data(), region.At(left), kElements * 8, left), 0);
    Sync();
    mode(ARMCIX_MODE_DEFAULT);
    const long expected = 3 * (1000 * round + left) + 2 * (1000 * round + right);
    EXPECT_EQ(std::vector<long>(region.As<long>(Me()), region.As<long>(Me()) + kElements),
              std::vector<long>(kElements, expected));
    long seen = 0;
    EXPECT_EQ(ARMCI_Rmw(ARMCI_SWAP_LONG, &seen, region.At(Me()), 0, Me()), 0);
    EXPECT_EQ(seen, expected);
    Sync();
  }
}

// The environment of a child of two processes.
struct ChildWorld {
  int me = 0;
  std::vector<void*> ptr;
  long* At(int p) const { return static_cast<long*>(ptr[static_cast<std::size_t>(p)]); }
};

ChildWorld StartChild(std::size_t bytes) {
  MPI_Init(nullptr, nullptr);
  ChildWorld world;
  Require(ARMCI_Init() == 0, "ARMCI_Init");
  world.me = armci_msg_me();
  world.ptr.resize(static_cast<std::size_t>(armci_msg_nproc()));
  Require(ARMCI_Malloc(world.ptr.data(), static_cast<armci_size_t>(bytes)) == 0, "ARMCI_Malloc");
  std::memset(world.At(world.me), 0, bytes);
  ARMCI_Barrier();
  return world;
}

int EndChild(const ChildWorld& world) {
  ARMCI_Barrier();
  Require(ARMCI_Free(world.At(world.me)) == 0, "ARMCI_Free");
  Require(ARMCI_Finalize() == 0, "ARMCI_Finalize");
  MPI_Finalize();
  Say("DONE");
  return 0;
}

// Two processes with these settings; both must come to their end.
ChildResult ExpectDone(const std::string& name, const std::map<std::string, std::string>& environment) {
  const ChildResult result = RunChildJob(2, name, "", environment, 25);
  EXPECT_EQ(result.status, 0) << name << ": " << result.Text();
  EXPECT_EQ(result.Count("DONE"), 2) << name << ": " << result.Text();
  return result;
}

CHILD_CASE(broken_promises) {
  const ChildWorld world = StartChild(4096);
  const int other = 1 - world.me;
  long value = 7;
  long one = 1;
  long mine = 0;
  Require(ARMCIX_Region_mode(world.At(world.me), ARMCIX_MODE_READ_ONLY, nullptr) == 0, "read-only");
  Require(ARMCI_Put(&value, world.At(other), 8, other) != 0, "a put into read-only memory");
  Require(ARMCI_Acc(ARMCI_ACC_LNG, &one, &value, world.At(other), 8, other) != 0, "an accumulate there");
  Require(ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &mine, world.At(other), 1, other) != 0, "an RMW there");
  Require(ARMCI_Get(world.At(other), &mine, 8, other) == 0 && mine == 0, "nothing was written");
  Require(ARMCIX_Region_mode(world.At(world.me), ARMCIX_MODE_ACC_ONLY, nullptr) == 0, "accumulate-only");
  Require(ARMCI_Put(&value, world.At(other), 8, other) != 0, "a put into accumulate-only memory");
  Require(ARMCIX_Region_mode(world.At(world.me), ARMCIX_MODE_PUT_ONLY, nullptr) == 0, "put-only");
  Require(ARMCI_Acc(ARMCI_ACC_LNG, &one, &value, world.At(other), 8, other) != 0, "an accumulate into put-only memory");
  Require(ARMCIX_Region_mode(world.At(world.me), ARMCIX_MODE_DEFAULT, nullptr) == 0, "default");
  Require(ARMCI_Get(world.At(other), &mine, 8, other) == 0 && mine == 0, "nothing was written at all");
  Require(ARMCI_Put(&value, world.At(other), 8, other) == 0, "usable again");
  return EndChild(world);
}

CLAUSE_TEST(MODE, MODE1_broken_promises_are_reported_by_checking, "MODE-1", "ERR-4", StartsChildJobs{},
            DeadlineSeconds(60)) {
  if (Me() == 0) {
    const ChildResult result = ExpectDone("broken_promises", {{"ARMCI_CHECK", "1"}});
    EXPECT_TRUE(result.HasLineWith({"ARMCI_Put", "[MODE-1]"})) << result.Text();
  }
}

CHILD_CASE(costly_checks) {
  const ChildWorld world = StartChild(4096);
  const int other = 1 - world.me;
  // One segment of a vector outside of the region, in the middle.
  long source[3] = {1, 2, 3};
  void* src[] = {&source[0], &source[1], &source[2]};
  void* dst[] = {world.At(other), world.At(other) + 512, world.At(other) + 1};
  armci_giov_t giov{src, dst, 8, 3};
  Require(ARMCI_PutV(&giov, 1, other) != 0, "a segment outside of the region");
  Require(ARMCI_GetValueLong(world.At(other), other) == 0, "nothing was written");
  // A source that changes between a non-blocking put and its wait, and one that does not.
  armci_hdl_t handle;
  ARMCI_INIT_HANDLE(&handle);
  Require(ARMCI_NbPut(&source[0], world.At(other) + 8, 8, other, &handle) == 0, "ARMCI_NbPut");
  source[0] = 11;
  Require(ARMCI_Wait(&handle) != 0, "the source was changed before the wait");
  Require(ARMCI_NbPut(&source[0], world.At(other) + 8, 8, other, &handle) == 0, "ARMCI_NbPut again");
  Require(ARMCI_Wait(&handle) == 0, "nothing was changed");
  // Source and destination of a put within one process share bytes.
  Require(ARMCI_Put(world.At(world.me), world.At(world.me) + 1, 16, world.me) == 0, "an overlap is only warned of");
  return EndChild(world);
}

CLAUSE_TEST(ERR, ERR4_costly_checks_are_on_with_armci_check, "ERR-4", "ERR-1", StartsChildJobs{}, DeadlineSeconds(60)) {
  if (Me() == 0) {
    const ChildResult result = ExpectDone("costly_checks", {{"ARMCI_CHECK", "1"}});
    EXPECT_TRUE(result.HasLineWith({"ARMCI_PutV", "rank"})) << result.Text();
    EXPECT_TRUE(result.HasLineWith({"warning", "overlap"})) << result.Text();
  }
}

CHILD_CASE(data_races) {
  const ChildWorld world = StartChild(4096);
  const int other = 1 - world.me;
  long value = 7;
  int times = 0;
  // Both write to the same bytes.
  Require(ARMCI_Put(&value, world.At(0), 8, 0) == 0, "ARMCI_Put");
  ARMCI_Barrier();
  // In turns: a store to its target, a notification, and a read there.
  if (world.me == 0) {
    Require(ARMCI_PutValueLong(value, world.At(1) + 64, 1) == 0, "ARMCI_PutValueLong");
    Require(armci_notify(other) == 0, "armci_notify");
  } else {
    Require(armci_notify_wait(other, &times) == 0, "armci_notify_wait");
    Require(ARMCI_GetValueLong(world.At(1) + 64, 1) == 7, "the value has arrived");
  }
  return EndChild(world);
}

CLAUSE_TEST(ERR, ERR5_data_races_are_named, "ERR-5", StartsChildJobs{}, DeadlineSeconds(60)) {
  if (Me() == 0) {
    const ChildResult result = ExpectDone("data_races", {{"ARMCI_CHECK", "race"}});
    EXPECT_TRUE(result.HasLineWith({"race 1", "byte 0", "process 0"})) << result.Text();
    EXPECT_TRUE(result.HasLineWith({"process 0", "ARMCI_Put"})) << result.Text();
    EXPECT_TRUE(result.HasLineWith({"process 1", "ARMCI_Put"})) << result.Text();
    EXPECT_TRUE(result.HasLineWith({"data races: 1"})) << result.Text();
    EXPECT_FALSE(result.HasLineWith({"ARMCI_PutValueLong"})) << result.Text();
    EXPECT_FALSE(result.HasLineWith({"called at"})) << result.Text();
    const ChildResult with_stacks = ExpectDone("data_races", {{"ARMCI_CHECK", "race-stacks"}});
    EXPECT_TRUE(with_stacks.HasLineWith({"called at"})) << with_stacks.Text();
    EXPECT_TRUE(with_stacks.HasLineWith({"data races: 1"})) << with_stacks.Text();
  }
}

CHILD_CASE(statistics) {
  const ChildWorld world = StartChild(1 << 16);
  const int other = 1 - world.me;
  std::vector<long> buffer(1000, 1);
  ARMCIX_Stats_reset();
  for (int i = 0; i < 10; ++i) ARMCI_Put(buffer.data(), world.At(other), 800, other);
  for (int i = 0; i < 7; ++i) ARMCI_Get(world.At(other), buffer.data(), 8, other);
  ARMCI_Put(buffer.data(), world.At(other), 800, 99);
  long ticket = 0;
  for (int i = 0; i < 3; ++i) ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &ticket, world.At(other), 1, other);
  armcix_call_stats_t put{};
  Require(ARMCIX_Stats_call("ARMCI_Put", &put) == 0, "ARMCIX_Stats_call");
  Require(put.calls == 11, "ten puts and a failed one");
  Require(put.bytes == 8000, "the bytes of ten puts");
  std::uint64_t sum = 0;
  for (std::uint64_t bin : put.histogram) sum += bin;
  Require(sum >= 10 && put.histogram[10] == 10, "ten puts of 512 to 1023 bytes");
  armcix_stats_t all{};
  all.struct_bytes = sizeof all;
  Require(ARMCIX_Stats_get(&all) == 0, "ARMCIX_Stats_get");
  Require(all.puts == 11 && all.put_bytes == 8000 && all.errors == 1, "totals of the puts");
  Require(all.gets == 7 && all.get_bytes == 56, "totals of the gets");
  Require(all.rmws == 3, "totals of the RMWs");
  Require(all.regions_live == 1 && all.region_bytes_live == 1 << 16, "the region");
  ARMCIX_Stats_reset();
  Require(ARMCIX_Stats_call("ARMCI_Put", &put) == 0 && put.calls == 0, "nothing after a reset");
  Require(ARMCIX_Stats_get(&all) == 0 && all.puts == 0 && all.gets == 0 && all.rmws == 0 && all.errors == 0,
          "no totals after a reset");
  Require(all.put_bytes == 0 && all.get_bytes == 0 && all.regions_live == 1, "no bytes either, but the region");
  Require(ARMCIX_Stats_call("ARMCI_Nonsense", &put) != 0, "no such function");
  return EndChild(world);
}

// The same of the other forms of a transfer: strided, by value, accumulating, not blocking.
CHILD_CASE(statistics_of_forms) {
  const ChildWorld world = StartChild(1 << 16);
  const int other = 1 - world.me;
  std::vector<long> buffer(1000, 1);
  ARMCIX_Stats_reset();
  int count[] = {16, 3};
  int stride[] = {64};
  Require(ARMCI_PutS(buffer.data(), stride, world.At(other), stride, count, 1, other) == 0, "ARMCI_PutS");
  for (int i = 0; i < 2; ++i) (void)ARMCI_GetValueLong(world.At(other), other);
  long one = 1;
  for (int i = 0; i < 4; ++i) ARMCI_Acc(ARMCI_ACC_LNG, &one, buffer.data(), world.At(other), 80, other);
  for (int i = 0; i < 5; ++i) ARMCI_NbPut(buffer.data(), world.At(other), 24, other, nullptr);
  Require(ARMCI_WaitAll() == 0, "ARMCI_WaitAll");
  armcix_call_stats_t call{};
  Require(ARMCIX_Stats_call("ARMCI_PutS", &call) == 0 && call.calls == 1 && call.bytes == 48, "one put of three rows");
  Require(ARMCIX_Stats_call("ARMCI_GetValueLong", &call) == 0 && call.calls == 2 && call.bytes == 16, "two values");
  Require(ARMCIX_Stats_call("ARMCI_Acc", &call) == 0 && call.calls == 4 && call.bytes == 320, "four accumulates");
  Require(ARMCIX_Stats_call("ARMCI_NbPut", &call) == 0 && call.calls == 5 && call.bytes == 120, "five of NbPut");
  armcix_stats_t all{};
  all.struct_bytes = sizeof all;
  Require(ARMCIX_Stats_get(&all) == 0, "ARMCIX_Stats_get");
  Require(all.puts == 6 && all.put_bytes == 168, "totals of the puts");
  Require(all.gets == 2 && all.get_bytes == 16, "totals of the gets");
  Require(all.accs == 4 && all.acc_bytes == 320, "totals of the accumulates");
  return EndChild(world);
}

CLAUSE_TEST(EXT, EXT7_statistics_count_what_was_called, "EXT-7", StartsChildJobs{}, DeadlineSeconds(60)) {
  if (RunsNextChild()) ExpectDone("statistics", {{"ARMCI_STATS", "1"}});
  if (RunsNextChild()) ExpectDone("statistics_of_forms", {{"ARMCI_STATS", "1"}});
}

CHILD_CASE(setting_in_force) {
  const ChildWorld world = StartChild(64);
  armcix_setting_t setting{};
  int index = 0;
  while (ARMCIX_Setting(index, &setting) == 0 && setting.name != std::string("ARMCI_STATS")) ++index;
  Require(setting.name == std::string("ARMCI_STATS"), "a setting ARMCI_STATS");
  Require(setting.value != std::string(setting.default_value), "its value is the one given");
  return EndChild(world);
}

CLAUSE_TEST(EXT, EXT8_the_present_value_is_the_one_given, "EXT-8", StartsChildJobs{}, DeadlineSeconds(60)) {
  if (Me() == 0) ExpectDone("setting_in_force", {{"ARMCI_STATS", "1"}});
}

// In a folder for temporary files, until the end of the test.
class SettingsFile {
 public:
  SettingsFile(const std::string& name, const std::string& text) {
    path_ = (std::filesystem::temp_directory_path() / (name + "-" + std::to_string(getpid()) + ".env")).string();
    std::ofstream(path_) << text;
  }
  ~SettingsFile() { std::filesystem::remove(path_); }
  SettingsFile(const SettingsFile&) = delete;
  SettingsFile& operator=(const SettingsFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

bool HasSetting(const std::string& name) {
  armcix_setting_t setting{};
  for (int index = 0; ARMCIX_Setting(index, &setting) == 0; ++index) {
    if (setting.name == name) return true;
  }
  return false;
}

CLAUSE_TEST(EXT, EXT8_a_file_gives_what_the_environment_leaves_open, "EXT-8", "ERR-1", StartsChildJobs{},
            DeadlineSeconds(90)) {
  if (!HasSetting("ARMCI_TUNING_FILE")) SkipTest("the library reads no file of settings");
  const SettingsFile good("good", "# tuned\nexport ARMCI_STATS=1\n");
  if (RunsNextChild()) ExpectDone("setting_in_force", {{"ARMCI_TUNING_FILE", good.path()}, {"ARMCI_STATS", ""}});
  const SettingsFile overridden("overridden", "ARMCI_STATS=no number\n");
  if (RunsNextChild()) ExpectDone("setting_in_force", {{"ARMCI_TUNING_FILE", overridden.path()}, {"ARMCI_STATS", "1"}});
  if (!RunsNextChild()) return;
  const ChildResult missing = ExpectDone("init_fails", {{"ARMCI_TUNING_FILE", "/no/such/file"}});
  EXPECT_TRUE(missing.HasLineWith({"/no/such/file", "No such file or directory"})) << missing.Text();
}

CHILD_CASE(plain) { return EndChild(StartChild(64)); }

CHILD_CASE(init_fails) {
  MPI_Init(nullptr, nullptr);
  Require(ARMCI_Init() != 0, "init must fail");
  Require(ARMCI_Initialized() == 0, "not initialised after a failed init");
  MPI_Finalize();
  Say("DONE");
  return 0;
}

CLAUSE_TEST(EXT, EXT8_unknown_and_unreadable_settings, "EXT-8", "ERR-1", StartsChildJobs{}, DeadlineSeconds(90)) {
  if (RunsNextChild()) {
    const ChildResult unknown = ExpectDone("plain", {{"ARMCI_NO_SUCH_SETTING", "1"}});
    EXPECT_EQ(unknown.Count("ARMCI_NO_SUCH_SETTING"), 1) << "one warning: " << unknown.Text();
  }
  if (!RunsNextChild()) return;
  armcix_setting_t setting{};
  for (int index = 0; ARMCIX_Setting(index, &setting) == 0; ++index) {
    if (std::string(setting.type) == "text") continue;
    const std::string name = setting.name;
    const ChildResult unreadable = ExpectDone("init_fails", {{name, "neither number nor word"}});
    EXPECT_GE(unreadable.Count(name), 1) << unreadable.Text();
    break;
  }
}

CLAUSE_TEST(ERR, ERR3_errors_of_the_operating_system_keep_their_text, "ERR-3", "MEM-8", StartsChildJobs{},
            DeadlineSeconds(60)) {
  if (!HasSetting("ARMCI_SHM_DIR")) SkipTest("the library has no setting that names a file");
  if (Me() == 0) {
    const ChildResult result = ExpectDone("init_fails", {{"ARMCI_SHM_DIR", "/no/such/folder"}});
    EXPECT_TRUE(result.HasLineWith({"/no/such/folder", "No such file or directory"})) << result.Text();
    EXPECT_TRUE(result.HasLineWith({"ARMCI_Init"})) << result.Text();
  }
}

}  // namespace
}  // namespace conformance
