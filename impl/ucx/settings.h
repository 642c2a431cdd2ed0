// Settings of this implementation. UCX has its own, UCX_*, which it reads by itself.
#pragma once

#include <cstdint>

namespace armci::ucx {

struct Settings {
  std::int64_t chunk_bytes = 0;
  int requests = 0;
  int depth = 0;
  std::int64_t pack_bytes = 0;
  int rma = 0;  // -1: where a device carries it out
};

Settings& settings();

}  // namespace armci::ucx
