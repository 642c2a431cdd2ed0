// Orders of rank 0 to its peer: by MPI, to a peer that sleeps and polls for orders now and then.
//
//   rank 0                 peer
//   order ---------------> Take()
//   <---------------ready  does it from here
//
// Thread safety: one thread per process. kOrderTag of the communicator is taken.
#ifndef ARMCI_BENCH_BASELINE_ORDERS_H_
#define ARMCI_BENCH_BASELINE_ORDERS_H_

#include <mpi.h>

#include <type_traits>

namespace armci::bench {

inline constexpr int kOrderTag = 1;

// By rank 0. Returns when the peer is ready.
template <class Order>
void GiveOrder(MPI_Comm comm, int peer, const Order& order) {
  static_assert(std::is_trivially_copyable_v<Order>);
  MPI_Send(&order, sizeof order, MPI_BYTE, peer, kOrderTag, comm);
  MPI_Recv(nullptr, 0, MPI_BYTE, peer, kOrderTag, comm, MPI_STATUS_IGNORE);
}

// By the peer. Whether there was one; rank 0 goes on then.
template <class Order>
bool TakeOrder(MPI_Comm comm, Order* order) {
  int here = 0;
  MPI_Iprobe(0, kOrderTag, comm, &here, MPI_STATUS_IGNORE);
  if (here == 0) return false;
  MPI_Recv(order, sizeof *order, MPI_BYTE, 0, kOrderTag, comm, MPI_STATUS_IGNORE);
  MPI_Send(nullptr, 0, MPI_BYTE, 0, kOrderTag, comm);
  return true;
}

}  // namespace armci::bench

#endif  // ARMCI_BENCH_BASELINE_ORDERS_H_
