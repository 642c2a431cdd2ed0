#include "impl/ucx/context.h"

#include <cstdio>
#include <cstdlib>

namespace armci::ucx {

using common::Code;
using common::fail;
using common::kSuccess;
using common::Status;

namespace {

// Names of transports begin so: of InfiniBand and RoCE by verbs and by mlx5, and of Cray's.
constexpr const char* kRdma[] = {"rc_verbs", "rc_mlx5", "dc_mlx5", "ugni_rdma"};

// UCX tells what it has chosen as text only.
template <class Print>
std::string printed(Print print) {
  char* text = nullptr;
  std::size_t length = 0;
  std::FILE* const out = open_memstream(&text, &length);
  if (out == nullptr) return "";
  print(out);
  std::fclose(out);
  std::string made(text, length);
  std::free(text);
  return made;
}

}  // namespace

Status fail_ucx(ucs_status_t status, const char* call, int peer) {
  if (peer < 0) return fail(Code::kLayerBelow, nullptr, "%s: %s", call, ucs_status_string(status));
  return fail(Code::kLayerBelow, nullptr, "%s to process %d: %s", call, peer, ucs_status_string(status));
}

Context::~Context() {
  if (context_ != nullptr) ucp_cleanup(context_);
}

Status Context::open() {
  ucp_config_t* config = nullptr;
  if (const ucs_status_t read = ucp_config_read(nullptr, nullptr, &config); read != UCS_OK) {
    return fail_ucx(read, "ucp_config_read");
  }
  ucp_params_t wanted{};
  wanted.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_NAME;
  wanted.features = UCP_FEATURE_RMA | UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
  wanted.name = "armci";
  const ucs_status_t made = ucp_init(&wanted, config, &context_);
  ucp_config_release(config);
  if (made != UCS_OK) return fail_ucx(made, "ucp_init");
  const std::string resources = printed([this](std::FILE* out) { ucp_context_print_info(context_, out); });
  for (const char* const transport : kRdma) has_rdma_ = has_rdma_ || resources.find(transport) != std::string::npos;
  return kSuccess;
}

Status Worker::open(const Context& context) {
  ucp_worker_params_t wanted{};
  wanted.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE | UCP_WORKER_PARAM_FIELD_EVENTS;
  wanted.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  wanted.events = UCP_WAKEUP_RMA | UCP_WAKEUP_RX | UCP_WAKEUP_TX | UCP_WAKEUP_EDGE;
  ucs_status_t status = ucp_worker_create(context.get(), &wanted, &worker_);
  if (status != UCS_OK) return fail_ucx(status, "ucp_worker_create");
  status = ucp_worker_get_efd(worker_, &descriptor_);
  return status == UCS_OK ? kSuccess : fail_ucx(status, "ucp_worker_get_efd");
}

void Worker::close() {
  if (worker_ != nullptr) ucp_worker_destroy(worker_);
  worker_ = nullptr;
}

Status Worker::address(std::vector<char>* out) const {
  ucp_address_t* bytes = nullptr;
  std::size_t length = 0;
  const ucs_status_t status = ucp_worker_get_address(worker_, &bytes, &length);
  if (status != UCS_OK) return fail_ucx(status, "ucp_worker_get_address");
  const char* const text = reinterpret_cast<const char*>(bytes);
  out->assign(text, text + length);
  ucp_worker_release_address(worker_, bytes);
  return kSuccess;
}

Status Worker::handle(unsigned id, ucp_am_recv_callback_t handler, void* argument) {
  ucp_am_handler_param_t wanted{};
  wanted.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
  wanted.id = id;
  wanted.cb = handler;
  wanted.arg = argument;
  const ucs_status_t status = ucp_worker_set_am_recv_handler(worker_, &wanted);
  return status == UCS_OK ? kSuccess : fail_ucx(status, "ucp_worker_set_am_recv_handler");
}

bool Worker::arm(Status* failure) {
  const ucs_status_t status = ucp_worker_arm(worker_);
  if (status != UCS_OK && status != UCS_ERR_BUSY) *failure = fail_ucx(status, "ucp_worker_arm");
  return status == UCS_OK;
}

// A line for each lane, `#  lane[0]:  2:tcp/eth0.0 md[1] ...`.
std::string transports_of(ucp_ep_h endpoint) {
  const std::string text = printed([endpoint](std::FILE* out) { ucp_ep_print_info(endpoint, out); });
  std::string found;
  for (std::size_t at = text.find("lane["); at != std::string::npos; at = text.find("lane[", at + 1)) {
    const std::size_t number = text.find(':', text.find(']', at) + 2);
    if (number == std::string::npos) break;
    const std::string one = text.substr(number + 1, text.find_first_of(" \t\n", number) - number - 1);
    if (found.find(one) == std::string::npos) found += (found.empty() ? "" : ", ") + one;
  }
  return found.empty() ? "unknown" : found;
}

}  // namespace armci::ucx
