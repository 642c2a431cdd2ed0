#include "impl/mpi-rma/preflight/library.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>

namespace armci::rma {
namespace {

LibraryFacts facts(const char* version) {
  LibraryFacts made;
  made.version = version;
  return made;
}

TEST(FaultTable, IdsAreUniqueAndEveryRowSaysWhatIsDone) {
  std::set<std::string> ids;
  for (const FaultRow& row : fault_table()) {
    EXPECT_TRUE(ids.insert(row.id).second) << row.id;
    EXPECT_EQ(&fault_row(row.fault), &row);
    EXPECT_GT(std::strlen(row.description), 10U) << row.id;
    EXPECT_GT(std::strlen(row.safe_method), 10U) << row.id;
  }
}

TEST(FaultsByVersion, EveryRowWithoutAProbeBelongsToALibrary) {
  std::uint64_t all = 0;
  for (const char* version : {"Open MPI v4.1.4", "MPICH Version: 4.0.2 ch4:ucx", "MPICH Version: 4.1 ch4:ofi"}) {
    for (const int nodes : {1, 2}) {
      LibraryFacts some = facts(version);
      some.nodes = nodes;
      all |= faults_by_version(some).bits();
    }
  }
  for (const FaultRow& row : fault_table()) {
    EXPECT_TRUE(row.evidence != Evidence::kVersion || Findings(all).has(row.fault)) << row.id;
  }
}

TEST(FaultsByVersion, OpenMpiTakesUcxWhereItIsNamedOrNothingElseReaches) {
  LibraryFacts one = facts("Open MPI v4.1.4, package: Debian");
  EXPECT_FALSE(faults_by_version(one).has(Fault::kRputOutstanding));
  one.osc = "ucx";
  EXPECT_TRUE(faults_by_version(one).has(Fault::kRputOutstanding));
  one.osc = "rdma";
  one.nodes = 2;
  EXPECT_FALSE(faults_by_version(one).has(Fault::kRputOutstanding));
  one.osc = "^ucx";
  EXPECT_FALSE(faults_by_version(one).has(Fault::kRputOutstanding));
  one.osc = "";
  EXPECT_TRUE(faults_by_version(one).has(Fault::kRputOutstanding));
}

TEST(FaultsByVersion, RequestsInDynamicWindowsAreWrongUnderUcxOfOpenMpi) {
  LibraryFacts one = facts("Open MPI v4.1.4, package: Debian");
  EXPECT_FALSE(faults_by_version(one).has(Fault::kRequestDynamic));
  one.osc = "ucx";
  EXPECT_TRUE(faults_by_version(one).has(Fault::kRequestDynamic));
  one.osc = "rdma";
  EXPECT_FALSE(faults_by_version(one).has(Fault::kRequestDynamic));
  EXPECT_FALSE(faults_by_version(facts("MPICH ch4:ucx")).has(Fault::kRequestDynamic));
}

TEST(FaultsByVersion, MemoryOfOpenMpiIsWrongUnderSomeComponents) {
  LibraryFacts one = facts("Open MPI v4.1.4, package: Debian");
  EXPECT_TRUE(faults_by_version(one).has(Fault::kAllocateConcurrent));
  one.osc = "^rdma";
  EXPECT_FALSE(faults_by_version(one).has(Fault::kAllocateConcurrent));
  EXPECT_FALSE(faults_by_version(one).has(Fault::kAllocateSwapCrash));
  EXPECT_TRUE(faults_by_version(one).has(Fault::kAllocatePutTwice));
  one.osc = "ucx";
  EXPECT_FALSE(faults_by_version(one).has(Fault::kAllocatePutTwice));
  one.osc = "sm,rdma";
  EXPECT_TRUE(faults_by_version(one).has(Fault::kAllocateSwapCrash));
}

TEST(FaultsByVersion, DependOnTheDeviceOfMpich) {
  EXPECT_TRUE(faults_by_version(facts("MPICH ch4:ucx")).has(Fault::kAccumulateHeader));
  EXPECT_FALSE(faults_by_version(facts("MPICH ch4:ucx")).has(Fault::kRputPackedCrash));
  EXPECT_TRUE(faults_by_version(facts("MPICH ch4:ofi")).has(Fault::kRputPackedCrash));
}

TEST(FaultsByVersion, AStrangerGetsTheDearMethods) {
  EXPECT_TRUE(faults_by_version(facts("Another MPI 1.0")).has(Fault::kPassiveProgress));
}

TEST(LibraryDescription, FollowsTheSettingsOfTheTransport) {
  const std::string before = library_description();
  EXPECT_NE(before.find("version: "), std::string::npos);
  EXPECT_EQ(before.find("file: unknown"), std::string::npos);
  setenv("UCX_TLS", "tcp\nself", 1);
  const std::string after = library_description();
  EXPECT_NE(after.find("\nsetting: UCX_TLS=tcp self\n"), std::string::npos);
  unsetenv("UCX_TLS");
  EXPECT_EQ(library_description(), before);
}

}  // namespace
}  // namespace armci::rma
