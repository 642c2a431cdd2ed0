#include "impl/mpi-twosided/server_wire.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "impl/mpi-twosided/take_ended.h"

namespace armci::twosided {

using engine::Arrival;
using engine::Message;
using engine::ReplyHeader;

ServerWire::ServerWire(const Comms& comms, const ReceiveBuffers& receive_buffers, const engine::Routes& routes,
                       std::vector<int> servers, int number)
    : comms_(comms),
      receive_buffers_(receive_buffers),
      routes_(routes),
      servers_(std::move(servers)),
      number_(number),
      requests_(comms.requests, kRequestTag, receive_buffers.bytes),
      forwarded_(comms.forwards, kRequestTag, receive_buffers.bytes),
      acknowledgements_(comms.forwards, kAcknowledgeTag, sizeof(std::uint32_t)),
      buffers_(sizeof(ReplyHeader) + receive_buffers.reply_bytes()) {}

Status ServerWire::open() {
  const std::size_t buffers = routes_.clients(number_).size() * static_cast<std::size_t>(receive_buffers_.credits);
  const std::size_t forwards = routes_.neighbours(number_).size() * static_cast<std::size_t>(receive_buffers_.forwards);
  ARMCI_RETURN_IF_ERROR(requests_.open(buffers, "requests"));
  ARMCI_RETURN_IF_ERROR(forwarded_.open(forwards, "forwarded requests"));
  return acknowledgements_.open(forwards, "acknowledgements");
}

void ServerWire::close() {
  for (MessagePool* pool : {&requests_, &forwarded_, &acknowledgements_}) pool->close();
  for (Sending& sending : sending_) MPI_Wait(&sending.request, MPI_STATUS_IGNORE);
  sending_.clear();
}

std::size_t ServerWire::buffer_bytes() const {
  return requests_.memory_bytes() + forwarded_.memory_bytes() + acknowledgements_.memory_bytes() + buffers_.bytes();
}

int ServerWire::server_of(int rank) const {
  return static_cast<int>(std::find(servers_.begin(), servers_.end(), rank) - servers_.begin());
}

Status ServerWire::poll(bool* any) {
  *any = false;
  ARMCI_RETURN_IF_ERROR(take_requests(&requests_, false, any));
  ARMCI_RETURN_IF_ERROR(take_requests(&forwarded_, true, any));
  ARMCI_RETURN_IF_ERROR(take_ended(&receiving_, [&](const Receiving& ended) {
    *any = true;
    return events_->received(ended.chunk);
  }));
  ARMCI_RETURN_IF_ERROR(take_acknowledgements(any));
  return take_ended(&sending_, [this](Sending sent) { return take_sent(std::move(sent)); });
}

// The buffer of the next receive shows without MPI whether a message is there: a test that finds nothing takes 2 us,
// and a thread may wait for what this pass has changed.
Status ServerWire::take_requests(MessagePool* pool, bool forwarded, bool* any) {
  constexpr int kRequestsMax = 64;  // before the other queues are polled
  for (int i = 0; i < kRequestsMax && (i == 0 || pool->has_arrived()); ++i) {
    MessagePool::Received received;
    ARMCI_RETURN_IF_ERROR(pool->take(&received));
    if (received.buffer == nullptr) break;
    *any = true;
    const int from = forwarded ? server_of(received.source) : received.source;
    ARMCI_RETURN_IF_ERROR(
        events_->arrived({{received.buffer->data.get(), received.bytes}, from, forwarded, received.buffer}));
  }
  return kSuccess;
}

Status ServerWire::take_acknowledgements(bool* any) {
  for (;;) {
    MessagePool::Received received;
    ARMCI_RETURN_IF_ERROR(acknowledgements_.take(&received));
    if (received.buffer == nullptr) return kSuccess;
    *any = true;
    std::uint32_t acknowledgement = 0;
    std::memcpy(&acknowledgement, received.buffer->data.get(), sizeof acknowledgement);
    ARMCI_RETURN_IF_ERROR(acknowledgements_.post(received.buffer));
    ARMCI_RETURN_IF_ERROR(events_->acknowledged(server_of(received.source), acknowledgement));
  }
}

Status ServerWire::release(const Arrival& arrival) {
  return (arrival.forwarded ? forwarded_ : requests_).post(static_cast<MessagePool::Buffer*>(arrival.place));
}

Status ServerWire::send(MPI_Comm comm, int rank, int tag, std::span<const char> data, Sending sending) {
  ARMCI_MPI(MPI_Isend(data.data(), static_cast<int>(data.size()), MPI_BYTE, rank, tag, comm, &sending.request));
  // events_->sent() gives the chunk to the next request. So only poll() calls it, not a send inside an execution.
  if (sending.chunk == nullptr)
    return add_unless_ended(&sending_, std::move(sending), [this](Sending sent) { return take_sent(std::move(sent)); });
  sending_.push_back(std::move(sending));
  return kSuccess;
}

Status ServerWire::take_sent(Sending sent) {
  buffers_.give_back(std::move(sent.message));
  return sent.chunk != nullptr ? events_->sent(sent.chunk) : kSuccess;
}

// Processes have the first ranks.
Status ServerWire::reply(int process, std::uint32_t tag, Message message) {
  const std::span<const char> data(message.bytes.get(), message.length);
  return send(comms_.replies, process, tag != 0 ? static_cast<int>(tag) : kCountTag, data,
              {MPI_REQUEST_NULL, std::move(message), nullptr});
}

Status ServerWire::reply_data(int process, std::uint32_t tag, std::span<const char> data, engine::Chunk* chunk) {
  return send(comms_.replies, process, static_cast<int>(tag), data, {MPI_REQUEST_NULL, {}, chunk});
}

Status ServerWire::receive_data(int process, std::uint32_t tag, std::span<char> to, engine::Chunk* chunk) {
  Receiving receiving{MPI_REQUEST_NULL, chunk};
  ARMCI_MPI(MPI_Irecv(to.data(), static_cast<int>(to.size()), MPI_BYTE, process, static_cast<int>(tag), comms_.data,
                      &receiving.request));
  receiving_.push_back(receiving);
  return kSuccess;
}

// From its receive buffer.
Status ServerWire::forward(int server, const Arrival& arrival) {
  auto* const buffer = static_cast<MessagePool::Buffer*>(arrival.place);
  ARMCI_MPI(MPI_Isend(arrival.message.data(), static_cast<int>(arrival.message.size()), MPI_BYTE,
                      servers_[static_cast<std::size_t>(server)], kRequestTag, comms_.forwards, &buffer->request));
  return kSuccess;
}

Status ServerWire::acknowledge(int server, std::uint32_t acknowledgement) {
  Message message = buffers_.take(sizeof acknowledgement);
  std::memcpy(message.bytes.get(), &acknowledgement, sizeof acknowledgement);
  const std::span<const char> data(message.bytes.get(), sizeof acknowledgement);
  return send(comms_.forwards, servers_[static_cast<std::size_t>(server)], kAcknowledgeTag, data,
              {MPI_REQUEST_NULL, std::move(message), nullptr});
}

}  // namespace armci::twosided
