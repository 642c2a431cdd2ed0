// Endpoints, waiting, and flushes.
#include "impl/ucx/client.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "impl/ucx/failure.h"

namespace armci::ucx {

namespace {

// Unpacked, of a process.
constexpr std::size_t kKeysMax = 1024;

}  // namespace

Status Client::open(const Context& context, std::vector<std::string> addresses) {
  ARMCI_RETURN_IF_ERROR(worker_.open(context));
  ARMCI_RETURN_IF_ERROR(worker_.handle_messages(kReplyMessage, &on_reply, this));
  addresses_ = std::move(addresses);
  peers_.resize(addresses_.size());
  return kSuccess;
}

void Client::close() {
  Lock lock(mutex_);
  std::vector<ucs_status_ptr_t> closing;
  for (Peer& of : peers_) {
    for (const auto& [number, key] : of.keys) ucp_rkey_destroy(key);
    of.keys.clear();
    if (of.endpoint == nullptr) continue;
    ucp_request_param_t param{};
    const ucs_status_ptr_t request = ucp_ep_close_nbx(std::exchange(of.endpoint, nullptr), &param);
    if (request != nullptr && !UCS_PTR_IS_ERR(request)) closing.push_back(request);
  }
  for (const ucs_status_ptr_t request : closing) {
    await_until(lock, [&] { return ucp_request_check_status(request) != UCS_INPROGRESS; });
    ucp_request_free(request);
  }
}

// --- waiting

void Client::await_part_slot(Lock& lock) {
  if (operations_.pending() < ways_.parts) return;
  await_until(lock, [&] { return operations_.pending() < ways_.parts; });
}

void Client::request_progress() {
  if (watched_ || waiting_ > 0 || !has_many()) return;
  watched_ = true;
  wake_();
}

Client::Need Client::progress_for_server(const Worker** armed) {
  Lock lock(mutex_, std::try_to_lock);
  // Another thread has the lock, and makes progress for all.
  if (!lock.owns_lock() || waiting_ > 0) return Need::kSoon;
  if (!watched_) return Need::kNone;
  const bool any = worker_.progress();
  send_old_batches();
  watched_ = has_more() || unexecuted_ > 0;
  if (!watched_) return Need::kNone;
  if (any || armed == nullptr || !worker_.arm()) return Need::kMore;
  *armed = &worker_;
  return Need::kSoon;
}

void Client::progress() {
  Lock lock(mutex_, std::try_to_lock);
  if (lock.owns_lock()) worker_.progress();
}

Status Client::outcome(Operation* failed) {
  if (failed == nullptr) return kSuccess;
  const Status status = fail_ucs(failed->status, failed->call, failed->peer);
  operations_.release(failed);
  return status;
}

Status Client::await(Lock& lock, std::uint64_t number) {
  Operation* failed = nullptr;
  await_until(lock, [&] { return operations_.ended(number, &failed); });
  return outcome(failed);
}

Status Client::test(std::uint64_t number, bool* done) {
  *done = true;
  if (number == 0) return kSuccess;
  Lock lock(mutex_);
  Operation* failed = nullptr;
  *done = operations_.ended(number, &failed);
  // Polls until nothing arrives, so that a program that tests rarely finds all completions that have arrived.
  while (!*done && worker_.progress()) *done = operations_.ended(number, &failed);
  return outcome(failed);
}

// The caller must not get a buffer back that UCX still accesses. So after a failure the call waits for the issued
// parts.
Status Client::finish(Lock& lock, Operation* whole, Status begun, std::uint64_t* number) {
  const std::uint64_t mine = Operations::number(whole);
  operations_.end_first(whole, UCS_OK);
  if (!begun.ok() || number == nullptr) {
    const Status ended = await(lock, mine);
    request_progress();
    return ended.ok() ? begun : ended;
  }
  Operation* failed = nullptr;
  *number = operations_.ended(mine, &failed) && failed == nullptr ? 0 : mine;
  request_progress();
  return kSuccess;
}

ucp_request_param_t Client::end_param(Operation* operation) {
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  param.cb.send = [](void* request, ucs_status_t status, void* ended) {
    auto* const of = static_cast<Operation*>(ended);
    of->owner->end_part(of, status);
    ucp_request_free(request);
  };
  param.user_data = operation;
  return param;
}

// Handles the result of a UCX call that issues a part.
Status Client::begun_part(ucs_status_ptr_t request, Operation* whole) {
  if (request != nullptr && !UCS_PTR_IS_ERR(request)) return kSuccess;  // the callback ends the part
  operations_.end_part(whole, UCS_OK);
  if (request == nullptr) return kSuccess;
  return fail_ucs(UCS_PTR_STATUS(request), whole->call, whole->peer);
}

// --- endpoints

Status Client::reach(int target) {
  Peer& of = peer(target);
  if (of.endpoint != nullptr) return kSuccess;
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
  params.address = reinterpret_cast<const ucp_address_t*>(addresses_[static_cast<std::size_t>(target)].data());
  const ucs_status_t status = ucp_ep_create(worker_.handle(), &params, &of.endpoint);
  if (status == UCS_OK) return kSuccess;
  of.endpoint = nullptr;
  return note(fail_ucs(status, "ucp_ep_create", target),
              "UCX has no transport there; give UCX_TLS and UCX_NET_DEVICES one that reaches it (ucx_info -d lists "
              "them)");
}

Status Client::describe(int target, std::string* text) {
  Lock lock(mutex_);
  return print_endpoint(target, text);
}

Status Client::print_endpoint(int target, std::string* text) {
  ARMCI_RETURN_IF_ERROR(reach(target));
  char* printed = nullptr;
  std::size_t length = 0;
  std::FILE* const stream = open_memstream(&printed, &length);
  if (stream == nullptr) return fail_errno(errno, "open_memstream");
  ucp_ep_print_info(peer(target).endpoint, stream);
  std::fclose(stream);
  text->assign(printed, length);
  std::free(printed);
  return kSuccess;
}

void Client::learn(int target, std::uint32_t number, std::string packed) {
  Lock lock(mutex_);
  peer(target).learned.emplace(number, std::move(packed));
}

void Client::forget(int target, std::uint32_t number) {
  Lock lock(mutex_);
  Peer& of = peer(target);
  of.learned.erase(number);
  const auto found = of.keys.find(number);
  if (found == of.keys.end()) return;
  ucp_rkey_destroy(found->second);
  of.keys.erase(found);
}

Status Client::unpack(const Target& target, ucp_rkey_h* unpacked) {
  ARMCI_RETURN_IF_ERROR(reach(target.process));
  Peer& of = peer(target.process);
  const auto found = of.keys.find(target.key.number);
  if (found != of.keys.end()) {
    *unpacked = found->second;
    return kSuccess;
  }
  // Keys of memory that one process allocated alone are never forgotten by the others, so they are dropped here and
  // unpacked again when needed. No thread is in a transfer: such a thread would count as waiting.
  if (of.keys.size() >= kKeysMax && operations_.pending() == 0 && waiting_ == 0) {
    for (const auto& [number, key] : of.keys) ucp_rkey_destroy(key);
    of.keys.clear();
  }
  const void* packed = target.key.bytes;
  if (target.key.length == 0) packed = of.learned.at(target.key.number).data();
  const ucs_status_t status = ucp_ep_rkey_unpack(of.endpoint, packed, unpacked);
  if (status != UCS_OK) return fail_ucs(status, "ucp_ep_rkey_unpack", target.process);
  of.keys.emplace(target.key.number, *unpacked);
  return kSuccess;
}

// --- flush

Status Client::begin_flush(int target, std::uint64_t* number) {
  Operation* const begun = operations_.begin_part("ucp_ep_flush_nbx", target);
  ucp_request_param_t param = end_param(begun);
  *number = Operations::number(begun);
  const Status status = begun_part(ucp_ep_flush_nbx(peer(target).endpoint, &param), begun);
  peer(target).flushing = status.ok();
  return status;
}

// Memory ordering: puts that were issued before the flush are visible at its end. Puts that other threads issue
// meanwhile do not count as flushed.
Status Client::flush_puts(Lock& lock, int target) {
  Peer& of = peer(target);
  const std::uint64_t wanted = of.puts;
  while (of.flushed < wanted) {
    await_until(lock, [&] { return !of.flushing; });
    if (of.flushed >= wanted) break;
    const std::uint64_t covered = of.puts;
    std::uint64_t number = 0;
    ARMCI_RETURN_IF_ERROR(begin_flush(target, &number));
    const Status status = await(lock, number);
    of.flushing = false;
    ARMCI_RETURN_IF_ERROR(status);
    of.flushed = of.fenced = covered;
  }
  return kSuccess;
}

Status Client::flush(int target) {
  Lock lock(mutex_);
  Peer& of = peer(target);
  ARMCI_RETURN_IF_ERROR(send_batch(lock, target));
  const std::uint64_t last = of.last_store;
  ARMCI_RETURN_IF_ERROR(flush_puts(lock, target));
  await_until(lock, [&] { return has_executed(of, last); });
  request_progress();
  ARMCI_RETURN_IF_ERROR(check_way(target));
  if (!std::exchange(of.refused, false)) return kSuccess;
  return fail(Code::kLayerBelow, nullptr, "a request to process %d was refused or not sent, see the message about it",
              target);
}

Status Client::flush_all() {
  struct Begun {
    int target;
    std::uint64_t covered;
    std::uint64_t number;
  };
  std::vector<Begun> begun;
  Status status;
  Lock lock(mutex_);
  const int processes = static_cast<int>(peers_.size());
  for (const int target : std::vector<int>(batched_)) {
    if (status.ok()) status = send_batch(lock, target);
  }
  for (int target = 0; target < processes && status.ok(); ++target) {
    Peer& of = peer(target);
    if (of.flushed == of.puts || of.flushing) continue;
    begun.push_back({target, of.puts, 0});
    status = begin_flush(target, &begun.back().number);
    if (!status.ok()) begun.pop_back();
  }
  for (const Begun& one : begun) {
    const Status ended = await(lock, one.number);
    Peer& of = peer(one.target);
    of.flushing = false;
    if (ended.ok()) of.flushed = of.fenced = one.covered;
    if (!ended.ok()) status = ended;
  }
  lock.unlock();
  // Waits for the counts of executed requests, and for flushes of other threads.
  for (int target = 0; target < processes; ++target) {
    const Status one = flush(target);
    if (!one.ok()) status = one;
  }
  return status;
}

}  // namespace armci::ucx
