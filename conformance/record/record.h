// Records the ARMCI calls of this process, from which tools/armci makes programs that show a failure.
//
// The linker puts a recorded call in front of each classic one (--wrap). Without CONFORMANCE_RECORD=DIR the recorded
// call goes straight on. With it every call becomes lines in files of DIR that survive any death of the process:
//
//    PID.setup            start, end, memory, mutexes and groups: all of them
//    PID.0, PID.1         the latest calls, in turn: a full file is followed by the other one, emptied
//
// A line is TIME THREAD KIND FIELDS...:
//
//    N kind name value    a constant of the library's headers
//    P rank size level    once MPI has started; the level of threads counts from 0 for MPI_THREAD_SINGLE
//    C name value...      a call begins; pointers are 0xHEX
//    B index hex          the first bytes that a pointer argument points to, before the call
//    V bytes n src dst... a vector descriptor
//    A index hex          as B, after the call, where that differs
//    R value              the call returned
//    E kind text          an event of the harness
//
// Thread safety: any thread.
#ifndef CONFORMANCE_RECORD_RECORD_H_
#define CONFORMANCE_RECORD_RECORD_H_

#include <cstddef>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "armci.h"

namespace conformance::record {

// Whether this call is to be recorded: not one that the library makes itself inside of another.
bool IsActive();

// An argument as text, and where it points.
struct Argument {
  std::string text;
  const void* at = nullptr;
};

Argument Describe(const void* pointer);
Argument Describe(const char* text);
std::string Number(double value);

template <typename T>
Argument Describe(const T& value) {
  if constexpr (std::is_pointer_v<T>) {
    return Describe(static_cast<const void*>(value));
  } else if constexpr (std::is_floating_point_v<T>) {
    return {Number(value), nullptr};
  } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
    return {std::to_string(static_cast<long long>(value)), nullptr};
  } else {
    return {"?", nullptr};
  }
}

// One call, from construction to Returned; calls inside of it are not recorded.
class Call {
 public:
  Call(const char* name, std::vector<Argument> arguments);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  void Descriptors(const armci_giov_t* first, int count);
  // Before the call goes on.
  void Begins();
  void Returned(const std::string& value);

 private:
  const char* const name_;
  const std::vector<Argument> arguments_;
  std::vector<std::string> before_;
  std::string lines_;
};

// The descriptors of a vector call: the argument of that type, and the number behind it.
template <typename First, typename Second, typename... Rest>
void NoteDescriptors(Call* call, First first, Second second, Rest... rest) {
  if constexpr (std::is_same_v<First, armci_giov_t*> && std::is_same_v<Second, int>) {
    call->Descriptors(first, second);
  } else if constexpr (sizeof...(Rest) > 0) {
    NoteDescriptors(call, second, rest...);
  }
}

template <typename Real, typename... Arguments>
auto Record(const char* name, Real real, Arguments... arguments) {
  Call call(name, {Describe(arguments)...});
  if constexpr (sizeof...(Arguments) > 1) NoteDescriptors(&call, arguments...);
  call.Begins();
  if constexpr (std::is_void_v<decltype(real(arguments...))>) {
    real(arguments...);
    call.Returned("");
  } else {
    auto result = real(arguments...);
    call.Returned(Describe(result).text);
    return result;
  }
}

}  // namespace conformance::record

#endif  // CONFORMANCE_RECORD_RECORD_H_
