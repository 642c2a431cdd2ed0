// Records: what the detector of data races (ARMCI_CHECK=race) keeps of the calls of a process, between two barriers.
//
// An event is a call that accesses memory or orders accesses. The events of a process have numbers from 1 on, in
// program order; 0 stands for none. Records travel between processes as bytes.
//
// Thread safety: plain values.
#pragma once

#include <compare>
#include <cstdint>

namespace armci::race {

using Event = std::uint32_t;
inline constexpr Event kNever = UINT32_MAX;

// Memory: a place in a region, which has the same number on all processes, or in private memory of the process.
struct Place {
  static constexpr std::int64_t kPrivate = -1;
  std::int64_t region;
  std::uint64_t offset;  // in the region's part of the owner; in private memory the address
  std::int32_t owner;
  bool operator==(const Place&) const = default;
};

// `count` pieces of `bytes` each, `stride` apart, which is not 0 for more than one.
struct Footprint {
  std::uint64_t begin;  // an offset
  std::uint64_t bytes;
  std::uint64_t stride;
  std::uint64_t count;

  std::uint64_t end() const { return begin + (count - 1) * stride + bytes; }
  auto operator<=>(const Footprint&) const = default;
};
// Whether they have a byte in common, and which is the first one found.
bool overlap(const Footprint& one, const Footprint& other, std::uint64_t* byte);

enum class AccessKind : std::uint8_t {
  kRead,
  kWrite,
  kAccumulate,  // `type`: of its elements
  kAtomic,      // `type`: bytes of its word
  kFlag,        // the word of a put with flag or signal
};

struct Access {
  Footprint where;
  std::int64_t region;
  std::int32_t owner;
  std::int32_t origin;
  Event issued;
  Event completed;  // locally: a blocking call's own number, else that of the wait; kNever: not yet
  std::uint32_t site;
  std::uint16_t call;
  AccessKind kind;
  std::uint8_t type;
  bool is_store;  // put, accumulate: remotely complete with a fence
  bool is_local;  // the local buffer of a call
  bool is_blocking;
  bool reads_word;  // a blocking get of at most 8 bytes, by which programs poll
};

enum class SyncKind : std::uint8_t {
  kFence,       // peer: the target, or kEveryone
  kNotify,      // peer, number
  kAwait,       // peer, number
  kLock,        // key, number: the ticket
  kUnlock,      // key
  kSend,        // peer, key: the tag, number
  kReceive,     // the same
  kCollective,  // key: the members, number, peer: the root or kEveryone, members
  kAtomic,      // word, bytes: of the word; number: the ticket; value, before
  kSignal,      // word, value; adds: whether it adds the value
  kSee,         // word, value: as a get or a wait found it
  kLast,        // word, value: at the end of the records
};
inline constexpr std::int32_t kEveryone = -1;

struct Sync {
  SyncKind kind;
  bool adds = false;
  bool from_root = true;       // a collective with a root: its events are ordered before the others', not after
  bool covers_earlier = true;  // a signal: with the origin's earlier blocking stores to the target
  std::int32_t process = 0;
  Event event = 0;
  std::int32_t peer = kEveryone;
  std::int32_t members = 0;
  std::int32_t bytes = 0;
  std::uint64_t key = 0;
  std::int64_t number = 0;
  Place word{};
  std::int64_t value = 0;
  std::int64_t before = 0;
};

}  // namespace armci::race
