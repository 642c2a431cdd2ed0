#include "impl/engine/request.h"

#include <cstring>

namespace armci::engine {

namespace {

Status malformed(const char* what, std::uint64_t value) {
  return fail(
      Code::kLayerBelow, nullptr,
      "the server refused a request with %s = %llu from another process; link all processes with the same library",
      what, static_cast<unsigned long long>(value));
}

Status not_allocated(std::uint64_t address, std::uint64_t bytes) {
  return fail(Code::kLayerBelow, nullptr,
              "the server refused a request of another process for %llu bytes with address = 0x%llx: no region has "
              "that much memory there; free memory only after the last access of other processes",
              static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(address));
}

Status misaligned(std::uint64_t address) {
  return fail(Code::kLayerBelow, nullptr,
              "the server refused a request of another process with address = 0x%llx, or a stride, not aligned to the "
              "type; align both",
              static_cast<unsigned long long>(address));
}

// By itself or of a batch.
Status check_atomic(const RequestHeader& header, const IsInside& inside) {
  if (header.type > static_cast<std::uint8_t>(node::kLastRmwOp)) return malformed("operation", header.type);
  if (header.bytes != 4 && header.bytes != 8) return malformed("bytes of a word", header.bytes);
  if (header.address % header.bytes != 0) return misaligned(header.address);
  return inside(header.address, header.bytes) ? kSuccess : not_allocated(header.address, header.bytes);
}

// All of a signal but its data.
Status check_signal(const RequestHeader& header, const IsInside& inside) {
  constexpr std::size_t kWordBytes = sizeof(std::uint64_t);
  if (header.form != Form::kContiguous) {
    return malformed("form", static_cast<std::uint64_t>(header.form));
  }
  if (header.tag != 0) return malformed("tag", header.tag);
  if (header.type > static_cast<std::uint8_t>(node::kLastSignalOp)) return malformed("operation", header.type);
  const auto check_word = [&](std::uint64_t address) {
    if (address % kWordBytes != 0) return misaligned(address);
    return inside(address, kWordBytes) ? kSuccess : not_allocated(address, kWordBytes);
  };
  ARMCI_RETURN_IF_ERROR(check_word(header.operand[0]));
  return header.first == 0 ? kSuccess : check_word(header.first);
}

Status check_element(const RequestHeader& header) {
  if (header.type >= node::kAccTypes) return malformed("type", header.type);
  const auto type = static_cast<node::AccType>(header.type);
  if (header.bytes % node::element_bytes(type) != 0) return malformed("bytes", header.bytes);
  return kSuccess;
}

bool is_misaligned(const RequestHeader& header, std::uint64_t bits) {
  return header.kind == RequestKind::kAccumulate &&
         bits % node::component_bytes(static_cast<node::AccType>(header.type)) != 0;
}

// The strides, and that the whole shape lies in memory. `segments` is what follows the header.
Status check_strided(std::span<const char> iov, const IsInside& inside, Request* request, std::size_t* used) {
  const RequestHeader& header = request->header;
  runtime::Strided& shape = request->shape;
  if (header.levels == 0 || header.levels > runtime::kMaxStrideLevels) return malformed("levels", header.levels);
  *used = header.levels * sizeof(WireLevel);
  if (iov.size() < *used) return malformed("length", iov.size());
  shape.levels = header.levels;
  shape.count[0] = header.bytes;
  std::ptrdiff_t strides[runtime::kMaxStrideLevels];
  std::uint64_t bits = header.address;
  std::size_t segments = 1;
  for (int l = 0; l < shape.levels; ++l) {
    WireLevel level;
    std::memcpy(&level, iov.data() + static_cast<std::size_t>(l) * sizeof level, sizeof level);
    if (level.count == 0 || __builtin_mul_overflow(segments, level.count, &segments)) {
      return malformed("count of a level", level.count);
    }
    shape.count[l + 1] = level.count;
    shape.src_stride[l] = 0;
    // The stride of a level that repeats once leads nowhere, and nothing bounds it: a walk must not add it.
    shape.dst_stride[l] = strides[l] = level.count == 1 ? 0 : level.stride;
    bits |= static_cast<std::uint64_t>(strides[l]);
  }
  if (header.count == 0 || header.first > segments || header.count > segments - header.first) {
    return malformed("count", header.count);
  }
  runtime::Extent extent;
  if (!runtime::extent_of(shape.count, strides, shape.levels, &extent).ok()) {
    return malformed("address", header.address);
  }
  const std::uint64_t begin = header.address + static_cast<std::uint64_t>(extent.low);
  const std::size_t reach = static_cast<std::size_t>(extent.high) - static_cast<std::size_t>(extent.low);
  if (!inside(begin, reach)) return not_allocated(begin, reach);
  return is_misaligned(header, bits) ? misaligned(header.address) : kSuccess;
}

Status check_list(std::span<const char> iov, const IsInside& inside, Request* request, std::size_t* used) {
  const RequestHeader& header = request->header;
  if (header.count == 0 || header.count > iov.size() / sizeof(std::uint64_t)) {
    return malformed("count", header.count);
  }
  *used = header.count * sizeof(std::uint64_t);
  request->addresses = reinterpret_cast<const std::uint64_t*>(iov.data());
  for (std::size_t i = 0; i < header.count; ++i) {
    const std::uint64_t address = request->addresses[i];
    if (!inside(address, header.bytes)) return not_allocated(address, header.bytes);
    if (is_misaligned(header, address)) return misaligned(address);
  }
  return kSuccess;
}

Status check_iov(std::span<const char> iov, const IsInside& inside, Request* request, std::size_t* used) {
  const RequestHeader& header = request->header;
  *used = 0;
  switch (header.form) {
    case Form::kContiguous:
      if (header.bytes == 0) return kSuccess;  // a signal alone
      if (!inside(header.address, header.bytes)) return not_allocated(header.address, header.bytes);
      return is_misaligned(header, header.address) ? misaligned(header.address) : kSuccess;
    case Form::kStrided:
      return check_strided(iov, inside, request, used);
    case Form::kList:
      return check_list(iov, inside, request, used);
  }
  return malformed("form", static_cast<std::uint64_t>(header.form));
}

// The data, here or to come, against the segments.
Status check_data(const Request& request, const Bounds& bounds) {
  const RequestHeader& header = request.header;
  std::size_t total = 0;
  if (__builtin_mul_overflow(request.segments(), header.bytes, &total)) return malformed("bytes", header.bytes);
  if (request.is_store() && request.data.size() != (request.data_follow() ? 0 : total)) {
    return malformed("length", request.data.size());
  }
  if (request.data_follow()) return total > bounds.follows ? malformed("bytes", total) : kSuccess;
  const bool copied = header.kind == RequestKind::kGet && !request.is_in_place();
  return copied && total > bounds.reply ? malformed("bytes", total) : kSuccess;
}

// A put, a get, an accumulate or a signal, by itself or of a batch. `body` is what follows the header.
Status check_transfer(std::span<const char> body, const IsInside& inside, Request* request, std::size_t* iov) {
  RequestHeader& header = request->header;
  const bool is_signal = header.kind == RequestKind::kSignal;
  if ((header.bytes == 0 && !is_signal) || header.bytes > kSegmentBytesMax) return malformed("bytes", header.bytes);
  if (is_signal) ARMCI_RETURN_IF_ERROR(check_signal(header, inside));
  if (header.kind == RequestKind::kAccumulate) ARMCI_RETURN_IF_ERROR(check_element(header));
  if (header.kind == RequestKind::kGet && header.type > kDataAlone) return malformed("type", header.type);
  ARMCI_RETURN_IF_ERROR(check_iov(body, inside, request, iov));
  request->data = body.subspan(*iov);
  return kSuccess;
}

Status check_batch(const RequestHeader& header, std::size_t body, const Bounds& bounds) {
  if (header.form != Form::kContiguous) return malformed("form", static_cast<std::uint64_t>(header.form));
  if ((header.bytes == 0) != (header.tag == 0)) return malformed("tag", header.tag);
  if (header.tag > kLastTag || (header.tag != 0 && header.tag < kFirstTag)) return malformed("tag", header.tag);
  if (header.bytes > bounds.reply) return malformed("bytes", header.bytes);
  return header.count <= body / sizeof(EntryHeader) ? kSuccess : malformed("count", header.count);
}

// Moves the next field of a message to *field.
template <class Field>
bool take_field(std::span<const char>* rest, Field* field) {
  if (rest->size() < sizeof *field) return false;
  std::memcpy(field, rest->data(), sizeof *field);
  *rest = rest->subspan(sizeof *field);
  return true;
}

bool take_entry_header(std::span<const char>* rest, RequestHeader* header) {
  EntryHeader entry;
  if (!take_field(rest, &entry)) return false;
  header->kind = entry.kind;
  header->form = entry.form;
  header->type = entry.type;
  header->levels = entry.levels;
  header->address = entry.address;
  header->bytes = entry.bytes;
  if (has_count(*header) && !(take_field(rest, &header->count) && take_field(rest, &header->first))) return false;
  if (entry.kind == RequestKind::kSignal && !take_field(rest, &header->first)) return false;
  return !has_operand(*header) || take_field(rest, &header->operand);
}

}  // namespace

Status read_header(std::span<const char> message, RequestHeader* header) {
  if (message.size() < sizeof(RequestHeader)) return malformed("length", message.size());
  std::memcpy(header, message.data(), sizeof *header);
  if (header->magic != kMagic) return malformed("magic", header->magic);
  const auto kind = static_cast<std::uint8_t>(header->kind);
  const bool known = kind >= static_cast<std::uint8_t>(RequestKind::kPut) && header->kind <= RequestKind::kDisconnect;
  if (!known) return malformed("kind", kind);
  const bool may_delay_count = header->is_store() || header->kind == RequestKind::kBatch;
  const std::uint8_t levels_max =
      header->form == Form::kStrided ? runtime::kMaxStrideLevels : (may_delay_count ? kCountOnDemand : 0);
  return header->levels <= levels_max ? kSuccess : malformed("levels", header->levels);
}

Status decode(std::span<const char> message, const IsInside& inside, const Bounds& bounds, Request* request) {
  RequestHeader& header = request->header;
  ARMCI_RETURN_IF_ERROR(read_header(message, &header));
  const std::span<const char> body = message.subspan(sizeof header);
  if (header.kind == RequestKind::kGetCount || header.kind == RequestKind::kDisconnect) return kSuccess;
  if (header.kind == RequestKind::kBatch) {
    request->data = body;
    return check_batch(header, body.size(), bounds);
  }
  if (header.tag > kLastTag || (!request->is_store() && header.tag < kFirstTag)) return malformed("tag", header.tag);
  if (header.kind == RequestKind::kAtomic) return check_atomic(header, inside);
  std::size_t iov = 0;
  ARMCI_RETURN_IF_ERROR(check_transfer(body, inside, request, &iov));
  return check_data(*request, bounds);
}

Status next_entry(const RequestHeader& batch, const IsInside& inside, std::size_t left, std::span<const char>* rest,
                  Request* entry) {
  RequestHeader& header = entry->header;
  header = RequestHeader();
  header.origin = batch.origin;
  if (!take_entry_header(rest, &header)) return malformed("count", batch.count);
  const bool is_get = header.kind == RequestKind::kGet;
  const bool is_atomic = header.kind == RequestKind::kAtomic;
  if (!header.is_store() && !is_get && !is_atomic) return malformed("kind", static_cast<std::uint64_t>(header.kind));
  if (header.form != Form::kStrided && header.levels != 0) return malformed("levels", header.levels);
  if (is_atomic) {
    if (header.form != Form::kContiguous) return malformed("form", static_cast<std::uint64_t>(header.form));
    return header.bytes > left ? malformed("bytes", header.bytes) : check_atomic(header, inside);
  }
  std::size_t iov = 0;
  ARMCI_RETURN_IF_ERROR(check_transfer(*rest, inside, entry, &iov));
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(entry->segments(), header.bytes, &bytes)) return malformed("bytes", header.bytes);
  if (is_get && (bytes > left || header.type != 0)) return malformed("bytes", bytes);
  const std::size_t data = is_get ? 0 : bytes;
  if (data > entry->data.size()) return malformed("bytes", data);
  entry->data = entry->data.subspan(0, data);
  const std::size_t used = padded(iov + data);
  if (used > rest->size()) return malformed("length", rest->size());
  *rest = rest->subspan(used);
  return kSuccess;
}

Status end_of_batch(const RequestHeader& batch, std::span<const char> rest) {
  return rest.empty() ? kSuccess : malformed("count", batch.count);
}

}  // namespace armci::engine
