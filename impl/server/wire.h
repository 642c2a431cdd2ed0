// The messages between a process and the servers of other nodes.
//
// A request is a header of 72 bytes, the description of its places, and the data of a store:
//
//   | header | places | data |
//
// Header, in the byte order of the machine (x86-64: least significant first):
//
//   offset  bytes  field
//    0       4     magic: kMagic, which includes the version of the format
//    4       1     kind: RequestKind
//    5       1     form: how the places are described, Form
//    6       1     type: of an accumulate's elements; an atomic's or a signal's operation; 1: the data of a get come
//                  alone
//    7       1     levels: of strides, form kStrided only
//    8       4     tag: of the reply; of a store: of the message that has its data, or 0 if they are here
//   12       4     origin: the process that sent the request
//   16       8     address: of the first byte (kContiguous, kStrided); of the word of an atomic
//   24       8     bytes: of the transfer, of one segment, of a whole batch (kBatch), of an atomic's word
//   32       8     first: the first segment, in the order of the loop nest (kStrided); the WakeUp of a signal, or 0
//   40       8     count: of segments in this request (kStrided, kList, kBatch)
//   48      16     operand: the scale of an accumulate; operand and comparand of an atomic; word and value of a signal
//   64       4     node: that has the memory
//   68       4     slot: by which a forwarding server matches the ack
//
// A signal is a put without gaps, of 0 bytes or more, or a batch, and then the change of a word (impl/node/signal.h).
//
// Places: nothing (kContiguous, kBatch); for each level its count and its stride, 8 bytes each (kStrided); an address
// of 8 bytes for each segment (kList). The data of a batch are entries: address (8 bytes), length (8), and as many
// bytes, filled up to a multiple of 8.
//
// A reply is a header of 16 bytes and the data of a get: credits that come back (4 bytes), zero (4), value (8). If the
// data come alone, there is no header before them, so that they can be received where they belong. A message of credits
// is a reply without data, with the tag kCreditTag; the reply to a disconnect
// is the last of them, and has the value 1. An ack of a forwarded request is a reply whose value is the
// slot.
//
// There is no message for a fence, since credits come back when requests have been executed, and none for locks, which
// are atomics (impl/runtime/runtime_mutex_queue.h).
//
// Every field of a request is checked before it is used: decode().
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

namespace armci::server {

inline constexpr std::uint32_t kMagic = 0x04534d41;  // "AMS", version 4

enum class RequestKind : std::uint8_t {
  kPut = 1,
  kGet = 2,
  kAccumulate = 3,
  kAtomic = 4,
  kSignal = 5,
  kDisconnect = 6
};
enum class Form : std::uint8_t { kContiguous = 0, kStrided = 1, kList = 2, kBatch = 3 };

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
  std::uint32_t node = 0;
  std::uint32_t slot = 0;
};
static_assert(sizeof(RequestHeader) == 72 && offsetof(RequestHeader, tag) == 8);
static_assert(offsetof(RequestHeader, address) == 16 && offsetof(RequestHeader, operand) == 48);

struct WireLevel {
  std::uint64_t count;
  std::int64_t stride;
};

// Before each segment of a batch.
struct BatchEntry {
  std::uint64_t address;
  std::uint64_t bytes;

  static std::size_t padded(std::size_t bytes) { return sizeof(BatchEntry) + (bytes + 7) / 8 * 8; }
};

struct ReplyHeader {
  std::uint32_t credits = 0;
  std::uint32_t zero = 0;
  std::uint64_t value = 0;
};
static_assert(sizeof(ReplyHeader) == 16);

// The value of the last message of credits.
inline constexpr std::uint64_t kLastCredits = 1;

// Tags of messages. All requests have one tag, so that a server receives those of one process in the order of sending.
inline constexpr int kRequestTag = 1;
inline constexpr int kCreditTag = 2;
inline constexpr int kAcknowledgeTag = 3;
// Of replies, and of data that come by themselves.
inline constexpr int kFirstTag = 16;
inline constexpr int kLastTag = 32767;  // the least that the MPI standard allows

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

  std::size_t segments() const { return header.form == Form::kContiguous ? 1 : header.count; }
  std::size_t total_bytes() const { return header.form == Form::kBatch ? header.bytes : segments() * header.bytes; }
  bool is_store() const {
    return header.kind == RequestKind::kPut || header.kind == RequestKind::kAccumulate ||
           header.kind == RequestKind::kSignal;
  }
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

}  // namespace armci::server
