// EXT-2, EXT-3: the litmus programs of spec/semantics.md that need the calls of armcix.h; see litmus/programs.cc.

#include <cstdint>
#include <vector>

#include "armcix.h"
#include "conformance/litmus/program.h"

namespace conformance::litmus {
namespace {

constexpr Grade kAcceptable = Grade::kAcceptable;
constexpr Grade kInteresting = Grade::kInteresting;
constexpr Grade kForbidden = Grade::kForbidden;

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

const std::vector<Litmus>& ExtensionPrograms() {
  static const std::vector<OutcomeRow> signal{{"0 0", kAcceptable, "the reader came before the put"},
                                              {"1 1", kAcceptable, "the reader came after the put"},
                                              {"0 1", kInteresting, "the reader came between data and signal"},
                                              {"1 0", kForbidden, "the signal of a put came before its data", "EXT-3"}};
  static const std::vector<OutcomeRow> two_swaps{{"0 1", kAcceptable, "P0 stored its number"},
                                                 {"2 0", kAcceptable, "P1 stored its number"}};
  static const std::vector<OutcomeRow> three_swaps{{"0 1 1", kAcceptable, "P0 stored its number"},
                                                   {"2 0 2", kAcceptable, "P1 stored its number"},
                                                   {"3 3 0", kAcceptable, "P2 stored its number"}};
  static const std::vector<Litmus> programs{
      {"MP_put_signal",
       "EXT",
       "EXT3",
       {"EXT-3", "ORD-5"},
       "x@A f@A",
       {"x,f=1", "r1=f; wait; r2=x"},
       "r1 r2",
       signal,
       signal,
       Stores::kContiguousFlag,
       true,
       true,
       {},
       {PutSignal}},
      {"CAS_against_CAS",
       "EXT",
       "EXT2",
       {"EXT-2", "RMW-2"},
       "x@A",
       {"r1=x?1", "r2=x?2"},
       "r1 r2",
       two_swaps,
       {},
       Stores::kNone,
       true,
       true,
       {},
       {nullptr, SwapZero}},
      {"CAS_against_two_CAS",
       "EXT",
       "EXT2",
       {"EXT-2", "RMW-2"},
       "x@A",
       {"r1=x?1", "r2=x?2", "r3=x?3"},
       "r1 r2 r3",
       three_swaps,
       {},
       Stores::kNone,
       true,
       true,
       {},
       {nullptr, SwapZero}},
  };
  return programs;
}

const bool registered [[maybe_unused]] = AddLitmusTests(ExtensionPrograms());

}  // namespace
}  // namespace conformance::litmus
