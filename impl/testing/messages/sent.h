// Counts the messages that this process sends by the layer below the library: calls of its send, put and get functions,
// which the test program defines in front of the layer's own.
//
// Thread safety: by any thread.
#pragma once

#include <cstdint>

namespace armci::runtime::testing {

std::uint64_t sent_messages();

}  // namespace armci::runtime::testing
