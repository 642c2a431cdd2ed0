// Raw communication by UCX: what a program writes that does without ARMCI.
//
//   rank 0                                  peer
//   order, by MPI ----------------------->  asleep, polls for orders now and then
//   <--------------------------------ready  advances its worker from here, as UCX's tests do
//   puts, gets, atomics ================>   (memory of the peer)
//   or tagged messages <================>   receives and answers as the order says
//   a word that says "enough" ==========>   sleeps again
//
// A worker on each side, with endpoints both ways; the environment of UCX (UCX_TLS, ...) is in force. Transfers
// name the handle of their local memory.
//
// Thread safety: one thread per process. Construction and destruction are collective. A failure ends the job.
#ifndef ARMCI_BENCH_BASELINE_UCX_PEER_H_
#define ARMCI_BENCH_BASELINE_UCX_PEER_H_

#include <mpi.h>
#include <ucp/api/ucp.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace armci::bench {

// One-sided calls, and tagged messages to the peer and from it.
enum class Ucp { kPut, kGet, kSend, kReceive };

class UcxPeer {
 public:
  // `bytes` of memory on each side. Processes other than rank 0 and the peer have nothing to do here.
  UcxPeer(MPI_Comm comm, int peer, size_t bytes);
  ~UcxPeer();
  UcxPeer(const UcxPeer&) = delete;
  UcxPeer& operator=(const UcxPeer&) = delete;

  // By rank 0. Seconds of `count` windows of `window` transfers each, of `bytes` and to memory of their own, the next
  // window begun when the one before is complete: puts by a flush of the endpoint, gets by their requests, messages to
  // the peer by its answer of a word. Messages from the peer leave when a word of rank 0 asks for the window. Receives
  // are posted before the messages leave.
  double Transfers(Ucp kind, size_t bytes, int window, long count) const;
  // By rank 0. Seconds of `count` fetch-and-adds of 64 bits, one after the other.
  double Additions(long count) const;

  // By the peer: does what rank 0 has ordered, if anything.
  void Look() const;

  // Collective: whether bytes put and got back are the same, and sums right; a baseline that moves nothing is fast.
  bool MovesData() const;

 private:
  // For one-sided transfers the peer makes progress only, and looks at the kind alone.
  struct Order {
    Ucp kind;
    size_t bytes;
    int window;
    long count;
  };

  // Awaits what `request` stands for.
  void Await(ucs_status_ptr_t request, const char* call) const;
  void Flush() const;
  void PutWord(uint64_t word, size_t at) const;
  ucs_status_ptr_t Post(Ucp kind, size_t bytes, int k) const;
  void PostWindow(Ucp kind, size_t bytes, std::vector<ucs_status_ptr_t>* requests) const;
  void AwaitAll(const std::vector<ucs_status_ptr_t>& requests) const;
  void Word(Ucp kind) const;
  void Send(const Order& order) const;
  void Receive(const Order& order) const;
  void Move(const Order& order, std::vector<ucs_status_ptr_t>* requests) const;
  bool MovedData() const;
  void MakeWorker();
  void Expose();
  std::string Exchange(const void* mine, size_t bytes) const;
  template <class Body>
  double Timed(const Order& order, const Body& body) const;
  uint64_t At(size_t offset) const { return remote_ + offset; }

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int peer_;
  size_t bytes_;
  char* memory_ = nullptr;  // a page for the word, then `bytes_` for transfers
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  ucp_ep_h endpoint_ = nullptr;
  ucp_mem_h mapped_ = nullptr;
  ucp_rkey_h key_ = nullptr;
  uint64_t remote_ = 0;
};

}  // namespace armci::bench

#endif  // ARMCI_BENCH_BASELINE_UCX_PEER_H_
