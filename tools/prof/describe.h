// The transfer of a call, by its arguments: bytes, the process at the other side, and the address there.
#ifndef ARMCI_TOOLS_PROF_DESCRIBE_H_
#define ARMCI_TOOLS_PROF_DESCRIBE_H_

#include <cstdint>

#include "armci.h"
#include "armcix.h"
#include "impl/api/api_id.h"

namespace armci::prof {

using runtime::ApiId;

struct Moved {
  std::uint64_t bytes = 0;
  int peer = -1;
  const void* remote = nullptr;
  bool incoming = false;  // from the peer to the caller
};

template <class Count>
std::uint64_t strided_bytes(const Count* count, int levels) {
  if (count == nullptr || levels < 0) return 0;
  std::uint64_t bytes = 1;
  for (int level = 0; level <= levels; ++level)
    bytes *= count[level] > 0 ? static_cast<std::uint64_t>(count[level]) : 0;
  return bytes;
}

template <class Vector>
Moved vector_moved(const Vector* list, long length, int proc, bool is_get) {
  Moved moved = {0, proc, nullptr, is_get};
  for (long i = 0; list != nullptr && i < length; ++i) {
    moved.bytes += static_cast<std::uint64_t>(list[i].bytes) * static_cast<std::uint64_t>(list[i].ptr_array_len);
    const auto* const there = is_get ? list[i].src_ptr_array : list[i].dst_ptr_array;
    if (moved.remote == nullptr && there != nullptr && list[i].ptr_array_len > 0) moved.remote = there[0];
  }
  return moved;
}

// Of calls that move nothing, or where it is not known.
template <ApiId>
struct Describe {
  template <class... Arguments>
  Moved operator()(Arguments...) const {
    return {};
  }
};

// Contiguous, strided, vector; blocking and not: what comes behind is the handle.
#define PROF_DESCRIBE_PUT(call)                                                                \
  template <>                                                                                  \
  struct Describe<ApiId::call> {                                                               \
    template <class Bytes, class... Handle>                                                    \
    Moved operator()(const void*, const void* there, Bytes bytes, int proc, Handle...) const { \
      return {static_cast<std::uint64_t>(bytes), proc, there};                                 \
    }                                                                                          \
  };
#define PROF_DESCRIBE_GET(call)                                                                \
  template <>                                                                                  \
  struct Describe<ApiId::call> {                                                               \
    template <class Bytes, class... Handle>                                                    \
    Moved operator()(const void* there, const void*, Bytes bytes, int proc, Handle...) const { \
      return {static_cast<std::uint64_t>(bytes), proc, there, true};                           \
    }                                                                                          \
  };
#define PROF_DESCRIBE_ACC(call)                                                                                  \
  template <>                                                                                                    \
  struct Describe<ApiId::call> {                                                                                 \
    template <class Bytes, class... Handle>                                                                      \
    Moved operator()(int, const void*, const void*, const void* there, Bytes bytes, int proc, Handle...) const { \
      return {static_cast<std::uint64_t>(bytes), proc, there};                                                   \
    }                                                                                                            \
  };
#define PROF_DESCRIBE_PUT_S(call)                                                                                  \
  template <>                                                                                                      \
  struct Describe<ApiId::call> {                                                                                   \
    template <class Stride, class Count, class... Handle>                                                          \
    Moved operator()(const void*, const Stride*, const void* there, const Stride*, const Count* count, int levels, \
                     int proc, Handle...) const {                                                                  \
      return {strided_bytes(count, levels), proc, there};                                                          \
    }                                                                                                              \
  };
#define PROF_DESCRIBE_GET_S(call)                                                                                  \
  template <>                                                                                                      \
  struct Describe<ApiId::call> {                                                                                   \
    template <class Stride, class Count, class... Handle>                                                          \
    Moved operator()(const void* there, const Stride*, const void*, const Stride*, const Count* count, int levels, \
                     int proc, Handle...) const {                                                                  \
      return {strided_bytes(count, levels), proc, there, true};                                                    \
    }                                                                                                              \
  };
#define PROF_DESCRIBE_ACC_S(call)                                                                    \
  template <>                                                                                        \
  struct Describe<ApiId::call> {                                                                     \
    template <class Stride, class Count, class... Handle>                                            \
    Moved operator()(int, const void*, const void*, const Stride*, const void* there, const Stride*, \
                     const Count* count, int levels, int proc, Handle...) const {                    \
      return {strided_bytes(count, levels), proc, there};                                            \
    }                                                                                                \
  };
#define PROF_DESCRIBE_V(call, is_get)                                                \
  template <>                                                                        \
  struct Describe<ApiId::call> {                                                     \
    template <class Vector, class Length, class... Handle>                           \
    Moved operator()(const Vector* list, Length length, int proc, Handle...) const { \
      return vector_moved(list, static_cast<long>(length), proc, is_get);            \
    }                                                                                \
  };
#define PROF_DESCRIBE_ACC_V(call)                                                                      \
  template <>                                                                                          \
  struct Describe<ApiId::call> {                                                                       \
    template <class Vector, class Length, class... Handle>                                             \
    Moved operator()(int, const void*, const Vector* list, Length length, int proc, Handle...) const { \
      return vector_moved(list, static_cast<long>(length), proc, false);                               \
    }                                                                                                  \
  };
#define PROF_DESCRIBE_VALUE(type, suffix)                                                                          \
  template <>                                                                                                      \
  struct Describe<ApiId::ARMCI_PutValue##suffix> {                                                                 \
    Moved operator()(type, const void* there, int proc) const { return {sizeof(type), proc, there}; }              \
  };                                                                                                               \
  template <>                                                                                                      \
  struct Describe<ApiId::ARMCI_NbPutValue##suffix> {                                                               \
    Moved operator()(type, const void* there, int proc, const void*) const { return {sizeof(type), proc, there}; } \
  };                                                                                                               \
  template <>                                                                                                      \
  struct Describe<ApiId::ARMCI_GetValue##suffix> {                                                                 \
    Moved operator()(const void* there, int proc) const { return {sizeof(type), proc, there, true}; }              \
  };

PROF_DESCRIBE_PUT(ARMCI_Put)
PROF_DESCRIBE_PUT(ARMCI_NbPut)
PROF_DESCRIBE_GET(ARMCI_Get)
PROF_DESCRIBE_GET(ARMCI_NbGet)
PROF_DESCRIBE_ACC(ARMCI_Acc)
PROF_DESCRIBE_ACC(ARMCI_NbAcc)
PROF_DESCRIBE_PUT_S(ARMCI_PutS)
PROF_DESCRIBE_PUT_S(ARMCI_NbPutS)
PROF_DESCRIBE_GET_S(ARMCI_GetS)
PROF_DESCRIBE_GET_S(ARMCI_NbGetS)
PROF_DESCRIBE_ACC_S(ARMCI_AccS)
PROF_DESCRIBE_ACC_S(ARMCI_NbAccS)
PROF_DESCRIBE_V(ARMCI_PutV, false)
PROF_DESCRIBE_V(ARMCI_NbPutV, false)
PROF_DESCRIBE_V(ARMCI_GetV, true)
PROF_DESCRIBE_V(ARMCI_NbGetV, true)
PROF_DESCRIBE_ACC_V(ARMCI_AccV)
PROF_DESCRIBE_ACC_V(ARMCI_NbAccV)
PROF_DESCRIBE_PUT(ARMCIX_Put)
PROF_DESCRIBE_PUT(ARMCIX_NbPut)
PROF_DESCRIBE_GET(ARMCIX_Get)
PROF_DESCRIBE_GET(ARMCIX_NbGet)
PROF_DESCRIBE_ACC(ARMCIX_Acc)
PROF_DESCRIBE_ACC(ARMCIX_NbAcc)
PROF_DESCRIBE_PUT_S(ARMCIX_PutS)
PROF_DESCRIBE_PUT_S(ARMCIX_NbPutS)
PROF_DESCRIBE_GET_S(ARMCIX_GetS)
PROF_DESCRIBE_GET_S(ARMCIX_NbGetS)
PROF_DESCRIBE_ACC_S(ARMCIX_AccS)
PROF_DESCRIBE_ACC_S(ARMCIX_NbAccS)
PROF_DESCRIBE_V(ARMCIX_PutV, false)
PROF_DESCRIBE_V(ARMCIX_NbPutV, false)
PROF_DESCRIBE_V(ARMCIX_GetV, true)
PROF_DESCRIBE_V(ARMCIX_NbGetV, true)
PROF_DESCRIBE_ACC_V(ARMCIX_AccV)
PROF_DESCRIBE_ACC_V(ARMCIX_NbAccV)
PROF_DESCRIBE_VALUE(int, Int)
PROF_DESCRIBE_VALUE(long, Long)
PROF_DESCRIBE_VALUE(float, Float)
PROF_DESCRIBE_VALUE(double, Double)

template <>
struct Describe<ApiId::ARMCI_Rmw> {
  Moved operator()(int op, const void*, const void* there, int, int proc) const {
    const bool is_long = op == ARMCI_FETCH_AND_ADD_LONG || op == ARMCI_SWAP_LONG;
    return {is_long ? sizeof(long) : sizeof(int), proc, there};
  }
};
inline std::uint64_t bytes_of(armcix_type_t type) {
  return type == ARMCIX_INT32 || type == ARMCIX_UINT32 ? sizeof(std::int32_t) : sizeof(std::int64_t);
}
#define PROF_DESCRIBE_RMW(call)                                                                                 \
  template <>                                                                                                   \
  struct Describe<ApiId::call> {                                                                                \
    template <class... Handle>                                                                                  \
    Moved operator()(armcix_op_t, armcix_type_t type, const void*, const void*, const void*, const void* there, \
                     int proc, Handle...) const {                                                               \
      return {bytes_of(type), proc, there};                                                                     \
    }                                                                                                           \
  };
#define PROF_DESCRIBE_SIGNAL(call)                                                                           \
  template <>                                                                                                \
  struct Describe<ApiId::call> {                                                                             \
    template <class... Handle>                                                                               \
    Moved operator()(const void*, const void* there, std::size_t bytes, const std::uint64_t*, std::uint64_t, \
                     armcix_signal_op_t, int proc, Handle...) const {                                        \
      return {bytes, proc, there};                                                                           \
    }                                                                                                        \
  };
PROF_DESCRIBE_RMW(ARMCIX_Rmw)
PROF_DESCRIBE_RMW(ARMCIX_NbRmw)
PROF_DESCRIBE_SIGNAL(ARMCIX_Put_signal)
PROF_DESCRIBE_SIGNAL(ARMCIX_NbPut_signal)

template <>
struct Describe<ApiId::ARMCI_Put_flag> {
  Moved operator()(const void*, const void* there, int bytes, const int*, int, int proc) const {
    return {static_cast<std::uint64_t>(bytes), proc, there};
  }
};
template <>
struct Describe<ApiId::ARMCI_PutS_flag> {
  Moved operator()(const void*, const int*, const void* there, const int*, const int* count, int levels, const int*,
                   int, int proc) const {
    return {strided_bytes(count, levels), proc, there};
  }
};
// These have a process and move nothing.
template <>
struct Describe<ApiId::ARMCI_Fence> {
  Moved operator()(int proc) const { return {0, proc, nullptr}; }
};
template <>
struct Describe<ApiId::ARMCI_Lock> {
  Moved operator()(int, int proc) const { return {0, proc, nullptr}; }
};

}  // namespace armci::prof

#endif  // ARMCI_TOOLS_PROF_DESCRIBE_H_
