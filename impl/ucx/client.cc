// Connections, puts and gets, completion.
#include "impl/ucx/client.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace armci::ucx {

using common::Code;
using common::fail;
using common::kSuccess;
using common::Status;
using server::Rows;

namespace {

// UCX asserts that an endpoint has fewer than 255 flushes under way.
constexpr int kFlushesMax = 64;
constexpr double kCloseSeconds = 10;

}  // namespace

Client::Inside::Inside(Client* client) : lock(client->mutex_, std::defer_lock), client_(*client) {
  client_.inside_.fetch_add(1);
  lock.lock();
}

Client::Inside::~Inside() {
  client_.under_way_.store(client_.operations_.under_way() + client_.open_asks_);
  lock.unlock();
  if (client_.inside_.fetch_sub(1) == 1 && client_.under_way_.load() > 0) client_.left_behind_();
}

Client::Client(int process, const ClientBounds& bounds, std::function<void()> left_behind)
    : process_(process), bounds_(bounds), left_behind_(std::move(left_behind)) {}

Client::~Client() = default;

Status Client::open(const Context& context) {
  ARMCI_RETURN_IF_ERROR(worker_.open(context));
  return worker_.handle(kReply, replied, this);
}

void Client::learn(std::vector<std::vector<char>> addresses) {
  peers_.resize(addresses.size());
  for (std::size_t i = 0; i < addresses.size(); ++i) peers_[i].address = std::move(addresses[i]);
}

// --- connections

Status Client::reach(int process) {
  Peer& other = peer(process);
  if (other.endpoint != nullptr) return check(process);
  ucp_ep_params_t wanted{};
  wanted.field_mask =
      UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
  wanted.address = reinterpret_cast<const ucp_address_t*>(other.address.data());
  wanted.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  wanted.err_handler.cb = broke;
  wanted.err_handler.arg = this;
  const ucs_status_t made = ucp_ep_create(worker_.get(), &wanted, &other.endpoint);
  if (made == UCS_OK) return kSuccess;
  other.endpoint = nullptr;
  return fail_ucx(made, "ucp_ep_create", process);
}

Status Client::check(int process) {
  const Peer& other = peer(process);
  if (!other.broken) return kSuccess;
  return fail(Code::kLayerBelow, nullptr, "the connection to process %d is lost: %s", process, other.why.c_str());
}

// What was asked there is not answered any more; UCX ends its own operations with errors.
void Client::broke(void* self, ucp_ep_h endpoint, ucs_status_t status) {
  auto* const client = static_cast<Client*>(self);
  for (std::size_t i = 0; i < client->peers_.size(); ++i) {
    Peer& other = client->peers_[i];
    if (other.endpoint != endpoint) continue;
    other.broken = true;
    other.why = ucs_status_string(status);
    for (Ask& ask : client->asks_) {
      if (ask.taken && !ask.answered && ask.target == static_cast<int>(i)) client->finish(&ask, true, other.why);
    }
  }
}

void Client::disconnect() {
  Inside inside(this);
  const std::int64_t end = node::now_us() + static_cast<std::int64_t>(kCloseSeconds * 1e6);
  std::vector<void*> closing;
  for (Peer& other : peers_) {
    if (other.endpoint == nullptr) continue;
    ucp_request_param_t how{};
    if (other.broken) {
      how.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
      how.flags = UCP_EP_CLOSE_FLAG_FORCE;
    }
    void* const request = ucp_ep_close_nbx(other.endpoint, &how);
    if (UCS_PTR_IS_PTR(request)) closing.push_back(request);
    other.endpoint = nullptr;
  }
  const auto all_closed = [&] {
    std::erase_if(closing, [](void* request) {
      if (ucp_request_check_status(request) == UCS_INPROGRESS) return false;
      ucp_request_free(request);
      return true;
    });
    return closing.empty() || node::now_us() > end;
  };
  wait_until(&inside, all_closed);
}

Status Client::describe(int target, std::string* transports) {
  Inside inside(this);
  ARMCI_RETURN_IF_ERROR(reach(target));
  Mark mark;
  // Lanes are known once the connection is made, which a flush waits for.
  ++peer(target).puts;
  ARMCI_RETURN_IF_ERROR(start_flush(&inside, target, &mark));
  wait_until(&inside, [&] { return !operations_.is_under_way(mark); });
  ARMCI_RETURN_IF_ERROR(outcome(mark));
  *transports = transports_of(peer(target).endpoint);
  return kSuccess;
}

// --- puts and gets

// Bounded: who finds no room completes what is older.
Status Client::make_room(Inside* inside, int process) {
  const Peer& other = peer(process);
  wait_until(inside, [&] { return operations_.under_way() < bounds_.depth || other.broken; });
  return check(process);
}

ucp_rkey_h Client::key_of(const Target& target) {
  Part* const part = target.part;
  if (!bounds_.rma || part == nullptr || part->refused) return nullptr;
  if (part->key != nullptr) return part->key;
  part->refused = part->packed.empty() ||
                  ucp_ep_rkey_unpack(peer(target.process).endpoint, part->packed.data(), &part->key) != UCS_OK;
  if (part->refused) part->key = nullptr;
  return part->key;
}

void Client::forget(Region* region) {
  Inside inside(this);
  for (Part& part : region->parts) {
    if (part.key != nullptr) ucp_rkey_destroy(part.key);
    part.key = nullptr;
  }
}

void Client::moved(void* request, ucs_status_t status, void* move) {
  const std::unique_ptr<Move> done(static_cast<Move*>(move));
  const bool failed = status != UCS_OK;
  done->client->operations_.end_part(done->mark, failed,
                                     failed ? Failure{done->target, ucs_status_string(status)} : Failure{});
  ucp_request_free(request);
}

Status Client::started(void* request, std::unique_ptr<Move> move, const char* call) {
  if (UCS_PTR_IS_PTR(request)) {
    (void)move.release();  // moved() has it
    return kSuccess;
  }
  operations_.end_part(move->mark);
  return request == nullptr ? kSuccess : fail_ucx(UCS_PTR_STATUS(request), call, move->target);
}

Status Client::start_put(Inside* inside, const Target& target, void* remote, const void* local, std::size_t bytes,
                         const Mark& mark) {
  ARMCI_RETURN_IF_ERROR(make_room(inside, target.process));
  ucp_rkey_h const key = key_of(target);
  if (key == nullptr) {
    return store_run(inside, target.process, server::put_header(), static_cast<char*>(remote),
                     static_cast<const char*>(local), bytes);
  }
  auto move = std::make_unique<Move>(Move{this, mark, target.process});
  ucp_request_param_t how{};
  how.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  how.cb.send = moved;
  how.user_data = move.get();
  operations_.add_part(mark);
  ++peer(target.process).puts;
  void* const request =
      ucp_put_nbx(peer(target.process).endpoint, local, bytes, reinterpret_cast<std::uintptr_t>(remote), key, &how);
  return started(request, std::move(move), "ucp_put_nbx");
}

Status Client::start_get(Inside* inside, const Target& target, const void* remote, void* local, std::size_t bytes,
                         const Mark& mark) {
  ARMCI_RETURN_IF_ERROR(make_room(inside, target.process));
  ucp_rkey_h const key = key_of(target);
  if (key == nullptr) {
    return fetch_run(inside, target.process, static_cast<const char*>(remote), static_cast<char*>(local), bytes, mark);
  }
  auto move = std::make_unique<Move>(Move{this, mark, target.process});
  ucp_request_param_t how{};
  how.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  how.cb.send = moved;
  how.user_data = move.get();
  operations_.add_part(mark);
  void* const request =
      ucp_get_nbx(peer(target.process).endpoint, local, bytes, reinterpret_cast<std::uintptr_t>(remote), key, &how);
  return started(request, std::move(move), "ucp_get_nbx");
}

Status Client::put(const Target& target, void* remote, const void* local, std::size_t bytes, Mark* mark) {
  Inside inside(this);
  ARMCI_RETURN_IF_ERROR(reach(target.process));
  const Mark made = operations_.begin();
  const Status begun = start_put(&inside, target, remote, local, bytes, made);
  operations_.end_part(made);
  if (operations_.is_under_way(made)) *mark = made;
  return begun;
}

Status Client::get(const Target& target, const void* remote, void* local, std::size_t bytes, Mark* mark) {
  Inside inside(this);
  ARMCI_RETURN_IF_ERROR(reach(target.process));
  const Mark made = operations_.begin();
  const Status begun = start_get(&inside, target, remote, local, bytes, made);
  operations_.end_part(made);
  if (operations_.is_under_way(made)) *mark = made;
  return begun;
}

// --- completion

Status Client::outcome(const Mark& mark) {
  Failure failure;
  if (!operations_.take_failure(mark, &failure)) return kSuccess;
  return fail(Code::kLayerBelow, nullptr, "process %d: %s", failure.target, failure.text.c_str());
}

Status Client::test(const Mark& mark, bool* done) {
  Inside inside(this);
  if (operations_.is_under_way(mark)) worker_.progress();
  *done = !operations_.is_under_way(mark);
  return *done ? outcome(mark) : kSuccess;
}

Status Client::wait(const Mark& mark) {
  if (mark.none()) return kSuccess;
  Inside inside(this);
  wait_until(&inside, [&] { return !operations_.is_under_way(mark); });
  return outcome(mark);
}

bool Client::try_progress(unsigned* events) {
  const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return false;
  *events += worker_.progress();
  under_way_.store(operations_.under_way() + open_asks_);
  return true;
}

bool Client::arm(bool* busy, Status* failure) {
  *busy = false;
  if (inside_.load() > 0 || under_way_.load() == 0) return false;
  const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return false;
  *busy = !worker_.arm(failure);
  return true;
}

Status Client::start_flush(Inside* inside, int process, Mark* mark) {
  Peer& other = peer(process);
  *mark = {};
  if (other.endpoint == nullptr || other.puts == other.puts_flushed) return kSuccess;
  wait_until(inside, [&] { return other.flushing < kFlushesMax; });
  ARMCI_RETURN_IF_ERROR(check(process));
  const Mark made = operations_.begin();
  auto move = std::make_unique<Move>(Move{this, made, process});
  ucp_request_param_t how{};
  how.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  how.cb.send = moved;
  how.user_data = move.get();
  operations_.add_part(made);
  ++other.flushing;
  void* const request = ucp_ep_flush_nbx(other.endpoint, &how);
  const Status begun = started(request, std::move(move), "ucp_ep_flush_nbx");
  operations_.end_part(made);
  if (begun.ok()) {
    *mark = made;
  } else {
    --other.flushing;
  }
  return begun;
}

// Counts as flushed only what was there when the flush began.
Status Client::end_flush(Inside* inside, int process, std::uint64_t asked, std::uint64_t puts, const Mark& mark) {
  Peer& other = peer(process);
  Status status;
  if (!mark.none()) {
    wait_until(inside, [&] { return !operations_.is_under_way(mark); });
    --other.flushing;
    status = outcome(mark);
    if (status.ok()) other.puts_flushed = std::max(other.puts_flushed, puts);
  }
  wait_until(inside, [&] { return other.unanswered.empty() || *other.unanswered.begin() > asked; });
  if (status.ok() && !other.failed_request.empty()) {
    status = fail(Code::kLayerBelow, nullptr, "a store to process %d: %s", process, other.failed_request.c_str());
    other.failed_request.clear();
  }
  return status;
}

Status Client::flush(int target) {
  Inside inside(this);
  const Peer& other = peer(target);
  const std::uint64_t asked = other.asked;
  const std::uint64_t puts = other.puts;
  Mark mark;
  ARMCI_RETURN_IF_ERROR(start_flush(&inside, target, &mark));
  return end_flush(&inside, target, asked, puts, mark);
}

Status Client::flush_all() {
  Inside inside(this);
  struct Begun {
    int process;
    std::uint64_t asked;
    std::uint64_t puts;
    Mark mark;
  };
  std::vector<Begun> all;
  Status status;
  for (int process = 0; process < static_cast<int>(peers_.size()); ++process) {
    const Peer& other = peer(process);
    if (other.endpoint == nullptr) continue;
    Begun one{process, other.asked, other.puts, {}};
    const Status begun = start_flush(&inside, process, &one.mark);
    if (!begun.ok()) status = begun;
    all.push_back(one);
  }
  for (const Begun& one : all) {
    const Status ended = end_flush(&inside, one.process, one.asked, one.puts, one.mark);
    if (!ended.ok()) status = ended;
  }
  return status;
}

}  // namespace armci::ucx
