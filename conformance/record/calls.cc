// Every classic call, recorded: the linker leads the calls of NAME to __wrap_NAME, and __real_NAME to the library's.

#include <mpi.h>

#include "armci.h"
#include "armci_message.h"
#include "conformance/record/record.h"

namespace {

// (a, b) of a row becomes the arguments behind two others.
template <typename Real>
struct Recorder {
  const char* name;
  Real real;
  template <typename... Arguments>
  auto operator()(Arguments... arguments) const {
    return conformance::record::Record(name, real, arguments...);
  }
};

}  // namespace

#define RECORDED(type, name, parameters, arguments)                             \
  extern "C" type __real_##name parameters;                                     \
  extern "C" type __wrap_##name parameters {                                    \
    if (!conformance::record::IsActive()) return __real_##name arguments;       \
    return Recorder<decltype(&__real_##name)>{#name, &__real_##name} arguments; \
  }
#include "conformance/record/calls.inc"
