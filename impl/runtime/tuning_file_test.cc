#include "impl/runtime/tuning_file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "impl/runtime/config.h"

namespace armci::runtime {
namespace {

class TuningFileTest : public ::testing::Test {
 protected:
  ~TuningFileTest() override {
    unsetenv(kTuningFileVariable);
    unsetenv("ARMCI_TIMEOUT");
    Config config;
    (void)load_config(&config);  // forgets the file
    set_config(Config());
    std::filesystem::remove(path_);
  }

  void write(const std::string& text) {
    std::ofstream(path_) << text;
    setenv(kTuningFileVariable, path_.c_str(), 1);
  }

  Config loaded() {
    Config config;
    EXPECT_TRUE(load_config(&config).ok()) << last_cause().text;
    return config;
  }
  std::string refused() {
    Config config;
    config.timeout_seconds = 77;
    const Status status = load_config(&config);
    EXPECT_EQ(status.code(), Code::kArgument);
    EXPECT_EQ(config.timeout_seconds, 77) << "nothing is written";
    return status.ok() ? "" : last_cause().text;
  }

  const std::string path_ = ::testing::TempDir() + "/tuned.env";
};

TEST_F(TuningFileTest, ItGivesWhatTheEnvironmentLeavesOpen) {
  write(
      "# a comment\n\nexport ARMCI_TIMEOUT=3\n  ARMCI_SHM_RETAIN=12K  # behind it\n# (default) export ARMCI_SPIN=7\n");
  EXPECT_EQ(loaded().timeout_seconds, 3);
  EXPECT_EQ(loaded().shm_retain_bytes, 12 << 10);
  EXPECT_EQ(loaded().spin_iterations, -1);
  EXPECT_EQ(loaded().tuning_file, path_);
  setenv("ARMCI_TIMEOUT", "4", 1);
  EXPECT_EQ(loaded().timeout_seconds, 4) << "the environment goes first";
  setenv("ARMCI_TIMEOUT", "", 1);
  EXPECT_EQ(loaded().timeout_seconds, 3) << "empty means not set";
}

TEST_F(TuningFileTest, TheLastLineOfANameHolds) {
  write("ARMCI_TIMEOUT=3\r\nARMCI_TIMEOUT=5\r\n");
  EXPECT_EQ(loaded().timeout_seconds, 5);
}

TEST_F(TuningFileTest, AnEmptyValueIsTheDefault) {
  write("ARMCI_TIMEOUT=\n");
  EXPECT_EQ(loaded().timeout_seconds, 0);
}

TEST_F(TuningFileTest, WithoutTheVariableNothingIsRead) {
  write("ARMCI_TIMEOUT=3\n");
  unsetenv(kTuningFileVariable);
  EXPECT_EQ(loaded().timeout_seconds, 0);
}

TEST_F(TuningFileTest, AMissingFileIsRefusedWithItsName) {
  setenv(kTuningFileVariable, "/no/such/file", 1);
  const std::string text = refused();
  EXPECT_NE(text.find("/no/such/file"), std::string::npos) << text;
  EXPECT_NE(text.find("No such file"), std::string::npos) << text;
}

TEST_F(TuningFileTest, AFolderIsRefused) {
  setenv(kTuningFileVariable, ::testing::TempDir().c_str(), 1);
  EXPECT_NE(refused().find("cannot be read"), std::string::npos);
}

TEST_F(TuningFileTest, ALineThatIsNoSettingIsRefusedWithItsNumber) {
  for (const char* line : {"ARMCI_TIMEOUT 3", "PATH=/bin", "ARMCI_TIMEOUT =3", "source other.env"}) {
    write(std::string("ARMCI_SPIN=1\n\n") + line + "\n");
    const std::string text = refused();
    EXPECT_NE(text.find("line 3"), std::string::npos) << text;
    EXPECT_NE(text.find(path_), std::string::npos) << text;
  }
}

TEST_F(TuningFileTest, AValueThatDoesNotParseIsRefusedWithItsLine) {
  write("\nARMCI_TIMEOUT=soon\n");
  const std::string text = refused();
  EXPECT_NE(text.find("ARMCI_TIMEOUT"), std::string::npos) << text;
  EXPECT_NE(text.find("line 2"), std::string::npos) << text;
}

TEST_F(TuningFileTest, TheFileDoesNotNameAnother) {
  write("ARMCI_TUNING_FILE=other.env\n");
  EXPECT_NE(refused().find("delete that line"), std::string::npos);
}

TEST_F(TuningFileTest, AnUnknownNameDrawsAWarningWithItsLine) {
  write("ARMCI_TIMEOUT=3\nARMCI_TIMEOTU=3\n");
  set_config(loaded());
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(warn_unknown_settings(), 1);
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("line 2 of " + path_), std::string::npos) << text;
  EXPECT_NE(text.find("did you mean ARMCI_TIMEOUT?"), std::string::npos) << text;
}

TEST_F(TuningFileTest, AnEarlySettingIsOfTheEnvironmentOrTheFile) {
  write("ARMCI_TIMEOUT=3\n");
  EXPECT_EQ(early_setting("ARMCI_TIMEOUT"), "3");
  setenv("ARMCI_TIMEOUT", "4", 1);
  EXPECT_EQ(early_setting("ARMCI_TIMEOUT"), "4");
  EXPECT_EQ(early_setting("ARMCI_SPIN"), "");
  setenv(kTuningFileVariable, "/no/such/file", 1);
  EXPECT_EQ(early_setting("ARMCI_SPIN"), "");
}

}  // namespace
}  // namespace armci::runtime
