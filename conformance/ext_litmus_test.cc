// EXT-2, EXT-3: the litmus programs that need the calls of armcix.h: the named ones of spec/model/programs.toml, and
// those of spec/model/shapes.py.

#include <cstdint>

#include "armcix.h"
#include "conformance/harness/test.h"
#include "conformance/litmus/program.h"
#include "conformance/litmus/shapes.h"

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
const bool shapes_registered [[maybe_unused]] =
    AddShapeTests({"EXT",
                   "EXT2_generated_litmus",
                   MakeSpec("EXT-2", "EXT-3", "LC-1", "LC-3", "LC-4", "ORD-1", "RMW-2", "RMW-5", NeedsRanks(2),
                            DeadlineSeconds(7200)),
                   2,
                   ExtensionShapeTexts(),
                   {PutSignal, SwapZero},
                   Stores::kContiguousFlag,
                   {}});

}  // namespace
}  // namespace conformance::litmus
