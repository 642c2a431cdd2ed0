// The messages between a process and the servers of other nodes.
//
// A request is a header of 80 bytes, the description of its segments, and the data of a store:
//
//   | header | segments | data |
//
// Header, in the byte order of the machine (x86-64: least significant first):
//
//   offset  bytes  field
//    0       4     magic: kMagic, which includes the version of the format
//    4       1     kind: RequestKind
//    5       1     form: how the segments are described, Form
//    6       1     type: of an accumulate's elements; an atomic's or a signal's operation; 1: the data of a get come
//                  alone
//    7       1     levels: of strides, form kStrided only; of another store, or of a batch: kCountOnDemand, or 0
//    8       4     tag: of the reply; of a store: of the message that has its data, or 0 if they are here
//   12       4     origin: the process that sent the request
//   16       8     address: of the first byte (kContiguous, kStrided); of the word of an atomic
//   24       8     bytes: of the transfer, of one segment, of an atomic's word; of all that a batch gets
//   32       8     first: the first segment, in the order of the loop nest (kStrided); the WakeUp of a signal, or 0
//   40       8     count: of segments in this request (kStrided, kList); of entries (kBatch)
//   48      16     operand: the scale of an accumulate; operand and comparand of an atomic; word and value of a signal
//   64       8     sequence: the number of the request among those of the origin to the server that receives it
//   72       4     server: that has the memory
//   76       4     forward_number: of a forwarded request among those from one server to another, modulo 2^31
//
// A signal is a put without gaps, of 0 bytes or more, and then the change of a word (impl/node/signal.h).
//
// Places: nothing; or, kStrided, for each level a count of 8 bytes and a stride of 8 bytes; or, kList, an address of 8
// bytes for each segment. Data have no gaps, in the order of the segments.
//
// A batch is a header and entries, which the server executes in their order. An entry is a request in short: a header
// of 16 bytes (EntryHeader), the fields that its kind and form need, segments, and data, filled up to a multiple of 8:
//
//   | address, bytes, kind, form, type, levels | count, first | operand | segments | data |
//                                              '-strided, list'-- accumulate, signal, atomic
//
// A reply is a header of 32 bytes and the data of a get, or of all gets of a batch. The value before an atomic of a
// batch is data as well. The header has the count of executed requests of the process (8 bytes), the value before an
// atomic (8), the tag of the request (4), the server (4), whether the server refused the request (4), and how many
// of the counted requests were refused stores (4). A batch counts as a store. The refusal of a store may arrive
// later than a count that includes it; its value is the sequence of the request, plus kLastReply. Most replies with
// the tag 0 have the count only. If the data of a get come alone, there is no header before them, so that they can
// be received where they belong. The last reply of a server is the one to a disconnect; its value is kLastReply.
//
// A request with its count on demand gets no reply of its own: most programs never fence behind a signal. A later reply
// counts it too. The server sends one by itself when such requests hold most of the credits. A kGetCount requests one.
//
// There is no message for a fence of other requests, since the count says which have been executed, and none for locks,
// which are atomics (impl/runtime/runtime_mutex_queue.h).
//
// decode() checks every field of a request before it is used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "impl/base/status.h"
#include "impl/node/accumulate.h"
#include "impl/node/node_atomics.h"
#include "impl/node/signal.h"
#include "impl/runtime/shapes.h"

namespace armci::engine {

inline constexpr std::uint32_t kMagic = 0x08534d41;  // "AMS", version 8

enum class RequestKind : std::uint8_t {
  kPut = 1,
  kGet = 2,
  kAccumulate = 3,
  kAtomic = 4,
  kSignal = 5,
  kBatch = 6,
  kGetCount = 7,  // stores nothing
  kDisconnect = 8
};
enum class Form : std::uint8_t { kContiguous = 0, kStrided = 1, kList = 2 };

// The server need not report the count of this request by itself.
inline constexpr std::uint8_t kCountOnDemand = 1;

struct RequestHeader {
  std::uint32_t magic = kMagic;
  RequestKind kind = RequestKind::kDisconnect;
  Form form = Form::kContiguous;
  std::uint8_t type = 0;
  std::uint8_t levels = 0;
  std::uint32_t tag = 0;
  std::uint32_t origin = 0;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  std::uint64_t operand[2] = {0, 0};
  std::uint64_t sequence = 0;
  std::uint32_t server = 0;
  std::uint32_t forward_number = 0;

  bool is_store() const {
    return kind == RequestKind::kPut || kind == RequestKind::kAccumulate || kind == RequestKind::kSignal;
  }
  bool wants_count() const { return form != Form::kContiguous || levels != kCountOnDemand; }
  std::size_t segments() const { return form == Form::kContiguous ? 1 : count; }
  // The data that the reply has for an entry of a batch.
  std::size_t reply_bytes() const {
    if (kind == RequestKind::kAtomic) return bytes;
    return kind == RequestKind::kGet ? segments() * bytes : 0;
  }
};
static_assert(sizeof(RequestHeader) == 80 && offsetof(RequestHeader, tag) == 8);
static_assert(offsetof(RequestHeader, address) == 16 && offsetof(RequestHeader, operand) == 48);

struct WireLevel {
  std::uint64_t count;
  std::int64_t stride;
};

// The start of an entry of a batch.
struct EntryHeader {
  std::uint64_t address;
  std::uint32_t bytes;
  RequestKind kind;
  Form form;
  std::uint8_t type;
  std::uint8_t levels;
};
static_assert(sizeof(EntryHeader) == 16);

// The fields of an entry after its header, and the length of its segments and data with what fills them up.
inline bool has_count(const RequestHeader& header) { return header.form != Form::kContiguous; }
inline bool has_operand(const RequestHeader& header) {
  return header.kind == RequestKind::kAccumulate || header.kind == RequestKind::kSignal ||
         header.kind == RequestKind::kAtomic;
}
inline std::size_t entry_fields_bytes(const RequestHeader& header) {
  const std::size_t words =
      (has_count(header) ? 2U : 0U) + (header.kind == RequestKind::kSignal ? 1U : 0U) + (has_operand(header) ? 2U : 0U);
  return sizeof(EntryHeader) + words * sizeof(std::uint64_t);
}
inline std::size_t padded(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

struct ReplyHeader {
  std::uint64_t executed = 0;
  std::uint64_t value = 0;
  std::uint32_t tag = 0;
  std::uint32_t server = 0;
  std::uint32_t refused = 0;
  std::uint32_t refusals = 0;
};
static_assert(sizeof(ReplyHeader) == 32);

// The value of the last reply of a server.
inline constexpr std::uint64_t kLastReply = 1;

// An acknowledgement has the number of the forwarded request, and whether the request was a refused store.
inline constexpr std::uint32_t kForwardNumbers = std::uint32_t{1} << 31;
inline constexpr std::uint32_t kAcknowledgesRefusal = kForwardNumbers;
inline std::uint32_t acknowledged_number(std::uint32_t acknowledgement) { return acknowledgement % kForwardNumbers; }
// The number that `low` stands for: the one next to `near` that is equal modulo kForwardNumbers.
inline std::uint64_t forward_number_near(std::uint64_t near, std::uint32_t low) {
  const auto ahead = static_cast<std::uint32_t>((low - near) % kForwardNumbers);
  return ahead < kForwardNumbers / 2 ? near + ahead : near + ahead - kForwardNumbers;
}

// Tags of replies, and of data that follow their request.
inline constexpr std::uint32_t kFirstTag = 16;
inline constexpr std::uint32_t kLastTag = 32767;  // the least that the MPI standard allows

// The type of a get whose data come alone.
inline constexpr std::uint8_t kDataAlone = 1;
// The longest element: an accumulate is cut between elements.
inline constexpr std::size_t kElementBytesMax = 16;
// Of one segment: an int counts its bytes.
inline constexpr std::size_t kSegmentBytesMax = std::size_t{1} << 30;

// A request that passed all checks. Points into the message.
struct Request {
  RequestHeader header;
  std::span<const char> data;                // of a store
  runtime::Strided shape{};                  // kStrided: of the remote side, as destination; without bytes per segment
  const std::uint64_t* addresses = nullptr;  // kList

  std::size_t segments() const { return header.segments(); }
  // Of a get, or of the gets of a batch.
  std::size_t total_bytes() const {
    return header.kind == RequestKind::kBatch ? header.bytes : segments() * header.bytes;
  }
  bool is_store() const { return header.is_store(); }
  // The data come in a message of their own.
  bool data_follow() const { return is_store() && header.tag != 0; }
  bool data_alone() const { return header.kind == RequestKind::kGet && header.type == kDataAlone; }
  // The reply is sent from the memory of the region, without a copy.
  bool is_in_place() const { return data_alone() && header.form == Form::kContiguous; }
};

// Whether a range of addresses lies in one piece of memory that is allocated on this machine.
using IsInside = std::function<bool(std::uintptr_t address, std::size_t bytes)>;

// The header of a request to any node; checks the fields that do not depend on the memory of that node.
Status read_header(std::span<const char> message, RequestHeader* header);

// Limits of requests, in bytes.
struct Bounds {
  std::size_t reply;    // to a get that is not in place
  std::size_t follows;  // the data of a store that come by themselves
};

// Checks every field against the others, the length of the message, the memory there is, and `bounds`. On failure
// nothing of *request may be used.
Status decode(std::span<const char> message, const IsInside& inside, const Bounds& bounds, Request* request);

// Takes the next entry off the rest of a batch, as decode() does. `left`: the data that the reply may still have.
Status next_entry(const RequestHeader& batch, const IsInside& inside, std::size_t left, std::span<const char>* rest,
                  Request* entry);
// Nothing may be left after the last entry.
Status end_of_batch(const RequestHeader& batch, std::span<const char> rest);

}  // namespace armci::engine
