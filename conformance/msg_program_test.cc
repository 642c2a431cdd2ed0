// MSG: messages of the library beside those of the program.

#include <vector>

#include "conformance/harness/layout.h"
#include "conformance/harness/test.h"

namespace conformance {
namespace {

CLAUSE_TEST(MSG, MSG1_messages_never_meet_those_of_the_program, "INIT-4", "MSG-1", NeedsRanks(2)) {
  // The same tag and partner on the program's communicator and through armci_msg_*, received in the other order.
  Agree();
  int own = 1;
  int theirs = 2;
  if (Me() == 0) {
    MPI_Request request;
    MPI_Isend(&own, 1, MPI_INT, 1, 17, MPI_COMM_WORLD, &request);
    armci_msg_snd(17, &theirs, sizeof theirs, 1);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (Me() == 1) {
    int value = 0;
    armci_msg_rcv(17, &value, sizeof value, nullptr, 0);
    EXPECT_EQ(value, 2);
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT_EQ(value, 1);
  }
}

// A program may use the communicator of a group for calls of its own.
CLAUSE_TEST(MSG, MSG1_a_receive_of_anything_over_a_group_gets_no_message_of_the_library, "INIT-4", "MSG-1",
            NeedsRanks(2)) {
  std::vector<int> ranks = AllRanks();
  ARMCI_Group group;
  Agree();
  ARMCI_Group_create(Np(), ranks.data(), &group);
  const MPI_Comm comm = CommunicatorOf(&group);
  // The first barrier makes a communicator. In that, Open MPI sends messages which a receive of anything gets.
  armci_msg_group_barrier(&group);
  static int got;
  MPI_Request request;
  MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &request);
  for (int root = 0; root < Np(); ++root) {
    for (int n : {1, 5000}) {
      std::vector<double> x(static_cast<std::size_t>(n), 1);
      armci_msg_group_dgop(x.data(), n, "+", &group);
      EXPECT_EQ(x.back(), Np());
      armci_msg_group_bcast_scope(SCOPE_ALL, x.data(), n * static_cast<int>(sizeof(double)), root, &group);
    }
  }
  Agree();
  int arrived = 1;
  MPI_Test(&request, &arrived, MPI_STATUS_IGNORE);
  EXPECT_EQ(arrived, 0) << "a message that the test did not send";
  if (arrived == 0) {
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  ARMCI_Group_free(&group);
}

}  // namespace
}  // namespace conformance
