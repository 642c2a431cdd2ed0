#include "impl/runtime/implementations.h"

namespace armci::runtime {

const char* implementations_between_nodes() { return ARMCI_BETWEEN_NODES; }

}  // namespace armci::runtime
