#include "impl/mpi-twosided/client_wire.h"

#include <cstring>
#include <utility>

#include "impl/mpi-twosided/take_ended.h"

namespace armci::twosided {

using engine::ReplyHeader;

namespace {

// Requests that MPI has not sent, to all servers together. A put of 64 KiB is 5 requests above MPICH [CMPL-3].
constexpr std::size_t kSendingMax = 64;
constexpr std::uint64_t kNone = ~std::uint64_t{0};

}  // namespace

ClientWire::ClientWire(const Comms& comms, const ReceiveBuffers& receive_buffers, std::vector<int> servers)
    : comms_(comms),
      servers_(std::move(servers)),
      chunk_bytes_(receive_buffers.chunk_bytes),
      limits_{receive_buffers.bytes, receive_buffers.reply_bytes(), static_cast<std::uint64_t>(receive_buffers.credits),
              kNone, false},
      buffers_(receive_buffers.bytes),
      connected_(servers_.size()) {}

Status ClientWire::connect(int server) {
  if (connected_[static_cast<std::size_t>(server)]) return kSuccess;
  connected_[static_cast<std::size_t>(server)] = true;
  counts_.push_back({server, MPI_REQUEST_NULL, std::make_unique<ReplyHeader>()});
  return post_count(&counts_.back());
}

Status ClientWire::post_count(Count* count) {
  ARMCI_MPI(MPI_Irecv(count->header.get(), sizeof(ReplyHeader), MPI_BYTE, rank(count->server), kCountTag,
                      comms_.replies, &count->request));
  return kSuccess;
}

bool ClientWire::can_send(int) {
  bool any = false;
  return sending_.size() < kSendingMax || (poll_sending(&any).ok() && sending_.size() < kSendingMax);
}

Status ClientWire::send(int server, int executor, engine::Message message, const engine::ExpectedReply* reply) {
  if (reply != nullptr) {
    Reply expected;
    expected.tag = reply->tag;
    expected.bytes = reply->bytes;
    void* to = reply->place;
    if (to == nullptr) {
      expected.bytes += sizeof(ReplyHeader);
      expected.message.reset(new char[expected.bytes]);
      reply_bytes_ += expected.bytes;
      to = expected.message.get();
    }
    ARMCI_MPI(MPI_Irecv(to, static_cast<int>(expected.bytes), MPI_BYTE, rank(executor), static_cast<int>(reply->tag),
                        comms_.replies, &expected.request));
    replies_.push_back(std::move(expected));
  }
  Sending sending{MPI_REQUEST_NULL, std::move(message)};
  ARMCI_MPI(MPI_Isend(sending.message.bytes.get(), static_cast<int>(sending.message.length), MPI_BYTE, rank(server),
                      kRequestTag, comms_.requests, &sending.request));
  return add_unless_ended(&sending_, std::move(sending), [this](Sending sent) { return take_sent(std::move(sent)); });
}

Status ClientWire::send_data(int server, std::uint32_t tag, std::span<const char> data, engine::Part part) {
  SendingData sending{MPI_REQUEST_NULL, std::move(part)};
  ARMCI_MPI(MPI_Isend(data.data(), static_cast<int>(data.size()), MPI_BYTE, rank(server), static_cast<int>(tag),
                      comms_.data, &sending.request));
  sending_data_.push_back(std::move(sending));
  return kSuccess;
}

Status ClientWire::poll(bool* any) {
  *any = false;
  ARMCI_RETURN_IF_ERROR(take_ended(&replies_, [&](Reply reply) {
    *any = true;
    if (reply.message == nullptr) {
      events_->data_received(reply.tag);
      return kSuccess;
    }
    reply_bytes_ -= reply.bytes;
    ReplyHeader header;
    std::memcpy(&header, reply.message.get(), sizeof header);
    events_->replied(header, {reply.message.get() + sizeof header, reply.bytes - sizeof header});
    return kSuccess;
  }));
  ARMCI_RETURN_IF_ERROR(poll_counts(any));
  return poll_sending(any);
}

Status ClientWire::poll_counts(bool* any) {
  for (Count& count : counts_) {
    while (events_->awaits(count.server) && count.request != MPI_REQUEST_NULL) {
      int here = 0;
      ARMCI_MPI(MPI_Test(&count.request, &here, MPI_STATUS_IGNORE));
      if (here == 0) break;
      *any = true;
      events_->replied(*count.header, {});
      // After its last reply the server sends nothing.
      if (count.header->value != engine::kLastReply) ARMCI_RETURN_IF_ERROR(post_count(&count));
    }
  }
  return kSuccess;
}

Status ClientWire::poll_sending(bool* any) {
  ARMCI_RETURN_IF_ERROR(take_ended(&sending_, [this](Sending sent) { return take_sent(std::move(sent)); }));
  return take_ended(&sending_data_, [&](SendingData sent) {
    *any = true;
    events_->ended(std::move(sent.part), 0);
    return kSuccess;
  });
}

Status ClientWire::take_sent(Sending sent) {
  buffers_.give_back(std::move(sent.message));
  return kSuccess;
}

// Of servers from which no last reply was due.
void ClientWire::close() {
  for (Count& count : counts_) {
    if (count.request == MPI_REQUEST_NULL) continue;
    MPI_Cancel(&count.request);
    MPI_Wait(&count.request, MPI_STATUS_IGNORE);
  }
  counts_.clear();
}

Status ClientWire::failure(int error, const char* call, int server) {
  return note(fail_mpi(error, call), "server %d", server);
}

}  // namespace armci::twosided
