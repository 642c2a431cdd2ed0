// Raw two-sided communication of MPI: what messages cost that a program sends and receives by itself.
//
//   rank 0                                  peer
//   order ------------------------------->  asleep, polls for orders now and then
//   <--------------------------------ready  stays inside MPI from here
//   round trips, or windows of messages     answers, or receives and sends
//
// The peer is asleep between orders, so that it disturbs nothing else that is measured.
//
// Thread safety: one thread per process. Construction and destruction are collective. MPI ends the job on errors.
#ifndef ARMCI_BENCH_BASELINE_MESSAGE_PEER_H_
#define ARMCI_BENCH_BASELINE_MESSAGE_PEER_H_

#include <mpi.h>

#include <cstddef>

namespace armci::bench {

class MessagePeer {
 public:
  // `bytes`: of the longest message times the messages in a window.
  MessagePeer(MPI_Comm comm, int peer, size_t bytes);
  ~MessagePeer();
  MessagePeer(const MessagePeer&) = delete;
  MessagePeer& operator=(const MessagePeer&) = delete;

  // By rank 0. Seconds of `count` round trips with messages of these lengths.
  double RoundTrips(int out, int back, long count) const;
  // By rank 0. Seconds of `count` windows of `window` messages each, the next begun when the one before has ended; to
  // the peer, confirmed by an empty message, or from it.
  double Windows(bool to_peer, int bytes, int window, long count) const;

  // By the peer: does what rank 0 has ordered, if anything.
  void Look() const;

 private:
  struct Order {
    int kind;  // 0: round trips; 1: windows to the peer; 2: windows from it
    int out;
    int back;
    int window;
    long count;
  };

  void Answer(const Order& order) const;
  void Send(const Order& order) const;
  void Receive(const Order& order) const;

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int peer_;
  char* data_;
};

}  // namespace armci::bench

#endif  // ARMCI_BENCH_BASELINE_MESSAGE_PEER_H_
