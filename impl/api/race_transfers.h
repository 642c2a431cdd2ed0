// Transfers, as the detector of data races sees them: the bytes that they access.
//
// Included by race_record.h only. Thread safety: an object belongs to one call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "impl/api/race_detection.h"
#include "impl/runtime/giov.h"
#include "impl/runtime/handles.h"
#include "impl/runtime/shapes.h"

namespace armci::runtime::recorded {

using race::AccessKind;
using race::Footprint;
using race::kEveryone;
using race::SyncKind;
using RecordedCall = race::Recorder::Call;

inline Footprint piece(std::size_t bytes) { return {0, bytes, 0, 1}; }

// `count` segments from an offset on; a negative stride begins at the lowest.
inline Footprint rows(std::ptrdiff_t offset, std::size_t bytes, std::ptrdiff_t stride, std::size_t count) {
  if (stride == 0) count = 1;
  if (stride < 0) offset += static_cast<std::ptrdiff_t>(count - 1) * stride;
  return {static_cast<std::uint64_t>(offset), bytes, static_cast<std::uint64_t>(stride < 0 ? -stride : stride), count};
}

inline void see(RecordedCall& call, const race::Place& word, std::int64_t value) {
  call.sync({.kind = SyncKind::kSee, .word = word, .value = value});
}

enum class Completes { kAtReturn, kLater };

// The two sides of a transfer.
template <Kind kind>
struct Sides {
  race::Place local;
  race::Place remote;
  std::uint8_t type;

  Sides(const void* src, const void* dst, int proc, int datatype)
      : local(race_detection().local_place(kind == Kind::kGet ? dst : src)),
        remote(race_detection().place_of(proc, kind == Kind::kGet ? src : dst)),
        type(static_cast<std::uint8_t>(datatype)) {}
  void add(RecordedCall& call, const Footprint& src, const Footprint& dst) const {
    constexpr AccessKind kRemote = kind == Kind::kGet   ? AccessKind::kRead
                                   : kind == Kind::kPut ? AccessKind::kWrite
                                                        : AccessKind::kAccumulate;
    call.access(kRemote, remote, kind == Kind::kGet ? src : dst, type);
    call.buffer(kind == Kind::kGet, local, kind == Kind::kGet ? dst : src);
  }
};

template <Kind kind, Completes completes, class... Shape>
class Transfer {
 protected:
  Transfer(int proc, int datatype, const armci_hdl_t* handle) : proc_(proc), datatype_(datatype), handle_(handle) {}
  void begin(RecordedCall& call) const {
    // A fence completes an aggregate, of gets too [AGG-3].
    const bool is_aggregate = handle_ != nullptr && read_handle(handle_).aggregate != 0;
    if constexpr (completes == Completes::kLater) call.set_pending(handle_, proc_, is_aggregate);
  }
  int proc_;
  int datatype_;
  const armci_hdl_t* handle_;
};

template <Kind kind, Completes completes>
class Contiguous : Transfer<kind, completes> {
 public:
  Contiguous(const void* src, void* dst, std::size_t bytes, int proc, const armci_hdl_t* handle = nullptr)
      : Contiguous(0, nullptr, src, dst, bytes, proc, handle) {}
  Contiguous(int datatype, const void*, const void* src, void* dst, std::size_t bytes, int proc,
             const armci_hdl_t* handle = nullptr)
      : Transfer<kind, completes>(proc, datatype, handle), src_(src), dst_(dst), bytes_(bytes) {}

  void done(RecordedCall& call, Status) {
    if (bytes_ == 0) return;
    this->begin(call);
    const Sides<kind> sides(src_, dst_, this->proc_, this->datatype_);
    const bool is_word = kind == Kind::kGet && completes == Completes::kAtReturn && (bytes_ == 4 || bytes_ == 8);
    if (is_word) call.set_reads_word();
    sides.add(call, piece(bytes_), piece(bytes_));
    if (is_word) see(call, sides.remote, bytes_ == 4 ? value_as<std::int32_t>() : value_as<std::int64_t>());
  }

 private:
  template <class Value>
  std::int64_t value_as() const {
    Value value;
    std::memcpy(&value, dst_, sizeof value);
    return value;
  }
  const void* src_;
  void* dst_;
  std::size_t bytes_;
};

template <Kind kind, Completes completes, class Stride, class Count>
class StridedTransfer : Transfer<kind, completes> {
 public:
  StridedTransfer(const void* src, const Stride* src_stride, void* dst, const Stride* dst_stride, const Count* count,
                  int levels, int proc, const armci_hdl_t* handle = nullptr)
      : StridedTransfer(0, nullptr, src, src_stride, dst, dst_stride, count, levels, proc, handle) {}
  StridedTransfer(int datatype, const void*, const void* src, const Stride* src_stride, void* dst,
                  const Stride* dst_stride, const Count* count, int levels, int proc,
                  const armci_hdl_t* handle = nullptr)
      : Transfer<kind, completes>(proc, datatype, handle), src_(src), dst_(dst) {
    is_valid_ = normalise(src_stride, dst_stride, count, levels, &shape_).ok();
  }

  void done(RecordedCall& call, Status) {
    if (!is_valid_ || shape_.empty()) return;
    this->begin(call);
    const Sides<kind> sides(src_, dst_, this->proc_, this->datatype_);
    for_run_range(shape_, 0, shape_.segments(), [&](std::ptrdiff_t src, std::ptrdiff_t dst, std::size_t count) {
      const bool one = shape_.levels == 0;
      sides.add(call, rows(src, shape_.count[0], one ? 0 : shape_.src_stride[0], count),
                rows(dst, shape_.count[0], one ? 0 : shape_.dst_stride[0], count));
    });
  }

 private:
  const void* src_;
  void* dst_;
  bool is_valid_;
  Strided shape_{};
};

template <Kind kind, Completes completes, class Giov>
class VectorTransfer : Transfer<kind, completes> {
 public:
  // The length is of the type of the call: one that is negative is left to the call to refuse.
  template <class Length>
  VectorTransfer(const Giov* iov, Length length, int proc, const armci_hdl_t* handle = nullptr)
      : VectorTransfer(0, nullptr, iov, length, proc, handle) {}
  template <class Length>
  VectorTransfer(int datatype, const void*, const Giov* iov, Length length, int proc,
                 const armci_hdl_t* handle = nullptr)
      : Transfer<kind, completes>(proc, datatype, handle) {
    is_valid_ = list_.assign(iov, length).ok();
  }

  void done(RecordedCall& call, Status) {
    if (!is_valid_) return;
    this->begin(call);
    for (std::size_t d = 0; d < list_.size(); ++d) {
      const Segments& segments = list_.data()[d];
      for (std::size_t i = 0; segments.bytes > 0 && i < segments.count; ++i) {
        const Sides<kind> sides(segments.src[i], segments.dst[i], this->proc_, this->datatype_);
        sides.add(call, piece(segments.bytes), piece(segments.bytes));
      }
    }
  }

 private:
  bool is_valid_;
  SegmentList list_;
};

template <class Value, Completes completes>
class PutValue : Transfer<Kind::kPut, completes> {
 public:
  PutValue(Value, void* dst, int proc, const armci_hdl_t* handle = nullptr)
      : Transfer<Kind::kPut, completes>(proc, 0, handle), dst_(dst) {}
  void done(RecordedCall& call, Status) {
    this->begin(call);
    call.access(AccessKind::kWrite, race_detection().place_of(this->proc_, dst_), piece(sizeof(Value)));
  }

 private:
  void* dst_;
};

template <class Value>
class GetValue {
 public:
  GetValue(const void* src, int proc) : src_(src), proc_(proc) {}
  template <class Outcome>
  void done(RecordedCall& call, const Outcome& outcome) {
    const race::Place word = race_detection().place_of(proc_, src_);
    call.set_reads_word();
    call.access(AccessKind::kRead, word, piece(sizeof(Value)));
    if constexpr (std::is_integral_v<Value>) see(call, word, outcome.value);
  }

 private:
  const void* src_;
  int proc_;
};

struct Copy {
  Copy(const void* src, void* dst, int bytes) : src_(src), dst_(dst), bytes_(static_cast<std::size_t>(bytes)) {}
  void done(RecordedCall& call, Status) {
    call.buffer(false, race_detection().local_place(src_), piece(bytes_));
    call.buffer(true, race_detection().local_place(dst_), piece(bytes_));
  }
  const void* src_;
  void* dst_;
  std::size_t bytes_;
};

}  // namespace armci::runtime::recorded
