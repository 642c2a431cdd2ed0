// The choices of copy_initialise(), in words.

#include <cstdint>
#include <string>

#include "impl/node/copy_table.h"

namespace armci::node {
namespace {

using internal::BodyKernel;

const char* name_of(BodyKernel body) {
  for (int i = 0; i < internal::kBodyCandidates; ++i) {
    if (internal::body_candidate(i) == body) return internal::body_candidate_name(i);
  }
  return "brief";
}

// "AVX2 forward from 1 KiB, string from 256 KiB": the kernels by size, for buffers at these two offsets in a page.
std::string by_size(uintptr_t dst, uintptr_t src) {
  constexpr uintptr_t kAnywhere = uintptr_t{1} << 32;
  constexpr size_t kSmallest = 1 << 10, kLargest = 64 << 20;
  std::string text;
  BodyKernel last = nullptr;
  for (size_t bytes = kSmallest; bytes <= kLargest; bytes *= 2) {
    const BodyKernel body = internal::chosen_copy_body(reinterpret_cast<char*>(kAnywhere + dst),
                                                       reinterpret_cast<const char*>(2 * kAnywhere + src), bytes);
    if (body == last) continue;
    last = body;
    const bool mega = bytes >= (1 << 20);
    if (!text.empty()) text += ", ";
    text += name_of(body);
    text += " from " + std::to_string(mega ? bytes >> 20 : bytes >> 10) + (mega ? " MiB" : " KiB");
  }
  return text;
}

}  // namespace

std::string copy_report() {
  return "source and destination alike in their lines: " + by_size(0, 0) + "; destination ahead: " + by_size(8, 0) +
         "; source ahead: " + by_size(0, 8);
}

}  // namespace armci::node
