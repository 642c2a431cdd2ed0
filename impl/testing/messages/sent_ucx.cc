#include <dlfcn.h>
#include <ucp/api/ucp.h>

#include <atomic>

#include "impl/testing/messages/sent.h"

namespace {

std::atomic<std::uint64_t> sent{0};

// The library's own function of that name.
template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

namespace armci::runtime::testing {
std::uint64_t sent_messages() { return sent.load(); }
Way way() { return Way::kOnDemand; }
}  // namespace armci::runtime::testing

extern "C" {

ucs_status_ptr_t ucp_am_send_nbx(ucp_ep_h endpoint, unsigned id, const void* header, std::size_t header_bytes,
                                 const void* data, std::size_t count, const ucp_request_param_t* param) {
  static const auto send = next<decltype(ucp_am_send_nbx)>("ucp_am_send_nbx");
  sent.fetch_add(1);
  return send(endpoint, id, header, header_bytes, data, count, param);
}

ucs_status_ptr_t ucp_put_nbx(ucp_ep_h endpoint, const void* data, std::size_t bytes, std::uint64_t remote,
                             ucp_rkey_h key, const ucp_request_param_t* param) {
  static const auto put = next<decltype(ucp_put_nbx)>("ucp_put_nbx");
  sent.fetch_add(1);
  return put(endpoint, data, bytes, remote, key, param);
}

ucs_status_ptr_t ucp_get_nbx(ucp_ep_h endpoint, void* data, std::size_t bytes, std::uint64_t remote, ucp_rkey_h key,
                             const ucp_request_param_t* param) {
  static const auto get = next<decltype(ucp_get_nbx)>("ucp_get_nbx");
  sent.fetch_add(1);
  return get(endpoint, data, bytes, remote, key, param);
}

}  // extern "C"
