#include "impl/common/implementations.h"

namespace armci::common {

const char* implementations_between_nodes() { return ARMCI_BETWEEN_NODES; }

}  // namespace armci::common
