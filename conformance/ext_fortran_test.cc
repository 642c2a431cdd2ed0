// INIT-8, GROUP-1: communicators by the integers that Fortran uses.

#include "armcix.h"
#include "conformance/harness/child_job.h"
#include "conformance/harness/layout.h"
#include "conformance/harness/test.h"

namespace conformance {
namespace {

// Before MPI runs, on no communicator, and then on a world in reverse order.
CHILD_CASE(init_by_fortran) {
  Require(ARMCIX_Init_comm_f(MPI_THREAD_SINGLE, 0) == ARMCI_ERR_STATE, "before MPI_Init");
  MPI_Init(nullptr, nullptr);
  Require(ARMCIX_Init_comm_f(MPI_THREAD_SINGLE, MPI_Comm_c2f(MPI_COMM_NULL)) == ARMCI_ERR_NULL, "MPI_COMM_NULL");
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm reversed;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  Require(ARMCIX_Init_comm_f(MPI_THREAD_SINGLE, MPI_Comm_c2f(reversed)) == ARMCI_OK, "ARMCIX_Init_comm_f");
  // The library works on a duplicate: the program's communicator may go.
  MPI_Comm_free(&reversed);
  Require(armci_msg_me() == size - 1 - rank && armci_msg_nproc() == size, "absolute ids are the ranks of the comm");
  ARMCI_Barrier();
  Require(ARMCI_Finalize() == ARMCI_OK, "ARMCI_Finalize");
  MPI_Finalize();
  Say("DONE");
  return 0;
}

CLAUSE_TEST(INIT, INIT8_a_communicator_of_fortran_is_the_world, "INIT-8", "ERR-1", StartsChildJobs{},
            DeadlineSeconds(60)) {
  if (Me() != 0) return;
  const ChildResult result = RunChildJob(3, "init_by_fortran");
  EXPECT_EQ(result.status, 0) << result.Text();
  EXPECT_EQ(result.Count("DONE"), 3) << result.Text();
}

CLAUSE_TEST(GROUP, GROUP1_the_communicator_as_an_integer, "GROUP-1", "ERR-1") {
  ARMCI_Group world;
  ARMCI_Group_get_world(&world);
  MPI_Fint number = 0;
  EXPECT_EQ(ARMCIX_Group_comm_f(&world, &number), ARMCI_OK);
  EXPECT_EQ(MPI_Comm_f2c(number), CommunicatorOf(&world));
  Agree();
  ARMCI_Group part;
  EXPECT_EQ(ARMCIX_Group_split(&world, Me() == 0 ? 0 : -1, 0, &part), 0);
  EXPECT_EQ(ARMCIX_Group_comm_f(&part, &number), ARMCI_OK);
  EXPECT_EQ(MPI_Comm_f2c(number), Me() == 0 ? CommunicatorOf(&part) : MPI_COMM_NULL);
  // Refused, and nothing is written.
  const MPI_Fint before = number;
  EXPECT_EQ(ARMCIX_Group_comm_f(&world, nullptr), ARMCI_ERR_NULL);
  if (Me() == 0) {
    ARMCI_Group_free(&part);
    EXPECT_EQ(ARMCIX_Group_comm_f(&part, &number), ARMCI_ERR_GROUP);
  }
  EXPECT_EQ(number, before);
  Agree();
}

}  // namespace
}  // namespace conformance
