#include "impl/api/observed_call.h"

#include <cstdint>

#include "impl/api/totals.h"
#include "impl/runtime/trace.h"
#include "impl/runtime/usage.h"
#include "impl/runtime/verbose.h"

namespace armci::runtime {

// ARMCI_Init sets the configuration during its own call. is_logged_ is fixed here, so that begin and end are logged
// both or not at all.
ObservedCall::ObservedCall(ApiId id, const char* name, long peer)
    : scope_(static_cast<int>(id), name, peer),
      id_(id),
      name_(name),
      peer_(peer),
      is_logged_(is_verbose(Verbosity::kCalls)) {
  if (is_logged_) log_call_begin(name, static_cast<int>(peer));
  usage_of_call = Usage{};
  began_ = std::chrono::steady_clock::now();
}

ObservedCall::~ObservedCall() {
  const std::chrono::nanoseconds spent = std::chrono::steady_clock::now() - began_;
  count_call(id_, usage_of_call, static_cast<std::uint64_t>(spent.count()));
  if (is_logged_) log_call_end(name_, usage_of_call, spent.count());
  if (!trace().enabled()) return;
  trace().record({std::chrono::nanoseconds(began_.time_since_epoch()).count(), spent.count(), usage_of_call.bytes,
                  static_cast<int>(id_), usage_of_call.peer >= 0 ? usage_of_call.peer : static_cast<int>(peer_)});
}

}  // namespace armci::runtime
