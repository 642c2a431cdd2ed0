#include "impl/mpi-rma/preflight/cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace armci::rma {
namespace {

namespace fs = std::filesystem;

class FindingsCacheTest : public ::testing::Test {
 protected:
  FindingsCacheTest() {
    std::string name = ::testing::TempDir() + "/cacheXXXXXX";
    home_ = mkdtemp(name.data());
    setenv("XDG_CACHE_HOME", home_.c_str(), 1);
  }
  ~FindingsCacheTest() override { fs::remove_all(home_); }

  static void overwrite(const FindingsCache& cache, const std::string& text) {
    std::ofstream(cache.path(), std::ios::trunc) << text;
  }
  static std::string content(const FindingsCache& cache) {
    std::ifstream file(cache.path());
    return {std::istreambuf_iterator<char>(file), {}};
  }

  fs::path home_;
};

TEST_F(FindingsCacheTest, IsEmptyAtFirst) { EXPECT_FALSE(FindingsCache("a: b\n").read()); }

TEST_F(FindingsCacheTest, GivesBackWhatWasWritten) {
  const FindingsCache cache("a: b\n");
  cache.write(0xfedcba9876543210U);
  EXPECT_EQ(cache.read(), 0xfedcba9876543210U);
  cache.write(3);
  EXPECT_EQ(cache.read(), 3U);
}

TEST_F(FindingsCacheTest, IsForTheUserAlone) {
  FindingsCache("a: b\n").write(1);
  struct stat status {};
  ASSERT_EQ(stat((home_ / "armci").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0700U);
}

TEST_F(FindingsCacheTest, LeavesNoDrafts) {
  FindingsCache("a: b\n").write(1);
  EXPECT_EQ(std::distance(fs::directory_iterator(home_ / "armci"), {}), 1);
}

TEST_F(FindingsCacheTest, AnotherKeyIsAnotherFile) {
  FindingsCache("a: b\n").write(1);
  EXPECT_FALSE(FindingsCache("a: c\n").read());
}

TEST_F(FindingsCacheTest, AFileOfAnotherKeyIsNotBelieved) {
  const FindingsCache other("a: b\n");
  other.write(1);
  const FindingsCache cache("a: c\n");
  fs::copy_file(other.path(), cache.path());
  EXPECT_FALSE(cache.read());
}

TEST_F(FindingsCacheTest, GarbageIsNotBelieved) {
  const FindingsCache cache("a: b\n");
  cache.write(1);
  const std::string good = content(cache);
  for (const std::string& text :
       {std::string(), std::string("x"), good.substr(0, good.size() - 1), good + "x", std::string(100'000, 'a'),
        std::string(good).replace(good.find("findings: ") + 10, 1, "-"), std::string(good.size(), '\0')}) {
    overwrite(cache, text);
    EXPECT_FALSE(cache.read()) << text.substr(0, 200);
  }
  overwrite(cache, good);
  EXPECT_TRUE(cache.read());
}

TEST_F(FindingsCacheTest, AFileThatOthersCanWriteIsNotBelieved) {
  const FindingsCache cache("a: b\n");
  cache.write(1);
  ASSERT_EQ(chmod(cache.path().c_str(), 0666), 0);
  EXPECT_FALSE(cache.read());
}

TEST_F(FindingsCacheTest, LinksAndPipesAndFoldersAreNotRead) {
  const FindingsCache cache("a: b\n");
  cache.write(1);
  fs::rename(cache.path(), home_ / "elsewhere");
  fs::create_symlink(home_ / "elsewhere", cache.path());
  EXPECT_FALSE(cache.read());
  fs::remove(cache.path());
  ASSERT_EQ(mkfifo(cache.path().c_str(), 0600), 0);
  EXPECT_FALSE(cache.read());
  fs::remove(cache.path());
  fs::create_directory(cache.path());
  EXPECT_FALSE(cache.read());
  cache.write(1);  // cannot, and says nothing
}

TEST_F(FindingsCacheTest, WithoutAHomeThereIsNone) {
  unsetenv("XDG_CACHE_HOME");
  const char* const home = std::getenv("HOME");
  const std::string kept = home != nullptr ? home : "";
  unsetenv("HOME");
  const FindingsCache cache("a: b\n");
  cache.write(1);
  EXPECT_FALSE(cache.read());
  if (!kept.empty()) setenv("HOME", kept.c_str(), 1);
}

}  // namespace
}  // namespace armci::rma
