// What does ARMCI cost against messages that a program sends and receives by itself?
//
// The memory of rank 1 is the target. While ARMCI is measured rank 1 sleeps; while messages are, it is inside MPI.
//   get, put + fence, fetch-and-add, lock   of 8 bytes, against a round trip of MPI_Send and MPI_Recv of 8 bytes
//   get                                     of 8 KiB, against a round trip that brings as much back
//   nb put                                  until it returns, against the same
//   put, get, accumulate                    8 non-blocking ones of 64 KiB to 1 MiB and their end, against 8 messages
//   put, blocking put, get                  64 of 4 KiB, gets to 16 KiB, and their end, against 64 messages
//   put, get rows                           8 calls with rows of 16 bytes to 1 KiB, three times as far apart in rank 1
#include "bench/baseline/message_peer.h"
#include "bench/session/message_cases.h"
#include "bench/session/session.h"

namespace armci::bench {
namespace {

constexpr int kTarget = 1;

RawMessages ByMpi(const MessagePeer& peer) {
  return {"MPI_Isend, MPI_Irecv", "message", [&peer](int back, long count) { return peer.RoundTrips(8, back, count); },
          [&peer](bool to_target, int bytes, int window, long count) {
            return peer.Windows(to_target, bytes, window, count);
          },
          [&peer] { peer.Look(); }};
}

}  // namespace
}  // namespace armci::bench

int main(int argc, char** argv) {
  using namespace armci::bench;
  Session session(argc, argv, {"messages", "transfers against messages of MPI", 2, /*between_nodes=*/true});
  {
    const MessagePeer peer(MPI_COMM_WORLD, kTarget, kMessagesMost);
    RunMessageCases(&session, ByMpi(peer), kTarget);
  }
  return session.Finish();
}
