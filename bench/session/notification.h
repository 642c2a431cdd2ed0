// Notifications between two processes, with data before them: what the benchmarks of them call and verify.
//
// Thread safety: one thread per process.
#ifndef ARMCI_BENCH_SESSION_NOTIFICATION_H_
#define ARMCI_BENCH_SESSION_NOTIFICATION_H_

#include <mpi.h>

#include <string>

#include "armci.h"
#include "bench/session/session.h"

namespace armci::bench {

// One of the two, and its memory.
struct NotifyingSide {
  int other;    // below 0: this process is not one of the two
  bool first;   // of the two that begins
  char* there;  // in the other's memory
  char* own;    // where the other puts
  char* outgoing;
};

inline void Notify(const NotifyingSide& side) { Require(armci_notify(side.other) >= 0, "armci_notify"); }

inline void AwaitNotification(const NotifyingSide& side) {
  int count = 0;
  armci_notify_wait(side.other, &count);
}

inline void PutNotify(const NotifyingSide& side, int bytes) {
  ARMCI_NbPut(side.outgoing, side.there, bytes, side.other, nullptr);
  Notify(side);
}

// There and back by `send` and `receive`.
template <typename SendCall, typename ReceiveCall>
void RoundTrip(const NotifyingSide& side, SendCall send, ReceiveCall receive) {
  if (!side.first) receive();
  send();
  if (side.first) receive();
}

inline void PutNotifyRoundTrip(const NotifyingSide& side, int bytes) {
  RoundTrip(
      side, [&] { PutNotify(side, bytes); }, [&] { AwaitNotification(side); });
}

// Each notification announces the put before it [ORD-6]: what is wrong with the data of transfer(side, bytes), empty
// when it is right. Of the two processes.
inline std::string VerifyNotifications(const NotifyingSide& side, int bytes,
                                       void (*transfer)(const NotifyingSide&, int)) {
  if (side.other < 0) return "";
  std::string fault;
  for (char turn = 1; turn <= 100; ++turn) {
    side.outgoing[0] = side.outgoing[bytes - 1] = turn;
    transfer(side, bytes);
    if (side.own[0] != turn || side.own[bytes - 1] != turn) fault = "a notification overtook the put before it";
    ARMCI_WaitAll();
    // Both have read what came before the next puts overwrite it.
    MPI_Sendrecv(nullptr, 0, MPI_CHAR, side.other, 0, nullptr, 0, MPI_CHAR, side.other, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }
  return fault;
}

}  // namespace armci::bench

#endif  // ARMCI_BENCH_SESSION_NOTIFICATION_H_
