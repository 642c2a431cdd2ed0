// Judges whether the reads of a random program keep location consistency (LC-1) and return only values that were
// written (LC-3); and, for a given program, which values each read may return.
//
// For one location, a read that returns the value of put or swap s, with the bits of the accumulates and
// fetch-and-adds A, is legal when
//   - s is not ordered after the read, and no other put or swap is ordered after s and before the read;
//   - A contains every addition that is ordered after s and before the read;
//   - A contains no addition that is ordered before s, after the read, or hidden by a put or swap in between.
// Besides, a rank that has seen a value does not see an older one later (ORD-4).
//
// Stores of different classes (put, accumulate, RMW) that meet unordered on one location leave it undefined: such
// locations are not judged, and counted.
#ifndef CONFORMANCE_HISTORY_LOCATION_CONSISTENCY_H_
#define CONFORMANCE_HISTORY_LOCATION_CONSISTENCY_H_

#include <optional>
#include <string>
#include <vector>

#include "conformance/history/order.h"
#include "conformance/history/program.h"
#include "conformance/history/record.h"

namespace conformance::history {

// One cell of one step.
struct Access {
  int step;
  int index;   // of the cell in the step
  long value;  // of a store
};

// All accesses to one location, in the order of the program. An RMW is a read and a store.
struct Location {
  int host = 0;
  int cell = 0;
  long initial = 0;
  std::vector<Access> puts;  // and swaps
  std::vector<Access> adds;  // accumulates and fetch-and-adds
  std::vector<Access> reads;
};
// Counters, whose values name no store, have none.
std::vector<Location> LocationsOf(const Program& program);

// The step of a value that was there from the start.
inline constexpr int kInitially = -1;

// A set of values: `fixed`, and any of the bits in `optional` besides.
struct Legal {
  long fixed;
  long optional;

  bool Allows(long value) const { return (value & ~optional) == fixed; }
};

// The values that reads of a location may return, given the order.
class Legality {
 public:
  // Both are kept by reference.
  Legality(const Program& program, const Order& order) : program_(program), order_(order) {}

  // Whether stores of different classes meet.
  bool Undefined(const Location& location) const;
  // The values that a read that sees this put (kInitially: none) may return; none if it must not see it.
  std::optional<Legal> With(const Location& location, const Access& read, const Access& put) const;

  // The put or swap that hides `put` from the read, if any.
  const Access* HiddenBy(const Location& location, const Access& read, const Access& put) const;
  bool Before(const Access& a, const Access& b) const;  // of two stores
  bool BeforeRead(const Access& a, const Access& read) const;
  bool AfterRead(const Access& a, const Access& read) const;

 private:
  bool MayAdd(const Location& location, const Access& read, const Access& put, const Access& add) const;

  const Program& program_;
  const Order& order_;
};

struct ConsistencyResult {
  std::optional<Violation> violation;
  long reads = 0;               // judged
  int undefined_locations = 0;  // not judged
};
ConsistencyResult CheckConsistency(const Program& program, const History& history, const LockOrder& locks);

}  // namespace conformance::history

#endif  // CONFORMANCE_HISTORY_LOCATION_CONSISTENCY_H_
