// The messages between processes and servers, besides the requests of impl/server/wire.h.
//
//   process                                server
//     |--call: connect, expose, conceal---->|  datagrams, which may be lost: repeated until there is a reply,
//     |<--------------------------reply-----|  executed once
//     |                                     |
//     |==request (wire.h)==================>|  the connection; requests are executed in their order
//     |<=================answer=============|  in that order too: an answer has no header, since the process has
//                                              posted a place for each before its request
//
// Answers: of a store nothing, of an atomic the 8 bytes before, of a get the data.
#pragma once

#include <cstdint>

#include "impl/native-verbs/address.h"

namespace armci::verbs {

inline constexpr std::uint32_t kCallMagic = 0x02564d41;   // "AMV", version 2
inline constexpr std::uint32_t kReplyMagic = 0x02524d41;  // "AMR"

enum class CallKind : std::uint32_t { kConnect = 1, kExpose = 2, kConceal = 3 };

struct Call {
  std::uint32_t magic = kCallMagic;
  CallKind kind = CallKind::kConnect;
  std::uint64_t secret = 0;    // of the job: messages of others are not meant
  std::uint64_t sequence = 0;  // of the process's calls to any server
  std::uint32_t process = 0;
  std::uint32_t key = 0;      // kConceal: the remote key
  std::uint64_t address = 0;  // kExpose, kConceal: of memory of the server's node
  std::uint64_t bytes = 0;
  Address link;   // kConnect: the process's end
  Address reply;  // where the reply is to go
};

struct Reply {
  std::uint32_t magic = kReplyMagic;
  std::int32_t error = 0;  // as errno has it
  std::uint64_t secret = 0;
  std::uint64_t sequence = 0;
  std::uint32_t remote_key = 0;  // kExpose: for other nodes
  std::uint32_t local_key = 0;   // and for the server's own process
  Address link;                  // kConnect: the server's end
  char text[160] = {};           // of an error: the layer's own
};
inline constexpr std::size_t kCallBytesMax = 256;
static_assert(sizeof(Call) <= kCallBytesMax && sizeof(Reply) <= kCallBytesMax);

}  // namespace armci::verbs
