// The contract of a wire: what the engine needs of a network. A port that has servers consists of a wire, registered
// memory and settings. The engine (client.h, server.h) is the same for all ports. docs/engine.md has a table of the
// members with their meaning for each wire.
//
//   process                                            server (a thread of a process, or a process)
//   Client  --> ClientWire   | request ------------->|  ServerWire --> Server
//           <--              |<------------- reply   |             <--
//                                                       ServerWire  | forwarded request -->| the same of another server
//                                                                   |<------ acknowledgement |
//
// A wire delivers messages whole, once, and in any order. A wire that keeps the order of messages between two ends says
// so (keeps_order()). A wire calls its events from poll() only, or from a call that says so, in the thread of the
// caller.
//
// Servers have numbers from 0 on; processes have their absolute ids.
//
// ## Capabilities that a wire may have
//
//   LongData   data move between the memory of both sides in messages of their own, without a copy
//   zero copy  data of a store leave from the memory of the program, in one message with their request
//   Rdma       the network itself writes and reads memory of the target
//
// Thread safety: the engine calls a ClientWire from one thread at a time, and a ServerWire from one thread at a time;
// the two sides of one process at the same time. wake() and await_event() are for any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "impl/base/status.h"
#include "impl/engine/message_buffers.h"
#include "impl/engine/operations.h"
#include "impl/engine/request.h"
#include "impl/engine/rows.h"

namespace armci::engine {

// Memory of a process. `key`: the port's own description of the memory; null where the port has none.
struct Target {
  int process;
  const void* key;
};

// --- the side of a process

struct ClientLimits {
  std::size_t request_bytes;  // of a request with its header
  std::size_t reply_bytes;    // of the data behind the header of a reply
  std::uint64_t requests;     // unexecuted ones to one server, at most: the credits
  std::uint64_t unwatched;    // up to so many unexecuted requests make progress without a thread that polls
  bool has_events;            // arm() and await_event() exist
};

// The reply that a request has.
struct ExpectedReply {
  std::uint32_t tag;
  std::size_t bytes;  // of its data
  void* place;        // where data that come alone belong; null: the data come behind a header
};

// The end of a part of an operation.
struct Part {
  Part() = default;
  explicit Part(Operations::Operation* of) : operation(of) {}

  Operations::Operation* operation = nullptr;  // null: the part belongs to none
  bool is_long = false;                        // of LongData
  Message packed;                              // memory of the engine that held the data; may be empty
};

class ClientEvents {
 public:
  // A reply with a header has arrived. `data` are valid during the call.
  virtual void replied(const ReplyHeader& header, std::span<const char> data) = 0;
  // The data of that reply are in their place.
  virtual void data_received(std::uint32_t tag) = 0;
  // `error`: 0, or for ClientWire::failure().
  virtual void ended(Part part, int error) = 0;
  // A request to that server was not sent. The server cannot execute later ones, since it waits for that request.
  // `error` is for ClientWire::failure().
  virtual void lost(int server, int error) = 0;
  // Whether a count of the server is to come, or the process lacks credits.
  virtual bool awaits(int server) const = 0;

 protected:
  ~ClientEvents() = default;
};

class LongData {
 public:
  // The longest data of one message.
  virtual std::size_t bytes_max() const = 0;
  // Sends the data that follow the request with that tag, to the server that executes it. The memory is in use until
  // ended().
  virtual Status send_data(int server, std::uint32_t tag, std::span<const char> data, Part part) = 0;

 protected:
  ~LongData() = default;
};

class Rdma {
 public:
  enum class Direction : std::uint8_t { kWrite, kRead };

  // Whether the network moves these bytes, whole elements at a time [LC-3].
  virtual bool reaches(const Target& target, const void* remote, std::size_t bytes) = 0;
  virtual bool reaches(const Target& target, const Rows& rows) = 0;
  // False: no transfer to or from the server now; poll(), then call again.
  virtual bool can_transfer(int) { return true; }
  // Begins to write from, or to read to, local memory, which is in use until the part of the operation ends, perhaps in
  // the call. Moves the first *bytes, or as many as go at once, and sets *bytes to
  // their number.
  virtual Status transfer(Direction direction, const Target& target, char* remote, char* local, std::size_t* bytes,
                          Operations::Operation* operation) = 0;
  // Rows up to this length go by transfer_rows(); 0: none.
  virtual std::size_t row_bytes_max() const { return 0; }
  // As transfer(): *count rows from number `first` on.
  virtual Status transfer_rows(Direction direction, const Target& target, const Rows& rows, std::size_t first,
                               std::size_t* count, Operations::Operation* operation);
  // Later transfers to the process do not overtake earlier ones.
  virtual Status fence(const Target& target) = 0;
  // Whether requests do not overtake writes either.
  virtual bool requests_follow(int server) const = 0;
  // The part ends when all writes to the server's memory are visible there. One at a time for each server.
  virtual Status flush(int server, Operations::Operation* operation) = 0;
  // Whether set_word() exists.
  virtual bool sets_words() const { return false; }
  // Begins to write the value to an aligned word of 8 bytes, ordered and flushed as a write by transfer(). The server
  // of the target then wakes the threads of the process that wait. Precondition: can_transfer().
  virtual Status set_word(const Target& target, std::uint64_t* word, std::uint64_t value);

 protected:
  ~Rdma() = default;
};

class ClientWire {
 public:
  // The error of an operation whose request the server refused.
  static constexpr int kRefused = -1;

  virtual ~ClientWire() = default;

  // Before all other calls.
  virtual void report_to(ClientEvents* events) = 0;
  virtual const ClientLimits& limits() const = 0;
  // To be called before the first request to the server, and before the first one that the server executes.
  virtual Status connect(int server) = 0;
  // At any time. A batch keeps the memory until its program waits, which may be long.
  virtual Message take_message(std::size_t bytes) = 0;
  virtual void give_back(Message message) = 0;
  // False: not now; poll(), then call again.
  virtual bool can_send(int server) = 0;
  // Sends a request to `server`, which is executed by `executor`: the same, or one to which it forwards. The wire owns
  // the message from now on. reply: null if only the count of executed requests comes back. After a failure nothing was
  // sent.
  virtual Status send(int server, int executor, Message message, const ExpectedReply* reply) = 0;
  // Stores without gaps at the origin go by send_with_data() from this length on; 0: none.
  virtual std::size_t zero_copy_bytes() const { return 0; }
  // As send() of a store: the data follow the message, and are in use until ended(), perhaps in the call.
  virtual Status send_with_data(int server, int executor, Message message, std::span<const char> data, Part part);
  // One pass; *any: whether anything happened.
  virtual Status poll(bool* any) = 0;
  // Whether messages have not left yet, so that poll() has to be called.
  virtual bool unsent() const = 0;
  // Whether a wait is worth a longer busy part: data are in transit.
  virtual bool is_streaming() const { return false; }
  // True: a later arrival ends await_event(). False: there is, or was, work.
  virtual bool arm() { return false; }
  virtual void await_event(std::int64_t) {}
  // To be called after the last replies of all servers.
  virtual void close() {}
  // The failure that `error` stands for, in the words of the network.
  virtual Status failure(int error, const char* call, int server) = 0;
  virtual std::size_t buffer_bytes() const = 0;

  virtual LongData* long_data() { return nullptr; }
  virtual Rdma* rdma() { return nullptr; }
};

// --- the side of a server

// A request that has arrived. The message is valid until the event returns, or if the server has kept it, until
// release().
struct Arrival {
  std::span<char> message;
  int from = -1;  // the process, or if forwarded the server, that sent it
  bool forwarded = false;
  void* place = nullptr;  // of the wire's own
};

// Memory for the data that follow a request, and for long replies.
struct Chunk;

class ServerEvents {
 public:
  virtual Status arrived(const Arrival& arrival) = 0;
  // `acknowledgement`: what that server gave to acknowledge().
  virtual Status acknowledged(int server, std::uint32_t acknowledgement) = 0;
  // The data that follow a request are in the chunk.
  virtual Status received(Chunk* chunk) = 0;
  // The wire does not need the chunk any more.
  virtual Status sent(Chunk* chunk) = 0;

 protected:
  ~ServerEvents() = default;
};

class ServerWire {
 public:
  virtual ~ServerWire() = default;

  virtual void report_to(ServerEvents* events) = 0;
  // From now on requests may arrive.
  virtual Status open() = 0;
  virtual void close() = 0;
  virtual bool keeps_order() const = 0;
  // Whether each request has one reply of the server that executes it, in the order of the requests. A forwarded
  // request has a second reply, of the forwarding server. Replies of that server to later requests may come before it.
  virtual bool replies_to_each() const { return false; }
  virtual std::size_t reply_bytes() const = 0;  // as in ClientLimits

  virtual Status poll(bool* any) = 0;
  // Keeps the message of an arrival beyond the event. The message may move.
  virtual Status keep(Arrival* arrival) = 0;
  // The message is not needed any more: its buffer receives another one.
  virtual Status release(const Arrival& arrival) = 0;

  // With space for the header of a reply.
  virtual Message take_message(std::size_t bytes) = 0;
  // Sends a message that begins with a ReplyHeader.
  virtual Status reply(int process, std::uint32_t tag, Message message) = 0;
  // Capability LongData: sends bytes as they are. The memory is in use until sent(chunk), or without a chunk until the
  // process has them.
  virtual Status reply_data(int process, std::uint32_t tag, std::span<const char> data, Chunk* chunk);
  // Capability LongData: receives the data that follow the request with that tag, until received(chunk).
  virtual Status receive_data(int process, std::uint32_t tag, std::span<char> to, Chunk* chunk);

  // Sends a kept request on to another server of the cluster. That server's acknowledgement is an event.
  virtual Status forward(int server, const Arrival& arrival) = 0;
  // `acknowledgement`: of the engine, which the wire passes on unchanged.
  virtual Status acknowledge(int server, std::uint32_t acknowledgement) = 0;

  // Whether data are in transit, which advance while a thread polls.
  virtual bool is_streaming() const { return false; }
  // Events: as in ClientWire. await_event() also ends at an event of the given ClientWire, unless it is null. wake()
  // ends an await_event(), the present one or the next.
  virtual bool has_events() const { return false; }
  virtual bool arm() { return false; }
  virtual void await_event(ClientWire*, std::int64_t) {}
  virtual void wake() {}
  virtual std::size_t buffer_bytes() const = 0;
};

}  // namespace armci::engine
