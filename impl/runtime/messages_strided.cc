// armci_write_strided and armci_read_strided: between strided memory and a packed buffer, in the order of the loop nest
// with dimension 0 fastest [XFER-10].
#include <cstring>

#include "impl/runtime/messages.h"
#include "impl/runtime/shapes.h"

namespace armci::runtime {
namespace {

// The shape with strided memory as its source and the packed buffer as its destination.
Status packing_shape(const void* ptr, int levels, const int* stride, const int* count, const char* buf,
                     Strided* shape) {
  if (levels > 0 && levels <= kMaxStrideLevels && stride == nullptr) {
    return fail(Code::kNull, "ERR-1", "argument stride is NULL with stride_levels = %d; pass an array of strides",
                levels);
  }
  // Also checks the arguments before they are used below.
  ARMCI_RETURN_IF_ERROR(normalise(stride, stride, count, levels, shape));
  if (shape->empty()) return kSuccess;
  if (ptr == nullptr) return fail(Code::kNull, "ERR-1", "argument ptr is NULL; pass the address of the data");
  if (buf == nullptr) return fail(Code::kNull, "ERR-1", "argument buf is NULL; pass a buffer for the packed data");
  ptrdiff_t memory[kMaxStrideLevels];
  ptrdiff_t packed[kMaxStrideLevels];
  ptrdiff_t bytes = count[0];
  for (int level = 0; level < levels; ++level) {
    memory[level] = stride[level];
    packed[level] = bytes;
    bytes *= count[level + 1];
  }
  return normalise(memory, packed, count, levels, shape);
}

}  // namespace

namespace api {

Status armci_write_strided(void* ptr, int stride_levels, int stride[], int count[], char* buf) {
  Strided shape;
  ARMCI_RETURN_IF_ERROR(packing_shape(ptr, stride_levels, stride, count, buf, &shape));
  const char* memory = static_cast<const char*>(ptr);
  for_each_segment(shape, [&](ptrdiff_t from, ptrdiff_t to) { std::memcpy(buf + to, memory + from, shape.count[0]); });
  return kSuccess;
}

Status armci_read_strided(void* ptr, int stride_levels, int stride[], int count[], char* buf) {
  Strided shape;
  ARMCI_RETURN_IF_ERROR(packing_shape(ptr, stride_levels, stride, count, buf, &shape));
  char* memory = static_cast<char*>(ptr);
  for_each_segment(shape, [&](ptrdiff_t to, ptrdiff_t from) { std::memcpy(memory + to, buf + from, shape.count[0]); });
  return kSuccess;
}

}  // namespace api
}  // namespace armci::runtime
