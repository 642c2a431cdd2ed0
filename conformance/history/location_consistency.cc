#include "conformance/history/location_consistency.h"

#include <cstdio>

namespace conformance::history {
namespace {

enum class StoreClass { kPut, kAccumulate, kRmw };

StoreClass ClassOf(Kind kind) {
  if (kind == Kind::kPut) return StoreClass::kPut;
  return kind == Kind::kAccumulate ? StoreClass::kAccumulate : StoreClass::kRmw;
}

// Judges the reads of one location after the other.
class Checker {
 public:
  Checker(const Program& program, const History& history, const LockOrder& locks)
      : program_(program), history_(history), order_(program, locks), legality_(program, order_) {}

  ConsistencyResult Run() {
    ConsistencyResult result;
    if (!order_.consistent()) {
      // A rank passed its wait before the event that it waited for.
      result.violation = {"LC-1", "the mutexes were obtained in an order that the rest of the program excludes"};
      return result;
    }
    for (const Location& location : LocationsOf(program_)) {
      if (location.reads.empty()) continue;
      if (legality_.Undefined(location)) {
        ++result.undefined_locations;
        continue;
      }
      latest_.assign(static_cast<std::size_t>(2 * program_.ranks), {});
      for (const Access& read : location.reads) {
        ++result.reads;
        result.violation = Judge(location, read);
        if (result.violation) return result;
      }
    }
    return result;
  }

 private:
  // A value seen, by which read.
  struct Sight {
    Access read;
    Access put;
    long bits;
  };

  long Seen(const Access& read) const {
    return history_.seen[static_cast<std::size_t>(read.step)][static_cast<std::size_t>(read.index)];
  }
  Interval Time(int step) const { return history_.times[static_cast<std::size_t>(step)]; }
  const Step& StepAt(int step) const { return program_.steps[static_cast<std::size_t>(step)]; }

  Violation Wrong(const char* clause, const Location& location, const Access& read, const std::string& why) const {
    char value[32];
    std::snprintf(value, sizeof value, "0x%lx", static_cast<unsigned long>(Seen(read)));
    return {clause, TextOf(program_, static_cast<std::size_t>(read.step)) + "\n  returned " + value + " for cell " +
                        std::to_string(location.cell) + " of rank " + std::to_string(location.host) + ": " + why};
  }

  std::string Name(const Access& store) const {
    return store.step == kInitially ? "the initial value" : TextOf(program_, static_cast<std::size_t>(store.step));
  }

  // Began after the read had ended, or is ordered after it: cannot have been seen.
  bool Later(const Access& store, const Access& read) const {
    if (store.step == kInitially) return false;
    return store.step == read.step || legality_.AfterRead(store, read) || Time(store.step).start > Time(read.step).end;
  }

  std::optional<Violation> Judge(const Location& location, const Access& read) {
    const long value = Seen(read);
    const Access* put = nullptr;
    const Access initial{kInitially, 0, location.initial};
    if (NumberOf(value) == NumberOf(initial.value)) put = &initial;
    for (const Access& candidate : location.puts) {
      if (NumberOf(value) == NumberOf(candidate.value)) put = &candidate;
    }
    if (NumberOf(value) < 0) return Wrong("LC-3", location, read, "torn, or never written by anyone");
    if (put == nullptr) return Wrong("LC-3", location, read, "no rank has written this value to this cell");
    if (Later(*put, read)) {
      return Wrong("LC-3", location, read, "a value before it was written by\n  " + Name(*put));
    }
    if (const Access* hiding = legality_.HiddenBy(location, read, *put); hiding != nullptr) {
      return Wrong("LC-1", location, read,
                   "a value written by\n  " + Name(*put) + "\n  and hidden by\n  " + Name(*hiding) +
                       "\n  which is ordered after that and before the read");
    }
    if (auto violation = JudgeAdditions(location, read, *put)) return violation;
    return JudgeAgainstEarlier(location, read, *put);
  }

  std::optional<Violation> JudgeAdditions(const Location& location, const Access& read, const Access& put) const {
    const long bits = Seen(read) & kBits;
    const std::optional<Legal> legal = legality_.With(location, read, put);
    long known = 0;
    for (const Access& add : location.adds) {
      known |= add.value;
      const bool seen = (bits & add.value) != 0;
      if (seen && Later(add, read)) {
        return Wrong("LC-3", location, read, "contains what was added later, by\n  " + Name(add));
      }
      if (legal->Allows((Seen(read) & ~kBits) | (legal->fixed & kBits & ~add.value) | (bits & add.value))) continue;
      return Wrong("LC-1", location, read,
                   (seen ? "contains, though something wrote over it, what was added by\n  "
                         : "lacks, though it is ordered before the read, what was added by\n  ") +
                       Name(add));
    }
    if ((bits & ~known) != 0) return Wrong("LC-3", location, read, "contains a value that no rank has added");
    return std::nullopt;
  }

  // ORD-4, get then get: not an older value than the one seen before. Loads are compared with loads.
  std::optional<Violation> JudgeAgainstEarlier(const Location& location, const Access& read, const Access& put) {
    const Step& step = StepAt(read.step);
    if (IsRmw(step.kind)) return std::nullopt;
    const long bits = Seen(read) & kBits;
    std::vector<Sight>& sights = latest_[static_cast<std::size_t>(2 * step.rank + (step.kind == Kind::kLoad ? 1 : 0))];
    for (const Sight& sight : sights) {
      if (!order_.ReadBeforeRead(sight.read.step, read.step)) continue;
      const bool older = put.step != sight.put.step && legality_.Before(put, sight.put);
      const bool less = put.step == sight.put.step && (sight.bits & ~bits) != 0;
      if (!older && !less) continue;
      return Wrong(
          "ORD-4", location, read,
          "older than what this rank saw in\n  " + TextOf(program_, static_cast<std::size_t>(sight.read.step)));
    }
    // One sight of each value is enough; the earliest, which the most reads come after.
    for (const Sight& sight : sights) {
      if (sight.put.step == put.step && sight.bits == bits) return std::nullopt;
    }
    sights.push_back({read, put, bits});
    return std::nullopt;
  }

  const Program& program_;
  const History& history_;
  const Order order_;
  const Legality legality_;
  std::vector<std::vector<Sight>> latest_;  // of the location, by rank and way of reading
};

}  // namespace

std::vector<Location> LocationsOf(const Program& program) {
  std::vector<Location> locations(static_cast<std::size_t>(program.locations()));
  for (int at = 0; at < program.locations(); ++at) {
    Location& location = locations[static_cast<std::size_t>(at)];
    location.host = at / static_cast<int>(program.cells.size());
    location.cell = at % static_cast<int>(program.cells.size());
    location.initial = InitialValue(program, at);
  }
  for (std::size_t at = 0; at < program.steps.size(); ++at) {
    const Step& step = program.steps[at];
    if (!Accesses(step.kind)) continue;
    for (std::size_t i = 0; i < step.cells.size(); ++i) {
      if (IsCounter(program.cells[static_cast<std::size_t>(step.cells[i])].role)) continue;
      Location& location = locations[static_cast<std::size_t>(program.Location(step.target, step.cells[i]))];
      Access access{static_cast<int>(at), static_cast<int>(i), Stores(step.kind) ? step.values[i] : 0};
      if (Reads(step.kind)) location.reads.push_back(access);
      if (Stores(step.kind)) (Replaces(step.kind) ? location.puts : location.adds).push_back(access);
    }
  }
  return locations;
}

bool Legality::Before(const Access& a, const Access& b) const {
  if (a.step == kInitially || b.step == kInitially) return a.step == kInitially && b.step != kInitially;
  return order_.StoreBeforeStore(a.step, b.step);
}

bool Legality::BeforeRead(const Access& a, const Access& read) const {
  return a.step == kInitially || order_.StoreBeforeRead(a.step, read.step);
}

bool Legality::AfterRead(const Access& a, const Access& read) const {
  return a.step != kInitially && (a.step == read.step || order_.ReadBeforeStore(read.step, a.step));
}

bool Legality::Undefined(const Location& location) const {
  std::vector<Access> stores = location.puts;
  stores.insert(stores.end(), location.adds.begin(), location.adds.end());
  bool classes[3] = {};
  const auto class_of = [&](const Access& store) {
    return ClassOf(program_.steps[static_cast<std::size_t>(store.step)].kind);
  };
  for (const Access& store : stores) classes[static_cast<int>(class_of(store))] = true;
  if (classes[0] + classes[1] + classes[2] < 2) return false;
  for (const Access& a : stores) {
    for (const Access& b : stores) {
      if (class_of(a) != class_of(b) && !Before(a, b) && !Before(b, a)) return true;
    }
  }
  return false;
}

const Access* Legality::HiddenBy(const Location& location, const Access& read, const Access& put) const {
  for (const Access& other : location.puts) {
    if (BeforeRead(other, read) && Before(put, other)) return &other;
  }
  return nullptr;
}

// Whether the read may see the addition on top of the put.
bool Legality::MayAdd(const Location& location, const Access& read, const Access& put, const Access& add) const {
  return !AfterRead(add, read) && !Before(add, put) && HiddenBy(location, read, add) == nullptr;
}

std::optional<Legal> Legality::With(const Location& location, const Access& read, const Access& put) const {
  if (AfterRead(put, read) || HiddenBy(location, read, put) != nullptr) return std::nullopt;
  Legal legal{put.value, 0};
  for (const Access& add : location.adds) {
    if (!MayAdd(location, read, put, add)) continue;
    (Before(put, add) && BeforeRead(add, read) ? legal.fixed : legal.optional) |= add.value;
  }
  return legal;
}

ConsistencyResult CheckConsistency(const Program& program, const History& history, const LockOrder& locks) {
  return Checker(program, history, locks).Run();
}

}  // namespace conformance::history
