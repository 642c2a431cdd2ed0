// Structs that libraries lay out differently: tests make and read them here only.
#ifndef CONFORMANCE_HARNESS_LAYOUT_H_
#define CONFORMANCE_HARNESS_LAYOUT_H_

#include <mpi.h>

#include "armci.h"

namespace conformance {

// A vector descriptor. By field names: their order is not the same everywhere.
inline armci_giov_t Descriptor(void** src, void** dst, int bytes, int segments) {
  armci_giov_t descriptor{};
  descriptor.src_ptr_array = src;
  descriptor.dst_ptr_array = dst;
  descriptor.bytes = bytes;
  descriptor.ptr_array_len = segments;
  return descriptor;
}

// The communicator of a group: a member of the struct, or asked for where a group is something else.
template <typename Group>
MPI_Comm CommunicatorOf(Group* group) {
  if constexpr (requires { group->comm; }) {
    return group->comm;
  } else {
    return armci_group_comm(group);
  }
}

}  // namespace conformance

#endif  // CONFORMANCE_HARNESS_LAYOUT_H_
