// The messages between processes and servers, in addition to the requests of impl/engine/request.h.
//
//   process                                server
//     |--call: connect, register,---------->|  datagrams, which may be lost: the process repeats a call until the reply
//     |        deregister                   |  arrives; the server executes it once
//     |<--------------------------reply-----|
//     |                                     |
//     |==request (wire.h)==================>|  the connection; the server executes requests in their order
//     |<==================reply=============|  in the same order: a reply has no header, since the process posts a
//                                              receive buffer for each reply before its request
//
// Data of a reply: none for a store, the 8 bytes before an atomic, the data of a get.
#pragma once

#include <cstdint>

#include "impl/native-verbs/address.h"

namespace armci::verbs {

inline constexpr std::uint32_t kCallMagic = 0x02564d41;   // "AMV", version 2
inline constexpr std::uint32_t kReplyMagic = 0x02524d41;  // "AMR"

enum class CallKind : std::uint32_t { kConnect = 1, kRegister = 2, kDeregister = 3 };

struct Call {
  std::uint32_t magic = kCallMagic;
  CallKind kind = CallKind::kConnect;
  std::uint64_t secret = 0;    // of the job: a server ignores calls of other jobs
  std::uint64_t sequence = 0;  // of the process's calls to any server
  std::uint32_t process = 0;
  std::uint32_t key = 0;      // kDeregister: the remote key
  std::uint64_t address = 0;  // kRegister, kDeregister: of memory of the server's node
  std::uint64_t bytes = 0;
  Address link;   // kConnect: the process's end
  Address reply;  // where the reply is to go
};

struct Reply {
  std::uint32_t magic = kReplyMagic;
  std::int32_t error = 0;  // as errno has it
  std::uint64_t secret = 0;
  std::uint64_t sequence = 0;
  std::uint32_t remote_key = 0;  // kRegister: for other nodes
  std::uint32_t local_key = 0;   // and for the server's own process
  Address link;                  // kConnect: the server's end
  char text[160] = {};           // of an error: the layer's own
};
inline constexpr std::size_t kCallBytesMax = 256;
static_assert(sizeof(Call) <= kCallBytesMax && sizeof(Reply) <= kCallBytesMax);

}  // namespace armci::verbs
