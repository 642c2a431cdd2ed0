#include <cstring>

#include "conformance/harness/plan.h"

namespace conformance {
namespace {

// As a note has it.
const char* NameOfCall(Op op, Shape shape, bool blocking) {
  static constexpr const char* kNames[][4][2] = {
      {{"ARMCI_NbPut", "ARMCI_Put"},
       {"ARMCI_NbPutS", "ARMCI_PutS"},
       {"ARMCI_NbPutV", "ARMCI_PutV"},
       {"ARMCI_NbPutValue", "ARMCI_PutValue"}},
      {{"ARMCI_NbGet", "ARMCI_Get"},
       {"ARMCI_NbGetS", "ARMCI_GetS"},
       {"ARMCI_NbGetV", "ARMCI_GetV"},
       {"", "ARMCI_GetValue"}},
      {{"ARMCI_NbAcc", "ARMCI_Acc"}, {"ARMCI_NbAccS", "ARMCI_AccS"}, {"ARMCI_NbAccV", "ARMCI_AccV"}, {"", ""}}};
  return kNames[static_cast<int>(op)][static_cast<int>(shape)][blocking ? 1 : 0];
}

const char* NameOfHandle(Mode mode) {
  static constexpr const char* kNames[] = {nullptr, "handle", "no handle", "aggregate handle"};
  return kNames[static_cast<int>(mode)];
}

}  // namespace

Transfer::Transfer(const Plan& plan, Op op, Mode mode)
    : plan_(plan),
      op_(op),
      mode_(mode),
      total_bytes_(plan.TotalBytes()),
      count_(plan.count),
      src_stride_(plan.src_stride),
      dst_stride_(plan.dst_stride) {
  ARMCI_INIT_HANDLE(&handle_);
}

void Transfer::SetAcc(const AccType& type, const Scale& scale) {
  type_ = type.code;
  scale_ = scale;
}

int Transfer::Start(char* src, char* dst, int proc) {
  switch (mode_) {
    case Mode::kAggregate:
      ARMCI_SET_AGGREGATE_HANDLE(&handle_);
      return StartOn(&handle_, src, dst, proc);
    case Mode::kNonblocking:
      return StartOn(&handle_, src, dst, proc);
    default:
      return StartOn(nullptr, src, dst, proc);
  }
}

int Transfer::StartOn(armci_hdl_t* handle, char* src, char* dst, int proc) {
  proc_ = proc;
  note_.Begin({.what = NameOfCall(op_, plan_.shape, mode_ == Mode::kBlocking),
               .how = NameOfHandle(mode_),
               .bytes = static_cast<long>(total_bytes_),
               .proc = proc});
  const int result = Call(handle, src, dst);
  if (mode_ == Mode::kBlocking || result != 0) {
    note_.End();
  } else {
    note_.Returned();
  }
  return result;
}

int Transfer::Call(armci_hdl_t* handle, char* src, char* dst) {
  switch (plan_.shape) {
    case Shape::kContiguous:
      return Contiguous(src, dst, handle);
    case Shape::kStrided:
      return Strided(src, dst, handle);
    case Shape::kVector:
      return Vector(src, dst, handle);
    default:
      return Value(src, dst, handle);
  }
}

int Transfer::Wait() {
  if (mode_ == Mode::kBlocking) return 0;
  note_.Waits();
  const int result = mode_ == Mode::kImplicit ? ARMCI_WaitProc(proc_) : ARMCI_Wait(&handle_);
  if (mode_ == Mode::kAggregate) ARMCI_UNSET_AGGREGATE_HANDLE(&handle_);
  note_.End();
  return result;
}

int Transfer::Contiguous(char* src, char* dst, armci_hdl_t* handle) {
  const int bytes = count_[0];
  const bool blocking = mode_ == Mode::kBlocking;
  switch (op_) {
    case Op::kPut:
      return blocking ? ARMCI_Put(src, dst, bytes, proc_) : ARMCI_NbPut(src, dst, bytes, proc_, handle);
    case Op::kGet:
      return blocking ? ARMCI_Get(src, dst, bytes, proc_) : ARMCI_NbGet(src, dst, bytes, proc_, handle);
    default:
      return blocking ? ARMCI_Acc(type_, scale_.bytes, src, dst, bytes, proc_)
                      : ARMCI_NbAcc(type_, scale_.bytes, src, dst, bytes, proc_, handle);
  }
}

int Transfer::Strided(char* src, char* dst, armci_hdl_t* handle) {
  const int levels = static_cast<int>(count_.size()) - 1;
  int* from = src_stride_.data();
  int* to = dst_stride_.data();
  int* count = count_.data();
  const bool blocking = mode_ == Mode::kBlocking;
  switch (op_) {
    case Op::kPut:
      return blocking ? ARMCI_PutS(src, from, dst, to, count, levels, proc_)
                      : ARMCI_NbPutS(src, from, dst, to, count, levels, proc_, handle);
    case Op::kGet:
      return blocking ? ARMCI_GetS(src, from, dst, to, count, levels, proc_)
                      : ARMCI_NbGetS(src, from, dst, to, count, levels, proc_, handle);
    default:
      return blocking ? ARMCI_AccS(type_, scale_.bytes, src, from, dst, to, count, levels, proc_)
                      : ARMCI_NbAccS(type_, scale_.bytes, src, from, dst, to, count, levels, proc_, handle);
  }
}

int Transfer::Vector(char* src, char* dst, armci_hdl_t* handle) {
  src_pointers_.clear();
  dst_pointers_.clear();
  giov_.clear();
  for (const Segment& segment : plan_.segments) {
    src_pointers_.push_back(src + segment.src);
    dst_pointers_.push_back(dst + segment.dst);
  }
  std::size_t first = 0;
  for (int n : plan_.descriptors) {
    armci_giov_t descriptor{};
    descriptor.src_ptr_array = src_pointers_.data() + first;
    descriptor.dst_ptr_array = dst_pointers_.data() + first;
    descriptor.bytes = n == 0 ? 0 : static_cast<int>(plan_.segments[first].bytes);
    descriptor.ptr_array_len = n;
    giov_.push_back(descriptor);
    first += static_cast<std::size_t>(n);
  }
  const int len = static_cast<int>(giov_.size());
  const bool blocking = mode_ == Mode::kBlocking;
  switch (op_) {
    case Op::kPut:
      return blocking ? ARMCI_PutV(giov_.data(), len, proc_) : ARMCI_NbPutV(giov_.data(), len, proc_, handle);
    case Op::kGet:
      return blocking ? ARMCI_GetV(giov_.data(), len, proc_) : ARMCI_NbGetV(giov_.data(), len, proc_, handle);
    default:
      return blocking ? ARMCI_AccV(type_, scale_.bytes, giov_.data(), len, proc_)
                      : ARMCI_NbAccV(type_, scale_.bytes, giov_.data(), len, proc_, handle);
  }
}

int Transfer::Value(char* src, char* dst, armci_hdl_t* handle) {
  const bool blocking = mode_ == Mode::kBlocking;
  if (op_ == Op::kGet) {
    // A value get cannot fail visibly and has no non-blocking form.
    const long value = count_[0] == 4 ? ARMCI_GetValueInt(src, proc_) : ARMCI_GetValueLong(src, proc_);
    const int narrow = static_cast<int>(value);
    std::memcpy(dst, count_[0] == 4 ? static_cast<const void*>(&narrow) : &value, static_cast<std::size_t>(count_[0]));
    return 0;
  }
  if (count_[0] == 4) {
    int value;
    std::memcpy(&value, src, sizeof value);
    return blocking ? ARMCI_PutValueInt(value, dst, proc_) : ARMCI_NbPutValueInt(value, dst, proc_, handle);
  }
  long value;
  std::memcpy(&value, src, sizeof value);
  return blocking ? ARMCI_PutValueLong(value, dst, proc_) : ARMCI_NbPutValueLong(value, dst, proc_, handle);
}

int Move(const Plan& plan, Op op, Mode mode, char* src, char* dst, int proc) {
  Transfer transfer(plan, op, mode);
  const int started = transfer.Start(src, dst, proc);
  return started != 0 ? started : transfer.Wait();
}

}  // namespace conformance
