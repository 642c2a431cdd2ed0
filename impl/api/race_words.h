// Flags, signals and atomics, as the detector of data races sees them: accesses to a word that also order others.
//
// Included by race_record.h only. Thread safety: an object belongs to one call.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "armcix.h"
#include "impl/api/race_transfers.h"

namespace armci::runtime::recorded {

inline void signal(RecordedCall& call, const void* word, std::size_t bytes, std::int64_t value, bool adds,
                   bool covers_earlier, int proc) {
  const race::Place place = race_detection().place_of(proc, word);
  call.access(AccessKind::kFlag, place, piece(bytes));
  call.sync({.kind = SyncKind::kSignal, .adds = adds, .covers_earlier = covers_earlier, .word = place, .value = value});
}

class PutFlag {
 public:
  PutFlag(const void* src, void* dst, int bytes, const int* flag, int value, int proc)
      : data_(src, dst, static_cast<std::size_t>(bytes), proc), flag_(flag), value_(value), proc_(proc) {}
  void done(RecordedCall& call, Status status) {
    data_.done(call, status);
    signal(call, flag_, sizeof *flag_, value_, false, true, proc_);
  }

 private:
  Contiguous<Kind::kPut, Completes::kAtReturn> data_;
  const int* flag_;
  int value_;
  int proc_;
};

class PutStridedFlag {
 public:
  PutStridedFlag(const void* src, const int* src_stride, void* dst, const int* dst_stride, const int* count, int levels,
                 const int* flag, int value, int proc)
      : data_(src, src_stride, dst, dst_stride, count, levels, proc), flag_(flag), value_(value), proc_(proc) {}
  void done(RecordedCall& call, Status status) {
    data_.done(call, status);
    signal(call, flag_, sizeof *flag_, value_, false, true, proc_);
  }

 private:
  StridedTransfer<Kind::kPut, Completes::kAtReturn, int, int> data_;
  const int* flag_;
  int value_;
  int proc_;
};

template <Completes completes>
class PutSignal {
 public:
  PutSignal(const void* src, void* dst, std::size_t bytes, const std::uint64_t* signal, std::uint64_t value,
            armcix_signal_op_t op, int proc, const armci_hdl_t* handle = nullptr)
      : data_(src, dst, bytes, proc, handle),
        signal_(signal),
        value_(value),
        adds_(op == ARMCIX_SIGNAL_ADD),
        proc_(proc) {}
  void done(RecordedCall& call, Status status) {
    data_.done(call, status);
    signal(call, signal_, sizeof *signal_, static_cast<std::int64_t>(value_), adds_, completes == Completes::kAtReturn,
           proc_);
  }

 private:
  Contiguous<Kind::kPut, completes> data_;
  const std::uint64_t* signal_;
  std::uint64_t value_;
  bool adds_;
  int proc_;
};

inline void see_own(RecordedCall& call, std::uint64_t* word, std::uint64_t value) {
  const race::Place place = race_detection().place_of(world().rank(), word);
  race_detection().note_waited(word, place);
  call.set_reads_word();
  call.access(AccessKind::kRead, place, piece(sizeof *word));
  see(call, place, static_cast<std::int64_t>(value));
}
inline void see_own(RecordedCall& call, std::uint64_t* word) {
  see_own(call, word, std::atomic_ref(*word).load(std::memory_order_acquire));
}

class SignalWait {
 public:
  SignalWait(std::uint64_t* signal, armcix_cmp_t, std::uint64_t, const std::uint64_t* seen)
      : signal_(signal), seen_(seen) {}
  void done(RecordedCall& call, Status) {
    if (seen_ != nullptr) return see_own(call, signal_, *seen_);
    see_own(call, signal_);
  }

 private:
  std::uint64_t* signal_;
  const std::uint64_t* seen_;
};

class SignalTest {
 public:
  SignalTest(std::uint64_t* signal, armcix_cmp_t, std::uint64_t, const std::uint64_t* seen, const int* satisfied)
      : wait_(signal, ARMCIX_CMP_EQ, 0, seen), satisfied_(satisfied) {}
  void done(RecordedCall& call, Status status) {
    if (*satisfied_ != 0) wait_.done(call, status);
  }

 private:
  SignalWait wait_;
  const int* satisfied_;
};

// all: no `which`; any: one; some: `found`.
class SignalWaits {
 public:
  SignalWaits(std::uint64_t* signals, std::size_t count, const int* skip, armcix_cmp_t, std::uint64_t,
              const std::size_t* which = nullptr, const std::size_t* found = nullptr)
      : signals_(signals), count_(count), skip_(skip), which_(which), found_(found) {}
  void done(RecordedCall& call, Status) {
    const std::size_t listed = found_ != nullptr ? *found_ : which_ != nullptr ? 1 : count_;
    for (std::size_t i = 0; i < listed; ++i) {
      const std::size_t k = which_ != nullptr ? which_[i] : i;
      if (k < count_ && (which_ != nullptr || skip_ == nullptr || skip_[k] == 0)) see_own(call, signals_ + k);
    }
  }

 private:
  std::uint64_t* signals_;
  std::size_t count_;
  const int* skip_;
  const std::size_t* which_;
  const std::size_t* found_;
};

template <class Value>
Value value_after(armcix_op_t op, Value before, Value operand, Value compare) {
  switch (op) {
    case ARMCIX_ADD:
      return static_cast<Value>(static_cast<std::uint64_t>(before) + static_cast<std::uint64_t>(operand));
    case ARMCIX_SWAP:
      return operand;
    case ARMCIX_CAS:
      return before == compare ? operand : before;
    case ARMCIX_AND:
      return before & operand;
    case ARMCIX_OR:
      return before | operand;
    case ARMCIX_XOR:
      return before ^ operand;
    case ARMCIX_MIN:
      return std::min(before, operand);
    case ARMCIX_MAX:
      return std::max(before, operand);
  }
  return before;
}

template <class Value>
void atomic(RecordedCall& call, const void* remote, int proc, Value before, Value after, const void* result) {
  const race::Place word = race_detection().place_of(proc, remote);
  call.access(AccessKind::kAtomic, word, piece(sizeof(Value)), sizeof(Value));
  call.buffer(true, race_detection().local_place(result), piece(sizeof(Value)));
  call.sync({.kind = SyncKind::kAtomic,
             .bytes = sizeof(Value),
             .number = race_detection().take_ticket(proc, word.offset / sizeof(Value)),
             .word = word,
             .value = static_cast<std::int64_t>(after),
             .before = static_cast<std::int64_t>(before)});
}

class ClassicRmw {
 public:
  ClassicRmw(int op, const void* local, const void* remote, int extra, int proc)
      : op_(op), local_(local), remote_(remote), extra_(extra), proc_(proc) {
    if (local == nullptr) return;  // which the call refuses
    if (op == ARMCI_SWAP) operand_ = read<int>();
    if (op == ARMCI_SWAP_LONG) operand_ = read<long>();
  }
  void done(RecordedCall& call, Status) {
    const bool swaps = op_ == ARMCI_SWAP || op_ == ARMCI_SWAP_LONG;
    const armcix_op_t op = swaps ? ARMCIX_SWAP : ARMCIX_ADD;
    const long operand = swaps ? operand_ : extra_;
    if (op_ == ARMCI_FETCH_AND_ADD || op_ == ARMCI_SWAP) {
      const int before = read<int>();
      atomic<int>(call, remote_, proc_, before, value_after<int>(op, before, static_cast<int>(operand), 0), local_);
    } else {
      const long before = read<long>();
      atomic<long>(call, remote_, proc_, before, value_after<long>(op, before, operand, 0), local_);
    }
  }

 private:
  template <class Value>
  Value read() const {
    Value value;
    std::memcpy(&value, local_, sizeof value);
    return value;
  }
  int op_;
  const void* local_;
  const void* remote_;
  int extra_;
  int proc_;
  long operand_ = 0;
};

class ExtendedRmw {
 public:
  ExtendedRmw(armcix_op_t op, armcix_type_t type, const void* result, const void* operand, const void* compare,
              const void* remote, int proc)
      : op_(op), type_(type), result_(result), remote_(remote), proc_(proc) {
    const std::size_t bytes = type == ARMCIX_INT32 || type == ARMCIX_UINT32 ? 4 : 8;
    if (operand != nullptr) std::memcpy(&operand_, operand, bytes);
    if (compare != nullptr) std::memcpy(&compare_, compare, bytes);
  }
  void done(RecordedCall& call, Status) {
    switch (type_) {
      case ARMCIX_INT32:
        return typed<std::int32_t>(call);
      case ARMCIX_UINT32:
        return typed<std::uint32_t>(call);
      case ARMCIX_INT64:
        return typed<std::int64_t>(call);
      case ARMCIX_UINT64:
        return typed<std::uint64_t>(call);
    }
  }

 private:
  template <class Value>
  void typed(RecordedCall& call) const {
    Value before;
    std::memcpy(&before, result_, sizeof before);
    const Value after = value_after<Value>(op_, before, static_cast<Value>(operand_), static_cast<Value>(compare_));
    atomic<Value>(call, remote_, proc_, before, after, result_);
  }
  armcix_op_t op_;
  armcix_type_t type_;
  const void* result_;
  const void* remote_;
  int proc_;
  std::uint64_t operand_ = 0;
  std::uint64_t compare_ = 0;
};

// No synchronisation: it is performed at any time before its wait.
class NbRmw {
 public:
  NbRmw(armcix_op_t, armcix_type_t type, const void* result, const void*, const void*, const void* remote, int proc,
        const armci_hdl_t* handle)
      : bytes_(type == ARMCIX_INT32 || type == ARMCIX_UINT32 ? 4 : 8),
        result_(result),
        remote_(remote),
        proc_(proc),
        handle_(handle) {}
  void done(RecordedCall& call, Status) {
    call.set_pending(handle_, proc_, /*ends_with_fence=*/true);
    call.access(AccessKind::kAtomic, race_detection().place_of(proc_, remote_), piece(bytes_), bytes_);
    call.buffer(true, race_detection().local_place(result_), piece(bytes_));
  }

 private:
  std::uint8_t bytes_;
  const void* result_;
  const void* remote_;
  int proc_;
  const armci_hdl_t* handle_;
};

}  // namespace armci::runtime::recorded
