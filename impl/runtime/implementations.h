// Which implementations to name to a user, from their table (impl/variants.bzl).
#pragma once

namespace armci::runtime {

// Those for users that reach other nodes: "a, b or c".
const char* implementations_between_nodes();

}  // namespace armci::runtime
