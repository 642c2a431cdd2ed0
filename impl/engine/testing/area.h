// The memory of the servers in tests of the engine. One process is the job, and has all of it.
//
// Thread safety: none.
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstddef>

#include "impl/node/node_memory.h"

namespace armci::engine::testing {

inline constexpr std::size_t kAreaBytes = 16384;

// Attached once.
inline char* memory() {
  static char* const base = [] {
    node::NodeMemory& memory = node::node_memory();
    void* block = nullptr;
    EXPECT_TRUE(memory.attach(MPI_COMM_SELF, {"/dev/shm", std::size_t{1} << 30, 0, 0}).ok());
    EXPECT_TRUE(memory.take(std::size_t{1} << 20, &block).ok());
    EXPECT_TRUE(memory.commit(block, std::size_t{1} << 20).ok());
    return static_cast<char*>(block);
  }();
  return base;
}

// The part of the memory of `server` that only `process` accesses.
inline char* area(int process, int server) {
  return memory() + (static_cast<std::size_t>(server) * 4 + static_cast<std::size_t>(process)) * kAreaBytes;
}

}  // namespace armci::engine::testing
