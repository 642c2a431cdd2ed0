#include "impl/mpi-twosided/client.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "impl/shmem/copy.h"
#include "impl/shmem/wait.h"

namespace armci::twosided {

using common::kSuccess;
using common::Segments;
using common::Status;
using common::Strided;

namespace {

constexpr int kSlots = 16;
constexpr std::size_t kElementBytesMax = 16;  // pieces of an accumulate end between elements

std::uint64_t address_of(const void* place) { return reinterpret_cast<std::uintptr_t>(place); }

// The strides of the remote side, as they travel.
std::vector<WireLevel> wire_levels(const Strided& shape, const std::ptrdiff_t* strides) {
  std::vector<WireLevel> levels;
  for (int l = 0; l < shape.levels; ++l) levels.push_back({shape.count[l + 1], strides[l]});
  return levels;
}

template <class Place>
std::span<const char> as_bytes(const Place* places, std::size_t count) {
  return {reinterpret_cast<const char*>(places), count * sizeof(Place)};
}

// Writes all of a request but its data, whose place it returns.
char* compose(const RequestHeader& header, std::span<const char> places, char* message) {
  std::memcpy(message, &header, sizeof header);
  if (!places.empty()) std::memcpy(message + sizeof header, places.data(), places.size());
  return message + sizeof header + places.size();
}

}  // namespace

Client::Client(MPI_Comm requests, MPI_Comm replies, Room room, std::vector<int> servers)
    : requests_(requests),
      replies_(replies),
      room_(room),
      servers_(std::move(servers)),
      peers_(static_cast<std::size_t>(*std::max_element(servers_.begin(), servers_.end())) + 1),
      slots_(kSlots) {
  for (Peer& one : peers_) one.credits = room_.buffers;
}

Status Client::leave() {
  Lock lock(mutex_);
  for (const int server : known_) {
    RequestHeader header;
    header.kind = RequestKind::kBye;
    ARMCI_RETURN_IF_ERROR(tell(lock, server, header, {}, 0, [](char*) {}));
  }
  node::PollingBackoff backoff;
  const auto known = [this](int server) { return peer(server).known; };
  while (std::any_of(known_.begin(), known_.end(), known)) {
    ARMCI_RETURN_IF_ERROR(advance());
    backoff.step();
  }
  for (Slot& slot : slots_) ARMCI_MPI(MPI_Wait(&slot.request, MPI_STATUS_IGNORE));
  known_.clear();
  return kSuccess;
}

std::size_t Client::data_room(std::size_t place_bytes) const {
  return (room_.bytes - sizeof(RequestHeader) - place_bytes) / kElementBytesMax * kElementBytesMax;
}

// --- stores

template <class Fill>
Status Client::tell(Lock& lock, int server, const RequestHeader& header, std::span<const char> places,
                    std::size_t bytes, Fill fill) {
  Slot* slot = nullptr;
  ARMCI_RETURN_IF_ERROR(acquire(lock, server, &slot));
  fill(compose(header, places, slot->data.data()));
  return send(server, slot, sizeof header + places.size() + bytes);
}

Status Client::store_run(Lock& lock, int target, RequestHeader header, const char* local, std::size_t bytes) {
  const int server = server_of(target);
  header.form = Form::kContiguous;
  header.levels = 0;
  while (bytes > 0) {
    header.bytes = std::min(bytes, data_room(0));
    ARMCI_RETURN_IF_ERROR(
        tell(lock, server, header, {}, header.bytes, [&](char* to) { node::copy(to, local, header.bytes); }));
    ++peer(server).stores;
    header.address += header.bytes;
    local += header.bytes;
    bytes -= header.bytes;
  }
  return kSuccess;
}

Status Client::store(int target, RequestHeader header, void* remote, const void* local, std::size_t bytes) {
  Lock lock(mutex_);
  header.address = address_of(remote);
  return store_run(lock, target, header, static_cast<const char*>(local), bytes);
}

Status Client::store_strided(int target, RequestHeader header, void* remote, const void* local, const Strided& shape) {
  Lock lock(mutex_);
  const int server = server_of(target);
  const std::size_t row = shape.count[0];
  const std::vector<WireLevel> levels = wire_levels(shape, shape.dst_stride);
  const std::span<const char> places = as_bytes(levels.data(), levels.size());
  const std::size_t rows_max = data_room(places.size()) / row;
  const char* const from = static_cast<const char*>(local);
  if (rows_max < 2) {
    Status status;
    for_each_segment(shape, [&](std::ptrdiff_t source, std::ptrdiff_t place) {
      if (!status.ok()) return;
      header.address = address_of(remote) + static_cast<std::uint64_t>(place);
      status = store_run(lock, target, header, from + source, row);
    });
    return status;
  }
  header.form = Form::kStrided;
  header.levels = static_cast<std::uint8_t>(shape.levels);
  header.address = address_of(remote);
  header.bytes = row;
  const std::size_t rows = shape.segments();
  for (header.first = 0; header.first < rows; header.first += header.count) {
    header.count = std::min(rows_max, rows - header.first);
    ARMCI_RETURN_IF_ERROR(tell(lock, server, header, places, header.count * row, [&](char* to) {
      for_segment_range(shape, header.first, header.count, [&](std::ptrdiff_t source, std::ptrdiff_t) {
        node::copy(to, from + source, row);
        to += row;
      });
    }));
    ++peer(server).stores;
  }
  return kSuccess;
}

Status Client::store_list(int target, RequestHeader header, const Segments& list) {
  Lock lock(mutex_);
  const int server = server_of(target);
  const std::size_t segments_max = data_room(0) / (list.bytes + sizeof(std::uint64_t));
  if (segments_max < 2) {
    for (std::size_t i = 0; i < list.count; ++i) {
      header.address = address_of(list.dst[i]);
      ARMCI_RETURN_IF_ERROR(store_run(lock, target, header, static_cast<const char*>(list.src[i]), list.bytes));
    }
    return kSuccess;
  }
  header.form = Form::kList;
  header.bytes = list.bytes;
  for (std::size_t i = 0; i < list.count; i += header.count) {
    header.count = std::min(segments_max, list.count - i);
    const std::span<const char> places = as_bytes(list.dst + i, header.count);
    ARMCI_RETURN_IF_ERROR(tell(lock, server, header, places, header.count * list.bytes, [&](char* to) {
      for (std::size_t k = i; k < i + header.count; ++k, to += list.bytes) node::copy(to, list.src[k], list.bytes);
    }));
    ++peer(server).stores;
  }
  return kSuccess;
}

// --- gets

Status Client::get_run(Lock& lock, int target, const char* remote, char* local, std::size_t bytes,
                       std::uint64_t operation) {
  RequestHeader header;
  header.kind = RequestKind::kGet;
  for (std::size_t done = 0; done < bytes; done += header.bytes) {
    header.address = address_of(remote + done);
    header.bytes = std::min(bytes - done, kSegmentBytesMax);
    char* const to = local + done;
    Expected expected{operation, nullptr, header.bytes, {}};
    if (header.bytes > kShortReplyBytes) {
      expected.direct = to;
    } else {
      expected.unpack = [to, length = header.bytes](const char* data) { node::copy(to, data, length); };
    }
    ARMCI_RETURN_IF_ERROR(ask(lock, server_of(target), header, {}, std::move(expected)));
  }
  return kSuccess;
}

Status Client::get(int target, const void* remote, void* local, std::size_t bytes, std::uint64_t* operation) {
  Lock lock(mutex_);
  *operation = begin_operation();
  const Status status =
      get_run(lock, target, static_cast<const char*>(remote), static_cast<char*>(local), bytes, *operation);
  end_part(*operation);
  return status;
}

Status Client::get_strided(int target, const void* remote, void* local, const Strided& shape,
                           std::uint64_t* operation) {
  Lock lock(mutex_);
  *operation = begin_operation();
  const std::size_t row = shape.count[0];
  const std::size_t rows_max = room_.reply_bytes() / row;
  char* const to = static_cast<char*>(local);
  Status status;
  if (rows_max < 2) {
    for_each_segment(shape, [&](std::ptrdiff_t place, std::ptrdiff_t target_place) {
      if (!status.ok()) return;
      status = get_run(lock, target, static_cast<const char*>(remote) + place, to + target_place, row, *operation);
    });
    end_part(*operation);
    return status;
  }
  const std::vector<WireLevel> levels = wire_levels(shape, shape.src_stride);
  RequestHeader header;
  header.kind = RequestKind::kGet;
  header.form = Form::kStrided;
  header.levels = static_cast<std::uint8_t>(shape.levels);
  header.address = address_of(remote);
  header.bytes = row;
  const std::size_t rows = shape.segments();
  for (header.first = 0; status.ok() && header.first < rows; header.first += header.count) {
    header.count = std::min(rows_max, rows - header.first);
    const auto unpack = [shape, to, row, first = header.first, count = header.count](const char* data) {
      for_segment_range(shape, first, count, [&](std::ptrdiff_t, std::ptrdiff_t place) {
        node::copy(to + place, data, row);
        data += row;
      });
    };
    status = ask(lock, server_of(target), header, as_bytes(levels.data(), levels.size()),
                 {*operation, nullptr, header.count * row, unpack});
  }
  end_part(*operation);
  return status;
}

Status Client::get_list(int target, const Segments& list, std::uint64_t* operation) {
  Lock lock(mutex_);
  *operation = begin_operation();
  Status status;
  const std::size_t segments_max = std::min(room_.reply_bytes() / list.bytes, data_room(0) / sizeof(std::uint64_t));
  RequestHeader header;
  header.kind = RequestKind::kGet;
  header.form = Form::kList;
  header.bytes = list.bytes;
  for (std::size_t i = 0; status.ok() && i < list.count; i += header.count) {
    header.count = std::min(std::max(segments_max, std::size_t{1}), list.count - i);
    if (segments_max < 2) {
      status = get_run(lock, target, static_cast<const char*>(list.src[i]), static_cast<char*>(list.dst[i]), list.bytes,
                       *operation);
      continue;
    }
    // The caller's array of addresses need not last as long as the operation.
    std::vector<void*> to(list.dst + i, list.dst + i + header.count);
    const auto unpack = [to = std::move(to), bytes = list.bytes](const char* data) {
      for (void* place : to) {
        node::copy(place, data, bytes);
        data += bytes;
      }
    };
    status = ask(lock, server_of(target), header, as_bytes(list.src + i, header.count),
                 {*operation, nullptr, header.count * list.bytes, unpack});
  }
  end_part(*operation);
  return status;
}

// --- atomics and fences

Status Client::atomic(int target, RequestHeader header, std::uint64_t* before) {
  Lock lock(mutex_);
  const std::uint64_t operation = begin_operation();
  const auto unpack = [before](const char* message) {
    std::memcpy(before, message - sizeof(ReplyHeader) + offsetof(ReplyHeader, value), sizeof *before);
  };
  header.kind = RequestKind::kAtomic;
  const Status status = ask(lock, server_of(target), header, {}, {operation, nullptr, 0, unpack});
  end_part(operation);
  ARMCI_RETURN_IF_ERROR(status);
  return await(lock, operation);
}

// Nothing is asked where nothing is owed.
Status Client::ask_fence(Lock& lock, int server, std::uint64_t operation) {
  Peer& one = peer(server);
  if (one.flushed == one.stores) return kSuccess;
  RequestHeader header;
  header.kind = RequestKind::kFence;
  const auto note_flushed = [&one, covered = one.stores](const char*) { one.flushed = std::max(one.flushed, covered); };
  return ask(lock, server, header, {}, {operation, nullptr, 0, note_flushed});
}

Status Client::flush(int target) {
  Lock lock(mutex_);
  const std::uint64_t operation = begin_operation();
  const Status status = ask_fence(lock, server_of(target), operation);
  end_part(operation);
  ARMCI_RETURN_IF_ERROR(status);
  return await(lock, operation);
}

Status Client::flush_all() {
  Lock lock(mutex_);
  const std::uint64_t operation = begin_operation();
  Status status;
  // By index: others may get to know a server while this waits for room.
  for (std::size_t i = 0; status.ok() && i < known_.size(); ++i) status = ask_fence(lock, known_[i], operation);
  end_part(operation);
  ARMCI_RETURN_IF_ERROR(status);
  return await(lock, operation);
}

// --- completion

Status Client::test(std::uint64_t operation, bool* done) {
  const Lock lock(mutex_);
  ARMCI_RETURN_IF_ERROR(advance());
  *done = !operations_.contains(operation);
  return kSuccess;
}

Status Client::wait(std::uint64_t operation) {
  Lock lock(mutex_);
  return await(lock, operation);
}

Status Client::await(Lock& lock, std::uint64_t operation) {
  node::PollingBackoff backoff;
  for (;;) {
    ARMCI_RETURN_IF_ERROR(advance());
    if (!operations_.contains(operation)) return kSuccess;
    lock.unlock();
    backoff.step();
    lock.lock();
  }
}

std::uint64_t Client::begin_operation() {
  operations_.emplace(++last_operation_, 1);  // the part that is ended when all others have been asked for
  return last_operation_;
}

void Client::end_part(std::uint64_t operation) {
  const auto found = operations_.find(operation);
  if (found != operations_.end() && --found->second == 0) operations_.erase(found);
}

// --- messages

Status Client::acquire(Lock& lock, int server, Slot** slot) {
  Peer& one = peer(server);
  if (!one.known) {
    one.known = true;
    known_.push_back(server);
    ARMCI_MPI(MPI_Irecv(&one.credit_message, sizeof one.credit_message, MPI_BYTE, server, kCreditTag, replies_,
                        &one.credit_request));
  }
  node::PollingBackoff backoff;
  for (;;) {
    if (one.credits > 0) {
      for (Slot& free : slots_) {
        int sent = 0;
        ARMCI_MPI(MPI_Test(&free.request, &sent, MPI_STATUS_IGNORE));
        if (sent == 0) continue;
        if (free.data.empty()) free.data.resize(room_.bytes);
        *slot = &free;
        return kSuccess;
      }
    }
    ARMCI_RETURN_IF_ERROR(advance());
    lock.unlock();
    backoff.step();
    lock.lock();
  }
}

Status Client::send(int server, Slot* slot, std::size_t bytes) {
  --peer(server).credits;
  ARMCI_MPI(
      MPI_Isend(slot->data.data(), static_cast<int>(bytes), MPI_BYTE, server, kRequestTag, requests_, &slot->request));
  return kSuccess;
}

Status Client::ask(Lock& lock, int server, RequestHeader header, std::span<const char> places, Expected expected) {
  Slot* slot = nullptr;
  ARMCI_RETURN_IF_ERROR(acquire(lock, server, &slot));
  header.tag = next_tag();
  Reply reply;
  reply.operation = expected.operation;
  reply.server = server;
  reply.unpack = std::move(expected.unpack);
  void* to = expected.direct;
  std::size_t bytes = expected.bytes;
  if (to == nullptr) {
    bytes += sizeof(ReplyHeader);
    reply.message.resize(bytes);
    to = reply.message.data();
  }
  // Before the request goes out, so that the answer never waits in MPI's own memory.
  ARMCI_MPI(
      MPI_Irecv(to, static_cast<int>(bytes), MPI_BYTE, server, static_cast<int>(header.tag), replies_, &reply.request));
  open_.push_back(std::move(reply));
  ++operations_[expected.operation];
  compose(header, places, slot->data.data());
  return send(server, slot, sizeof header + places.size());
}

std::uint32_t Client::next_tag() {
  last_tag_ = last_tag_ < kFirstReplyTag || last_tag_ >= kLastReplyTag ? kFirstReplyTag : last_tag_ + 1;
  return last_tag_;
}

Status Client::advance() {
  for (std::size_t i = 0; i < open_.size();) {
    int here = 0;
    ARMCI_MPI(MPI_Test(&open_[i].request, &here, MPI_STATUS_IGNORE));
    if (here == 0) {
      ++i;
      continue;
    }
    Reply reply = std::move(open_[i]);
    if (i + 1 < open_.size()) open_[i] = std::move(open_.back());
    open_.pop_back();
    arrived(reply);
  }
  for (const int server : known_) ARMCI_RETURN_IF_ERROR(advance_credits(server));
  return kSuccess;
}

// Memory ordering: what the caller reads afterwards is not older than the answer [ORD-4].
void Client::arrived(Reply& reply) {
  if (!reply.message.empty()) {
    ReplyHeader header;
    std::memcpy(&header, reply.message.data(), sizeof header);
    peer(reply.server).credits += static_cast<int>(header.credits);
    if (reply.unpack) reply.unpack(reply.message.data() + sizeof header);
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  end_part(reply.operation);
}

Status Client::advance_credits(int server) {
  Peer& one = peer(server);
  while (one.known) {
    int here = 0;
    ARMCI_MPI(MPI_Test(&one.credit_request, &here, MPI_STATUS_IGNORE));
    if (here == 0) break;
    one.credits += static_cast<int>(one.credit_message.credits);
    if (one.credit_message.value == kLastCredits) {
      one.known = false;
      break;
    }
    ARMCI_MPI(MPI_Irecv(&one.credit_message, sizeof one.credit_message, MPI_BYTE, server, kCreditTag, replies_,
                        &one.credit_request));
  }
  return kSuccess;
}

}  // namespace armci::twosided
