// Private memory for transfers.
//
// Thread safety: none needed, one owner.
#ifndef ARMCI_BENCH_COMMON_LOCAL_BUFFER_H_
#define ARMCI_BENCH_COMMON_LOCAL_BUFFER_H_

#include <cstddef>

namespace armci::bench {

// Memory that begins on a page, as regions do in effect: where buffers lie to each other decides about the speed of
// copies, so it must not depend on the allocator's mood. Ends the process when memory is short.
class LocalBuffer {
 public:
  explicit LocalBuffer(size_t bytes);
  ~LocalBuffer();
  LocalBuffer(const LocalBuffer&) = delete;
  LocalBuffer& operator=(const LocalBuffer&) = delete;

  char* data() const { return data_; }

 private:
  char* data_;
};

}  // namespace armci::bench

#endif  // ARMCI_BENCH_COMMON_LOCAL_BUFFER_H_
