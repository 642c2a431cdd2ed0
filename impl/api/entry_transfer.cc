// Entry points: put, get and accumulate.
#include "armci.h"
#include "impl/api/entry_shapes.h"

namespace armci::runtime::api {
namespace {

// Inlined as far as the copy on the node: a frame on the stack would cost as much as a short copy.
template <Kind kind>
[[gnu::always_inline]] inline Status contiguous(const void* src, void* dst, int bytes, int proc, How how,
                                                const node::AccSpec& acc = node::kNoAccumulate) {
  if (bytes < 0) [[unlikely]]
    return fail(Code::kLength, "ERR-1", "argument bytes = %d is negative; pass 0 or more", bytes);
  return runtime().contiguous<kind>(src, dst, static_cast<std::size_t>(bytes), proc, how, acc);
}

template <class Value>
Status put_value(Value value, void* dst, int proc) {
  return runtime().put_value(value, dst, proc);
}

template <class Value>
Valued<Value> get_value(const void* src, int proc) {
  Valued<Value> result;
  result.fatal = true;  // the result is the value: there is no code to return
  result.status = runtime().get_value(src, proc, &result.value);
  return result;
}

// A bad flag must not be noticed only after the data was written [ERR-1].
Status check_flag(int* flag, int proc) {
  ARMCI_RETURN_IF_ERROR(runtime().check_remote("flag", flag, sizeof *flag, proc));
  if (reinterpret_cast<std::uintptr_t>(flag) % sizeof *flag == 0) return kSuccess;
  return fail(Code::kAlignment, "ERR-1", "argument flag = %p is not aligned to %zu bytes; pass an aligned address",
              static_cast<void*>(flag), sizeof *flag);
}

// --- contiguous, strided, vector: blocking

[[gnu::always_inline]] inline Status ARMCI_Put(void* src, void* dst, int bytes, int proc) {
  return contiguous<Kind::kPut>(src, dst, bytes, proc, kBlocking);
}
[[gnu::always_inline]] inline Status ARMCI_Get(void* src, void* dst, int bytes, int proc) {
  return contiguous<Kind::kGet>(src, dst, bytes, proc, kBlocking);
}
[[gnu::always_inline]] inline Status ARMCI_Acc(int datatype, void* scale, void* src, void* dst, int bytes, int proc) {
  return contiguous<Kind::kAcc>(src, dst, bytes, proc, kBlocking, acc_spec(datatype, scale));
}
Status ARMCI_PutS(void* src, int* src_stride, void* dst, int* dst_stride, int* count, int levels, int proc) {
  return strided<Kind::kPut>(src, src_stride, dst, dst_stride, count, levels, proc, kBlocking);
}
Status ARMCI_GetS(void* src, int* src_stride, void* dst, int* dst_stride, int* count, int levels, int proc) {
  return strided<Kind::kGet>(src, src_stride, dst, dst_stride, count, levels, proc, kBlocking);
}
Status ARMCI_AccS(int datatype, void* scale, void* src, int* src_stride, void* dst, int* dst_stride, int* count,
                  int levels, int proc) {
  return strided<Kind::kAcc>(src, src_stride, dst, dst_stride, count, levels, proc, kBlocking,
                             acc_spec(datatype, scale));
}
Status ARMCI_PutV(armci_giov_t* iov, int len, int proc) { return vector<Kind::kPut>(iov, len, proc, kBlocking); }
Status ARMCI_GetV(armci_giov_t* iov, int len, int proc) { return vector<Kind::kGet>(iov, len, proc, kBlocking); }
Status ARMCI_AccV(int datatype, void* scale, armci_giov_t* iov, int len, int proc) {
  return vector<Kind::kAcc>(iov, len, proc, kBlocking, acc_spec(datatype, scale));
}

// --- the same, non-blocking

[[gnu::always_inline]] inline Status ARMCI_NbPut(void* src, void* dst, int bytes, int proc, armci_hdl_t* hdl) {
  return contiguous<Kind::kPut>(src, dst, bytes, proc, through(hdl));
}
[[gnu::always_inline]] inline Status ARMCI_NbGet(void* src, void* dst, int bytes, int proc, armci_hdl_t* hdl) {
  return contiguous<Kind::kGet>(src, dst, bytes, proc, through(hdl));
}
[[gnu::always_inline]] inline Status ARMCI_NbAcc(int datatype, void* scale, void* src, void* dst, int bytes, int proc,
                                                 armci_hdl_t* hdl) {
  return contiguous<Kind::kAcc>(src, dst, bytes, proc, through(hdl), acc_spec(datatype, scale));
}
Status ARMCI_NbPutS(void* src, int* src_stride, void* dst, int* dst_stride, int* count, int levels, int proc,
                    armci_hdl_t* hdl) {
  return strided<Kind::kPut>(src, src_stride, dst, dst_stride, count, levels, proc, through(hdl));
}
Status ARMCI_NbGetS(void* src, int* src_stride, void* dst, int* dst_stride, int* count, int levels, int proc,
                    armci_hdl_t* hdl) {
  return strided<Kind::kGet>(src, src_stride, dst, dst_stride, count, levels, proc, through(hdl));
}
Status ARMCI_NbAccS(int datatype, void* scale, void* src, int* src_stride, void* dst, int* dst_stride, int* count,
                    int levels, int proc, armci_hdl_t* hdl) {
  return strided<Kind::kAcc>(src, src_stride, dst, dst_stride, count, levels, proc, through(hdl),
                             acc_spec(datatype, scale));
}
Status ARMCI_NbPutV(armci_giov_t* iov, int len, int proc, armci_hdl_t* hdl) {
  return vector<Kind::kPut>(iov, len, proc, through(hdl));
}
Status ARMCI_NbGetV(armci_giov_t* iov, int len, int proc, armci_hdl_t* hdl) {
  return vector<Kind::kGet>(iov, len, proc, through(hdl));
}
Status ARMCI_NbAccV(int datatype, void* scale, armci_giov_t* iov, int len, int proc, armci_hdl_t* hdl) {
  return vector<Kind::kAcc>(iov, len, proc, through(hdl), acc_spec(datatype, scale));
}

// --- flags and values

Status ARMCI_Put_flag(void* src, void* dst, int bytes, int* flag, int value, int proc) {
  ARMCI_RETURN_IF_ERROR(check_flag(flag, proc));
  ARMCI_RETURN_IF_ERROR(contiguous<Kind::kPut>(src, dst, bytes, proc, kBlocking));
  return runtime().put_flag(value, flag, proc);
}
Status ARMCI_PutS_flag(void* src, int* src_stride, void* dst, int* dst_stride, int* count, int levels, int* flag,
                       int value, int proc) {
  ARMCI_RETURN_IF_ERROR(check_flag(flag, proc));
  ARMCI_RETURN_IF_ERROR(strided<Kind::kPut>(src, src_stride, dst, dst_stride, count, levels, proc, kBlocking));
  return runtime().put_flag(value, flag, proc);
}
Status ARMCI_PutValueInt(int value, void* dst, int proc) { return put_value(value, dst, proc); }
Status ARMCI_PutValueLong(long value, void* dst, int proc) { return put_value(value, dst, proc); }
Status ARMCI_PutValueFloat(float value, void* dst, int proc) { return put_value(value, dst, proc); }
Status ARMCI_PutValueDouble(double value, void* dst, int proc) { return put_value(value, dst, proc); }
// A value put is complete at once on every transport: its buffer is the call's own parameter.
Status ARMCI_NbPutValueInt(int value, void* dst, int proc, armci_hdl_t*) {
  return runtime().nb_put_value(value, dst, proc);
}
Status ARMCI_NbPutValueLong(long value, void* dst, int proc, armci_hdl_t*) {
  return runtime().nb_put_value(value, dst, proc);
}
Status ARMCI_NbPutValueFloat(float value, void* dst, int proc, armci_hdl_t*) {
  return runtime().nb_put_value(value, dst, proc);
}
Status ARMCI_NbPutValueDouble(double value, void* dst, int proc, armci_hdl_t*) {
  return runtime().nb_put_value(value, dst, proc);
}
Valued<int> ARMCI_GetValueInt(void* src, int proc) { return get_value<int>(src, proc); }
Valued<long> ARMCI_GetValueLong(void* src, int proc) { return get_value<long>(src, proc); }
Valued<float> ARMCI_GetValueFloat(void* src, int proc) { return get_value<float>(src, proc); }
Valued<double> ARMCI_GetValueDouble(void* src, int proc) { return get_value<double>(src, proc); }

}  // namespace
}  // namespace armci::runtime::api

ARMCI_API_TRANSFER(ARMCI_DEFINE_ENTRY)
