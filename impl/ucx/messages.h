// The active messages between a client and a server.
//
//   client                                  server
//     | RequestPrefix | request (impl/server)   |     executed in the order of `sequence`
//     |--------------------------------------->|
//     |          ReplyPrefix | data of a get     |     of a get and an atomic at once, of stores for several together
//     |<---------------------------------------|
//
// UCX keeps no order between messages of different lengths and reports no arrival. `sequence` and `executed` provide
// both.
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

struct RequestPrefix {
  std::uint32_t origin;  // the origin
  std::uint32_t padding;
  std::uint64_t sequence;  // of its requests to this server, from 1 on
  std::uint64_t reply_id;  // id of the reply; 0: the origin expects the count only
};

struct ReplyPrefix {
  std::uint32_t server;    // the process of the server
  std::uint32_t failed;    // the server refused the request and printed why
  std::uint64_t executed;  // so many of its requests, of which no later one has been
  std::uint64_t reply_id;
  std::uint64_t value;  // of an atomic
};

// False: it is none that this library sends, as they all are sent whole.
template <class Prefix>
bool read_prefix(const void* header, std::size_t header_bytes, const ucp_am_recv_param_t& param, Prefix* prefix) {
  if ((param.recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0) {
    // A thread that waits for the message would hang.
    (void)fail(Code::kLayerBelow, nullptr,
               "UCX has announced a message that it was to send at once (UCP_AM_SEND_FLAG_EAGER); set "
               "UCX_RNDV_THRESH=inf, which forbids that");
    die_of_failure("a message of UCX");
  }
  if (header_bytes != sizeof *prefix) return false;
  std::memcpy(prefix, header, sizeof *prefix);
  return true;
}

}  // namespace armci::ucx
