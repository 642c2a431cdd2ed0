// Entry points: the transfers of armcix.h, with 64-bit lengths, counts and strides.
#include "armcix.h"
#include "impl/api/entry_shapes.h"

namespace armci::runtime::api {
namespace {

Status ARMCIX_Put(const void* src, void* dst, std::size_t bytes, int proc) {
  return runtime().contiguous<Kind::kPut>(src, dst, bytes, proc, kBlocking);
}
Status ARMCIX_Get(const void* src, void* dst, std::size_t bytes, int proc) {
  return runtime().contiguous<Kind::kGet>(src, dst, bytes, proc, kBlocking);
}
Status ARMCIX_Acc(int datatype, const void* scale, const void* src, void* dst, std::size_t bytes, int proc) {
  return runtime().contiguous<Kind::kAcc>(src, dst, bytes, proc, kBlocking, acc_spec(datatype, scale));
}
Status ARMCIX_NbPut(const void* src, void* dst, std::size_t bytes, int proc, armci_hdl_t* hdl) {
  return runtime().contiguous<Kind::kPut>(src, dst, bytes, proc, through(hdl));
}
Status ARMCIX_NbGet(const void* src, void* dst, std::size_t bytes, int proc, armci_hdl_t* hdl) {
  return runtime().contiguous<Kind::kGet>(src, dst, bytes, proc, through(hdl));
}
Status ARMCIX_NbAcc(int datatype, const void* scale, const void* src, void* dst, std::size_t bytes, int proc,
                    armci_hdl_t* hdl) {
  return runtime().contiguous<Kind::kAcc>(src, dst, bytes, proc, through(hdl), acc_spec(datatype, scale));
}

using Strides = const std::ptrdiff_t*;
using Counts = const std::size_t*;

Status ARMCIX_PutS(const void* src, Strides from, void* dst, Strides to, Counts count, int levels, int proc) {
  return strided<Kind::kPut>(src, from, dst, to, count, levels, proc, kBlocking);
}
Status ARMCIX_GetS(const void* src, Strides from, void* dst, Strides to, Counts count, int levels, int proc) {
  return strided<Kind::kGet>(src, from, dst, to, count, levels, proc, kBlocking);
}
Status ARMCIX_AccS(int datatype, const void* scale, const void* src, Strides from, void* dst, Strides to, Counts count,
                   int levels, int proc) {
  return strided<Kind::kAcc>(src, from, dst, to, count, levels, proc, kBlocking, acc_spec(datatype, scale));
}
Status ARMCIX_NbPutS(const void* src, Strides from, void* dst, Strides to, Counts count, int levels, int proc,
                     armci_hdl_t* hdl) {
  return strided<Kind::kPut>(src, from, dst, to, count, levels, proc, through(hdl));
}
Status ARMCIX_NbGetS(const void* src, Strides from, void* dst, Strides to, Counts count, int levels, int proc,
                     armci_hdl_t* hdl) {
  return strided<Kind::kGet>(src, from, dst, to, count, levels, proc, through(hdl));
}
Status ARMCIX_NbAccS(int datatype, const void* scale, const void* src, Strides from, void* dst, Strides to,
                     Counts count, int levels, int proc, armci_hdl_t* hdl) {
  return strided<Kind::kAcc>(src, from, dst, to, count, levels, proc, through(hdl), acc_spec(datatype, scale));
}

Status ARMCIX_PutV(const armcix_giov_t* iov, std::size_t len, int proc) {
  return vector<Kind::kPut>(iov, len, proc, kBlocking);
}
Status ARMCIX_GetV(const armcix_giov_t* iov, std::size_t len, int proc) {
  return vector<Kind::kGet>(iov, len, proc, kBlocking);
}
Status ARMCIX_AccV(int datatype, const void* scale, const armcix_giov_t* iov, std::size_t len, int proc) {
  return vector<Kind::kAcc>(iov, len, proc, kBlocking, acc_spec(datatype, scale));
}
Status ARMCIX_NbPutV(const armcix_giov_t* iov, std::size_t len, int proc, armci_hdl_t* hdl) {
  return vector<Kind::kPut>(iov, len, proc, through(hdl));
}
Status ARMCIX_NbGetV(const armcix_giov_t* iov, std::size_t len, int proc, armci_hdl_t* hdl) {
  return vector<Kind::kGet>(iov, len, proc, through(hdl));
}
Status ARMCIX_NbAccV(int datatype, const void* scale, const armcix_giov_t* iov, std::size_t len, int proc,
                     armci_hdl_t* hdl) {
  return vector<Kind::kAcc>(iov, len, proc, through(hdl), acc_spec(datatype, scale));
}

}  // namespace
}  // namespace armci::runtime::api

ARMCI_API_TRANSFER64(ARMCI_DEFINE_ENTRY)
