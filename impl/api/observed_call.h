// Counts, times, reports and traces one call, from construction to destruction.
//
// Thread safety: an object belongs to the thread of the call.
#pragma once

#include <chrono>

#include "impl/api/api_id.h"
#include "impl/runtime/watchdog.h"

namespace armci::runtime {

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
  bool is_logged_;
  std::chrono::steady_clock::time_point began_;
};

}  // namespace armci::runtime
