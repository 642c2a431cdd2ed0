// The messages between a process and those of other nodes, above UCX's active messages.
//
//   process P                                       process Q's thread
//   kRequest: header {token}, data: a request       executes it (impl/server)
//   of impl/server/wire.h  ------------------------>
//                          <------------------------ kReply: header {token, error, value}, data: of a get
//
// A token is chosen by the asking process and means something to it alone. Each request is answered by one reply. UCX
// promises no order between messages, nor between them and its puts: who needs one waits for replies and flushes.
#pragma once

#include <cstdint>

namespace armci::ucx {

inline constexpr unsigned kRequest = 1;
inline constexpr unsigned kReply = 2;

struct RequestTag {
  std::uint64_t token;
};

struct ReplyTag {
  std::uint64_t token;
  std::uint64_t value;   // of an atomic: before
  std::uint32_t failed;  // not zero: the data are a sentence
  std::uint32_t zero;
};
static_assert(sizeof(ReplyTag) == 24);

}  // namespace armci::ucx
