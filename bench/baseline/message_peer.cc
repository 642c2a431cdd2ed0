#include "bench/baseline/message_peer.h"

#include <cstdlib>
#include <cstring>
#include <vector>

#include "bench/baseline/orders.h"
#include "bench/common/clock.h"

namespace armci::bench {
namespace {

constexpr int kDataTag = 2;
constexpr size_t kPage = 4096;

}  // namespace

MessagePeer::MessagePeer(MPI_Comm comm, int peer, size_t bytes) : peer_(peer) {
  MPI_Comm_dup(comm, &comm_);
  MPI_Comm_rank(comm_, &rank_);
  const size_t whole_pages = (bytes + kPage) / kPage * kPage;
  data_ = static_cast<char*>(aligned_alloc(kPage, whole_pages));
  if (data_ == nullptr) MPI_Abort(comm_, 1);
  std::memset(data_, 1, whole_pages);
}

MessagePeer::~MessagePeer() {
  free(data_);
  MPI_Comm_free(&comm_);
}

double MessagePeer::RoundTrips(int out, int back, long count) const {
  GiveOrder(comm_, peer_, Order{0, out, back, 0, count});
  const double start = NowSeconds();
  for (long i = 0; i < count; ++i) {
    MPI_Send(data_, out, MPI_BYTE, peer_, kDataTag, comm_);
    MPI_Recv(data_, back, MPI_BYTE, peer_, kDataTag, comm_, MPI_STATUS_IGNORE);
  }
  return NowSeconds() - start;
}

double MessagePeer::Windows(bool to_peer, int bytes, int window, long count) const {
  const Order order = {to_peer ? 1 : 2, bytes, 0, window, count};
  GiveOrder(comm_, peer_, order);
  const double start = NowSeconds();
  to_peer ? Send(order) : Receive(order);
  return NowSeconds() - start;
}

void MessagePeer::Look() const {
  Order order;
  if (rank_ != peer_ || !TakeOrder(comm_, &order)) return;
  if (order.kind == 0) return Answer(order);
  order.kind == 1 ? Receive(order) : Send(order);
}

void MessagePeer::Answer(const Order& order) const {
  for (long i = 0; i < order.count; ++i) {
    MPI_Recv(data_, order.out, MPI_BYTE, 0, kDataTag, comm_, MPI_STATUS_IGNORE);
    MPI_Send(data_, order.back, MPI_BYTE, 0, kDataTag, comm_);
  }
}

// Each window is sent when the other side has received the one before.
void MessagePeer::Send(const Order& order) const {
  const int to = rank_ == 0 ? peer_ : 0;
  std::vector<MPI_Request> requests(static_cast<size_t>(order.window));
  for (long i = 0; i < order.count; ++i) {
    for (int k = 0; k < order.window; ++k) {
      char* from = data_ + static_cast<size_t>(k) * static_cast<size_t>(order.out);
      MPI_Isend(from, order.out, MPI_BYTE, to, kDataTag, comm_, &requests[static_cast<size_t>(k)]);
    }
    MPI_Waitall(order.window, requests.data(), MPI_STATUSES_IGNORE);
    MPI_Recv(nullptr, 0, MPI_BYTE, to, kOrderTag, comm_, MPI_STATUS_IGNORE);
  }
}

void MessagePeer::Receive(const Order& order) const {
  const int from = rank_ == 0 ? peer_ : 0;
  std::vector<MPI_Request> requests(static_cast<size_t>(order.window));
  for (long i = 0; i < order.count; ++i) {
    for (int k = 0; k < order.window; ++k) {
      char* to = data_ + static_cast<size_t>(k) * static_cast<size_t>(order.out);
      MPI_Irecv(to, order.out, MPI_BYTE, from, kDataTag, comm_, &requests[static_cast<size_t>(k)]);
    }
    MPI_Waitall(order.window, requests.data(), MPI_STATUSES_IGNORE);
    MPI_Send(nullptr, 0, MPI_BYTE, from, kOrderTag, comm_);
  }
}

}  // namespace armci::bench
