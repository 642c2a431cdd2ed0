// Puts, accumulates, gets and atomics as requests.
#include <algorithm>
#include <cstring>
#include <utility>

#include "impl/mpi-twosided/client.h"
#include "impl/mpi-twosided/client_messages.h"
#include "impl/node/copy.h"
#include "impl/server/compose.h"

namespace armci::twosided {

using runtime::is_dense;
using runtime::Segments;
using runtime::Strided;
using server::wire_levels;

namespace {

constexpr std::size_t kPieces = 4;

std::uint64_t address_of(const void* place) { return reinterpret_cast<std::uintptr_t>(place); }

template <class Place>
std::span<const char> as_bytes(const Place* addresses, std::size_t count) {
  return {reinterpret_cast<const char*>(addresses), count * sizeof(Place)};
}

}  // namespace

std::size_t Client::data_bytes_max(std::size_t place_bytes) const {
  return (receive_buffers_.bytes - sizeof(RequestHeader) - place_bytes) / server::kElementBytesMax *
         server::kElementBytesMax;
}

// The piece length of a transfer whose data do not fit into one request.
std::size_t Client::piece_bytes(std::size_t total) const {
  const std::size_t part = total / kPieces / server::kElementBytesMax * server::kElementBytesMax;
  return std::min(std::max(part, thresholds_.piece_bytes), receive_buffers_.chunk_bytes);
}

// The same for a reply in several segments.
std::size_t Client::reply_piece_bytes(std::size_t total) const {
  return total <= receive_buffers_.reply_bytes() ? total : piece_bytes(total);
}

// --- stores

Status Client::send_long_store(Lock& lock, int node, RequestHeader header, std::span<const char> layout,
                               const void* data, std::size_t bytes, Memory packed, std::uint64_t operation) {
  header.tag = next_tag();
  ARMCI_RETURN_IF_ERROR(send_store(lock, node, header, layout, 0, [](char*) {}));
  Sending sending;
  sending.operation = operation;
  if (operation != 0) ++operations_[operation];
  ARMCI_MPI(MPI_Isend(packed != nullptr ? packed.get() : data, static_cast<int>(bytes), MPI_BYTE, server(node),
                      static_cast<int>(header.tag), comms_.data, &sending.request));
  sending.packed = std::move(packed);
  sending_.push_back(std::move(sending));
  return kSuccess;
}

Status Client::store_run(Lock& lock, int node, RequestHeader header, const char* local, std::size_t bytes,
                         std::uint64_t operation) {
  header.form = Form::kContiguous;
  header.levels = 0;
  if (bytes <= data_bytes_max(0)) {
    header.bytes = bytes;
    return send_store(lock, node, header, {}, bytes, [=](char* to) { node::copy(to, local, bytes); });
  }
  const std::size_t piece = piece_bytes(bytes);
  while (bytes > 0) {
    header.bytes = std::min(bytes, piece);
    ARMCI_RETURN_IF_ERROR(send_long_store(lock, node, header, {}, local, header.bytes, nullptr, operation));
    header.address += header.bytes;
    local += header.bytes;
    bytes -= header.bytes;
  }
  return kSuccess;
}

// Only with background progress: a program may issue a put and never call ARMCI again.
bool Client::coalesces(const RequestHeader& header, const std::uint64_t* operation, std::size_t bytes) const {
  return operation != nullptr && background_progress_ && header.kind == RequestKind::kPut &&
         bytes <= thresholds_.small_put_bytes;
}

Status Client::store(int target, RequestHeader header, void* remote, const void* local, std::size_t bytes,
                     std::uint64_t* operation) {
  Lock lock(mutex_);
  const int node = routes_.node_of(target);
  header.address = address_of(remote);
  if (operation != nullptr) *operation = 0;
  if (coalesces(header, operation, bytes)) {
    return coalesce(lock, node, header.address, local, bytes);
  }
  const char* const from = static_cast<const char*>(local);
  if (bytes <= data_bytes_max(0)) return store_run(lock, node, header, from, bytes, 0);
  const auto issue_parts = [&](std::uint64_t whole) { return store_run(lock, node, header, from, bytes, whole); };
  return operation != nullptr ? begin_parts(lock, operation, issue_parts) : await_parts(lock, issue_parts);
}

Status Client::put_signal(int target, void* remote, const void* local, std::size_t bytes, const node::Signal& signal) {
  Lock lock(mutex_);
  const int node = routes_.node_of(target);
  const char* const from = static_cast<const char*>(local);
  RequestHeader header = server::signal_header(signal);
  header.address = address_of(remote);
  const auto send_signal = [&](std::size_t with) {
    header.bytes = with;
    return send_store(lock, node, header, {}, with, [=](char* to) { node::copy(to, from, with); });
  };
  if (!batch(node).empty() && bytes <= thresholds_.small_put_bytes) {
    if (bytes > 0) ARMCI_RETURN_IF_ERROR(coalesce(lock, node, header.address, from, bytes));
    bytes = 0;
    Slot* slot = nullptr;
    ARMCI_RETURN_IF_ERROR(acquire(lock, node, &slot));
    // Another thread may have sent it meanwhile.
    if (!batch(node).empty()) return post_batch(node, slot, header);
  }
  if (bytes <= data_bytes_max(0)) return send_signal(bytes);
  RequestHeader put = server::put_header();
  put.address = header.address;
  return await_parts(lock, [&](std::uint64_t whole) {
    ARMCI_RETURN_IF_ERROR(store_run(lock, node, put, from, bytes, whole));
    return send_signal(0);
  });
}

template <class Pack>
Status Client::send_store_part(Lock& lock, int node, const RequestHeader& header, std::span<const char> layout,
                               const char* dense, std::size_t bytes, Pack pack, std::uint64_t operation) {
  if (dense != nullptr) return send_long_store(lock, node, header, layout, dense, bytes, nullptr, operation);
  Memory packed;
  ARMCI_RETURN_IF_ERROR(take_packing_memory(lock, &packed));
  pack(packed.get());
  return send_long_store(lock, node, header, layout, nullptr, bytes, std::move(packed), 0);
}

Status Client::store_runs(Lock& lock, int node, RequestHeader header, void* remote, const char* local,
                          const Strided& shape, std::uint64_t operation) {
  Status status;
  for_each_segment(shape, [&](std::ptrdiff_t source, std::ptrdiff_t place) {
    if (!status.ok()) return;
    header.address = address_of(remote) + static_cast<std::uint64_t>(place);
    status = store_run(lock, node, header, local + source, shape.count[0], operation);
  });
  return status;
}

Status Client::store_rows(Lock& lock, int node, RequestHeader header, std::span<const char> layout, const char* local,
                          const Strided& shape, std::uint64_t operation) {
  const std::size_t row = shape.count[0];
  const std::size_t rows = shape.segments();
  const auto pack = [&](char* to) {
    for_segment_range(shape, header.first, header.count, [&](std::ptrdiff_t source, std::ptrdiff_t) {
      node::copy(to, local + source, row);
      to += row;
    });
  };
  if (rows * row <= data_bytes_max(layout.size())) {
    header.count = rows;
    return send_store(lock, node, header, layout, rows * row, pack);
  }
  const bool dense = is_dense(shape, shape.src_stride);
  const std::size_t rows_max = std::max(piece_bytes(rows * row) / row, std::size_t{1});
  for (header.first = 0; header.first < rows; header.first += header.count) {
    header.count = std::min(rows_max, rows - header.first);
    ARMCI_RETURN_IF_ERROR(send_store_part(lock, node, header, layout, dense ? local + header.first * row : nullptr,
                                          header.count * row, pack, operation));
  }
  return kSuccess;
}

Status Client::store_strided(int target, RequestHeader header, void* remote, const void* local, const Strided& shape,
                             std::uint64_t* operation) {
  Lock lock(mutex_);
  const int node = routes_.node_of(target);
  const char* const from = static_cast<const char*>(local);
  const std::vector<WireLevel> levels = wire_levels(shape, shape.dst_stride);
  header.address = address_of(remote);
  const auto issue_parts = [&](std::uint64_t whole) {
    if (shape.count[0] > receive_buffers_.chunk_bytes / 2)
      return store_runs(lock, node, header, remote, from, shape, whole);
    header.form = Form::kStrided;
    header.levels = static_cast<std::uint8_t>(shape.levels);
    header.bytes = shape.count[0];
    return store_rows(lock, node, header, as_bytes(levels.data(), levels.size()), from, shape, whole);
  };
  return operation != nullptr ? begin_parts(lock, operation, issue_parts) : await_parts(lock, issue_parts);
}

Status Client::store_segments(Lock& lock, int node, RequestHeader header, const Segments& list,
                              std::uint64_t operation) {
  const std::size_t bytes = list.bytes;
  header.form = Form::kList;
  header.bytes = bytes;
  const std::size_t short_max = data_bytes_max(0) / (bytes + sizeof(std::uint64_t));
  const std::size_t long_max = std::min(std::max(piece_bytes(list.count * bytes) / bytes, std::size_t{1}),
                                        data_bytes_max(0) / sizeof(std::uint64_t));
  for (std::size_t i = 0; i < list.count; i += header.count) {
    const std::size_t rest = list.count - i;
    header.count = std::min(rest <= short_max ? short_max : long_max, rest);
    const std::span<const char> layout = as_bytes(list.dst + i, header.count);
    const auto pack = [&](char* to) {
      for (std::size_t k = i; k < i + header.count; ++k, to += bytes) node::copy(to, list.src[k], bytes);
    };
    const std::size_t part = header.count * bytes;
    if (rest <= short_max) {
      ARMCI_RETURN_IF_ERROR(send_store(lock, node, header, layout, part, pack));
      continue;
    }
    const bool dense = is_dense(list.src + i, header.count, bytes);
    ARMCI_RETURN_IF_ERROR(send_store_part(
        lock, node, header, layout, dense ? static_cast<const char*>(list.src[i]) : nullptr, part, pack, operation));
  }
  return kSuccess;
}

Status Client::store_list(int target, RequestHeader header, const Segments& list, std::uint64_t* operation) {
  Lock lock(mutex_);
  const int node = routes_.node_of(target);
  if (coalesces(header, operation, list.count * list.bytes)) {
    *operation = 0;
    for (std::size_t i = 0; i < list.count; ++i) {
      ARMCI_RETURN_IF_ERROR(coalesce(lock, node, address_of(list.dst[i]), list.src[i], list.bytes));
    }
    return kSuccess;
  }
  const auto issue_parts = [&](std::uint64_t whole) {
    if (list.bytes <= receive_buffers_.chunk_bytes / 2) return store_segments(lock, node, header, list, whole);
    for (std::size_t i = 0; i < list.count; ++i) {
      header.address = address_of(list.dst[i]);
      const char* const from = static_cast<const char*>(list.src[i]);
      const Status status = store_run(lock, node, header, from, list.bytes, whole);
      if (!status.ok()) return status;
    }
    return kSuccess;
  };
  return operation != nullptr ? begin_parts(lock, operation, issue_parts) : await_parts(lock, issue_parts);
}

// --- gets

Status Client::get_run(Lock& lock, int node, const char* remote, char* local, std::size_t bytes,
                       std::uint64_t operation) {
  RequestHeader header;
  header.kind = RequestKind::kGet;
  for (std::size_t done = 0; done < bytes; done += header.bytes) {
    header.address = address_of(remote + done);
    header.bytes = std::min(bytes - done, kSegmentBytesMax);
    char* const to = local + done;
    Expected expected{operation, nullptr, header.bytes, {}};
    if (header.bytes > thresholds_.small_get_bytes) {
      header.type = kDataAlone;
      expected.direct = to;
    } else {
      header.type = 0;
      expected.unpack = [to, length = header.bytes](const char* data) { node::copy(to, data, length); };
    }
    ARMCI_RETURN_IF_ERROR(send_request(lock, node, header, {}, std::move(expected)));
  }
  return kSuccess;
}

Status Client::get(int target, const void* remote, void* local, std::size_t bytes, std::uint64_t* operation) {
  Lock lock(mutex_);
  return begin_parts(lock, operation, [&](std::uint64_t whole) {
    return get_run(lock, routes_.node_of(target), static_cast<const char*>(remote), static_cast<char*>(local), bytes,
                   whole);
  });
}

Status Client::get_runs(Lock& lock, int node, const char* remote, char* local, const Strided& shape,
                        std::uint64_t operation) {
  Status status;
  for_each_segment(shape, [&](std::ptrdiff_t place, std::ptrdiff_t local_place) {
    if (!status.ok()) return;
    status = get_run(lock, node, remote + place, local + local_place, shape.count[0], operation);
  });
  return status;
}

Status Client::get_rows(Lock& lock, int node, const char* remote, char* local, const Strided& shape,
                        std::uint64_t operation) {
  const std::size_t row = shape.count[0];
  const std::vector<WireLevel> levels = wire_levels(shape, shape.src_stride);
  RequestHeader header;
  header.kind = RequestKind::kGet;
  header.form = Form::kStrided;
  header.levels = static_cast<std::uint8_t>(shape.levels);
  header.address = address_of(remote);
  header.bytes = row;
  const std::size_t rows = shape.segments();
  const bool alone = rows * row > receive_buffers_.reply_bytes() && is_dense(shape, shape.dst_stride);
  header.type = alone ? kDataAlone : 0;
  const std::size_t rows_max = std::max(reply_piece_bytes(rows * row) / row, std::size_t{1});
  for (header.first = 0; header.first < rows; header.first += header.count) {
    header.count = std::min(rows_max, rows - header.first);
    Expected expected{operation, nullptr, header.count * row, {}};
    if (alone) {
      expected.direct = local + header.first * row;
    } else {
      expected.unpack = [shape, local, row, first = header.first, count = header.count](const char* data) {
        for_segment_range(shape, first, count, [&](std::ptrdiff_t, std::ptrdiff_t place) {
          node::copy(local + place, data, row);
          data += row;
        });
      };
    }
    const std::span<const char> layout = as_bytes(levels.data(), levels.size());
    ARMCI_RETURN_IF_ERROR(send_request(lock, node, header, layout, std::move(expected)));
  }
  return kSuccess;
}

Status Client::get_strided(int target, const void* remote, void* local, const Strided& shape,
                           std::uint64_t* operation) {
  Lock lock(mutex_);
  const auto by = shape.count[0] > receive_buffers_.chunk_bytes / 2 ? &Client::get_runs : &Client::get_rows;
  return begin_parts(lock, operation, [&](std::uint64_t whole) {
    return (this->*by)(lock, routes_.node_of(target), static_cast<const char*>(remote), static_cast<char*>(local),
                       shape, whole);
  });
}

Status Client::get_segments(Lock& lock, int node, const Segments& list, std::uint64_t operation) {
  const std::size_t piece = reply_piece_bytes(list.count * list.bytes);
  const std::size_t segments_max =
      std::min(std::max(piece / list.bytes, std::size_t{1}), data_bytes_max(0) / sizeof(std::uint64_t));
  RequestHeader header;
  header.kind = RequestKind::kGet;
  header.form = Form::kList;
  header.bytes = list.bytes;
  for (std::size_t i = 0; i < list.count; i += header.count) {
    header.count = std::min(segments_max, list.count - i);
    Expected expected{operation, nullptr, header.count * list.bytes, {}};
    const bool alone =
        list.count * list.bytes > receive_buffers_.reply_bytes() && is_dense(list.dst + i, header.count, list.bytes);
    header.type = alone ? kDataAlone : 0;
    if (alone) {
      expected.direct = list.dst[i];
    } else {
      // The caller's array of addresses need not last as long as the operation.
      std::vector<void*> to(list.dst + i, list.dst + i + header.count);
      expected.unpack = [to = std::move(to), bytes = list.bytes](const char* data) {
        for (void* place : to) {
          node::copy(place, data, bytes);
          data += bytes;
        }
      };
    }
    ARMCI_RETURN_IF_ERROR(send_request(lock, node, header, as_bytes(list.src + i, header.count), std::move(expected)));
  }
  return kSuccess;
}

Status Client::get_list(int target, const Segments& list, std::uint64_t* operation) {
  Lock lock(mutex_);
  const int node = routes_.node_of(target);
  return begin_parts(lock, operation, [&](std::uint64_t whole) {
    if (list.bytes <= receive_buffers_.chunk_bytes / 2) return get_segments(lock, node, list, whole);
    for (std::size_t i = 0; i < list.count; ++i) {
      ARMCI_RETURN_IF_ERROR(get_run(lock, node, static_cast<const char*>(list.src[i]), static_cast<char*>(list.dst[i]),
                                    list.bytes, whole));
    }
    return kSuccess;
  });
}

// --- atomics

Status Client::atomic(int target, RequestHeader header, std::uint64_t* before) {
  Lock lock(mutex_);
  const auto unpack = [before](const char* message) {
    std::memcpy(before, message - sizeof(ReplyHeader) + offsetof(ReplyHeader, value), sizeof *before);
  };
  return await_parts(lock, [&](std::uint64_t whole) {
    return send_request(lock, routes_.node_of(target), header, {}, {whole, nullptr, 0, unpack});
  });
}

}  // namespace armci::twosided
