#include "impl/mpi-rma/noncontiguous.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <vector>

#include "impl/mpi-rma/dynamic_window.h"
#include "impl/mpi-rma/overlap.h"

namespace armci::rma {
using runtime::Segments;
using runtime::Strided;

namespace {

// The safe method of accumulate-header (preflight/faults.cc).
constexpr std::size_t kAccumulateSegmentsMax = 256;

// Whether the strides may name a byte twice: each level has to step over all of the one below.
bool may_overlap(const std::size_t* count, const std::ptrdiff_t* stride, int levels) {
  std::size_t reach = count[0];
  for (int l = 0; l < levels; ++l) {
    if (count[l + 1] <= 1) continue;
    const auto step = static_cast<std::size_t>(std::abs(stride[l]));
    if (step < reach) return true;
    reach += step * (count[l + 1] - 1);
  }
  return false;
}

// Whether the bytes of the remote side lie in several cells.
bool crosses_cells(const Place& place, const void* remote, const Strided& shape, const std::ptrdiff_t* strides) {
  runtime::Extent extent{};
  if (!place.in_cells || !runtime::extent_of(shape.count, strides, shape.levels, &extent).ok()) return false;
  return static_cast<std::size_t>(extent.high - extent.low) >
         DynamicWindow::left_in_cell(static_cast<const char*>(remote) + extent.low);
}

bool crosses_cells(const Place& place, void* const* remotes, std::size_t count, std::size_t bytes) {
  if (!place.in_cells) return false;
  const auto [low, high] = std::minmax_element(remotes, remotes + count);
  return static_cast<std::size_t>(static_cast<const char*>(*high) - static_cast<const char*>(*low)) + bytes >
         DynamicWindow::left_in_cell(*low);
}

bool wants_direct(Method method) { return method == Method::kAuto || method == Method::kDirect; }

Fault strided_fault(Kind kind) {
  if (kind == Kind::kPut) return Fault::kPutStrided;
  return kind == Kind::kGet ? Fault::kGetStrided : Fault::kAccumulateStrided;
}

Fault indexed_fault(Kind kind) {
  if (kind == Kind::kPut) return Fault::kPutIndexed;
  return kind == Kind::kGet ? Fault::kGetIndexed : Fault::kAccumulateIndexed;
}

int bytes_of(MPI_Datatype element) {
  int bytes = 1;
  MPI_Type_size(element, &bytes);
  return bytes;
}

}  // namespace

MPI_Datatype element_type(node::AccType type) {
  switch (type) {
    case node::AccType::kInt:
      return MPI_INT;
    case node::AccType::kLong:
      return MPI_LONG;
    case node::AccType::kFloat:
      return MPI_FLOAT;
    case node::AccType::kDouble:
      return MPI_DOUBLE;
    case node::AccType::kComplexFloat:
      return MPI_C_FLOAT_COMPLEX;
    case node::AccType::kComplexDouble:
      return MPI_C_DOUBLE_COMPLEX;
  }
  return MPI_BYTE;
}

namespace {

// Of numbers that were or-ed.
MPI_Datatype widest_divisor(std::uintptr_t bits) {
  if (bits % sizeof(std::int64_t) == 0) return MPI_INT64_T;
  if (bits % sizeof(std::int32_t) == 0) return MPI_INT32_T;
  return bits % sizeof(std::int16_t) == 0 ? MPI_INT16_T : MPI_BYTE;
}

std::uintptr_t bits_of(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

}  // namespace

MPI_Datatype word_type(const void* src, const void* dst, const Strided& shape) {
  std::uintptr_t bits = bits_of(src) | bits_of(dst) | shape.count[0];
  for (int l = 0; l < shape.levels; ++l) {
    bits |= static_cast<std::uintptr_t>(shape.src_stride[l]) | static_cast<std::uintptr_t>(shape.dst_stride[l]);
  }
  return widest_divisor(bits);
}

MPI_Datatype word_type(const Segments& list) {
  std::uintptr_t bits = list.bytes;
  for (std::size_t i = 0; i < list.count; ++i) bits |= bits_of(list.src[i]) | bits_of(list.dst[i]);
  return widest_divisor(bits);
}

// Operations of one call that are completed together.
class NoncontiguousTransfer::BatchedOperations {
 public:
  BatchedOperations(Sync* sync, Kind kind, const Place& place, MPI_Datatype element, std::size_t limit)
      : sync_(sync),
        place_(place),
        limit_(limit == 0 ? std::numeric_limits<std::size_t>::max() : limit),
        element_bytes_(static_cast<std::size_t>(bytes_of(element))),
        access_{kind, place.window, place.rank, nullptr, 0, element, 0, 0, element, element} {}

  Status add(const void* remote, void* local, std::size_t bytes) {
    for (std::size_t done = 0; done < bytes;) {
      // Counts of MPI are int, and the dynamic window has cells.
      const char* const to = static_cast<const char*>(remote) + done;
      std::size_t now = std::min(bytes - done, DynamicWindow::left_in_cell(to));
      // Elements stay whole, and those of two words may lie on the line.
      if (now < bytes - done) now = std::max(now - now % element_bytes_, element_bytes_);
      access_.local = static_cast<char*>(local) + done;
      access_.displacement = place_.displacement(to);
      access_.local_count = access_.count = static_cast<int>(now / element_bytes_);
      accesses_.push_back(access_);
      bytes_ += now;
      if (accesses_.size() == kTogetherMax || bytes_ >= kTogetherBytesMax) ARMCI_RETURN_IF_ERROR(issue());
      done += now;
    }
    return ++open_ < limit_ ? kSuccess : complete();
  }

  Status complete() {
    open_ = 0;
    ARMCI_RETURN_IF_ERROR(issue());
    return sync_->complete_locally(place_.window, place_.rank, access_.kind);
  }

  // The operations that are still open are complete once *pending is.
  Status finish(Pending* pending) {
    if (pending == nullptr) return complete();
    ARMCI_RETURN_IF_ERROR(issue());
    *pending = Pending(sync_, place_.window, place_.rank, access_.kind);
    return kSuccess;
  }

 private:
  // A strategy may have to stage the operations of one call.
  static constexpr std::size_t kTogetherMax = 256;
  static constexpr std::size_t kTogetherBytesMax = std::size_t{16} << 20;

  Status issue() {
    const Status issued = accesses_.empty() ? kSuccess : sync_->issue(accesses_);
    accesses_.clear();
    bytes_ = 0;
    return issued;
  }

  Sync* const sync_;
  const Place& place_;
  const std::size_t limit_;
  const std::size_t element_bytes_;
  Access access_;
  std::vector<Access> accesses_;  // collected, not issued yet
  std::size_t bytes_ = 0;         // of these
  std::size_t open_ = 0;
};

void NoncontiguousTransfer::configure(Sync* sync, const Findings& findings, const Options& options) {
  sync_ = sync;
  findings_ = findings;
  options_ = options;
}

Status NoncontiguousTransfer::strided(Kind kind, const Place& place, const void* src, void* dst, const Strided& shape,
                                      MPI_Datatype element, Pending* pending) {
  const bool get = kind == Kind::kGet;
  const void* remote = get ? src : dst;
  if (crosses_cells(place, remote, shape, get ? shape.src_stride : shape.dst_stride)) {
    return batched(kind, place, src, dst, shape, element, pending);
  }
  Run run;
  if (packs(options_.strided) && find_run(kind, remote, shape, &run)) {
    return packed(kind, place, src, dst, shape, element, run, pending);
  }
  const bool overlaps = may_overlap(shape.count, shape.dst_stride, shape.levels);
  if (wants_direct(options_.strided) && !overlaps && !findings_.has(strided_fault(kind))) {
    return direct_strided(kind, place, src, dst, shape, element, pending);
  }
  return batched(kind, place, src, dst, shape, element, pending);
}

Status NoncontiguousTransfer::batched(Kind kind, const Place& place, const void* src, void* dst, const Strided& shape,
                                      MPI_Datatype element, Pending* pending) {
  const bool get = kind == Kind::kGet;
  char* const local = static_cast<char*>(get ? dst : const_cast<void*>(src));
  const char* const remote = static_cast<const char*>(get ? src : dst);
  BatchedOperations batch(sync_, kind, place, element, limit(options_.strided));
  Status status;
  runtime::for_each_segment(shape, [&](std::ptrdiff_t from, std::ptrdiff_t to) {
    if (!status.ok()) return;
    status = batch.add(remote + (get ? from : to), local + (get ? to : from), shape.count[0]);
  });
  ARMCI_RETURN_IF_ERROR(status);
  return batch.finish(pending);
}

Status NoncontiguousTransfer::list(Kind kind, const Place& place, const Segments& segments, MPI_Datatype element,
                                   Pending* pending) {
  const bool get = kind == Kind::kGet;
  void* const* remotes = get ? segments.src : segments.dst;
  if (crosses_cells(place, remotes, segments.count, segments.bytes)) {
    return batched(kind, place, segments, element, pending);
  }
  Run run;
  if (packs(options_.vector) && find_run(kind, remotes, segments.count, segments.bytes, &run)) {
    return packed(kind, place, segments, element, run, pending);
  }
  // The written segments must not overlap each other; the read segments may.
  if (wants_direct(options_.vector) && segments.count > 1 && !findings_.has(indexed_fault(kind)) &&
      !segments_overlap(segments.dst, segments.count, segments.bytes)) {
    return direct_list(kind, place, segments, element, pending);
  }
  return batched(kind, place, segments, element, pending);
}

Status NoncontiguousTransfer::batched(Kind kind, const Place& place, const Segments& segments, MPI_Datatype element,
                                      Pending* pending) {
  const bool get = kind == Kind::kGet;
  void* const* locals = get ? segments.dst : segments.src;
  void* const* remotes = get ? segments.src : segments.dst;
  BatchedOperations batch(sync_, kind, place, element, limit(options_.vector));
  for (std::size_t i = 0; i < segments.count; ++i) {
    ARMCI_RETURN_IF_ERROR(batch.add(remotes[i], locals[i], segments.bytes));
  }
  return batch.finish(pending);
}

// One operation with a datatype for each side.
Status NoncontiguousTransfer::describe(Kind kind, const Place& place, const void* src, void* dst, const Strided& shape,
                                       MPI_Datatype element, Datatype* origin_type, Datatype* target_type,
                                       Access* access) {
  const bool get = kind == Kind::kGet;
  const Side near = get ? Side::kDestination : Side::kSource;
  const Side far = get ? Side::kSource : Side::kDestination;
  ARMCI_RETURN_IF_ERROR(cache_.get(shape, near, element, origin_type));
  ARMCI_RETURN_IF_ERROR(cache_.get(shape, far, element, target_type));
  char* const local = static_cast<char*>(get ? dst : const_cast<void*>(src)) + lowest_offset(shape, near);
  const MPI_Aint displacement = place.displacement(get ? src : dst) + lowest_offset(shape, far);
  *access = {kind,         place.window,         place.rank,          local,  origin_type->count(), origin_type->type(),
             displacement, target_type->count(), target_type->type(), element};
  return kSuccess;
}

// How many of `count` parts of so many bytes one operation shall move. Accumulates are best in pieces of about 1 MiB.
// With MPICH over TCP one of 128 KiB to 1 MiB took 1.2 to 1.4 times as long in pieces of 64 KiB as whole.
std::size_t NoncontiguousTransfer::together_in_piece(Kind kind, std::size_t bytes, std::size_t count) const {
  constexpr std::size_t kTimesForAccumulate = 16;
  const std::size_t piece = sync_->piece_bytes() * (kind == Kind::kAccumulate ? kTimesForAccumulate : 1);
  return piece == 0 ? count : std::min(count, std::max<std::size_t>(1, piece / bytes));
}

// Cut at the outermost level where long datatypes are slow.
Status NoncontiguousTransfer::direct_strided(Kind kind, const Place& place, const void* src, void* dst,
                                             const Strided& shape, MPI_Datatype element, Pending* pending) {
  Datatype origin_type;
  Datatype target_type;
  Access access;
  const int top = shape.levels;
  const std::size_t rows = shape.count[top];
  const std::size_t row_bytes = shape.total_bytes() / rows;
  std::size_t together = rows;
  if (top > 0) together = together_in_piece(kind, row_bytes, rows);
  if (together >= rows) {
    ARMCI_RETURN_IF_ERROR(describe(kind, place, src, dst, shape, element, &origin_type, &target_type, &access));
    return sync_->start(access, pending);
  }
  Strided piece = shape;
  for (std::size_t first = 0; first < rows; first += together) {
    piece.count[top] = std::min(together, rows - first);
    const auto step = static_cast<std::ptrdiff_t>(first);
    ARMCI_RETURN_IF_ERROR(describe(kind, place, static_cast<const char*>(src) + step * shape.src_stride[top - 1],
                                   static_cast<char*>(dst) + step * shape.dst_stride[top - 1], piece, element,
                                   &origin_type, &target_type, &access));
    ARMCI_RETURN_IF_ERROR(sync_->issue({&access, 1}));
  }
  return finish(kind, place, pending);
}

// The issued operations are locally complete at return, or once *pending is.
Status NoncontiguousTransfer::finish(Kind kind, const Place& place, Pending* pending) {
  if (pending == nullptr) return sync_->complete_locally(place.window, place.rank, kind);
  *pending = Pending(sync_, place.window, place.rank, kind);
  return kSuccess;
}

// One operation, or several where one type must not have all segments.
Status NoncontiguousTransfer::direct_list(Kind kind, const Place& place, const Segments& segments, MPI_Datatype element,
                                          Pending* pending) {
  const bool get = kind == Kind::kGet;
  const bool limited = kind == Kind::kAccumulate && findings_.has(Fault::kAccumulateHeader);
  const std::size_t together =
      together_in_piece(kind, segments.bytes, limited ? kAccumulateSegmentsMax : segments.count);
  for (std::size_t first = 0; first < segments.count; first += together) {
    const std::size_t count = std::min(together, segments.count - first);
    void* const* locals = (get ? segments.dst : segments.src) + first;
    void* const* remotes = (get ? segments.src : segments.dst) + first;
    void* const local = lowest_address(locals, count);
    const void* const remote = lowest_address(remotes, count);
    Datatype origin_type;
    Datatype target_type;
    ARMCI_RETURN_IF_ERROR(list_datatype(locals, count, segments.bytes, local, element, {}, &origin_type));
    ARMCI_RETURN_IF_ERROR(list_datatype(remotes, count, segments.bytes, remote, element, {}, &target_type));
    const Access access = {kind,
                           place.window,
                           place.rank,
                           local,
                           origin_type.count(),
                           origin_type.type(),
                           place.displacement(remote),
                           target_type.count(),
                           target_type.type(),
                           element};
    if (together == segments.count) return sync_->start(access, pending);
    ARMCI_RETURN_IF_ERROR(sync_->issue({&access, 1}));
  }
  return finish(kind, place, pending);
}

}  // namespace armci::rma
