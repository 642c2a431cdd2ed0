// Raw RDMA by libibverbs: what a program writes that does without ARMCI.
//
//   rank 0                                     peer
//   RDMA write, or read =====================> (memory of the peer, which sleeps)
//   <----------------------acknowledgement---- by its device
//
//   order, by MPI ---------------------------> asleep, polls for orders now and then
//   <-----------------------------------ready  polls its queue from here
//   sends ===================================> sends as much back, so many times
//
// One reliable connection, with the settings of native-verbs: the same device and port, the same packets, the same
// number of reads at a time.
//
// Thread safety: one thread per process. Construction and destruction are collective. A failure ends the job.
#ifndef ARMCI_BENCH_BASELINE_VERBS_PEER_H_
#define ARMCI_BENCH_BASELINE_VERBS_PEER_H_

#include <infiniband/verbs.h>
#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "bench/baseline/verbs_device.h"

namespace armci::bench {

enum class Rdma { kWrite, kRead };

class VerbsPeer {
 public:
  // `bytes` of registered memory on each side. Processes other than these two have nothing to do here.
  VerbsPeer(MPI_Comm comm, int peer, size_t bytes);
  ~VerbsPeer();
  VerbsPeer(const VerbsPeer&) = delete;
  VerbsPeer& operator=(const VerbsPeer&) = delete;

  // By rank 0. Seconds of `count` windows of `window` transfers each, of `bytes` and to memory of their own, the next
  // window begun when the one before is complete: a window of one is the time from the call to the completion.
  double Transfers(Rdma kind, size_t bytes, int window, long count) const;
  // By rank 0. Seconds of `count` round trips of a send of so many bytes, for which both sides poll.
  double RoundTrips(size_t bytes, long count) const;

  // By rank 0 and the peer in turns: writes a number to a word of the other's memory, and polls until the other's
  // number is here. The other's `AwaitNumber` returns when it has become equal.
  void WriteNumber(uint64_t number) const;
  void AwaitNumber(uint64_t number) const;

  // By the peer: does what rank 0 has ordered, if anything.
  void Look() const;

  // By rank 0: whether bytes written and read back are the same. A baseline that moves nothing is fast.
  bool MovesData() const;

  const VerbsDevice& device() const { return device_; }
  static constexpr int kWindowMost = 512;

 private:
  // The address that the other side needs; as bytes, by MPI.
  struct Address {
    uint64_t memory;
    uint32_t key;
    uint32_t pair;
    uint32_t first;  // number of the first packet
    uint16_t lid;
    uint8_t mtu;
    uint8_t reads;
    uint8_t gid[16];
  };
  struct Order {
    size_t bytes;
    long count;
  };

  void MakePair();
  Address Mine() const;
  void Connect(const Address& other) const;
  void Post(ibv_wr_opcode opcode, size_t at, size_t bytes, bool signaled) const;
  void PostReceive() const;
  void Send(size_t bytes, bool signaled) const;
  void Receive() const;
  char* NumberOf(int rank) const;

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int peer_;
  size_t bytes_;
  char* memory_;  // a page for receives, then `bytes_` for the rest
  VerbsDevice device_;
  VerbsOwned<ibv_mr> region_;
  VerbsOwned<ibv_cq> sent_;
  VerbsOwned<ibv_cq> received_;
  VerbsOwned<ibv_qp> pair_;
  uint32_t inline_bytes_ = 0;
  uint32_t first_;
  Address other_ = {};
};

}  // namespace armci::bench

#endif  // ARMCI_BENCH_BASELINE_VERBS_PEER_H_
