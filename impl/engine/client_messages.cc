// Requests and batches.
#include <algorithm>

#include "impl/base/backtrace.h"
#include "impl/engine/client.h"

namespace armci::engine {

namespace {

// The length of a batch with its header. It hides the cost of a message, and networks send such a message at once while
// the client fills the next one.
constexpr std::size_t kBatchBytes = 8000;
constexpr std::int64_t kOldUs = 1000;  // the time that a growing batch stays after the first pass that found it
constexpr int kPackingMemories = 2;    // few: packed data are still in the cache when the network sends them

void write_header(const RequestHeader& header, char* at) { compose(header, {}, at); }

}  // namespace

Status Client::connect(int number) {
  ServerState& of = server(number);
  if (of.connected) return kSuccess;
  ARMCI_RETURN_IF_ERROR(wire_.connect(number));
  of.connected = true;
  used_.push_back(number);
  if (EntryServer& first = entry(number); !first.connected) {
    ARMCI_RETURN_IF_ERROR(wire_.connect(routes_.entry(process_, number)));
    first.connected = true;
  }
  return kSuccess;
}

bool Client::has_credit(int number) {
  const EntryServer& of = entry(number);
  return of.lost != 0 || (of.sent - of.executed < wire_.limits().requests && wire_.can_send(number));
}

Status Client::await_credit(Lock& lock, int number) {
  ARMCI_RETURN_IF_ERROR(connect(number));
  ARMCI_RETURN_IF_ERROR(await_until(lock, [&] { return has_credit(number); }));
  return check_lost(number);
}

void Client::address(int number, RequestHeader* header) {
  header->origin = static_cast<std::uint32_t>(process_);
  header->server = static_cast<std::uint32_t>(number);
  header->sequence = entry(number).sent + 1;
}

Status Client::send_header(Lock& lock, int number, const RequestHeader& header) {
  return send_store(lock, number, header, sizeof header, &write_header);
}

// Precondition: a credit.
Status Client::post_count_request(int number) {
  RequestHeader header;
  header.kind = RequestKind::kGetCount;
  return post_store(number, header, sizeof header, &write_header);
}

Status Client::post(int number, const RequestHeader& header, Message message, const ExpectedReply* reply) {
  ARMCI_RETURN_IF_ERROR(wire_.send(routes_.entry(process_, number), number, std::move(message), reply));
  note_sent(number, header);
  return kSuccess;
}

void Client::note_sent(int number, const RequestHeader& header) {
  EntryServer& of = entry(number);
  ++of.sent;
  ++unexecuted_;
  ++on_demand_;
  if (header.wants_count()) want_count(&of, of.sent);
  of.passes = 0;
  const bool has_effect = header.kind != RequestKind::kGet && header.kind != RequestKind::kGetCount;
  if (has_effect) server(number).last_store = of.sent;
}

std::uint32_t Client::next_tag() {
  do {
    last_tag_ = last_tag_ < kFirstTag || last_tag_ >= kLastTag ? kFirstTag : last_tag_ + 1;
  } while (replies_.contains(last_tag_));
  return last_tag_;
}

Status Client::send_long_store(Lock& lock, int number, const RequestHeader& header, std::size_t iov,
                               const std::function<void(char*)>& write_iov, std::span<const char> data, Part part) {
  RequestHeader tagged = header;
  tagged.tag = next_tag();
  ARMCI_RETURN_IF_ERROR(
      send_store(lock, number, tagged, sizeof header + iov, [&](const RequestHeader& ready, char* at) {
        char* const to = compose(ready, {}, at);
        if (iov > 0) write_iov(to);
      }));
  if (part.operation != nullptr) operations_.add_part(part.operation);
  part.is_long = true;
  ++long_parts_;
  return long_data_->send_data(number, tagged.tag, data, std::move(part));
}

Status Client::send_with_data(Lock& lock, Operation* whole, int number, RequestHeader header, std::size_t iov,
                              const std::function<void(char*)>& write_iov, std::span<const char> data) {
  ARMCI_RETURN_IF_ERROR(send_batch(lock, number));
  ARMCI_RETURN_IF_ERROR(await_part_slot(lock));
  ARMCI_RETURN_IF_ERROR(await_credit(lock, number));
  Message message = wire_.take_message(sizeof header + iov);
  address(number, &header);
  char* const at = compose(header, {}, message.bytes.get());
  if (iov > 0) write_iov(at);
  Part part(whole);
  part.is_long = true;
  operations_.add_part(whole);
  ++long_parts_;
  const Status sent =
      wire_.send_with_data(routes_.entry(process_, number), number, std::move(message), data, std::move(part));
  if (sent.ok()) {
    note_sent(number, header);
  } else {
    --long_parts_;
    operations_.end_part(whole, 0);
  }
  return sent;
}

Status Client::take_packing_memory(Lock& lock, Message* memory) {
  ARMCI_RETURN_IF_ERROR(
      await_until(lock, [this] { return !packing_memory_.empty() || packing_memories_ < kPackingMemories; }));
  if (packing_memory_.empty()) {
    ++packing_memories_;
    *memory = {Buffer(new char[long_data_->bytes_max()]), 0};
    return kSuccess;
  }
  *memory = std::move(packing_memory_.back());
  packing_memory_.pop_back();
  return kSuccess;
}

// --- batches

// Programs use aggregate handles to send few messages, so such a batch is as long as a request.
std::size_t Client::batch_bytes(How how) const {
  return how.aggregate ? request_bytes() : std::min(request_bytes(), kBatchBytes);
}

// Without a progress thread only aggregate handles are coalesced: for these the program has to call again [AGG-1].
bool Client::coalesces(How how, const RequestHeader& header, std::size_t bytes) const {
  if (how.operation == nullptr) return false;
  const bool is_atomic = header.kind == RequestKind::kAtomic;
  const std::size_t data_bytes = is_atomic ? sizeof header.operand : bytes;
  const bool is_small = (header.is_store() || is_atomic) && data_bytes <= options_.small_put_bytes;
  if (!how.aggregate && (!is_small || !options_.background)) return false;
  return header.reply_bytes() <= wire_.limits().reply_bytes && Batch<Buffer>().fits(header, bytes, batch_bytes(how));
}

void Client::end_hold(ServerState* of) {
  held_batches_ -= of->is_held ? 1 : 0;
  of->is_held = false;
}

// The part of a get or an atomic counts as pending from the moment when its batch is sent.
Status Client::end_coalesced_get(Operation* get, int number, Status coalesced, std::size_t bytes, Unpack unpack,
                                 How how) {
  if (!coalesced.ok()) {
    *how.operation = 0;
    operations_.end_first(get, 0);
    return coalesced;
  }
  *how.operation = Operations::number(get);
  server(number).batched_gets.push_back({get, bytes, std::move(unpack)});
  return kSuccess;
}

// Waits for a credit before it takes the batch, so that the batch keeps its order among the requests.
Status Client::send_batch(Lock& lock, int number, bool on_demand) {
  Batch<Buffer>& batch = server(number).batch;
  if (batch.empty()) return kSuccess;
  const Status ready = await_credit(lock, number);
  // Another thread may have sent it meanwhile. One for a lost server is not sent, but ends.
  if (!batch.empty() && has_credit(number)) return send_batch_now(number, on_demand);
  return ready;
}

// For a test of an operation that may be in it. Without a credit a pass sends the batch later.
Status Client::send_wanted_batch(int number) {
  ServerState& of = server(number);
  if (of.batch.empty()) return kSuccess;
  if (has_credit(number)) return send_batch_now(number);
  end_hold(&of);
  return kSuccess;
}

Status Client::send_batch_now(int number, bool on_demand) {
  ServerState& of = server(number);
  RequestHeader header;
  header.kind = RequestKind::kBatch;
  if (on_demand && of.batched_gets.empty()) header.levels = kCountOnDemand;
  ExpectedReply expected{0, of.batch.reply_bytes(), nullptr};
  if (!of.batched_gets.empty()) {
    expected.tag = header.tag = next_tag();
    PendingReply reply;
    reply.executor = number;
    reply.of_batch = std::exchange(of.batched_gets, {});
    operations_.add_pending(reply.of_batch.size());
    short_parts_ += reply.of_batch.size();
    replies_.emplace(header.tag, std::move(reply));
  }
  address(number, &header);
  const std::size_t length = of.batch.complete(header);
  std::erase(batched_, number);
  of.batch_seen_us = 0;
  end_hold(&of);
  // The stores are complete here. If the batch is lost, the next flush says so.
  if (of.batch_operation != nullptr) operations_.end_first(std::exchange(of.batch_operation, nullptr), 0);
  Status sent = check_lost(number);
  if (sent.ok()) {
    sent = post(number, header, {std::move(of.batch.message), length}, expected.tag != 0 ? &expected : nullptr);
  } else {
    wire_.give_back({std::move(of.batch.message), length});
  }
  if (sent.ok()) return sent;
  of.refused = true;  // its stores are lost: the next flush fails
  const int lost = entry(number).lost;
  if (expected.tag != 0) end_reply(expected.tag, lost != 0 ? lost : ClientWire::kRefused);
  return sent;
}

Status Client::send_batches(Lock& lock) {
  // Other threads may add batches meanwhile, and send them.
  std::vector<int> numbers = batched_;
  // The servers after the own one first.
  const int own = routes_.server_of(process_);
  std::stable_partition(numbers.begin(), numbers.end(), [own](int number) { return number > own; });
  for (const int number : numbers) ARMCI_RETURN_IF_ERROR(send_batch(lock, number));
  return kSuccess;
}

// A batch to which something was added since the last pass waits for the next one, but not long: other threads may add
// to it again and again.
Status Client::send_old_batches() {
  const std::int64_t now_us = batched_.empty() ? 0 : node::now_us();
  for (std::size_t i = 0; i < batched_.size();) {
    const int number = batched_[i];
    ServerState& of = server(number);
    if (of.batch_seen_us == 0) of.batch_seen_us = now_us;
    const bool is_old = std::exchange(of.batch.is_unchanged, true) || now_us - of.batch_seen_us >= kOldUs;
    if (of.is_held || !is_old || !has_credit(number)) {
      ++i;
    } else if (!send_batch_now(number).ok()) {
      print_failure("a batch of stores", last_cause());
    }
  }
  return kSuccess;
}

}  // namespace armci::engine
