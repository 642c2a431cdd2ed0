#include "bench/common/local_buffer.h"

#include <cstdio>
#include <cstdlib>

namespace armci::bench {

LocalBuffer::LocalBuffer(size_t bytes) : data_(nullptr) {
  constexpr size_t kPage = 4096;
  data_ = static_cast<char*>(aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage));
  if (data_ != nullptr) return;
  std::fprintf(stderr, "bench: no memory for a buffer of %zu bytes\n", bytes);
  std::abort();
}

LocalBuffer::~LocalBuffer() { std::free(data_); }

}  // namespace armci::bench
