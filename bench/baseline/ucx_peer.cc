#include "bench/baseline/ucx_peer.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "bench/baseline/orders.h"
#include "bench/common/clock.h"

namespace armci::bench {
namespace {

constexpr int kEndTag = 2;
constexpr int kExchangeTag = 3;
constexpr size_t kPage = 4096;
constexpr uint64_t kEnough = 1;  // says that nothing more will come
constexpr ucp_tag_t kDataTag = 1;
constexpr ucp_tag_t kWordTag = 2;

void Require(ucs_status_t status, const char* call) {
  if (status == UCS_OK) return;
  std::fprintf(stderr, "bench: raw UCX: %s: %s\n", call, ucs_status_string(status));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

}  // namespace

UcxPeer::UcxPeer(MPI_Comm comm, int peer, size_t bytes) : peer_(peer), bytes_((bytes + kPage - 1) / kPage * kPage) {
  MPI_Comm_dup(comm, &comm_);
  MPI_Comm_rank(comm_, &rank_);
  if (rank_ != 0 && rank_ != peer_) return;
  MakeWorker();
  Expose();
}

UcxPeer::~UcxPeer() {
  if (worker_ != nullptr) {
    MPI_Sendrecv(nullptr, 0, MPI_BYTE, rank_ == 0 ? peer_ : 0, kExchangeTag, nullptr, 0, MPI_BYTE,
                 rank_ == 0 ? peer_ : 0, kExchangeTag, comm_, MPI_STATUS_IGNORE);
    ucp_rkey_destroy(key_);
    // No operation is pending: the worker destroys its endpoint too.
    (void)ucp_mem_unmap(context_, mapped_);
    ucp_worker_destroy(worker_);
    ucp_cleanup(context_);
    free(memory_);
  }
  MPI_Comm_free(&comm_);
}

// Exchanges values: returns the other side's, and sends this side's.
std::string UcxPeer::Exchange(const void* mine, size_t bytes) const {
  const int other = rank_ == 0 ? peer_ : 0;
  uint64_t length = bytes;
  uint64_t others = 0;
  MPI_Sendrecv(&length, 1, MPI_UINT64_T, other, kExchangeTag, &others, 1, MPI_UINT64_T, other, kExchangeTag, comm_,
               MPI_STATUS_IGNORE);
  std::string theirs(others, '\0');
  MPI_Sendrecv(mine, static_cast<int>(bytes), MPI_BYTE, other, kExchangeTag, theirs.data(), static_cast<int>(others),
               MPI_BYTE, other, kExchangeTag, comm_, MPI_STATUS_IGNORE);
  return theirs;
}

void UcxPeer::MakeWorker() {
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES;
  params.features = UCP_FEATURE_RMA | UCP_FEATURE_AMO64 | UCP_FEATURE_TAG;
  Require(ucp_init(&params, nullptr, &context_), "ucp_init");
  ucp_worker_params_t worker_params{};
  worker_params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  worker_params.thread_mode = UCS_THREAD_MODE_SINGLE;
  Require(ucp_worker_create(context_, &worker_params, &worker_), "ucp_worker_create");
  ucp_address_t* address = nullptr;
  size_t length = 0;
  Require(ucp_worker_get_address(worker_, &address, &length), "ucp_worker_get_address");
  const std::string other = Exchange(address, length);
  ucp_worker_release_address(worker_, address);
  ucp_ep_params_t ep_params{};
  ep_params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
  ep_params.address = reinterpret_cast<const ucp_address_t*>(other.data());
  Require(ucp_ep_create(worker_, &ep_params, &endpoint_), "ucp_ep_create");
}

void UcxPeer::Expose() {
  memory_ = static_cast<char*>(aligned_alloc(kPage, kPage + bytes_));
  if (memory_ == nullptr) MPI_Abort(comm_, 1);
  std::memset(memory_, 0, kPage + bytes_);
  ucp_mem_map_params_t params{};
  params.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH;
  params.address = memory_;
  params.length = kPage + bytes_;
  Require(ucp_mem_map(context_, &params, &mapped_), "ucp_mem_map");
  void* packed = nullptr;
  size_t length = 0;
  Require(ucp_rkey_pack(context_, mapped_, &packed, &length), "ucp_rkey_pack");
  const std::string key = Exchange(packed, length);
  ucp_rkey_buffer_release(packed);
  Require(ucp_ep_rkey_unpack(endpoint_, key.data(), &key_), "ucp_ep_rkey_unpack");
  const std::string where = Exchange(&memory_, sizeof memory_);
  std::memcpy(&remote_, where.data(), sizeof remote_);
}

void UcxPeer::Await(ucs_status_ptr_t request, const char* call) const {
  if (request == nullptr) return;
  Require(UCS_PTR_IS_ERR(request) ? UCS_PTR_STATUS(request) : UCS_OK, call);
  while (ucp_request_check_status(request) == UCS_INPROGRESS) ucp_worker_progress(worker_);
  Require(ucp_request_check_status(request), call);
  ucp_request_free(request);
}

void UcxPeer::Flush() const {
  ucp_request_param_t param{};
  Await(ucp_ep_flush_nbx(endpoint_, &param), "ucp_ep_flush_nbx");
}

void UcxPeer::PutWord(uint64_t word, size_t at) const {
  ucp_request_param_t param{};
  Await(ucp_put_nbx(endpoint_, &word, sizeof word, At(at), key_, &param), "ucp_put_nbx");
  Flush();
}

// The time of body(), while the peer answers.
template <class Body>
double UcxPeer::Timed(const Order& order, const Body& body) const {
  GiveOrder(comm_, peer_, order);
  PutWord(0, sizeof(uint64_t));  // connected, if it was not
  const double start = NowSeconds();
  body();
  const double seconds = NowSeconds() - start;
  PutWord(kEnough, 0);
  MPI_Send(nullptr, 0, MPI_BYTE, peer_, kEndTag, comm_);
  return seconds;
}

void UcxPeer::Look() const {
  Order order;
  if (rank_ != peer_ || !TakeOrder(comm_, &order)) return;
  if (order.kind == Ucp::kSend) Receive(order);
  if (order.kind == Ucp::kReceive) Send(order);
  auto* const word = reinterpret_cast<volatile uint64_t*>(memory_);
  while (*word != kEnough) ucp_worker_progress(worker_);
  *word = 0;
  // The answer to the last flush is still to be given.
  for (int here = 0; here == 0; MPI_Iprobe(0, kEndTag, comm_, &here, MPI_STATUS_IGNORE)) ucp_worker_progress(worker_);
  MPI_Recv(nullptr, 0, MPI_BYTE, 0, kEndTag, comm_, MPI_STATUS_IGNORE);
}

ucs_status_ptr_t UcxPeer::Post(Ucp kind, size_t bytes, int k) const {
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_MEMH;
  param.memh = mapped_;
  const size_t at = kPage + static_cast<size_t>(k) * bytes;
  char* const here = memory_ + at;
  switch (kind) {
    case Ucp::kPut:
      return ucp_put_nbx(endpoint_, here, bytes, At(at), key_, &param);
    case Ucp::kGet:
      return ucp_get_nbx(endpoint_, here, bytes, At(at), key_, &param);
    case Ucp::kSend:
      return ucp_tag_send_nbx(endpoint_, here, bytes, kDataTag, &param);
    case Ucp::kReceive:
      break;
  }
  return ucp_tag_recv_nbx(worker_, here, bytes, kDataTag, ~ucp_tag_t{0}, &param);
}

// `requests` has the place of the window.
void UcxPeer::PostWindow(Ucp kind, size_t bytes, std::vector<ucs_status_ptr_t>* requests) const {
  int k = 0;
  for (ucs_status_ptr_t& request : *requests) request = Post(kind, bytes, k++);
}

void UcxPeer::AwaitAll(const std::vector<ucs_status_ptr_t>& requests) const {
  for (ucs_status_ptr_t request : requests) Await(request, "a transfer");
}

// A word to the other side, or from it.
void UcxPeer::Word(Ucp kind) const {
  uint64_t word = 0;
  ucp_request_param_t param{};
  Await(kind == Ucp::kSend ? ucp_tag_send_nbx(endpoint_, &word, sizeof word, kWordTag, &param)
                           : ucp_tag_recv_nbx(worker_, &word, sizeof word, kWordTag, ~ucp_tag_t{0}, &param),
        "a word");
}

// By the peer: windows of messages, each when rank 0 asks for it.
void UcxPeer::Send(const Order& order) const {
  std::vector<ucs_status_ptr_t> requests(static_cast<size_t>(order.window));
  for (long i = 0; i < order.count; ++i) {
    Word(Ucp::kReceive);
    PostWindow(Ucp::kSend, order.bytes, &requests);
    AwaitAll(requests);
  }
}

// By the peer: windows of messages, each answered when its receives, and those of the next one, are posted.
void UcxPeer::Receive(const Order& order) const {
  std::vector<ucs_status_ptr_t> requests(static_cast<size_t>(order.window));
  PostWindow(Ucp::kReceive, order.bytes, &requests);
  for (long i = 0; i < order.count; ++i) {
    AwaitAll(requests);
    if (i + 1 < order.count) PostWindow(Ucp::kReceive, order.bytes, &requests);
    Word(Ucp::kSend);
  }
}

// By rank 0: one window of `order`.
void UcxPeer::Move(const Order& order, std::vector<ucs_status_ptr_t>* requests) const {
  PostWindow(order.kind, order.bytes, requests);
  if (order.kind == Ucp::kReceive) Word(Ucp::kSend);
  AwaitAll(*requests);
  if (order.kind == Ucp::kPut) Flush();
  if (order.kind == Ucp::kSend) Word(Ucp::kReceive);
}

double UcxPeer::Transfers(Ucp kind, size_t bytes, int window, long count) const {
  const Order order = {kind, bytes, window, count};
  std::vector<ucs_status_ptr_t> requests(static_cast<size_t>(window));
  return Timed(order, [&] {
    for (long i = 0; i < count; ++i) Move(order, &requests);
  });
}

double UcxPeer::Additions(long count) const {
  const uint64_t one = 1;
  uint64_t before = 0;
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_REPLY_BUFFER;
  param.datatype = ucp_dt_make_contig(sizeof one);
  param.reply_buffer = &before;
  return Timed({Ucp::kPut, 0, 0, 0}, [&] {
    for (long i = 0; i < count; ++i) {
      Await(ucp_atomic_op_nbx(endpoint_, UCP_ATOMIC_OP_ADD, &one, 1, At(kPage), key_, &param), "ucp_atomic_op_nbx");
    }
  });
}

bool UcxPeer::MovesData() const {
  const bool moved = rank_ != 0 || MovedData();
  MPI_Request over = MPI_REQUEST_NULL;
  MPI_Ibarrier(comm_, &over);
  for (int is_over = 0; is_over == 0; MPI_Test(&over, &is_over, MPI_STATUS_IGNORE)) Look();
  return moved;
}

bool UcxPeer::MovedData() const {
  char* const local = memory_ + kPage;
  const auto byte = [](size_t i) { return static_cast<char>(i % 251 + 1); };
  for (const auto& [to_peer, from_peer] : {std::pair{Ucp::kPut, Ucp::kGet}, {Ucp::kSend, Ucp::kReceive}}) {
    for (size_t i = 0; i < bytes_; ++i) local[i] = byte(i);
    (void)Transfers(to_peer, bytes_, 1, 1);
    std::memset(local, 0, bytes_);
    (void)Transfers(from_peer, bytes_, 1, 1);
    for (size_t i = 0; i < bytes_; ++i) {
      if (local[i] != byte(i)) return false;
    }
    std::memset(local, 0, bytes_);
    (void)Transfers(Ucp::kPut, bytes_, 1, 1);  // so that nothing is there for the next pair
  }
  (void)Transfers(Ucp::kPut, sizeof(uint64_t), 1, 1);
  (void)Additions(3);
  (void)Transfers(Ucp::kGet, sizeof(uint64_t), 1, 1);
  uint64_t sum = 0;
  std::memcpy(&sum, local, sizeof sum);
  return sum == 3;
}

}  // namespace armci::bench
