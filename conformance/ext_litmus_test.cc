// EXT-2, EXT-3: the litmus programs of spec/semantics.md that need the calls of armcix.h; see spec/model/programs.toml.

#include <cstdint>

#include "armcix.h"
#include "conformance/litmus/program.h"

namespace conformance::litmus {

int PutSignal(const Plan& plan, char* src, char* dst, char* flag, int proc, bool nonblocking) {
  auto* signal = reinterpret_cast<std::uint64_t*>(flag);
  const auto bytes = static_cast<std::size_t>(plan.count[0]);
  return nonblocking ? ARMCIX_NbPut_signal(src, dst, bytes, signal, 1, ARMCIX_SIGNAL_ADD, proc, nullptr)
                     : ARMCIX_Put_signal(src, dst, bytes, signal, 1, ARMCIX_SIGNAL_SET, proc);
}

int SwapZero(long* before, long value, char* at, int proc) {
  const std::int64_t zero = 0;
  const std::int64_t operand = value;
  return ARMCIX_Rmw(ARMCIX_CAS, ARMCIX_INT64, before, &operand, &zero, at, proc);
}

namespace {

const bool registered [[maybe_unused]] = AddLitmusTests(ExtensionPrograms());

}  // namespace
}  // namespace conformance::litmus
