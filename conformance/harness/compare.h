// Byte comparison with a readable first difference.
#ifndef CONFORMANCE_HARNESS_COMPARE_H_
#define CONFORMANCE_HARNESS_COMPARE_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>

namespace conformance {

// For EXPECT_TRUE: success, or where the images first differ and in how many bytes.
inline ::testing::AssertionResult SameBytes(const char* expected, const char* actual, std::size_t bytes) {
  if (std::memcmp(expected, actual, bytes) == 0) return ::testing::AssertionSuccess();
  std::size_t first = 0;
  while (expected[first] == actual[first]) ++first;
  std::size_t different = 0;
  std::size_t last = first;
  for (std::size_t i = first; i < bytes; ++i) {
    if (expected[i] == actual[i]) continue;
    ++different;
    last = i;
  }
  char text[160];
  std::snprintf(text, sizeof text, "%zu of %zu bytes differ, offsets %zu to %zu, at the first 0x%02x instead of 0x%02x",
                different, bytes, first, last, static_cast<unsigned char>(actual[first]),
                static_cast<unsigned char>(expected[first]));
  return ::testing::AssertionFailure() << text;
}

}  // namespace conformance

#endif  // CONFORMANCE_HARNESS_COMPARE_H_
