// Between nodes the calls of the message layer that wait make passes of the transport [PROG-5]: one rank
// calls, and the other only some time later.
#include <mpi.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <vector>

#include "armci.h"
#include "impl/node/mpi_progress.h"
#include "impl/testing/job.h"
#include "message.h"

namespace armci::runtime::testing {
namespace {

constexpr int kLateUs = 20000;  // the wait that is tested
constexpr int kLong = 1 << 17;  // doubles: more than go by messages of the library, or leave before they are received

std::atomic<int> passes{0};
std::vector<double> data(kLong);

struct Call {
  const char* name;
  int late;  // the rank that the other waits for
  std::function<void()> call;
};

std::vector<Call> calls() {
  int got = 0;
  return {
      {"barrier", 0, [] { armci_msg_barrier(); }},
      {"sum of one", 0, [] { armci_msg_dgop(data.data(), 1, "+"); }},
      {"sum of many", 0, [] { armci_msg_dgop(data.data(), kLong, "+"); }},
      {"reduction to one process", 1, [] { armci_msg_reduce_scope(SCOPE_ALL, data.data(), 1, "+", ARMCI_DOUBLE); }},
      {"broadcast of one", 0, [] { armci_msg_brdcst(data.data(), sizeof(double), 0); }},
      {"broadcast of many", 0, [] { armci_msg_brdcst(data.data(), kLong * sizeof(double), 0); }},
      {"send", 0,
       [got]() mutable {
         if (rank == 1) armci_msg_snd(4, data.data(), kLong * sizeof(double), 0);
         if (rank == 0) armci_msg_rcv(4, data.data(), kLong * sizeof(double), &got, 1);
       }},
      {"selection", 0, [] { armci_msg_sel(data.data(), sizeof(double), "max", ARMCI_DOUBLE, 1); }},
      {"exchange of addresses", 0,
       [] {
         void* addresses[2] = {};
         armci_exchange_address(addresses, 2);
       }},
      {"receive", 0,
       [got]() mutable {
         if (rank == 0) armci_msg_snd(3, data.data(), sizeof(double), 1);
         if (rank == 1) armci_msg_rcv(3, data.data(), sizeof(double), &got, 0);
       }},
  };
}

void check_passes() {
  node::set_mpi_pass([](void*) { passes.fetch_add(1); }, nullptr);
  // The first use of a group's messages makes a communicator, and waits in MPI.
  armci_msg_dgop(data.data(), 1, "+");
  for (const Call& each : calls()) {
    MPI_Barrier(MPI_COMM_WORLD);
    passes.store(0);
    if (rank == each.late) usleep(kLateUs);
    each.call();
    check(rank == each.late || passes.load() > 0, each.name);
  }
}

}  // namespace
}  // namespace armci::runtime::testing

int main(int argc, char** argv) {
  using namespace armci::runtime::testing;
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  read_rank();
  check(level == MPI_THREAD_MULTIPLE, "the level of threads");
  ARMCI_Init();
  check_passes();
  ARMCI_Finalize();
  return verdict();
}
