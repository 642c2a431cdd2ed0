// Events for the recorder of calls (conformance/record), where that is linked.
#ifndef CONFORMANCE_HARNESS_RECORDING_H_
#define CONFORMANCE_HARNESS_RECORDING_H_

#include <string>

extern "C" void ConformanceRecordEvent(const char* kind, const char* text) __attribute__((weak));

namespace conformance {

inline void RecordEvent(const char* kind, const std::string& text = "") {
  if (ConformanceRecordEvent != nullptr) ConformanceRecordEvent(kind, text.c_str());
}

}  // namespace conformance

#endif  // CONFORMANCE_HARNESS_RECORDING_H_
