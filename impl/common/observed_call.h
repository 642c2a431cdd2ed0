// Counts, times, reports and traces one call, from construction to destruction.
//
// Thread safety: an object belongs to the thread of the call.
#pragma once

#include <chrono>

#include "impl/common/api_id.h"
#include "impl/common/watchdog.h"

namespace armci::common {

class ObservedCall {
 public:
  // `peer`: the process the call is about, or kNoPeer.
  ObservedCall(ApiId id, const char* name, long peer);
  ~ObservedCall();
  ObservedCall(const ObservedCall&) = delete;
  ObservedCall& operator=(const ObservedCall&) = delete;

 private:
  CallScope scope_;
  ApiId id_;
  const char* name_;
  long peer_;
  bool told_;
  std::chrono::steady_clock::time_point began_;
};

}  // namespace armci::common
