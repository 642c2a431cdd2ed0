// Helpers for the tests of datatypes: random shapes, the plain loops that datatypes are compared with, and a count of
// the datatypes that exist.
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstddef>
#include <random>
#include <vector>

#include "impl/mpi-rma/datatypes.h"

namespace armci::rma {

// The library's calls of MPI that make and free datatypes pass through here.
struct DatatypeCalls {
  static int existing();
  // The call after `calls` further ones that make a datatype fails; negative: none does.
  static void fail_after(int calls);
};

// Every test frees what it made.
class DatatypesTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  std::mt19937 random_{20130901};
};

// Memory in which any side of a shape fits, filled with a pattern.
class TestBuffer {
 public:
  TestBuffer(const runtime::Strided& shape, Side side, unsigned pattern);
  char* base() { return bytes_.data() - low_; }  // of the first segment
  char* lowest() { return bytes_.data(); }
  std::vector<char>& bytes() { return bytes_; }

 private:
  std::ptrdiff_t low_;
  std::vector<char> bytes_;
};

// Counts, strides and gaps are multiples of `unit` bytes. The source is anything, the destination often overlaps
// itself where `tidy` is false and never where it is true.
runtime::Strided random_shape(std::mt19937& random, std::size_t unit, bool tidy);
bool overlaps_itself(const runtime::Strided& shape, Side side);

// The bytes of one side, in order.
std::vector<char> pack_by_loop(const runtime::Strided& shape, Side side, const char* base);
std::vector<char> pack(const void* base, const Datatype& datatype);
void copy(const runtime::Strided& shape, const char* src, char* dst);

}  // namespace armci::rma
