#include "impl/ucx/context.h"

#include <cstdlib>

#include "impl/ucx/failure.h"

namespace armci::ucx {

Context::~Context() {
  if (context_ != nullptr) ucp_cleanup(context_);
}

Status Context::open(int processes, bool whole_words) {
  ucp_config_t* config = nullptr;
  ARMCI_UCS(ucp_config_read(nullptr, nullptr, &config), "ucp_config_read");
  // cma is off unless UCX_TLS is set: the kernel may copy byte by byte, and show parts of words.
  if (whole_words && std::getenv("UCX_TLS") == nullptr) (void)ucp_config_modify(config, "TLS", "^cma");
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS |
                      UCP_PARAM_FIELD_NAME;
  params.features = UCP_FEATURE_RMA | UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
  params.mt_workers_shared = 1;
  params.estimated_num_eps = static_cast<std::size_t>(processes);
  params.name = "armci";
  const ucs_status_t status = ucp_init(&params, config, &context_);
  ucp_config_release(config);
  if (status != UCS_OK) context_ = nullptr;
  if (status == UCS_OK) return kSuccess;
  return note(fail_ucs(status, "ucp_init"),
              "UCX does not start; UCX_TLS and UCX_NET_DEVICES have to name what ucx_info -d lists, or be unset");
}

}  // namespace armci::ucx
