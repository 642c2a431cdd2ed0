#include "bench/baseline/verbs_peer.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <random>

#include "bench/baseline/orders.h"
#include "bench/common/clock.h"

namespace armci::bench {
namespace {

constexpr int kAddressTag = 2;
constexpr size_t kPage = 4096;
// Receives posted at a time, all into the first page, whose bytes are never read.
constexpr uint32_t kReceives = 16;
// One send in so many is signaled; without a completion the queue would fill up.
constexpr long kSignaledOf = 32;
static_assert(kSignaledOf < VerbsPeer::kWindowMost);
constexpr uint32_t kInlineWanted = 64;
constexpr int kPollsBeforeYield = 256;
// Round trips before the time begins: the other side has to come out of MPI first.
constexpr long kUntimed = 8;
// Those of impl/native-verbs/link.cc.
constexpr uint32_t kPacketMask = 0xffffff;
constexpr uint8_t kReadsMax = 16;
constexpr uint8_t kTimeout = 16;
constexpr uint8_t kRetries = 7;
constexpr uint8_t kWaitForRoom = 1;
constexpr uint8_t kHopLimit = 64;

// Polls until `count` more are complete. A device that is software needs a core, which two processes that only poll may
// have between them: one that has waited for long gives way.
void Await(ibv_cq* queue, int count) {
  ibv_wc ended[16];
  for (int polls = 1; count > 0; ++polls) {
    const int got = ibv_poll_cq(queue, std::min(count, 16), ended);
    RequireVerbs(got >= 0, "ibv_poll_cq");
    if (got == 0 && polls % kPollsBeforeYield == 0) sched_yield();
    for (int i = 0; i < got; ++i) {
      RequireVerbs(ended[i].status == IBV_WC_SUCCESS, ibv_wc_status_str(ended[i].status));
    }
    count -= got;
  }
}

bool IsSignaled(long send, long count) { return send % kSignaledOf == kSignaledOf - 1 || send == count - 1; }

}  // namespace

VerbsPeer::VerbsPeer(MPI_Comm comm, int peer, size_t bytes)
    : peer_(peer), bytes_(bytes), memory_(nullptr), first_(std::random_device()() & kPacketMask) {
  MPI_Comm_dup(comm, &comm_);
  MPI_Comm_rank(comm_, &rank_);
  if (rank_ != 0 && rank_ != peer_) return;
  device_ = OpenVerbsDevice();
  const size_t whole = kPage + (bytes + kPage - 1) / kPage * kPage;
  memory_ = static_cast<char*>(aligned_alloc(kPage, whole));
  RequireVerbs(memory_ != nullptr, "aligned_alloc");
  std::memset(memory_, 1, whole);
  region_.reset(ibv_reg_mr(device_.domain.get(), memory_, whole,
                           IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE));
  RequireVerbs(region_ != nullptr, "ibv_reg_mr (ulimit -l)", errno);
  MakePair();
  const Address mine = Mine();
  const int other = rank_ == 0 ? peer_ : 0;
  MPI_Sendrecv(&mine, sizeof mine, MPI_BYTE, other, kAddressTag, &other_, sizeof other_, MPI_BYTE, other, kAddressTag,
               comm_, MPI_STATUS_IGNORE);
  Connect(other_);
  for (uint32_t i = 0; i < kReceives; ++i) PostReceive();
  // Neither side sends before the other side can receive.
  MPI_Sendrecv(nullptr, 0, MPI_BYTE, other, kAddressTag, nullptr, 0, MPI_BYTE, other, kAddressTag, comm_,
               MPI_STATUS_IGNORE);
}

VerbsPeer::~VerbsPeer() {
  MPI_Barrier(comm_);
  pair_.reset();
  region_.reset();
  free(memory_);
  MPI_Comm_free(&comm_);
}

void VerbsPeer::MakePair() {
  sent_.reset(ibv_create_cq(device_.context.get(), kWindowMost, nullptr, nullptr, 0));
  received_.reset(ibv_create_cq(device_.context.get(), kReceives, nullptr, nullptr, 0));
  RequireVerbs(sent_ != nullptr && received_ != nullptr, "ibv_create_cq", errno);
  ibv_qp_init_attr wanted = {};
  wanted.send_cq = sent_.get();
  wanted.recv_cq = received_.get();
  wanted.qp_type = IBV_QPT_RC;
  wanted.cap.max_send_wr = kWindowMost;
  wanted.cap.max_recv_wr = kReceives;
  wanted.cap.max_send_sge = 1;
  wanted.cap.max_recv_sge = 1;
  wanted.cap.max_inline_data = kInlineWanted;
  pair_.reset(ibv_create_qp(device_.domain.get(), &wanted));
  if (pair_ == nullptr) {
    wanted.cap.max_inline_data = 0;
    pair_.reset(ibv_create_qp(device_.domain.get(), &wanted));
  }
  RequireVerbs(pair_ != nullptr, "ibv_create_qp", errno);
  inline_bytes_ = wanted.cap.max_inline_data;
  ibv_qp_attr now = {};
  now.qp_state = IBV_QPS_INIT;
  now.port_num = device_.port_number;
  now.qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
  const int error =
      ibv_modify_qp(pair_.get(), &now, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
  RequireVerbs(error == 0, "ibv_modify_qp to INIT", error);
}

VerbsPeer::Address VerbsPeer::Mine() const {
  Address mine = {};
  mine.memory = reinterpret_cast<uintptr_t>(memory_ + kPage);
  mine.key = region_->rkey;
  mine.pair = pair_->qp_num;
  mine.first = first_;
  mine.lid = device_.port.lid;
  mine.mtu = static_cast<uint8_t>(device_.port.active_mtu);
  mine.reads = static_cast<uint8_t>(std::min<int>(device_.limits.max_qp_rd_atom, kReadsMax));
  std::memcpy(mine.gid, device_.gid.raw, sizeof mine.gid);
  return mine;
}

void VerbsPeer::Connect(const Address& other) const {
  const Address mine = Mine();
  ibv_qp_attr now = {};
  now.qp_state = IBV_QPS_RTR;
  now.path_mtu = static_cast<ibv_mtu>(std::min(mine.mtu, other.mtu));
  now.dest_qp_num = other.pair;
  now.rq_psn = other.first;
  now.max_dest_rd_atomic = mine.reads;
  now.min_rnr_timer = kWaitForRoom;
  now.ah_attr.dlid = other.lid;
  now.ah_attr.port_num = device_.port_number;
  if (device_.gid_index >= 0) {
    now.ah_attr.is_global = 1;
    now.ah_attr.grh.sgid_index = static_cast<uint8_t>(device_.gid_index);
    now.ah_attr.grh.hop_limit = kHopLimit;
    std::memcpy(now.ah_attr.grh.dgid.raw, other.gid, sizeof other.gid);
  }
  int error = ibv_modify_qp(pair_.get(), &now,
                            IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  RequireVerbs(error == 0, "ibv_modify_qp to RTR", error);
  now = {};
  now.qp_state = IBV_QPS_RTS;
  now.timeout = kTimeout;
  now.retry_cnt = kRetries;
  now.rnr_retry = kRetries;
  now.sq_psn = first_;
  now.max_rd_atomic = std::min(mine.reads, other.reads);
  error = ibv_modify_qp(
      pair_.get(), &now,
      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
  RequireVerbs(error == 0, "ibv_modify_qp to RTS", error);
}

// Between the same places here and there.
void VerbsPeer::Post(ibv_wr_opcode opcode, size_t at, size_t bytes, bool signaled) const {
  ibv_sge piece = {reinterpret_cast<uintptr_t>(memory_ + kPage + at), static_cast<uint32_t>(bytes), region_->lkey};
  ibv_send_wr work = {};
  work.sg_list = &piece;
  work.num_sge = 1;
  work.opcode = opcode;
  work.send_flags = signaled ? IBV_SEND_SIGNALED : 0;
  if (opcode != IBV_WR_RDMA_READ && bytes <= inline_bytes_) work.send_flags |= IBV_SEND_INLINE;
  work.wr.rdma.remote_addr = other_.memory + at;
  work.wr.rdma.rkey = other_.key;
  ibv_send_wr* bad = nullptr;
  const int error = ibv_post_send(pair_.get(), &work, &bad);
  RequireVerbs(error == 0, "ibv_post_send", error);
}

double VerbsPeer::Transfers(Rdma kind, size_t bytes, int window, long count) const {
  RequireVerbs(window <= kWindowMost && bytes * static_cast<size_t>(window) <= bytes_, "a window of raw RDMA");
  const ibv_wr_opcode opcode = kind == Rdma::kWrite ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ;
  const double start = NowSeconds();
  for (long i = 0; i < count; ++i) {
    for (int k = 0; k < window; ++k) Post(opcode, static_cast<size_t>(k) * bytes, bytes, true);
    Await(sent_.get(), window);
  }
  return NowSeconds() - start;
}

bool VerbsPeer::MovesData() const {
  char* const data = memory_ + kPage;
  const size_t bytes = std::min<size_t>(bytes_, 2 * kPage);
  for (size_t i = 0; i < bytes; ++i) data[i] = static_cast<char>(i % 251);
  Transfers(Rdma::kWrite, bytes, 1, 1);
  std::memset(data, 0, bytes);
  Transfers(Rdma::kRead, bytes, 1, 1);
  for (size_t i = 0; i < bytes; ++i) {
    if (data[i] != static_cast<char>(i % 251)) return false;
  }
  return true;
}

// --- messages

void VerbsPeer::PostReceive() const {
  ibv_sge place = {reinterpret_cast<uintptr_t>(memory_), kPage, region_->lkey};
  ibv_recv_wr work = {};
  work.sg_list = &place;
  work.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  const int error = ibv_post_recv(pair_.get(), &work, &bad);
  RequireVerbs(error == 0, "ibv_post_recv", error);
}

void VerbsPeer::Send(size_t bytes, bool signaled) const {
  Post(IBV_WR_SEND, 0, bytes, signaled);
  if (signaled) Await(sent_.get(), 1);
}

void VerbsPeer::Receive() const {
  Await(received_.get(), 1);
  PostReceive();
}

double VerbsPeer::RoundTrips(size_t bytes, long count) const {
  RequireVerbs(bytes <= kPage && bytes <= bytes_, "a raw message");
  const long all = kUntimed + count;
  GiveOrder(comm_, peer_, Order{bytes, all});
  double start = 0;
  for (long i = 0; i < all; ++i) {
    if (i == kUntimed) start = NowSeconds();
    Send(bytes, IsSignaled(i, all));
    Receive();
  }
  return NowSeconds() - start;
}

void VerbsPeer::Look() const {
  Order order;
  if (rank_ != peer_ || !TakeOrder(comm_, &order)) return;
  for (long i = 0; i < order.count; ++i) {
    Receive();
    Send(order.bytes, IsSignaled(i, order.count));
  }
}

// --- numbers

// The words of rank 0 and of its peer lie beside each other, at the same places on both sides.
char* VerbsPeer::NumberOf(int rank) const { return memory_ + kPage + (rank == 0 ? 0 : sizeof(uint64_t)); }

// Those who write in turns have seen the write before this one arrive, so one signaled in so many empties the queue.
void VerbsPeer::WriteNumber(uint64_t number) const {
  char* const own = NumberOf(rank_);
  std::memcpy(own, &number, sizeof number);
  const bool signaled = number % kSignaledOf == 0;
  Post(IBV_WR_RDMA_WRITE, static_cast<size_t>(own - memory_) - kPage, sizeof number, signaled);
  if (signaled) Await(sent_.get(), 1);
}

void VerbsPeer::AwaitNumber(uint64_t number) const {
  const auto* word = reinterpret_cast<const uint64_t*>(NumberOf(rank_ == 0 ? peer_ : 0));
  for (int polls = 1; __atomic_load_n(word, __ATOMIC_ACQUIRE) != number; ++polls) {
    if (polls % kPollsBeforeYield == 0) sched_yield();
  }
}

}  // namespace armci::bench
