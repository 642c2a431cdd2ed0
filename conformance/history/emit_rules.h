// The tables of an emitted C file: what its reads may return. See emit_c.h.
#ifndef CONFORMANCE_HISTORY_EMIT_RULES_H_
#define CONFORMANCE_HISTORY_EMIT_RULES_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "conformance/history/program.h"

namespace conformance::history {

// For each value read, (step, index of the cell), the place that the file keeps it in.
using Slots = std::map<std::pair<int, int>, int>;
Slots SlotsOf(const Program& program);

// The orders in which the mutexes may be obtained are 0, 1, ..., kOrders - 1.
struct Rules {
  int orders = 1;
  std::string legal;  // rows "{order, slot, fixed, optional}"
  std::string older;  // rows "{order, first, second, newer, older}": two reads of one rank, never newer then older
  std::string pairs;  // rows "{first, second}": two reads of one rank; additions seen by the first do not vanish
};
Rules RulesOf(const Program& program, const Slots& slots);

std::string HexLiteral(long value);

}  // namespace conformance::history

#endif  // CONFORMANCE_HISTORY_EMIT_RULES_H_
