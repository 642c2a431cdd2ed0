// Waiting, completion, order and flushes.
#include "impl/engine/client.h"

#include <algorithm>

#include "impl/base/backtrace.h"
#include "impl/node/wait.h"

namespace armci::engine {

namespace {

// A network may keep the end of a message that it has taken as sent, until it is polled again.
constexpr std::int64_t kUnpolledUs = 20;
// Another thread may take the event that one sleeps for.
constexpr std::int64_t kSleepUs = 1000;
constexpr unsigned kPollsBeforeServing = 4;      // most replies come sooner
constexpr std::int64_t kBetweenBatchesUs = 100;  // looks of a waiting thread at batches
// After the last work the progress thread makes so many passes more, since a wake costs more than a pass.
constexpr int kQuietPasses = 100;

}  // namespace

Client::Client(ClientWire* wire, const Routes& routes, int process, const ClientOptions& options,
               std::function<void()> wake, std::function<void()> serve)
    : wire_(*wire),
      rdma_(wire->rdma()),
      long_data_(wire->long_data()),
      routes_(routes),
      process_(process),
      options_(options),
      wake_(std::move(wake)),
      serve_(std::move(serve)),
      entries_(static_cast<std::size_t>(routes.servers())),
      servers_(static_cast<std::size_t>(routes.servers())) {
  wire->report_to(this);
}

Status Client::close() {
  Lock lock(mutex_);
  ARMCI_RETURN_IF_ERROR(send_batches(lock));
  for (int number = 0; number < routes_.servers(); ++number) {
    EntryServer& of = entries_[static_cast<std::size_t>(number)];
    if (of.sent == 0 || of.lost != 0) continue;
    ARMCI_RETURN_IF_ERROR(request_count(lock, number, of.sent));
    ARMCI_RETURN_IF_ERROR(
        await_until(lock, [&] { return (of.executed == of.sent && !of.awaits_refusal()) || of.lost != 0; }));
    of.disconnects = true;
    ARMCI_RETURN_IF_ERROR(send_header(lock, number, RequestHeader()));
  }
  ARMCI_RETURN_IF_ERROR(await_until(lock, [this] {
    return std::none_of(entries_.begin(), entries_.end(),
                        [](const EntryServer& of) { return of.disconnects && of.lost == 0; }) &&
           !wire_.unsent();
  }));
  wire_.close();
  return kSuccess;
}

std::size_t Client::buffer_bytes() {
  const Lock lock(mutex_);
  const std::size_t packing = long_data_ != nullptr ? long_data_->bytes_max() : 0;
  return wire_.buffer_bytes() + static_cast<std::size_t>(packing_memories_) * packing;
}

// --- waiting

bool Client::rest(Lock& lock, node::Waiter* waiter, bool any, unsigned polls) {
  const bool streaming = is_streaming() || wire_.is_streaming();
  const bool sleeps = wire_.limits().has_events;
  lock.unlock();
  if (serve_ && polls % kPollsBeforeServing == 0) serve_();
  bool may_sleep = false;
  if (sleeps) {
    // The waiter is called in any case: it may have to poll MPI.
    may_sleep = !waiter->busy() && !any;
  } else {
    waiter->step(streaming);
  }
  lock.lock();
  return may_sleep;
}

void Client::sleep(Lock& lock, node::Waiter* waiter) {
  if (!wire_.arm()) return;
  lock.unlock();
  wire_.await_event(waiter->bounded_us(kSleepUs));
  lock.lock();
}

Status Client::await_part_slot(Lock& lock) {
  return await_until(lock, [this] { return operations_.pending() < options_.parts; });
}

Status Client::await_transfer_slot(Lock& lock, int number) {
  return await_until(lock, [&] { return operations_.pending() < options_.parts && rdma_->can_transfer(number); });
}

Status Client::outcome(Operation* failed) {
  if (failed == nullptr) return kSuccess;
  const Status status =
      failed->error == ClientWire::kRefused
          ? fail(Code::kLayerBelow, nullptr, "server %d refused %s; see its message", failed->peer, failed->call)
          : wire_.failure(failed->error, failed->call, failed->peer);
  operations_.release(failed);
  return status;
}

Status Client::await(Lock& lock, std::uint64_t number) {
  Operation* failed = nullptr;
  ARMCI_RETURN_IF_ERROR(await_until(lock, [&] { return operations_.ended(number, &failed); }));
  return outcome(failed);
}

Status Client::wait(std::uint64_t number) {
  Lock lock(mutex_);
  Operation* failed = nullptr;
  if (operations_.ended(number, &failed)) return outcome(failed);
  const Status sent = send_batch(lock, operations_.peer_of(number));
  // Without a connection the batch stays, for a test to try again.
  if (!sent.ok() && !operations_.ended(number, &failed)) return leave(lock, sent);
  const Status ended = await(lock, number);
  return leave(lock, sent.ok() ? ended : sent);
}

// Polls until nothing arrives. Then a program with few tests still finds every completion that has arrived.
Status Client::test(std::uint64_t number, bool* done) {
  *done = true;
  if (number == 0) return kSuccess;
  const Lock lock(mutex_);
  Operation* failed = nullptr;
  // Without a progress thread the network has to take a batch before the program goes on, as in leave().
  const auto has_ended = [&] { return (options_.background || !wire_.unsent()) && operations_.ended(number, &failed); };
  *done = has_ended();
  if (*done) return outcome(failed);
  if (!operations_.ended(number, &failed)) {
    const Status sent = send_wanted_batch(operations_.peer_of(number));
    if (!sent.ok()) {
      *done = operations_.ended(number, &failed);
      return failed != nullptr ? outcome(failed) : sent;
    }
  }
  for (bool any = true; any && !*done;) {
    ARMCI_RETURN_IF_ERROR(wire_.poll(&any));
    *done = has_ended();
  }
  test_has_polled_ = true;
  if (options_.background) watch();
  return outcome(failed);
}

bool Client::has_pending() const {
  return operations_.pending() > short_parts_ || wire_.unsent() || counts_to_come() > wire_.limits().unwatched;
}

Client::Watch Client::needed_watch() const {
  if (has_pending()) return Watch::kSoon;
  return short_parts_ > 0 || unexecuted_ > 0 || has_unheld_batches() ? Watch::kLater : Watch::kNone;
}

void Client::watch() {
  if (waiting_.load(std::memory_order_relaxed) > 0) return;
  const Watch needed = needed_watch();
  if (needed != Watch::kNone) quiet_passes_ = 0;
  if (needed <= watched_.load(std::memory_order_relaxed)) return;
  watched_.store(needed);
  wake_();
}

Status Client::poll(bool* any) {
  if (const std::int64_t now_us = batched_.empty() ? 0 : node::now_us(); now_us - batches_at_us_ >= kBetweenBatchesUs) {
    batches_at_us_ = now_us;
    ARMCI_RETURN_IF_ERROR(send_old_batches());
  }
  return wire_.poll(any);
}

// Without a progress thread, waits until the network has taken all data and delivered long replies: otherwise a server
// would wait until the next call of the process.
Status Client::leave(Lock& lock, Status status) {
  if (!options_.background) {
    const Status sent = await_until(lock, [this] { return !wire_.unsent() && !is_streaming(); });
    return status.ok() ? sent : status;
  }
  watch();
  return status;
}

// The caller must not get a buffer back that the network still accesses. So after a failure the call waits for the
// parts that have begun.
Status Client::finish(Lock& lock, Operation* whole, Status begun, How how) {
  const std::uint64_t mine = Operations::number(whole);
  operations_.end_first(whole, 0);
  if (!begun.ok() || how.operation == nullptr) {
    const Status ended = await(lock, mine);
    return begun.ok() ? ended : begun;
  }
  Operation* failed = nullptr;
  *how.operation = operations_.ended(mine, &failed) && failed == nullptr ? 0 : mine;
  return kSuccess;
}

// --- progress

bool Client::is_in_use() {
  const Lock lock(mutex_, std::try_to_lock);
  return !lock.owns_lock() || waiting_.load(std::memory_order_relaxed) != 0;
}

Status Client::progress(Progress* found) {
  // The waiting thread wakes this one if it leaves something pending.
  *found = watched_.load() == Watch::kNone ? Progress::kIdle : Progress::kOtherThread;
  if (waiting_.load(std::memory_order_relaxed) != 0) return kSuccess;
  // A thread that has the lock now may leave pending operations.
  *found = Progress::kPending;
  const Lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return kSuccess;
  *found = Progress::kIdle;
  if (watched_.load() == Watch::kNone) return kSuccess;
  bool any = false;
  ARMCI_RETURN_IF_ERROR(wire_.poll(&any));
  ARMCI_RETURN_IF_ERROR(send_old_batches());
  if (on_demand_ > 0) ARMCI_RETURN_IF_ERROR(request_old_counts());
  const Watch needed = needed_watch();
  quiet_passes_ = needed == Watch::kNone ? quiet_passes_ + 1 : 0;
  watched_.store(quiet_passes_ >= kQuietPasses ? Watch::kNone : std::max(needed, Watch::kLater));
  if (needed == Watch::kSoon) {
    *found = any ? Progress::kBusy : Progress::kPending;
  } else if (quiet_passes_ < kQuietPasses) {
    *found = Progress::kLater;
  }
  return kSuccess;
}

Client::Armed Client::arm() {
  const Lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || waiting_.load(std::memory_order_relaxed) != 0) return Armed::kOtherThread;
  return wire_.arm() ? Armed::kYes : Armed::kHasWork;
}

void Client::poll_once() {
  const Lock lock(mutex_, std::try_to_lock);
  bool any = false;
  if (!lock.owns_lock() || std::exchange(test_has_polled_, false) || needed_watch() == Watch::kNone) return;
  if (options_.server_polls && !has_pending() && short_parts_ == 0 && !has_unheld_batches()) return;
  const std::int64_t now_us = node::now_us();
  // Counts are taken before so many requests are unexecuted that leave() would wake the progress thread.
  if (!has_pending() && counts_to_come() <= wire_.limits().unwatched / 2 && now_us - polled_at_us_ < kUnpolledUs)
    return;
  polled_at_us_ = now_us;
  (void)wire_.poll(&any);
}

// --- order

Status Client::order_transfer(Lock& lock, const Target& target) {
  const int number = routes_.server_of(target.process);
  ServerState& of = server(number);
  of.transferred = true;
  ARMCI_RETURN_IF_ERROR(connect(number));
  ARMCI_RETURN_IF_ERROR(send_batch(lock, number));
  ARMCI_RETURN_IF_ERROR(await_executed(lock, number));
  if (of.fenced == of.transfers) return kSuccess;
  ARMCI_RETURN_IF_ERROR(rdma_->fence(target));
  of.fenced = of.transfers;
  return kSuccess;
}

Status Client::order_request(Lock& lock, int number) {
  if (rdma_ == nullptr || server(number).flushed >= server(number).transfers) return kSuccess;
  return rdma_->requests_follow(number) ? kSuccess : flush_transfers(lock, number);
}

Status Client::await_executed(Lock& lock, int number) {
  const std::uint64_t last = server(number).last_store;
  EntryServer& of = entry(number);
  ARMCI_RETURN_IF_ERROR(request_count(lock, number, last));
  ARMCI_RETURN_IF_ERROR(
      await_until(lock, [&] { return (of.executed >= last && !of.awaits_refusal()) || of.lost != 0; }));
  return check_lost(number);
}

// Sends nothing if the server reports a count of `last` or more by itself.
Status Client::request_count(Lock& lock, int number, std::uint64_t last) {
  const EntryServer& of = entry(number);
  if (last <= of.last_wanted || of.lost != 0) return kSuccess;
  ARMCI_RETURN_IF_ERROR(send_batch(lock, number));
  ARMCI_RETURN_IF_ERROR(await_credit(lock, number));
  // The count may have come with the credit.
  return last <= of.last_wanted ? kSuccess : post_count_request(number);
}

// A signal whose count nothing requests would keep the progress thread awake. A pass requests it when the server has
// got no request for so many passes.
Status Client::request_old_counts() {
  for (int number = 0; number < routes_.servers(); ++number) {
    EntryServer& of = entries_[static_cast<std::size_t>(number)];
    if (of.last_wanted == of.sent || of.lost != 0) continue;
    of.passes = std::min(of.passes + 1, kQuietPasses);
    const bool may_send = server(number).batch.empty() && has_credit(number);
    if (of.passes == kQuietPasses && may_send) ARMCI_RETURN_IF_ERROR(post_count_request(number));
  }
  return kSuccess;
}

Status Client::check_lost(int number) {
  const int error = entry(number).lost;
  return error == 0 ? kSuccess : wire_.failure(error, "sending a request", number);
}

// --- flush

Status Client::issue_flush(int number, std::uint64_t* flush) {
  Operation* const begun = operations_.begin_part("flush", number);
  *flush = Operations::number(begun);
  const Status status = rdma_->flush(number, begun);
  if (!status.ok()) operations_.end_part(begun, 0);
  server(number).flushing = status.ok();
  return status;
}

// Memory ordering: writes that were begun before the flush are visible at its end. Writes that other threads begin
// meanwhile do not count as flushed.
Status Client::flush_transfers(Lock& lock, int number) {
  ServerState& of = server(number);
  const std::uint64_t wanted = of.transfers;
  while (of.flushed < wanted) {
    ARMCI_RETURN_IF_ERROR(await_until(lock, [&] { return !of.flushing; }));
    if (of.flushed >= wanted) break;
    const std::uint64_t covered = of.transfers;
    std::uint64_t flush = 0;
    ARMCI_RETURN_IF_ERROR(issue_flush(number, &flush));
    const Status status = await(lock, flush);
    of.flushing = false;
    ARMCI_RETURN_IF_ERROR(status);
    of.flushed = of.fenced = covered;
  }
  return kSuccess;
}

Status Client::end_flush(int number) {
  if (!std::exchange(server(number).refused, false)) return kSuccess;
  return fail(Code::kLayerBelow, nullptr, "server %d refused a request, or did not get it; see the message about it",
              number);
}

Status Client::flush(int process) {
  Lock lock(mutex_);
  const int number = routes_.server_of(process);
  Status status = send_batch(lock, number);
  if (status.ok()) status = flush_transfers(lock, number);
  if (status.ok()) status = await_executed(lock, number);
  if (status.ok()) status = end_flush(number);
  return leave(lock, status);
}

Status Client::flush_all() {
  struct Begun {
    int number;
    std::uint64_t covered;
    std::uint64_t flush;
  };
  std::vector<Begun> begun;
  Lock lock(mutex_);
  Status status = send_batches(lock);
  // The servers after the own one first, so that not all processes begin with the same.
  std::vector<int> numbers = used_;
  std::sort(numbers.begin(), numbers.end());
  const int own = routes_.server_of(process_);
  std::stable_partition(numbers.begin(), numbers.end(), [own](int number) { return number > own; });
  for (const int number : numbers) {
    ServerState& of = server(number);
    if (!status.ok() || of.flushed == of.transfers || of.flushing) continue;
    begun.push_back({number, of.transfers, 0});
    status = issue_flush(number, &begun.back().flush);
    if (!status.ok()) begun.pop_back();
  }
  for (const Begun& one : begun) {
    const Status ended = await(lock, one.flush);
    ServerState& of = server(one.number);
    of.flushing = false;
    if (ended.ok()) of.flushed = of.fenced = one.covered;
    if (!ended.ok()) status = ended;
  }
  // All requests for counts leave before the first wait, so that their round trips overlap.
  for (const int number : numbers) {
    if (status.ok()) status = request_count(lock, number, server(number).last_store);
  }
  // The counts of executed requests, and flushes of other threads.
  for (const int number : numbers) {
    Status one = flush_transfers(lock, number);
    if (one.ok()) one = await_executed(lock, number);
    if (one.ok()) one = end_flush(number);
    if (!one.ok()) status = one;
  }
  return leave(lock, status);
}

// --- events

void Client::ended(Part part, int error) {
  if (part.packed.bytes != nullptr) packing_memory_.push_back(std::move(part.packed));
  if (part.is_long) --long_parts_;
  if (part.operation != nullptr) operations_.end_part(part.operation, error);
}

// The server waits for the request before it executes later ones, so no later request completes.
void Client::lost(int number, int error) {
  if (EntryServer& of = entries_[static_cast<std::size_t>(number)]; of.lost == 0) of.lost = error;
  std::vector<std::uint32_t> tags;
  for (const auto& [tag, reply] : replies_) {
    if (routes_.entry(process_, reply.executor) == number) tags.push_back(tag);
  }
  for (const std::uint32_t tag : tags) end_reply(tag, error);
}

bool Client::awaits(int number) const {
  const EntryServer& of = entries_[static_cast<std::size_t>(number)];
  const bool lacks_credits = of.sent - of.executed >= wire_.limits().requests;
  // The network may hold the end of a signal. A poll for its count makes it go on, unless the server polls.
  const std::uint64_t last = options_.server_polls ? of.last_wanted : of.sent;
  return of.executed < last || lacks_credits || of.disconnects || entry(number).awaits_refusal();
}

void Client::note_refusal(EntryServer* of, std::uint64_t number) {
  if (number <= of->executed) {
    ++of->refusals_received;
  } else {
    of->early_refusals.push_back(number);
  }
}

// The count of the request `last` comes by itself, or has come.
void Client::want_count(EntryServer* of, std::uint64_t last) {
  if (last <= of->last_wanted) return;
  on_demand_ -= last - of->last_wanted;
  of->last_wanted = last;
}

void Client::count(const ReplyHeader& header) {
  if (header.server >= entries_.size()) return;
  EntryServer& of = entries_[header.server];
  if (header.executed > of.executed && header.executed <= of.sent) {
    unexecuted_ -= header.executed - of.executed;
    of.executed = header.executed;
    of.refusals_counted = header.refusals;
    for (const std::uint64_t early : std::exchange(of.early_refusals, {})) note_refusal(&of, early);
    want_count(&of, of.executed);
  }
  // A get or an atomic fails by its own reply.
  if (header.refused != 0 && header.value > kLastReply) {
    const int number = static_cast<int>(header.server);
    server(number).refused = true;
    note_refusal(&entry(number), header.value - kLastReply);
  }
  if (header.tag == 0 && header.value == kLastReply) of.disconnects = false;
}

// Memory ordering: the caller's later reads see at least the data of the reply [ORD-4].
void Client::replied(const ReplyHeader& header, std::span<const char> data) {
  count(header);
  const auto found = replies_.find(header.tag);
  if (header.tag == 0 || found == replies_.end()) return;
  const PendingReply& reply = found->second;
  if (reply.is_in_header) data = {reinterpret_cast<const char*>(&header.value), sizeof header.value};
  const char* at = data.data();
  const auto scatter = [&](const Destination& destination) {
    if (destination.bytes > static_cast<std::size_t>(data.data() + data.size() - at)) return;
    if (destination.unpack) destination.unpack(at);
    at += destination.bytes;
  };
  if (header.refused == 0) {
    if (reply.of_batch.empty()) scatter(reply.destination);
    for (const Destination& destination : reply.of_batch) scatter(destination);
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  end_reply(header.tag, header.refused != 0 ? ClientWire::kRefused : 0);
}

void Client::data_received(std::uint32_t tag) {
  std::atomic_thread_fence(std::memory_order_acquire);
  end_reply(tag, 0);
}

void Client::end_reply(std::uint32_t tag, int error) {
  const auto found = replies_.find(tag);
  if (found == replies_.end()) return;
  const PendingReply reply = std::move(found->second);
  replies_.erase(found);
  if (reply.is_long) {
    --long_replies_;
  } else {
    short_parts_ -= std::max<std::size_t>(reply.of_batch.size(), 1);
  }
  if (reply.of_batch.empty()) operations_.end_part(reply.destination.operation, error);
  for (const Destination& destination : reply.of_batch) operations_.end_part(destination.operation, error);
}

}  // namespace armci::engine
