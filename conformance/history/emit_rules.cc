#include "conformance/history/emit_rules.h"

#include <algorithm>
#include <cstdio>

#include "conformance/history/location_consistency.h"

namespace conformance::history {
namespace {

// More would make a long file; then mutexes order nothing, and the file may miss a violation but reports no false one.
constexpr std::size_t kOrdersMax = 64;
constexpr int kTriesMax = 5000;

// Every order in which each mutex can be obtained, and that the rest of the program allows.
std::vector<LockOrder> PossibleLockOrders(const Program& program) {
  LockOrder first;
  for (std::size_t at = 0; at < program.steps.size(); ++at) {
    const Step& step = program.steps[at];
    if (step.kind == Kind::kLock) first[step.number].push_back(static_cast<int>(at));
  }
  std::vector<LockOrder> orders{first};
  int tries = 0;
  for (const auto& [mutex, steps] : first) {
    const std::vector<LockOrder> so_far = std::move(orders);
    orders.clear();
    std::vector<int> permuted = steps;
    do {
      for (LockOrder order : so_far) {
        order[mutex] = permuted;
        if (++tries > kTriesMax || orders.size() == kOrdersMax) return {LockOrder{}};
        if (Order(program, order).consistent()) orders.push_back(order);
      }
    } while (std::next_permutation(permuted.begin(), permuted.end()));
  }
  return orders;
}

class Writer {
 public:
  Writer(const Program& program, const Slots& slots) : program_(program), slots_(slots) {}

  Rules Write() {
    const std::vector<LockOrder> orders = PossibleLockOrders(program_);
    rules_.orders = static_cast<int>(orders.size());
    for (std::size_t i = 0; i < orders.size(); ++i) {
      number_ = static_cast<int>(i);
      const Order order(program_, orders[i]);
      for (const Location& location : LocationsOf(program_)) WriteLocation(order, location);
    }
    return std::move(rules_);
  }

 private:
  int Slot(const Access& read) const { return slots_.at({read.step, read.index}); }
  const Step& StepAt(int step) const { return program_.steps[static_cast<std::size_t>(step)]; }
  std::string Row(const std::vector<std::string>& fields) const {
    std::string row = "    {";
    for (const std::string& field : fields) row += (&field == &fields[0] ? "" : ", ") + field;
    return row + "},\n";
  }

  void WriteLocation(const Order& order, const Location& location) {
    const Legality legality(program_, order);
    if (legality.Undefined(location)) return;
    std::vector<Access> puts = location.puts;
    puts.push_back({kInitially, 0, location.initial});
    const std::string number = std::to_string(number_);
    for (const Access& read : location.reads) {
      for (const Access& put : puts) {
        const auto legal = legality.With(location, read, put);
        if (!legal) continue;
        rules_.legal +=
            Row({number, std::to_string(Slot(read)), HexLiteral(legal->fixed), HexLiteral(legal->optional)});
      }
      for (const Access& later : location.reads) WritePair(order, legality, puts, read, later);
    }
  }

  void WritePair(const Order& order, const Legality& legality, const std::vector<Access>& puts, const Access& read,
                 const Access& later) {
    const Step& a = StepAt(read.step);
    const Step& b = StepAt(later.step);
    if (a.rank != b.rank || a.kind != b.kind || IsRmw(a.kind) || !order.ReadBeforeRead(read.step, later.step)) return;
    const std::string first = std::to_string(Slot(read));
    const std::string second = std::to_string(Slot(later));
    if (number_ == 0) rules_.pairs += Row({first, second});
    for (const Access& newer : puts) {
      for (const Access& older : puts) {
        if (!legality.Before(older, newer)) continue;
        rules_.older += Row({std::to_string(number_), first, second, std::to_string(NumberOf(newer.value)),
                             std::to_string(NumberOf(older.value))});
      }
    }
  }

  const Program& program_;
  const Slots& slots_;
  Rules rules_;
  int number_ = 0;
};

}  // namespace

std::string HexLiteral(long value) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%lxL", static_cast<unsigned long>(value));
  return text;
}

Slots SlotsOf(const Program& program) {
  Slots slots;
  for (std::size_t at = 0; at < program.steps.size(); ++at) {
    if (!Reads(program.steps[at].kind)) continue;
    for (std::size_t i = 0; i < program.steps[at].cells.size(); ++i) {
      const int next = static_cast<int>(slots.size());
      slots[{static_cast<int>(at), static_cast<int>(i)}] = next;
    }
  }
  return slots;
}

Rules RulesOf(const Program& program, const Slots& slots) { return Writer(program, slots).Write(); }

}  // namespace conformance::history
