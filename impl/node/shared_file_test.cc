// One process's share of opening the shared file; two and more open it in every conformance run.

#include "impl/node/shared_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <mpi.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace armci::node {
namespace {

class SharedFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = "/dev/shm/armci_test.XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  void TearDown() override { rmdir(directory_.c_str()); }

  int entries() const {
    DIR* listing = opendir(directory_.c_str());
    int count = 0;
    while (readdir(listing) != nullptr) ++count;
    closedir(listing);
    return count - 2;
  }

  std::string directory_;
};

TEST_F(SharedFileTest, HasTheLengthAndNoName) {
  int descriptor = -1;
  ASSERT_TRUE(open_shared_file(MPI_COMM_SELF, directory_, std::uint64_t{1} << 40, &descriptor).ok());
  struct stat information;
  ASSERT_EQ(fstat(descriptor, &information), 0);
  EXPECT_EQ(information.st_size, off_t{1} << 40);
  EXPECT_EQ(information.st_nlink, 0u);
  EXPECT_EQ(entries(), 0);
  close(descriptor);
}

TEST_F(SharedFileTest, IsSparse) {
  int descriptor = -1;
  ASSERT_TRUE(open_shared_file(MPI_COMM_SELF, directory_, std::uint64_t{1} << 40, &descriptor).ok());
  struct stat information;
  ASSERT_EQ(fstat(descriptor, &information), 0);
  EXPECT_EQ(information.st_blocks, 0);
  close(descriptor);
}

TEST_F(SharedFileTest, IsNotInheritedByPrograms) {
  int descriptor = -1;
  ASSERT_TRUE(open_shared_file(MPI_COMM_SELF, directory_, 4096, &descriptor).ok());
  EXPECT_NE(fcntl(descriptor, F_GETFD) & FD_CLOEXEC, 0);
  close(descriptor);
}

TEST_F(SharedFileTest, ADirectoryThatIsNotThereIsNamed) {
  int descriptor = -1;
  EXPECT_FALSE(open_shared_file(MPI_COMM_SELF, directory_ + "/nowhere", 4096, &descriptor).ok());
  const std::string text = last_cause().text;
  EXPECT_NE(text.find(directory_ + "/nowhere"), std::string::npos) << text;
  EXPECT_NE(text.find("No such file or directory"), std::string::npos) << text;
  EXPECT_NE(text.find("ARMCI_SHM_DIR"), std::string::npos) << text;
}

TEST(PidNamespaceTest, IsThisProcesss) {
  struct stat information;
  ASSERT_EQ(stat("/proc/self/ns/pid", &information), 0);
  EXPECT_EQ(pid_namespace(), information.st_ino);
}

}  // namespace
}  // namespace armci::node
