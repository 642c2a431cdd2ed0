// NoncontiguousTransfer: packed transfers. The buffer on the origin mirrors the run of remote bytes.
//
//   put, accumulate   local segments -> buffer == one operation ==> remote run
//   get               local segments <- buffer <== one operation == remote run, with the gaps in it
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "impl/mpi-rma/noncontiguous.h"
#include "impl/node/copy.h"

namespace armci::rma {
using runtime::Segments;
using runtime::Strided;

namespace {

// Longer runs go as datatypes: time to copy no longer matters beside the transfer, and memory does.
constexpr std::size_t kRunBytesMax = std::size_t{16} << 20;
// A row of its own takes as long as so many bytes of gap on a network where it needs a message.
constexpr std::size_t kGapBytesMax = 4096;

// Whether `bytes` bytes shall be moved for the sake of `total` ones in `rows` rows, gaps included.
bool worth_moving(std::size_t bytes, std::size_t total, std::size_t rows) {
  return bytes <= kRunBytesMax && (bytes <= total || bytes - total <= rows * kGapBytesMax);
}

}  // namespace

bool NoncontiguousTransfer::find_run(Kind kind, const void* remote, const Strided& shape, Run* run) {
  const bool get = kind == Kind::kGet;
  const Side far = get ? Side::kSource : Side::kDestination;
  const std::size_t total = shape.total_bytes();
  if (shape.levels == 0 || total > kRunBytesMax) return false;
  runtime::Extent extent{};
  const std::ptrdiff_t* strides = get ? shape.src_stride : shape.dst_stride;
  if (!runtime::extent_of(shape.count, strides, shape.levels, &extent).ok()) return false;
  run->begin = static_cast<const char*>(remote) + extent.low;
  run->bytes = static_cast<std::size_t>(extent.high - extent.low);
  if (layout_of(shape, far).levels != 0) {
    if (!get || !worth_moving(run->bytes, total, shape.segments())) return false;
  }
  run->buffer = pool_.take(run->bytes);
  return run->buffer != nullptr;
}

bool NoncontiguousTransfer::find_run(Kind kind, void* const* remotes, std::size_t count, std::size_t bytes, Run* run) {
  if (count < 2 || bytes > kRunBytesMax / count) return false;
  const auto at = [&](std::size_t i) { return static_cast<const char*>(remotes[i]); };
  const char* low = at(0);
  const char* high = at(0);
  bool dense = true;
  for (std::size_t i = 1; i < count; ++i) {
    dense = dense && at(i) == at(i - 1) + bytes;
    low = std::min(low, at(i));
    high = std::max(high, at(i));
  }
  run->begin = low;
  run->bytes = static_cast<std::size_t>(high - low) + bytes;
  if (!dense && (kind != Kind::kGet || !worth_moving(run->bytes, count * bytes, count))) return false;
  run->buffer = pool_.take(run->bytes);
  return run->buffer != nullptr;
}

Status NoncontiguousTransfer::move_run(Kind kind, const Place& place, const Run& run, MPI_Datatype element,
                                       std::function<void()> unpack, Pending* pending) {
  int element_bytes = 1;
  ARMCI_MPI(MPI_Type_size(element, &element_bytes));
  const int count = static_cast<int>(run.bytes / static_cast<std::size_t>(element_bytes));
  const MPI_Aint displacement = place.displacement(run.begin);
  const Access access = {kind,    place.window, place.rank, run.buffer.get(), count,
                         element, displacement, count,      element,          element};
  ARMCI_RETURN_IF_ERROR(sync_->start(access, pending));
  if (pending != nullptr) {
    pending->hold(run.buffer, std::move(unpack));
  } else if (unpack) {
    unpack();
  }
  return kSuccess;
}

Status NoncontiguousTransfer::packed(Kind kind, const Place& place, const void* src, void* dst, const Strided& shape,
                                     MPI_Datatype element, const Run& run, Pending* pending) {
  const bool get = kind == Kind::kGet;
  // Where the first segment is mirrored.
  char* const mirror =
      run.buffer.get() + (static_cast<const char*>(get ? src : dst) - static_cast<const char*>(run.begin));
  if (get) {
    const auto unpack = [=] {
      node::copy_strided(static_cast<char*>(dst), shape.dst_stride, mirror, shape.src_stride, shape.count,
                         shape.levels);
    };
    return move_run(kind, place, run, element, unpack, pending);
  }
  node::copy_strided(mirror, shape.dst_stride, static_cast<const char*>(src), shape.src_stride, shape.count,
                     shape.levels);
  return move_run(kind, place, run, element, nullptr, pending);
}

Status NoncontiguousTransfer::packed(Kind kind, const Place& place, const Segments& segments, MPI_Datatype element,
                                     const Run& run, Pending* pending) {
  const auto mirror = [begin = static_cast<const char*>(run.begin), buffer = run.buffer.get()](const void* remote) {
    return buffer + (static_cast<const char*>(remote) - begin);
  };
  if (kind != Kind::kGet) {
    for (std::size_t i = 0; i < segments.count; ++i)
      node::copy(mirror(segments.dst[i]), segments.src[i], segments.bytes);
    return move_run(kind, place, run, element, nullptr, pending);
  }
  const auto unpack = [mirror, bytes = segments.bytes](void* const* from, void* const* to, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) node::copy(to[i], mirror(from[i]), bytes);
  };
  if (pending == nullptr) {
    const auto now = [&] { unpack(segments.src, segments.dst, segments.count); };
    return move_run(kind, place, run, element, now, pending);
  }
  // The program's list may be gone when the data arrives.
  const auto later = [unpack, from = std::vector(segments.src, segments.src + segments.count),
                      to = std::vector(segments.dst, segments.dst + segments.count)] {
    unpack(from.data(), to.data(), to.size());
  };
  return move_run(kind, place, run, element, later, pending);
}

}  // namespace armci::rma
