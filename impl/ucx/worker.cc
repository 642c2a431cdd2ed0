#include "impl/ucx/worker.h"

#include <poll.h>
#include <time.h>

#include <cstdlib>
#include <utility>

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

void Worker::close() {
  if (worker_ != nullptr) ucp_worker_destroy(std::exchange(worker_, nullptr));
}

Status Worker::open(const Context& context) {
  ucp_worker_params_t params{};
  params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  params.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  if (const ucs_status_t status = ucp_worker_create(context.handle(), &params, &worker_); status != UCS_OK) {
    worker_ = nullptr;
    return note(fail_ucs(status, "ucp_worker_create"),
                "UCX has no memory for its queues in /dev/shm, or no locked memory; enlarge /dev/shm or raise ulimit "
                "-l (UCX_LOG_LEVEL=info tells more)");
  }
  ARMCI_UCS(ucp_worker_get_efd(worker_, &event_fd_), "ucp_worker_get_efd");
  return kSuccess;
}

Status Worker::address(std::string* address) const {
  ucp_address_t* bytes = nullptr;
  std::size_t length = 0;
  ARMCI_UCS(ucp_worker_get_address(worker_, &bytes, &length), "ucp_worker_get_address");
  address->assign(reinterpret_cast<const char*>(bytes), length);
  ucp_worker_release_address(worker_, bytes);
  return kSuccess;
}

Status Worker::connect(const std::string& address, int process, ucp_ep_h* endpoint) const {
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
  params.address = reinterpret_cast<const ucp_address_t*>(address.data());
  const ucs_status_t status = ucp_ep_create(worker_, &params, endpoint);
  if (status == UCS_OK) return kSuccess;
  return note(fail_ucs(status, "ucp_ep_create", process),
              "UCX has no transport there; give UCX_TLS and UCX_NET_DEVICES one that reaches it (ucx_info -d lists "
              "them)");
}

Status Worker::handle_messages(unsigned id, ucp_am_recv_callback_t handler, void* argument) {
  ucp_am_handler_param_t params{};
  params.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS | UCP_AM_HANDLER_PARAM_FIELD_CB |
                      UCP_AM_HANDLER_PARAM_FIELD_ARG;
  params.id = id;
  params.flags = UCP_AM_FLAG_WHOLE_MSG;
  params.cb = handler;
  params.arg = argument;
  ARMCI_UCS(ucp_worker_set_am_recv_handler(worker_, &params), "ucp_worker_set_am_recv_handler");
  return kSuccess;
}

void Worker::await_event(const Worker* other, std::int64_t timeout_us) const {
  pollfd events[] = {{event_fd_, POLLIN, 0}, {other != nullptr ? other->event_fd_ : -1, POLLIN, 0}};
  const timespec timeout{timeout_us / 1'000'000, timeout_us % 1'000'000 * 1000};
  (void)ppoll(events, 2, timeout_us < 0 ? nullptr : &timeout, nullptr);
}

}  // namespace armci::ucx
