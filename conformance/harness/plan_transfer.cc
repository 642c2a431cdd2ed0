#include <cstring>

#include "conformance/harness/plan.h"
#include "conformance/harness/transfer_calls.h"

namespace conformance {
namespace {

#define BOTH(name) \
  { "ARMCI_" name, "ARMCIX_" name }

// As a note has it.
const char* NameOfCall(Op op, Shape shape, bool blocking, Width width) {
  static constexpr const char* kNames[][4][2][2] = {
      {{BOTH("NbPut"), BOTH("Put")},
       {BOTH("NbPutS"), BOTH("PutS")},
       {BOTH("NbPutV"), BOTH("PutV")},
       {BOTH("NbPutValue"), BOTH("PutValue")}},
      {{BOTH("NbGet"), BOTH("Get")},
       {BOTH("NbGetS"), BOTH("GetS")},
       {BOTH("NbGetV"), BOTH("GetV")},
       {BOTH(""), BOTH("GetValue")}},
      {{BOTH("NbAcc"), BOTH("Acc")}, {BOTH("NbAccS"), BOTH("AccS")}, {BOTH("NbAccV"), BOTH("AccV")}, {}}};
  return kNames[static_cast<int>(op)][static_cast<int>(shape)][blocking ? 1 : 0][static_cast<int>(width)];
}

#undef BOTH

const char* NameOfHandle(Mode mode) {
  static constexpr const char* kNames[] = {nullptr, "handle", "no handle", "aggregate handle"};
  return kNames[static_cast<int>(mode)];
}

struct ClassicCalls {
  using Length = int;
  using Stride = int;
  using Descriptor = armci_giov_t;
  TRANSFER_CALLS(ARMCI_);
};

std::unique_ptr<TransferCalls> MakeCalls(const Plan& plan, Width width) {
  if (width == Width::kWide) return MakeWideCalls(plan);
  return std::make_unique<TransferCallsOf<ClassicCalls>>(plan);
}

}  // namespace

bool HasCalls(Width width) { return width == Width::kClassic || MakeWideCalls != nullptr; }

Transfer::Transfer(const Plan& plan, Op op, Mode mode, Width width)
    : plan_(plan),
      op_(op),
      mode_(mode),
      width_(width),
      total_bytes_(plan.TotalBytes()),
      calls_(MakeCalls(plan, width)) {
  ARMCI_INIT_HANDLE(&handle_);
}

Transfer::~Transfer() = default;

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
  note_.Begin({.what = NameOfCall(op_, plan_.shape, mode_ == Mode::kBlocking, width_),
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
  if (plan_.shape == Shape::kValue) return Value(src, dst, handle);
  return calls_->Start({op_, mode_ == Mode::kBlocking, type_, scale_.bytes, src, dst, proc_, handle});
}

int Transfer::Wait() {
  if (mode_ == Mode::kBlocking) return 0;
  note_.Waits();
  const int result = mode_ == Mode::kImplicit ? ARMCI_WaitProc(proc_) : ARMCI_Wait(&handle_);
  if (mode_ == Mode::kAggregate) ARMCI_UNSET_AGGREGATE_HANDLE(&handle_);
  note_.End();
  return result;
}

int Transfer::Value(char* src, char* dst, armci_hdl_t* handle) {
  const bool blocking = mode_ == Mode::kBlocking;
  const std::size_t bytes = plan_.TotalBytes();
  if (op_ == Op::kGet) {
    // A value get cannot fail visibly and has no non-blocking form.
    const long value = bytes == 4 ? ARMCI_GetValueInt(src, proc_) : ARMCI_GetValueLong(src, proc_);
    const int narrow = static_cast<int>(value);
    std::memcpy(dst, bytes == 4 ? static_cast<const void*>(&narrow) : &value, bytes);
    return 0;
  }
  if (bytes == 4) {
    int value;
    std::memcpy(&value, src, sizeof value);
    return blocking ? ARMCI_PutValueInt(value, dst, proc_) : ARMCI_NbPutValueInt(value, dst, proc_, handle);
  }
  long value;
  std::memcpy(&value, src, sizeof value);
  return blocking ? ARMCI_PutValueLong(value, dst, proc_) : ARMCI_NbPutValueLong(value, dst, proc_, handle);
}

int Move(const Plan& plan, Op op, Mode mode, char* src, char* dst, int proc, Width width) {
  Transfer transfer(plan, op, mode, width);
  const int started = transfer.Start(src, dst, proc);
  return started != 0 ? started : transfer.Wait();
}

}  // namespace conformance
