// The calls that move data, in either width: the classic ones, and their twins of armcix.h with 64-bit sizes.
//
// A width is a struct with the types and the functions of its calls (see ClassicCalls in plan_transfer.cc); the
// template below turns a Plan into their arguments. The suite can be built without the twins: their file supplies
// MakeWideCalls.
#ifndef CONFORMANCE_HARNESS_TRANSFER_CALLS_H_
#define CONFORMANCE_HARNESS_TRANSFER_CALLS_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "conformance/harness/plan.h"

namespace conformance {

// The arguments of a call besides its shape.
struct TransferRequest {
  Op op;
  bool blocking;
  int type;
  void* scale;
  char* src;
  char* dst;
  int proc;
  armci_hdl_t* handle;
};

// The member `name` and its non-blocking form, and all of a width, of the library's calls with this prefix.
#define TRANSFER_CALL(prefix, name)          \
  static constexpr auto name = prefix##name; \
  static constexpr auto Nb##name = prefix##Nb##name
#define TRANSFER_CALLS(prefix) \
  TRANSFER_CALL(prefix, Put);  \
  TRANSFER_CALL(prefix, PutS); \
  TRANSFER_CALL(prefix, PutV); \
  TRANSFER_CALL(prefix, Get);  \
  TRANSFER_CALL(prefix, GetS); \
  TRANSFER_CALL(prefix, GetV); \
  TRANSFER_CALL(prefix, Acc);  \
  TRANSFER_CALL(prefix, AccS); \
  TRANSFER_CALL(prefix, AccV)

// Makes the calls of one plan, and owns the arrays that describe its shape.
class TransferCalls {
 public:
  virtual ~TransferCalls() = default;
  // Returns the call's result. The shape is not that of value calls.
  virtual int Start(const TransferRequest& request) = 0;
};

// Absent where the suite is built without the extensions.
[[gnu::weak]] std::unique_ptr<TransferCalls> MakeWideCalls(const Plan& plan);

template <class Calls>
class TransferCallsOf : public TransferCalls {
 public:
  explicit TransferCallsOf(const Plan& plan)
      : plan_(plan),
        count_(plan.count.begin(), plan.count.end()),
        src_stride_(plan.src_stride.begin(), plan.src_stride.end()),
        dst_stride_(plan.dst_stride.begin(), plan.dst_stride.end()) {}

  int Start(const TransferRequest& request) override {
    switch (plan_.shape) {
      case Shape::kStrided:
        return Strided(request);
      case Shape::kVector:
        return Vector(request);
      default:
        return Contiguous(request);
    }
  }

 private:
  using Length = typename Calls::Length;
  using Stride = typename Calls::Stride;
  using Descriptor = typename Calls::Descriptor;

  template <class Blocking, class Nonblocking, class... Arguments>
  static int Either(const TransferRequest& r, Blocking blocking, Nonblocking nonblocking, Arguments... arguments) {
    return r.blocking ? blocking(arguments..., r.proc) : nonblocking(arguments..., r.proc, r.handle);
  }

  int Contiguous(const TransferRequest& r) {
    const auto bytes = static_cast<Length>(plan_.TotalBytes());
    switch (r.op) {
      case Op::kPut:
        return Either(r, Calls::Put, Calls::NbPut, r.src, r.dst, bytes);
      case Op::kGet:
        return Either(r, Calls::Get, Calls::NbGet, r.src, r.dst, bytes);
      default:
        return Either(r, Calls::Acc, Calls::NbAcc, r.type, r.scale, r.src, r.dst, bytes);
    }
  }

  int Strided(const TransferRequest& r) {
    const int levels = static_cast<int>(count_.size()) - 1;
    Stride* from = src_stride_.data();
    Stride* to = dst_stride_.data();
    Length* count = count_.data();
    switch (r.op) {
      case Op::kPut:
        return Either(r, Calls::PutS, Calls::NbPutS, r.src, from, r.dst, to, count, levels);
      case Op::kGet:
        return Either(r, Calls::GetS, Calls::NbGetS, r.src, from, r.dst, to, count, levels);
      default:
        return Either(r, Calls::AccS, Calls::NbAccS, r.type, r.scale, r.src, from, r.dst, to, count, levels);
    }
  }

  int Vector(const TransferRequest& r) {
    Describe(r);
    const auto length = static_cast<Length>(descriptors_.size());
    switch (r.op) {
      case Op::kPut:
        return Either(r, Calls::PutV, Calls::NbPutV, descriptors_.data(), length);
      case Op::kGet:
        return Either(r, Calls::GetV, Calls::NbGetV, descriptors_.data(), length);
      default:
        return Either(r, Calls::AccV, Calls::NbAccV, r.type, r.scale, descriptors_.data(), length);
    }
  }

  void Describe(const TransferRequest& r) {
    src_pointers_.clear();
    dst_pointers_.clear();
    descriptors_.clear();
    for (const Segment& segment : plan_.segments) {
      src_pointers_.push_back(r.src + segment.src);
      dst_pointers_.push_back(r.dst + segment.dst);
    }
    std::size_t first = 0;
    for (int n : plan_.descriptors) {
      // By field names: their order is not the same everywhere.
      Descriptor descriptor{};
      descriptor.src_ptr_array = src_pointers_.data() + first;
      descriptor.dst_ptr_array = dst_pointers_.data() + first;
      descriptor.bytes = n == 0 ? 0 : static_cast<Length>(plan_.segments[first].bytes);
      descriptor.ptr_array_len = static_cast<Length>(n);
      descriptors_.push_back(descriptor);
      first += static_cast<std::size_t>(n);
    }
  }

  const Plan& plan_;
  std::vector<Length> count_;
  std::vector<Stride> src_stride_;
  std::vector<Stride> dst_stride_;
  std::vector<void*> src_pointers_;
  std::vector<void*> dst_pointers_;
  std::vector<Descriptor> descriptors_;
};

}  // namespace conformance

#endif  // CONFORMANCE_HARNESS_TRANSFER_CALLS_H_
