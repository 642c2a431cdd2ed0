#include "impl/common/api_id.h"

namespace armci::common {

#define ARMCI_API_NAME(result, strong, weak_name, parameters, arguments) #weak_name,
const char* const kApiNames[kApiCount] = {ARMCI_API_ALL(ARMCI_API_NAME)};
#undef ARMCI_API_NAME

}  // namespace armci::common
