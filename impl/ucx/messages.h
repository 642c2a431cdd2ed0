// The active messages between a client and a server.
//
//   client                                  server
//     | RequestMark | request (impl/server)   |     executed in the order of `sequence`
//     |--------------------------------------->|
//     |          ReplyMark | data of a get     |     of a get and an atomic at once, of stores for several together
//     |<---------------------------------------|
//
// UCX keeps no order between messages of different lengths and says nothing about when they arrive; both counts say it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace armci::ucx {

inline constexpr unsigned kRequestMessage = 1;
inline constexpr unsigned kReplyMessage = 2;

struct RequestMark {
  std::uint32_t origin;  // the process that asks
  std::uint32_t padding;
  std::uint64_t sequence;  // of its requests to this server, from 1 on
  std::uint64_t answer;    // what the reply names; 0: none is expected but the count
};

struct ReplyMark {
  std::uint32_t server;    // the process that answers
  std::uint32_t failed;    // the request was refused; the server has said why
  std::uint64_t executed;  // so many of its requests, of which no later one has been
  std::uint64_t answer;
  std::uint64_t value;  // of an atomic
};

// What follows a mark. Not initialised: it is written as a whole.
struct Message {
  Message() = default;
  explicit Message(std::size_t bytes_in_all) : bytes(new char[bytes_in_all]), length(bytes_in_all) {}

  std::unique_ptr<char[]> bytes;
  std::size_t length = 0;
};

}  // namespace armci::ucx
