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

#include <ucp/api/ucp.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "impl/base/backtrace.h"
#include "impl/base/status.h"

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

// False: it is none that this library sends, as they all are sent whole.
template <class Mark>
bool read_mark(const void* header, std::size_t header_bytes, const ucp_am_recv_param_t& param, Mark* mark) {
  if ((param.recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0) {
    // Who waits for it would wait for good.
    (void)fail(Code::kLayerBelow, nullptr,
               "UCX has announced a message that it was to send at once (UCP_AM_SEND_FLAG_EAGER); UCX_RNDV_THRESH=inf "
               "forbids that");
    die_of_failure("a message of UCX");
  }
  if (header_bytes != sizeof *mark) return false;
  std::memcpy(mark, header, sizeof *mark);
  return true;
}

}  // namespace armci::ucx
