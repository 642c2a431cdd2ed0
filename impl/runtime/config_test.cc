#include "impl/runtime/config.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace armci::runtime {
namespace {

class ConfigTest : public ::testing::Test {
 protected:
  void SetUp() override { clear(); }
  void TearDown() override {
    clear();
    set_config(Config());
  }

  static void set(const char* name, const char* value) { setenv(name, value, 1); }

  static std::string refused() {
    Config config;
    const Status status = load_config(&config);
    EXPECT_EQ(status.code(), Code::kArgument);
    return status.ok() ? "" : last_cause().text;
  }

 private:
  static void clear() {
    std::vector<std::string> names;
    for (char** entry = environ; *entry != nullptr; ++entry) {
      if (std::strncmp(*entry, "ARMCI_", 6) == 0) names.emplace_back(*entry, std::strcspn(*entry, "="));
    }
    for (const std::string& name : names) unsetenv(name.c_str());
  }
};

TEST_F(ConfigTest, EmptyEnvironmentGivesDefaults) {
  Config config;
  config.node_size = 99;
  ASSERT_TRUE(load_config(&config).ok());
  EXPECT_EQ(config.node_size, 0);
  EXPECT_EQ(config.timeout_seconds, 0);
  EXPECT_FALSE(config.stats);
  EXPECT_EQ(config.shm_dir, "/dev/shm");
  EXPECT_EQ(config.shm_retain_bytes, int64_t{64} << 20);
  EXPECT_EQ(config.spin_iterations, -1);
  EXPECT_EQ(config.mutex_handoff_us, 500);
}

TEST_F(ConfigTest, EachTypeIsRead) {
  set("ARMCI_NODE_SIZE", "3");
  set("ARMCI_TIMEOUT", "2.5");
  set("ARMCI_STATS", "Yes");
  set("ARMCI_SHM_DIR", "/tmp");
  set("ARMCI_SHM_RESERVE", "3GiB");
  set("ARMCI_SHM_RETAIN", "12k");
  set("ARMCI_MAX_SHM", "4097");
  Config config;
  ASSERT_TRUE(load_config(&config).ok());
  EXPECT_EQ(config.node_size, 3);
  EXPECT_EQ(config.timeout_seconds, 2.5);
  EXPECT_TRUE(config.stats);
  EXPECT_EQ(config.shm_dir, "/tmp");
  EXPECT_EQ(config.shm_reserve_bytes, int64_t{3} << 30);
  EXPECT_EQ(config.shm_retain_bytes, 12 << 10);
  EXPECT_EQ(config.max_shm_bytes, 4097);
}

TEST_F(ConfigTest, TheLevelOfOutputIsASwitchToo) {
  const std::pair<const char*, int> cases[] = {{"yes", 1}, {"T", 1}, {"off", 0}, {"F", 0}, {"3", 3}};
  for (const auto& [text, level] : cases) {
    set("ARMCI_VERBOSE", text);
    Config config;
    ASSERT_TRUE(load_config(&config).ok()) << text;
    EXPECT_EQ(config.verbose, level) << text;
  }
}

TEST_F(ConfigTest, EmptyValueMeansDefault) {
  set("ARMCI_MUTEX_HANDOFF", "");
  Config config;
  ASSERT_TRUE(load_config(&config).ok());
  EXPECT_EQ(config.mutex_handoff_us, 500);
}

TEST_F(ConfigTest, BadValueNamesVariableValueAndRange) {
  set("ARMCI_NODE_SIZE", "-2");
  const std::string text = refused();
  EXPECT_NE(text.find("ARMCI_NODE_SIZE"), std::string::npos) << text;
  EXPECT_NE(text.find("\"-2\""), std::string::npos) << text;
  EXPECT_NE(text.find("0..2147483647"), std::string::npos) << text;
}

TEST_F(ConfigTest, MalformedValuesAreRefused) {
  const std::pair<const char*, const char*> cases[] = {
      {"ARMCI_NODE_SIZE", "two"},    {"ARMCI_NODE_SIZE", "4x"},  {"ARMCI_NODE_SIZE", "3000000000"},
      {"ARMCI_TIMEOUT", "-1"},       {"ARMCI_TIMEOUT", "nan"},   {"ARMCI_TIMEOUT", "10 s"},
      {"ARMCI_STATS", "2"},          {"ARMCI_SHM_RETAIN", "5X"}, {"ARMCI_SHM_RETAIN", "5KK"},
      {"ARMCI_SHM_RETAIN", "-1"},    {"ARMCI_SHM_RETAIN", "K"},  {"ARMCI_SHM_RETAIN", "9000000T"},
      {"ARMCI_SHM_RESERVE", "1e9"},  {"ARMCI_SPIN", "-2"},       {"ARMCI_VERBOSE", "10"},
      {"ARMCI_MAX_SHM", "16777216T"}};
  for (const auto& [name, value] : cases) {
    set(name, value);
    EXPECT_NE(refused().find(name), std::string::npos) << name << " = " << value;
    unsetenv(name);
  }
}

TEST_F(ConfigTest, FailureWritesNothing) {
  set("ARMCI_NODE_SIZE", "5");
  set("ARMCI_MAX_SHM", "many");
  Config config;
  ASSERT_FALSE(load_config(&config).ok());
  EXPECT_EQ(config.node_size, 0);
}

TEST_F(ConfigTest, EnumerationCoversTheTableWithPresentValues) {
  set("ARMCI_SHM_RETAIN", "1536K");
  Config config;
  ASSERT_TRUE(load_config(&config).ok());
  set_config(config);
  std::set<std::string> names;
  SettingView view;
  int index = 0;
  for (; setting(index, &view); ++index) {
    EXPECT_TRUE(names.insert(view.name).second) << view.name << " twice";
    EXPECT_EQ(std::string(view.name).rfind("ARMCI_", 0), 0u);
    EXPECT_STRNE(view.text, "");
    if (std::strcmp(view.name, "ARMCI_SHM_RETAIN") == 0) {
      EXPECT_STREQ(view.value, "1536K");
      EXPECT_STREQ(view.default_value, "64M");
      EXPECT_STREQ(view.type, "bytes");
      EXPECT_STREQ(view.unit, "bytes");
    } else {
      EXPECT_STREQ(view.value, view.default_value) << view.name;
    }
  }
  EXPECT_GE(index, 11);
  EXPECT_FALSE(setting(-1, &view));
  EXPECT_FALSE(setting(index + 1, &view));
}

TEST_F(ConfigTest, ValuesStayWhileOthersAreRead) {
  std::thread([] {  // a thread that has read nothing yet
    std::vector<SettingView> views;
    SettingView view;
    for (int index = 0; setting(index, &view); ++index) views.push_back(view);
    for (std::size_t index = 0; index < views.size(); ++index) {
      SettingView again;
      const std::string before = views[index].value;
      ASSERT_TRUE(setting(static_cast<int>(index), &again));
      EXPECT_EQ(before, again.value);
    }
  })
      .join();
}

TEST_F(ConfigTest, UnknownNamesAreCountedWithTheirNearest) {
  set("ARMCI_TIMEOUTS", "3");
  set("ARMCI_TEST_SEED", "1");
  set("ARMCI_FAULT_AT", "1");
  set("ARMCI_NODE_SIZE", "1");
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(warn_unknown_settings(), 1);
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("ARMCI_TIMEOUTS"), std::string::npos) << text;
  EXPECT_NE(text.find("did you mean ARMCI_TIMEOUT?"), std::string::npos) << text;
}

TEST_F(ConfigTest, NearestName) {
  EXPECT_STREQ(nearest_setting("ARMCI_STAT"), "ARMCI_STATS");
  EXPECT_STREQ(nearest_setting("ARMCI_NODESIZE"), "ARMCI_NODE_SIZE");
  EXPECT_EQ(nearest_setting("ARMCI_COMPLETELY_DIFFERENT"), nullptr);
  EXPECT_EQ(nearest_setting("ARMCI_"), nullptr);
}

int own_window = 0;
std::string own_method;
constexpr SettingRow kOwnRows[] = {
    {"ARMCI_OWN_WINDOW", "requests", "8", 1, 64, "A row of an implementation.", &own_window},
    {"ARMCI_OWN_METHOD", "", "auto", 0, 0, "Another one.", &own_method},
};

TEST_F(ConfigTest, ImplementationRowsAreParsedAndListed) {
  append_settings(kOwnRows);
  append_settings(kOwnRows);
  EXPECT_EQ(own_window, 8);
  EXPECT_EQ(own_method, "auto");
  set("ARMCI_OWN_WINDOW", "16");
  Config config;
  ASSERT_TRUE(load_config(&config).ok());
  EXPECT_EQ(own_window, 16);
  set("ARMCI_OWN_WINDOW", "65");
  EXPECT_NE(refused().find("ARMCI_OWN_WINDOW"), std::string::npos);
  EXPECT_EQ(own_window, 16);
  EXPECT_EQ(warn_unknown_settings(), 0);
  int listed = 0;
  SettingView view;
  for (int index = 0; setting(index, &view); ++index) listed += std::strcmp(view.name, "ARMCI_OWN_WINDOW") == 0;
  EXPECT_EQ(listed, 1);
}

}  // namespace
}  // namespace armci::runtime
