// The client: sends requests to the servers of other processes over a wire (wire.h), receives their replies, and has
// the network write and read memory itself where it can.
//
//   store    short: copied into a request; the local buffer is free at once
//            long: with LongData in pieces that follow their requests, without a copy where there are no gaps, unless
//            it is short enough to be copied all the same (copied_bytes); else in as many requests as it needs
//   get      one or several requests; complete when all replies are here
//   small    non-blocking stores and atomics, and operations of aggregate handles (with Rdma the short ones), are
//            coalesced into a batch: one request. It leaves when it is full, before any other request to its server,
//            with a signal, at a test, wait or flush, or in a pass of the progress thread. A batch of aggregate handles
//            only is held: no pass sends it
//   signal   a request; with Rdma that sets words a write, if it has no data, its word has one writer, and no request
//            that stores is unexecuted
//   atomic   a blocking one is a request
//   Rdma     contiguous data, and rows that are too long to be packed
//   flush    waits for the count of executed requests, and for the network; requests the count if the server does not
//            report it by itself
//
// A request needs a credit: the wire limits the unexecuted requests to a server. Each reply carries the count of
// executed requests.
//
// Order, of what one thread does to one process:
//   transfer, then transfer   a fence of the network between them
//   transfer, then request    the transfers are flushed, unless the network orders both
//   request, then request     the server executes them in the order of their sequence
//   request, then transfer    waits until the server has counted all that store
//
// Thread safety: all members by any thread. One thread at a time has the lock. A thread that waits releases the lock
// between two polls.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "impl/base/status.h"
#include "impl/engine/batch.h"
#include "impl/engine/routes.h"
#include "impl/engine/rows.h"
#include "impl/engine/wire.h"
#include "impl/node/waiter.h"

namespace armci::engine {

// The lengths, in bytes, that choose the protocol of a transfer, and limits.
struct ClientOptions {
  std::size_t small_put_bytes = 0;     // longest non-blocking store that is coalesced
  std::size_t small_get_bytes = 0;     // LongData: longer gets without gaps come without a header
  std::size_t piece_bytes = 0;         // LongData: of a transfer that needs several
  std::size_t copied_bytes = 0;        // LongData: longer stores without gaps go by it, the others are copied
  std::size_t copied_piece_bytes = 0;  // data of a request with such a copy, at most; 0: what a request holds
  std::size_t pack_bytes = 0;          // Rdma: shorter rows are packed
  std::size_t parts = 256;             // of operations, pending at most
  // A signal, and every request of a store but the last, lets the server keep its count until the client requests it.
  // Rdma: not after the first transfer to that server, since later ones wait for the count.
  bool counts_on_demand = false;
  // A pass of the server of this process also sends what the messages of the client left in the network. So the client
  // polls for counts only when it needs them.
  bool server_polls = false;
  bool background = true;  // a thread calls progress() when wake() is called, until it finds kIdle
};

// How a call returns.
struct How {
  // Null: the call returns at local completion; a get has its data then. Otherwise *operation is a number for test(),
  // and the local buffer belongs to the operation until test() reports its end; 0: complete.
  std::uint64_t* operation = nullptr;
  bool aggregate = false;  // of an aggregate handle: coalesced if it is short and fits into a request
};

class Client final : private ClientEvents {
 public:
  // The wire outlives the client. `wake` has the progress thread call progress(). Threads that wait call `serve` again
  // and again, without the lock.
  Client(ClientWire* wire, const Routes& routes, int process, const ClientOptions& options, std::function<void()> wake,
         std::function<void()> serve);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Disconnects from all servers and closes the wire. Precondition: no operation is pending.
  Status close();

  Status put(const Target& target, void* remote, const void* local, std::size_t bytes, How how);
  Status get(const Target& target, const void* remote, void* local, std::size_t bytes, How how);
  Status put_rows(const Target& target, const Rows& rows, How how);
  Status get_rows(const Target& target, const Rows& rows, How how);
  // Accumulates. The header has type and scale; the client fills in addresses and lengths.
  Status add(int process, RequestHeader header, void* remote, const void* local, std::size_t bytes, How how);
  Status add_rows(int process, RequestHeader header, const Rows& rows, How how);
  // A put of 0 bytes or more, and a signal behind it and all earlier stores; one message, if the data fit. The key of
  // the target is that of the data, or without data that of the word. The local buffer is free at return.
  Status put_signal(const Target& target, void* remote, const void* local, std::size_t bytes,
                    const node::Signal& signal);
  // As a get of the value before, of header.bytes.
  Status atomic(int process, RequestHeader header, void* before, How how);

  // Waits for the end of the operation, and sends a batch that it is in.
  Status wait(std::uint64_t operation);
  Status test(std::uint64_t operation, bool* done);
  // Waits until every store to the process is remotely complete.
  Status flush(int process);
  // The same for every process, overlapped. Each process begins with another server.
  Status flush_all();

  // Whether a thread sends, or waits, in the client at this moment.
  bool is_in_use();

  enum class Progress {
    kIdle,         // nothing is pending until wake() is called
    kLater,        // the next pass is due within a millisecond: short messages are pending, or were lately
    kPending,      // the next pass is due soon
    kBusy,         // the next pass is due at once
    kOtherThread,  // another thread waits in the client, and makes progress for all; as kLater
  };
  // A pass by the progress thread; sends the batches that are not held, and are old or have not
  // grown since the last pass.
  Status progress(Progress* found);
  enum class Armed { kYes, kHasWork, kOtherThread };
  // To be called by a thread that is about to sleep for an event of the wire.
  Armed arm();
  // A pass by a thread of the program that polls, unless it has just tested. Sends no batches.
  void poll_once();
  // Runs `call` with the lock, for calls of the port to its wire.
  template <class Call>
  auto with_lock(Call call) {
    const Lock lock(mutex_);
    return call();
  }
  std::size_t buffer_bytes();

 private:
  using Lock = std::unique_lock<std::mutex>;
  using Operation = Operations::Operation;
  using Unpack = std::function<void(const char* data)>;
  // The part that a reply ends.
  struct Destination {
    Operation* operation = nullptr;  // a part of it
    std::size_t bytes = 0;           // of the data
    Unpack unpack;
  };
  struct PendingReply {
    int executor = -1;
    bool is_long = false;
    bool is_in_header = false;  // the value before an atomic
    Destination destination;
    std::vector<Destination> of_batch;  // instead
  };
  // The server that receives the requests for one or more servers.
  struct EntryServer {
    std::uint64_t sent = 0;
    std::uint64_t executed = 0;                 // so many of those
    std::uint64_t last_wanted = 0;              // the last one whose count comes by itself, or has come
    int passes = 0;                             // of the progress thread, since the last request
    std::uint32_t refusals_counted = 0;         // of `executed`: stores that the server refused, as it counts
    std::uint32_t refusals_received = 0;        // of those
    std::vector<std::uint64_t> early_refusals;  // of stores that are not counted yet
    bool connected = false;
    bool disconnects = false;
    int lost = 0;  // why a request was not sent: of the wire

    bool awaits_refusal() const { return refusals_received != refusals_counted; }
  };
  // The server of a target.
  struct ServerState {
    bool connected = false;
    Batch<Buffer> batch;
    std::size_t batch_limit = 0;  // its length, at most
    // Ends when the batch is sent. The stores of aggregate handles share it; null if another store began the batch.
    Operation* batch_operation = nullptr;
    std::int64_t batch_seen_us = 0;  // when a pass found it first, 0: none has
    bool is_held = false;  // only operations of aggregate handles are in the batch, so no progress pass sends it
    std::vector<Destination> batched_gets;  // and atomics
    std::uint64_t last_store = 0;           // of the requests to the entry
    std::uint64_t transfers = 0;            // writes by Rdma, begun
    std::uint64_t flushed = 0;              // of those, known to be visible
    std::uint64_t fenced = 0;               // of those, no later one overtakes them
    bool transferred = false;               // by Rdma, in either direction, at any time before
    bool flushing = false;
    bool refused = false;  // a request was, or a batch was not sent, since the last flush
  };

  ServerState& server(int number) { return servers_[static_cast<std::size_t>(number)]; }
  const EntryServer& entry(int number) const {
    return entries_[static_cast<std::size_t>(routes_.entry(process_, number))];
  }
  EntryServer& entry(int number) { return entries_[static_cast<std::size_t>(routes_.entry(process_, number))]; }
  std::size_t request_bytes() const { return wire_.limits().request_bytes; }

  // --- waiting (client.cc)
  // Polls until the condition holds. Releases the lock between two polls.
  template <class Condition>
  Status await_until(Lock& lock, Condition condition);
  // The part of a wait without the lock. True: the thread may sleep.
  bool rest(Lock& lock, node::Waiter* waiter, bool any, unsigned polls);
  void sleep(Lock& lock, node::Waiter* waiter);
  bool is_streaming() const { return long_replies_ > 0 || long_parts_ > 0; }
  Status await(Lock& lock, std::uint64_t number);
  Status await_part_slot(Lock& lock);
  Status await_transfer_slot(Lock& lock, int number);
  Status outcome(Operation* failed);
  // The end of every call that may leave something pending.
  Status leave(Lock& lock, Status status);
  // Whether a thread has to poll soon. Else each message that is pending is short: the network needs no thread for it.
  bool has_pending() const;
  enum class Watch { kNone, kLater, kSoon };
  // How often the progress thread has to poll.
  Watch needed_watch() const;
  // Requests whose count the server reports by itself.
  std::uint64_t counts_to_come() const { return unexecuted_ - on_demand_; }
  bool delays_count(int number) { return options_.counts_on_demand && !server(number).transferred; }
  void want_count(EntryServer* of, std::uint64_t last);
  // Wakes the progress thread, unless it polls that often already.
  void watch();
  // One pass; now and then sends old batches, since the progress thread may get no core.
  Status poll(bool* any);
  // Ends the part that begin() made. `begun`: whether all other parts have been begun, or the failure of one.
  Status finish(Lock& lock, Operation* whole, Status begun, How how);
  // The failure of a request to the server or to its entry that was lost.
  Status check_lost(int number);

  // --- order and flush (client.cc)
  Status order_transfer(Lock& lock, const Target& target);
  Status order_request(Lock& lock, int number);
  Status flush_transfers(Lock& lock, int number);
  Status issue_flush(int number, std::uint64_t* flush);
  Status await_executed(Lock& lock, int number);
  Status request_count(Lock& lock, int number, std::uint64_t last);
  Status request_old_counts();
  Status end_flush(int number);

  // --- messages (client_messages.cc)
  Status connect(int number);
  Status await_credit(Lock& lock, int number);
  bool has_credit(int number);
  // Fills in what depends on the moment of sending. Precondition: a credit.
  void address(int number, RequestHeader* header);
  Status send_header(Lock& lock, int number, const RequestHeader& header);
  Status post_count_request(int number);
  // The end of send_store(). Precondition: a credit.
  template <class Write>
  Status post_store(int number, RequestHeader header, std::size_t bytes, Write write);
  Status post(int number, const RequestHeader& header, Message message, const ExpectedReply* reply);
  void note_sent(int number, const RequestHeader& header);
  // Sends the batch, waits for a credit, and sends a store; write(header, at) writes all of it, of `bytes`.
  template <class Write>
  Status send_store(Lock& lock, int number, RequestHeader header, std::size_t bytes, Write write);
  template <class Write>
  Status send_request(Lock& lock, int number, RequestHeader header, std::size_t bytes, Write write,
                      Destination destination, void* place);
  std::uint32_t next_tag();
  Status send_long_store(Lock& lock, int number, const RequestHeader& header, std::size_t iov,
                         const std::function<void(char*)>& write_iov, std::span<const char> data, Part part);
  // As send_store(), with zero copy; `whole` gets a part.
  Status send_with_data(Lock& lock, Operation* whole, int number, RequestHeader header, std::size_t iov,
                        const std::function<void(char*)>& write_iov, std::span<const char> data);
  Status take_packing_memory(Lock& lock, Message* memory);

  // --- batches (client_messages.cc)
  std::size_t batch_bytes(How how) const;
  bool coalesces(How how, const RequestHeader& header, std::size_t bytes) const;
  template <class Write>
  Status coalesce(Lock& lock, int number, How how, const RequestHeader& header, std::size_t bytes, Write write);
  Status send_batch(Lock& lock, int number, bool on_demand = false);
  Status send_batch_now(int number, bool on_demand = false);
  Status send_wanted_batch(int number);
  Status send_batches(Lock& lock);
  Status send_old_batches();
  void end_hold(ServerState* of);
  bool has_unheld_batches() const { return batched_.size() > held_batches_; }
  // The end of a call that put a get or an atomic into a batch.
  Status end_coalesced_get(Operation* get, int number, Status coalesced, std::size_t bytes, Unpack unpack, How how);

  // --- transfers (client_transfers.cc)
  std::size_t data_bytes_max(std::size_t iov) const;
  std::size_t piece_bytes(std::size_t total) const;
  std::size_t store_piece_bytes(std::size_t total) const;
  bool is_copied(std::size_t bytes) const;
  bool is_zero_copy(std::size_t bytes) const;
  bool joins_batch(const Target& target, std::size_t bytes, How how);
  bool is_by_request(const Target& target, const void* remote, std::size_t bytes, How how);
  bool is_by_request(const Target& target, const Rows& rows, How how);
  Operation* issue_transfer(const char* call, const Target& target, How how);
  Status transfer_run(Lock& lock, Operation* whole, Rdma::Direction direction, const Target& target, char* remote,
                      char* local, std::size_t bytes);
  Status transfer_rows(Lock& lock, Operation* whole, Rdma::Direction direction, const Target& target, const Rows& rows);
  Status store(Lock& lock, int number, RequestHeader header, void* remote, const void* local, std::size_t bytes,
               How how);
  Status store_by_rows(Lock& lock, int number, RequestHeader header, const Rows& rows, How how);
  Status store_run(Lock& lock, Operation* whole, int number, RequestHeader header, char* remote, const char* local,
                   std::size_t bytes);
  Status store_rows(Lock& lock, Operation* whole, int number, RequestHeader header, const Rows& rows);
  Status store_long_rows(Lock& lock, Operation* whole, int number, RequestHeader header, const Rows& rows);
  Status put_then_signal(Lock& lock, const Target& target, const char* local, RequestHeader header);
  bool is_by_transfer(int number, std::size_t bytes, const node::Signal& signal) const;
  Status transfer_signal(Lock& lock, const Target& target, const node::Signal& signal);
  Status fetch(Lock& lock, int number, const void* remote, void* local, std::size_t bytes, How how);
  Status fetch_run(Lock& lock, Operation* whole, int number, char* remote, char* local, std::size_t bytes);
  Status fetch_rows(Lock& lock, Operation* whole, int number, const Rows& rows);
  Status each_row(const Rows& rows, const std::function<Status(char* local, char* remote)>& visit);

  // --- events
  void replied(const ReplyHeader& header, std::span<const char> data) override;
  void data_received(std::uint32_t tag) override;
  void ended(Part part, int error) override;
  void lost(int server, int error) override;
  bool awaits(int server) const override;
  static void note_refusal(EntryServer* of, std::uint64_t number);
  void count(const ReplyHeader& header);
  void end_reply(std::uint32_t tag, int error);

  ClientWire& wire_;
  Rdma* const rdma_;
  LongData* const long_data_;
  const Routes routes_;
  const int process_;
  const ClientOptions options_;
  const std::function<void()> wake_;
  const std::function<void()> serve_;  // may be empty
  std::mutex mutex_;
  std::atomic<int> waiting_{0};  // threads that wait inside
  // The work of the progress thread. It is changed with the lock.
  std::atomic<Watch> watched_{Watch::kNone};
  int quiet_passes_ = 0;              // of that thread, since anything was pending
  std::int64_t batches_at_us_ = 0;    // the last look at batches by a thread that waits
  bool test_has_polled_ = false;      // since the last poll_once()
  std::int64_t polled_at_us_ = 0;     // by poll_once()
  std::vector<EntryServer> entries_;  // by server
  std::vector<ServerState> servers_;  // by server
  std::vector<int> used_;             // servers that are connected
  std::vector<int> batched_;          // servers for which there is a batch
  std::size_t held_batches_ = 0;      // of those
  Operations operations_;
  std::unordered_map<std::uint32_t, PendingReply> replies_;  // by tag
  std::uint64_t unexecuted_ = 0;                             // requests, to all
  std::uint64_t on_demand_ = 0;          // of those, whose server does not report the count by itself
  std::size_t long_replies_ = 0;         // pending
  std::size_t short_parts_ = 0;          // pending, that end with short replies
  std::size_t long_parts_ = 0;           // pending
  std::vector<Message> packing_memory_;  // free
  int packing_memories_ = 0;
  std::uint32_t last_tag_ = 0;
};

// Counts the threads that wait in a client.
class WaiterCount {
 public:
  explicit WaiterCount(std::atomic<int>* count) : count_(count) { count_->fetch_add(1, std::memory_order_relaxed); }
  ~WaiterCount() { count_->fetch_sub(1, std::memory_order_relaxed); }
  WaiterCount(const WaiterCount&) = delete;
  WaiterCount& operator=(const WaiterCount&) = delete;

 private:
  std::atomic<int>* count_;
};

template <class Condition>
Status Client::await_until(Lock& lock, Condition condition) {
  if (condition()) return kSuccess;
  bool any = false;
  ARMCI_RETURN_IF_ERROR(poll(&any));
  if (condition()) return kSuccess;
  const WaiterCount counted(&waiting_);
  node::Waiter waiter(wire_.limits().has_events ? node::WaitKind::kEvent : node::WaitKind::kReply);
  for (unsigned polls = 1;; ++polls) {
    if (any) waiter.restart();
    if (rest(lock, &waiter, any, polls)) {
      if (condition()) return kSuccess;
      sleep(lock, &waiter);
    }
    ARMCI_RETURN_IF_ERROR(poll(&any));
    if (condition()) return kSuccess;
  }
}

template <class Write>
Status Client::send_store(Lock& lock, int number, RequestHeader header, std::size_t bytes, Write write) {
  ARMCI_RETURN_IF_ERROR(send_batch(lock, number));
  ARMCI_RETURN_IF_ERROR(await_credit(lock, number));
  return post_store(number, header, bytes, write);
}

template <class Write>
Status Client::post_store(int number, RequestHeader header, std::size_t bytes, Write write) {
  Message message = wire_.take_message(bytes);
  address(number, &header);
  write(header, message.bytes.get());
  return post(number, header, std::move(message), nullptr);
}

template <class Write>
Status Client::send_request(Lock& lock, int number, RequestHeader header, std::size_t bytes, Write write,
                            Destination destination, void* place) {
  ARMCI_RETURN_IF_ERROR(send_batch(lock, number));
  ARMCI_RETURN_IF_ERROR(await_part_slot(lock));
  ARMCI_RETURN_IF_ERROR(await_credit(lock, number));
  Message message = wire_.take_message(bytes);
  header.tag = next_tag();
  address(number, &header);
  write(header, message.bytes.get());
  PendingReply reply;
  reply.executor = number;
  reply.is_in_header = header.kind == RequestKind::kAtomic;
  const ExpectedReply expected{header.tag, reply.is_in_header ? 0 : destination.bytes, place};
  reply.is_long = destination.bytes > wire_.limits().reply_bytes;
  Operation* const operation = destination.operation;
  reply.destination = std::move(destination);
  operations_.add_part(operation);
  (reply.is_long ? long_replies_ : short_parts_) += 1;
  replies_.emplace(header.tag, std::move(reply));
  const Status sent = post(number, header, std::move(message), &expected);
  if (!sent.ok()) end_reply(header.tag, 0);
  return sent;
}

template <class Write>
Status Client::coalesce(Lock& lock, int number, How how, const RequestHeader& header, std::size_t bytes, Write write) {
  ServerState& of = server(number);
  const auto fits = [&] {
    return of.batch.fits(header, bytes, of.batch.empty() ? batch_bytes(how) : of.batch_limit) &&
           of.batch.reply_bytes() + header.reply_bytes() <= wire_.limits().reply_bytes;
  };
  // Other threads may fill the batch again while this one waits for a credit.
  while (!fits()) ARMCI_RETURN_IF_ERROR(send_batch(lock, number));
  if (of.batch.empty()) {
    ARMCI_RETURN_IF_ERROR(connect(number));
    batched_.push_back(number);
    of.batch_limit = batch_bytes(how);
    of.batch.message = std::move(wire_.take_message(of.batch_limit).bytes);
    of.is_held = how.aggregate;
    held_batches_ += how.aggregate ? 1 : 0;
    if (how.aggregate) of.batch_operation = operations_.begin("operations of an aggregate handle", number);
  }
  if (!how.aggregate) end_hold(&of);
  of.batch.add(header, bytes, write);
  // A store's data are copied. The wait for that of an aggregate handle sends the batch.
  const bool waits = how.aggregate && of.batch_operation != nullptr;
  *how.operation = waits ? Operations::number(of.batch_operation) : 0;
  return kSuccess;
}

}  // namespace armci::engine
