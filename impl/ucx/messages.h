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

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

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
  if (header_bytes != sizeof *mark || (param.recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0) return false;
  std::memcpy(mark, header, sizeof *mark);
  return true;
}

// What follows a mark.
struct Message {
  std::unique_ptr<char[]> bytes;
  std::size_t length = 0;
  std::size_t room = 0;
};

// Where messages are made. Buffers are used again: a heap would return them to the kernel after every burst, and take
// them, page by page, for the next one.
//
// Thread safety: none.
class Messages {
 public:
  // bytes: of the longest one.
  explicit Messages(std::size_t bytes) : bytes_(bytes) {}

  std::size_t room() const { return bytes_; }

  // Not initialised.
  Message take(std::size_t bytes) {
    if (bytes <= kShortBytes || bytes > bytes_) return {std::unique_ptr<char[]>(new char[bytes]), bytes, bytes};
    if (free_.empty()) return {std::unique_ptr<char[]>(new char[bytes_]), bytes, bytes_};
    Message message{std::move(free_.back()), bytes, bytes_};
    free_.pop_back();
    return message;
  }

  void give_back(Message message) {
    if (message.room == bytes_ && free_.size() < std::max<std::size_t>(1, kKeptBytes / bytes_)) {
      free_.push_back(std::move(message.bytes));
    }
  }

 private:
  static constexpr std::size_t kShortBytes = 512;
  static constexpr std::size_t kKeptBytes = std::size_t{8} << 20;

  const std::size_t bytes_;
  std::vector<std::unique_ptr<char[]>> free_;
};

}  // namespace armci::ucx
