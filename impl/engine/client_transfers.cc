// Puts, gets, accumulates, signals and atomics, as transfers by the network and as requests.
#include <algorithm>
#include <cstring>

#include "impl/engine/client.h"
#include "impl/node/copy.h"

namespace armci::engine {

namespace {

// The pieces that a long transfer is cut into, at most as long as LongData takes.
constexpr std::size_t kPieces = 4;
constexpr std::size_t kWordBytes = sizeof(std::uint64_t);
// A put up to this length follows unexecuted requests as a request, instead of waiting for their count.
constexpr std::size_t kFollowBytes = 4096;
// A transfer of an aggregate handle up to this length goes by request, so that it can join a batch.
constexpr std::size_t kAggregateBytes = 4096;

std::uint64_t address_of(const void* place) { return reinterpret_cast<std::uintptr_t>(place); }

RequestHeader get_header() {
  RequestHeader header;
  header.kind = RequestKind::kGet;
  return header;
}

// The bytes from the last word boundary to a place. A piece ends at a word, so that no element is cut in two [LC-3].
std::size_t odd_bytes(const void* remote) { return address_of(remote) % kWordBytes; }

}  // namespace

Status Rdma::transfer_rows(Direction, const Target&, const Rows&, std::size_t, std::size_t*, Operations::Operation*) {
  return fail(Code::kUnsupported, nullptr, "the wire moves no rows");
}

Status Rdma::set_word(const Target&, std::uint64_t*, std::uint64_t) {
  return fail(Code::kUnsupported, nullptr, "the wire sets no words");
}

Status ClientWire::send_with_data(int, int, Message, std::span<const char>, Part) {
  return fail(Code::kUnsupported, nullptr, "the wire sends no data from the memory of the program");
}

// In whole elements.
std::size_t Client::data_bytes_max(std::size_t iov) const {
  return (request_bytes() - sizeof(RequestHeader) - iov) / kElementBytesMax * kElementBytesMax;
}

// LongData: the length of the pieces of a transfer whose data travel apart from their requests.
std::size_t Client::piece_bytes(std::size_t total) const {
  const std::size_t part = total / kPieces / kElementBytesMax * kElementBytesMax;
  return std::min(std::max(part, options_.piece_bytes), long_data_->bytes_max());
}

// Whether the data of a store without gaps leave from the memory of the program, in one message with their request.
bool Client::is_zero_copy(std::size_t bytes) const {
  return wire_.zero_copy_bytes() > 0 && bytes >= wire_.zero_copy_bytes();
}

// Whether a store without gaps is copied into requests.
bool Client::is_copied(std::size_t bytes) const {
  if (is_zero_copy(bytes)) return false;
  return long_data_ == nullptr || bytes <= std::max(data_bytes_max(0), options_.copied_bytes);
}

std::size_t Client::store_piece_bytes(std::size_t total) const {
  const std::size_t longest = data_bytes_max(0);
  if (is_zero_copy(total)) return longest;
  if (!is_copied(total)) return piece_bytes(total);
  return options_.copied_piece_bytes == 0 ? longest : std::min(longest, options_.copied_piece_bytes);
}

Status Client::each_row(const Rows& rows, const std::function<Status(char* local, char* remote)>& visit) {
  Status status;
  rows.visit(0, rows.count(), [&](char* local, char* remote) {
    if (status.ok()) status = visit(local, remote);
  });
  return status;
}

// --- by the network itself

// A longer one follows an open batch as a request: a transfer would wait until the batch is executed.
bool Client::joins_batch(const Target& target, std::size_t bytes, How how) {
  return how.aggregate && (bytes <= kAggregateBytes || !server(routes_.server_of(target.process)).batch.empty());
}

bool Client::is_by_request(const Target& target, const void* remote, std::size_t bytes, How how) {
  if (rdma_ == nullptr || joins_batch(target, bytes, how)) return true;
  const int number = routes_.server_of(target.process);
  const ServerState& of = server(number);
  const bool unexecuted = entry(number).executed < of.last_store || !of.batch.empty();
  const bool follows = bytes <= kFollowBytes && unexecuted && of.flushed == of.transfers;
  return follows || !rdma_->reaches(target, remote, bytes);
}

// By the network: rows that it gathers, and rows that are too long to be packed.
bool Client::is_by_request(const Target& target, const Rows& rows, How how) {
  if (rdma_ == nullptr || joins_batch(target, rows.count() * rows.bytes(), how)) return true;
  const bool is_gathered = rows.bytes() <= rdma_->row_bytes_max() && rows.remote_is_dense();
  return (rows.bytes() < options_.pack_bytes && !is_gathered) || !rdma_->reaches(target, rows);
}

Operations::Operation* Client::issue_transfer(const char* call, const Target& target, How how) {
  Operation* const whole = operations_.begin(call, routes_.server_of(target.process));
  whole->is_blocking = how.operation == nullptr;
  return whole;
}

Status Client::transfer_run(Lock& lock, Operation* whole, Rdma::Direction direction, const Target& target, char* remote,
                            char* local, std::size_t bytes) {
  const int number = routes_.server_of(target.process);
  while (bytes > 0) {
    ARMCI_RETURN_IF_ERROR(await_transfer_slot(lock, number));
    operations_.add_part(whole);
    if (direction == Rdma::Direction::kWrite) ++server(number).transfers;
    std::size_t now = bytes;
    const Status begun = rdma_->transfer(direction, target, remote, local, &now, whole);
    if (!begun.ok()) {
      operations_.end_part(whole, 0);
      return begun;
    }
    remote += now;
    local += now;
    bytes -= now;
  }
  return kSuccess;
}

Status Client::transfer_rows(Lock& lock, Operation* whole, Rdma::Direction direction, const Target& target,
                             const Rows& rows) {
  if (rows.bytes() > rdma_->row_bytes_max()) {
    return each_row(rows, [&](char* local, char* remote) {
      return transfer_run(lock, whole, direction, target, remote, local, rows.bytes());
    });
  }
  const int number = routes_.server_of(target.process);
  for (std::size_t first = 0; first < rows.count();) {
    ARMCI_RETURN_IF_ERROR(await_transfer_slot(lock, number));
    operations_.add_part(whole);
    if (direction == Rdma::Direction::kWrite) ++server(number).transfers;
    std::size_t now = rows.count() - first;
    const Status begun = rdma_->transfer_rows(direction, target, rows, first, &now, whole);
    if (!begun.ok()) {
      operations_.end_part(whole, 0);
      return begun;
    }
    first += now;
  }
  return kSuccess;
}

// --- stores

Status Client::put(const Target& target, void* remote, const void* local, std::size_t bytes, How how) {
  Lock lock(mutex_);
  if (is_by_request(target, remote, bytes, how)) {
    return leave(lock, store(lock, routes_.server_of(target.process), put_header(), remote, local, bytes, how));
  }
  if (const Status ordered = order_transfer(lock, target); !ordered.ok()) return leave(lock, ordered);
  Operation* const whole = issue_transfer("a put", target, how);
  const Status begun = transfer_run(lock, whole, Rdma::Direction::kWrite, target, static_cast<char*>(remote),
                                    const_cast<char*>(static_cast<const char*>(local)), bytes);
  return leave(lock, finish(lock, whole, begun, how));
}

Status Client::put_rows(const Target& target, const Rows& rows, How how) {
  Lock lock(mutex_);
  const int number = routes_.server_of(target.process);
  if (is_by_request(target, rows, how)) {
    return leave(lock, store_by_rows(lock, number, put_header(), rows, how));
  }
  if (const Status ordered = order_transfer(lock, target); !ordered.ok()) return leave(lock, ordered);
  Operation* const whole = issue_transfer("a put", target, how);
  return leave(lock, finish(lock, whole, transfer_rows(lock, whole, Rdma::Direction::kWrite, target, rows), how));
}

Status Client::add(int process, RequestHeader header, void* remote, const void* local, std::size_t bytes, How how) {
  Lock lock(mutex_);
  return leave(lock, store(lock, routes_.server_of(process), header, remote, local, bytes, how));
}

Status Client::add_rows(int process, RequestHeader header, const Rows& rows, How how) {
  Lock lock(mutex_);
  return leave(lock, store_by_rows(lock, routes_.server_of(process), header, rows, how));
}

Status Client::store(Lock& lock, int number, RequestHeader header, void* remote, const void* local, std::size_t bytes,
                     How how) {
  const char* const from = static_cast<const char*>(local);
  ARMCI_RETURN_IF_ERROR(order_request(lock, number));
  header.address = address_of(remote);
  header.bytes = bytes;
  if (how.operation != nullptr) *how.operation = 0;
  if (coalesces(how, header, bytes)) {
    return coalesce(lock, number, how, header, bytes, [=](char* at) { node::copy(at, from, bytes); });
  }
  char* const to = static_cast<char*>(remote);
  // All is copied: the call needs no operation.
  if (is_copied(bytes)) {
    return store_run(lock, nullptr, number, header, to, from, bytes);
  }
  Operation* const whole = operations_.begin("a store", number);
  return finish(lock, whole, store_run(lock, whole, number, header, to, from, bytes), how);
}

Status Client::store_by_rows(Lock& lock, int number, RequestHeader header, const Rows& rows, How how) {
  ARMCI_RETURN_IF_ERROR(order_request(lock, number));
  if (how.operation != nullptr) *how.operation = 0;
  const std::size_t total = rows.count() * rows.bytes();
  const std::size_t iov = rows.iov_bytes(rows.count());
  if (total <= batch_bytes(how)) {
    rows.fill_in(0, rows.count(), &header);
    if (coalesces(how, header, iov + total)) {
      return coalesce(lock, number, how, header, iov + total,
                      [&](char* at) { rows.pack(0, rows.count(), rows.write_iov(0, rows.count(), at)); });
    }
  }
  if (long_data_ == nullptr && !is_zero_copy(total)) return store_rows(lock, nullptr, number, header, rows);
  Operation* const whole = operations_.begin("a store", number);
  return finish(lock, whole, store_rows(lock, whole, number, header, rows), how);
}

// Without gaps, in pieces that end between elements, wherever the first one begins. Only the last one wants the count.
Status Client::store_run(Lock& lock, Operation* whole, int number, RequestHeader header, char* remote,
                         const char* local, std::size_t bytes) {
  header.form = Form::kContiguous;
  const bool zero_copy = is_zero_copy(bytes);
  const bool is_long = long_data_ != nullptr && !is_copied(bytes);
  const std::size_t piece = store_piece_bytes(bytes);
  while (bytes > 0) {
    const std::size_t odd = header.kind == RequestKind::kPut ? odd_bytes(remote) : 0;
    header.address = address_of(remote);
    header.bytes = bytes <= piece ? bytes : piece - odd;
    header.levels = header.bytes < bytes && delays_count(number) ? kCountOnDemand : 0;
    if (zero_copy) {
      ARMCI_RETURN_IF_ERROR(send_with_data(lock, whole, number, header, 0, {}, {local, header.bytes}));
    } else if (is_long) {
      ARMCI_RETURN_IF_ERROR(send_long_store(lock, number, header, 0, {}, {local, header.bytes}, Part(whole)));
    } else {
      ARMCI_RETURN_IF_ERROR(send_store(
          lock, number, header, sizeof header + header.bytes,
          [&](const RequestHeader& ready, char* at) { node::copy(compose(ready, {}, at), local, ready.bytes); }));
    }
    remote += header.bytes;
    local += header.bytes;
    bytes -= header.bytes;
  }
  return kSuccess;
}

// Packs into each request as many rows as fit. Rows that do not fit go one by one; or, by LongData, in pieces of many.
Status Client::store_rows(Lock& lock, Operation* whole, int number, RequestHeader header, const Rows& rows) {
  const std::size_t fitting = rows.fitting(request_bytes() - sizeof header, rows.bytes());
  if (long_data_ != nullptr && fitting < rows.count()) return store_long_rows(lock, whole, number, header, rows);
  if (fitting == 0) {
    return each_row(rows, [&](char* local, char* remote) {
      return store_run(lock, whole, number, header, remote, local, rows.bytes());
    });
  }
  const bool zero_copy = is_zero_copy(rows.count() * rows.bytes());
  for (std::size_t first = 0; first < rows.count();) {
    const std::size_t now = std::min(fitting, rows.count() - first);
    const std::size_t bytes = now * rows.bytes();
    const char* const run = zero_copy ? rows.local_run(first, now) : nullptr;
    if (run != nullptr) {
      rows.fill_in(first, now, &header);
      ARMCI_RETURN_IF_ERROR(send_with_data(lock, whole, number, header, rows.iov_bytes(now),
                                           [&](char* at) { (void)rows.write_iov(first, now, at); }, {run, bytes}));
    } else {
      ARMCI_RETURN_IF_ERROR(send_store(
          lock, number, header, sizeof header + rows.iov_bytes(now) + bytes,
          [&](const RequestHeader& ready, char* at) { rows.pack(first, now, rows.describe(first, now, ready, at)); }));
    }
    first += now;
  }
  return kSuccess;
}

Status Client::store_long_rows(Lock& lock, Operation* whole, int number, RequestHeader header, const Rows& rows) {
  if (rows.bytes() > long_data_->bytes_max() / 2) {
    return each_row(rows, [&](char* local, char* remote) {
      return store_run(lock, whole, number, header, remote, local, rows.bytes());
    });
  }
  const std::size_t at_once = std::max(piece_bytes(rows.count() * rows.bytes()) / rows.bytes(), std::size_t{1});
  const std::size_t rows_max = std::min(at_once, rows.fitting(request_bytes() - sizeof header, 0));
  for (std::size_t first = 0; first < rows.count(); first += header.count) {
    rows.fill_in(first, std::min(rows_max, rows.count() - first), &header);
    const std::size_t now = header.count;
    const auto write_iov = [&](char* at) { (void)rows.write_iov(first, now, at); };
    std::span<const char> data(rows.local_run(first, now), now * rows.bytes());
    Part part(whole);
    if (data.data() == nullptr) {
      ARMCI_RETURN_IF_ERROR(take_packing_memory(lock, &part.packed));
      rows.pack(first, now, part.packed.bytes.get());
      data = {part.packed.bytes.get(), data.size()};
      part.operation = nullptr;
    }
    ARMCI_RETURN_IF_ERROR(send_long_store(lock, number, header, rows.iov_bytes(now), write_iov, data, std::move(part)));
  }
  return kSuccess;
}

// --- signals

Status Client::put_signal(const Target& target, void* remote, const void* local, std::size_t bytes,
                          const node::Signal& signal) {
  const int number = routes_.server_of(target.process);
  const char* const from = static_cast<const char*>(local);
  Lock lock(mutex_);
  if (is_by_transfer(number, bytes, signal)) return leave(lock, transfer_signal(lock, target, signal));
  RequestHeader header = signal_header(signal);
  header.address = address_of(remote);
  header.bytes = bytes;
  RequestHeader alone = header;  // outside a batch
  if (delays_count(number)) alone.levels = kCountOnDemand;
  if (bytes > data_bytes_max(0)) return leave(lock, put_then_signal(lock, target, from, alone));
  const auto write_data = [=](char* at) { node::copy(at, from, bytes); };
  Status status = order_request(lock, number);
  Batch<Buffer>& batch = server(number).batch;
  if (status.ok() && !batch.empty() && batch.fits(header, bytes, server(number).batch_limit)) {
    batch.add(header, bytes, write_data);
    return leave(lock, send_batch(lock, number, delays_count(number)));
  }
  if (status.ok()) {
    status = send_store(lock, number, alone, sizeof alone + bytes,
                        [&](const RequestHeader& ready, char* at) { write_data(compose(ready, {}, at)); });
  }
  return leave(lock, status);
}

// A write is not atomic against other changes. It would have to wait for the count of unexecuted requests; a request
// follows them at once.
bool Client::is_by_transfer(int number, std::size_t bytes, const node::Signal& signal) const {
  if (rdma_ == nullptr || !rdma_->sets_words() || bytes > 0) return false;
  const bool is_write = signal.op == node::SignalOp::kSet && signal.sole_writer;
  const ServerState& of = servers_[static_cast<std::size_t>(number)];
  return is_write && of.batch.empty() && entry(number).executed >= of.last_store;
}

Status Client::transfer_signal(Lock& lock, const Target& target, const node::Signal& signal) {
  const int number = routes_.server_of(target.process);
  ARMCI_RETURN_IF_ERROR(order_transfer(lock, target));
  ARMCI_RETURN_IF_ERROR(await_transfer_slot(lock, number));
  ARMCI_RETURN_IF_ERROR(rdma_->set_word(target, signal.word, signal.value));
  ++server(number).transfers;
  return kSuccess;
}

// The call sends the signal at once, and then waits until the data have left the local buffer.
Status Client::put_then_signal(Lock& lock, const Target& target, const char* local, RequestHeader header) {
  const int number = routes_.server_of(target.process);
  char* const remote = reinterpret_cast<char*>(static_cast<std::uintptr_t>(header.address));
  const bool by_request = is_by_request(target, remote, header.bytes, {});
  ARMCI_RETURN_IF_ERROR(by_request ? order_request(lock, number) : order_transfer(lock, target));
  Operation* const whole = issue_transfer("a put", target, {});
  Status status = by_request ? store_run(lock, whole, number, put_header(), remote, local, header.bytes)
                             : transfer_run(lock, whole, Rdma::Direction::kWrite, target, remote,
                                            const_cast<char*>(local), header.bytes);
  header.bytes = 0;
  if (status.ok()) status = order_request(lock, number);
  if (status.ok()) status = send_header(lock, number, header);
  return finish(lock, whole, status, {});
}

// --- gets

Status Client::get(const Target& target, const void* remote, void* local, std::size_t bytes, How how) {
  Lock lock(mutex_);
  const int number = routes_.server_of(target.process);
  if (rdma_ == nullptr || joins_batch(target, bytes, how) || !rdma_->reaches(target, remote, bytes)) {
    return leave(lock, fetch(lock, number, remote, local, bytes, how));
  }
  if (const Status ordered = order_transfer(lock, target); !ordered.ok()) return leave(lock, ordered);
  Operation* const whole = operations_.begin("a get", number);
  const Status begun =
      transfer_run(lock, whole, Rdma::Direction::kRead, target, const_cast<char*>(static_cast<const char*>(remote)),
                   static_cast<char*>(local), bytes);
  return leave(lock, finish(lock, whole, begun, how));
}

Status Client::get_rows(const Target& target, const Rows& rows, How how) {
  Lock lock(mutex_);
  const int number = routes_.server_of(target.process);
  const bool by_request = is_by_request(target, rows, how);
  const Status ordered = by_request ? order_request(lock, number) : order_transfer(lock, target);
  if (!ordered.ok()) return leave(lock, ordered);
  Operation* const whole = operations_.begin("a get", number);
  RequestHeader header = get_header();
  rows.fill_in(0, rows.count(), &header);
  const std::size_t iov = rows.iov_bytes(rows.count());
  if (by_request && coalesces(how, header, iov)) {
    const Status status =
        coalesce(lock, number, how, header, iov, [&](char* at) { (void)rows.write_iov(0, rows.count(), at); });
    return leave(lock, end_coalesced_get(whole, number, status, rows.count() * rows.bytes(),
                                         rows.unpacker(0, rows.count()), how));
  }
  const Status begun = by_request ? fetch_rows(lock, whole, number, rows)
                                  : transfer_rows(lock, whole, Rdma::Direction::kRead, target, rows);
  return leave(lock, finish(lock, whole, begun, how));
}

Status Client::fetch(Lock& lock, int number, const void* remote, void* local, std::size_t bytes, How how) {
  ARMCI_RETURN_IF_ERROR(order_request(lock, number));
  Operation* const whole = operations_.begin("a get", number);
  char* const to = static_cast<char*>(local);
  RequestHeader header = get_header();
  header.address = address_of(remote);
  header.bytes = bytes;
  if (!coalesces(how, header, 0)) {
    char* const from = const_cast<char*>(static_cast<const char*>(remote));
    return finish(lock, whole, fetch_run(lock, whole, number, from, to, bytes), how);
  }
  const Status status = coalesce(lock, number, how, header, 0, [](char*) {});
  return end_coalesced_get(
      whole, number, status, bytes, [to, bytes](const char* data) { node::copy(to, data, bytes); }, how);
}

Status Client::fetch_run(Lock& lock, Operation* whole, int number, char* remote, char* local, std::size_t bytes) {
  const auto write = [](const RequestHeader& ready, char* at) { compose(ready, {}, at); };
  const bool alone = long_data_ != nullptr && bytes > options_.small_get_bytes;
  const std::size_t piece = alone ? kSegmentBytesMax : wire_.limits().reply_bytes / kElementBytesMax * kElementBytesMax;
  RequestHeader header = get_header();
  header.type = alone ? kDataAlone : 0;
  while (bytes > 0) {
    const std::size_t now = bytes <= piece ? bytes : piece - odd_bytes(remote);
    header.address = address_of(remote);
    header.bytes = now;
    Destination destination{whole, now, {}};
    if (!alone) destination.unpack = [local, now](const char* data) { node::copy(local, data, now); };
    ARMCI_RETURN_IF_ERROR(
        send_request(lock, number, header, sizeof header, write, std::move(destination), alone ? local : nullptr));
    remote += now;
    local += now;
    bytes -= now;
  }
  return kSuccess;
}

// Requests as many rows as fit into a request and into a reply.
Status Client::fetch_rows(Lock& lock, Operation* whole, int number, const Rows& rows) {
  const std::size_t total = rows.count() * rows.bytes();
  std::size_t reply_bytes = wire_.limits().reply_bytes;
  const bool is_long = long_data_ != nullptr && total > reply_bytes;
  const std::size_t row_max = long_data_ != nullptr ? long_data_->bytes_max() / 2 : reply_bytes;
  RequestHeader header = get_header();
  if (rows.bytes() > row_max) {
    return each_row(
        rows, [&](char* local, char* remote) { return fetch_run(lock, whole, number, remote, local, rows.bytes()); });
  }
  if (is_long) reply_bytes = std::max(piece_bytes(total), rows.bytes());
  const std::size_t fitting = std::min(reply_bytes / rows.bytes(), rows.fitting(request_bytes() - sizeof header, 0));
  for (std::size_t first = 0; first < rows.count();) {
    const std::size_t now = std::min(fitting, rows.count() - first);
    char* const place = is_long ? rows.local_run(first, now) : nullptr;
    header.type = place != nullptr ? kDataAlone : 0;
    Destination destination{whole, now * rows.bytes(), {}};
    if (place == nullptr) destination.unpack = rows.unpacker(first, now);
    ARMCI_RETURN_IF_ERROR(send_request(
        lock, number, header, sizeof header + rows.iov_bytes(now),
        [&](const RequestHeader& ready, char* at) { (void)rows.describe(first, now, ready, at); },
        std::move(destination), place));
    first += now;
  }
  return kSuccess;
}

// --- atomics

Status Client::atomic(int process, RequestHeader header, void* before, How how) {
  Lock lock(mutex_);
  const int number = routes_.server_of(process);
  if (const Status ordered = order_request(lock, number); !ordered.ok()) return leave(lock, ordered);
  Operation* const whole = operations_.begin("an atomic operation", number);
  const std::size_t bytes = header.bytes;
  const Unpack take_value = [before, bytes](const char* value) { std::memcpy(before, value, bytes); };
  if (coalesces(how, header, 0)) {
    const Status status = coalesce(lock, number, how, header, 0, [](char*) {});
    return leave(lock, end_coalesced_get(whole, number, status, bytes, take_value, how));
  }
  const Status sent = send_request(
      lock, number, header, sizeof header, [](const RequestHeader& ready, char* at) { compose(ready, {}, at); },
      {whole, bytes, take_value}, nullptr);
  return leave(lock, finish(lock, whole, sent, how));
}

}  // namespace armci::engine
