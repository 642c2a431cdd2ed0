// The litmus tests: every program in every form that applies, each a test of its own.

#include <algorithm>
#include <string>

#include "conformance/harness/test.h"
#include "conformance/litmus/run.h"

namespace conformance::litmus {
namespace {

// Both sides of every protocol switch: in the request itself, with a copy in between, in place.
struct Size {
  const char* name;
  std::size_t bytes;
};
constexpr Size kSizes[] = {{"small", 8}, {"medium", 256}, {"large", 16384}, {"long", 128 << 10}};
constexpr std::size_t kLargeBytes = 16384;

constexpr Kind kPuts[] = {Kind::kContiguous, Kind::kStrided, Kind::kVector, Kind::kValue};

bool Applies(const Litmus& litmus, Kind kind, std::size_t bytes) {
  // A value is one element, and what makes no store has no shape.
  if (kind == Kind::kValue && bytes > 8) return false;
  if (!litmus.all_sizes && bytes != kSizes[0].bytes && bytes != kLargeBytes) return false;
  // Data that travel apart from their request: where stores of one process are ordered.
  if (bytes > kLargeBytes && litmus.prefix != "ORD1" && litmus.prefix != "ORD5") return false;
  switch (litmus.stores) {
    case Stores::kNone:
      return kind == Kind::kContiguous && bytes == 8;
    case Stores::kAcc:
      return kind == Kind::kAccumulate;
    case Stores::kPutOrAcc:
      return true;
    case Stores::kContiguousFlag:
      return kind == Kind::kContiguous;
    case Stores::kContiguousOrStridedFlag:
      return kind == Kind::kContiguous || kind == Kind::kStrided;
    default:
      return std::find(std::begin(kPuts), std::end(kPuts), kind) != std::end(kPuts);
  }
}

TestSpec SpecOf(const Litmus& litmus) {
  TestSpec spec = MakeSpec("LC-3", DeadlineSeconds(60));
  for (const std::string& clause : litmus.clauses) spec.clauses.emplace_back(clause);
  const Program program = Parse(litmus);
  spec.min_ranks = std::max(program.letters, static_cast<int>(program.threads.size()));
  return spec;
}

void Register(const Litmus& litmus, Kind kind, const Size& size, bool nonblocking) {
  if (!Applies(litmus, kind, size.bytes) || (nonblocking && litmus.nonblocking.empty())) return;
  std::string name = litmus.prefix + "_litmus_" + litmus.name;
  if (litmus.stores != Stores::kNone) {
    name += std::string("_") + kStoreKindNames[static_cast<int>(kind)] + "_" + size.name +
            (nonblocking ? "_nonblocking" : "_blocking");
  }
  const Litmus* kept = &litmus;
  AddTest({litmus.chapter, name, SpecOf(litmus),
           [=] {
             RunLitmus(*kept, {kind, size.bytes, nonblocking});
           },
           __FILE__, __LINE__});
}

const bool registered [[maybe_unused]] = AddLitmusTests(Programs());

}  // namespace

bool AddLitmusTests(const std::vector<Litmus>& programs) {
  for (const Litmus& litmus : programs) {
    for (Kind kind : {Kind::kContiguous, Kind::kStrided, Kind::kVector, Kind::kValue, Kind::kAccumulate}) {
      for (const Size& size : kSizes) {
        for (bool nonblocking : {false, true}) Register(litmus, kind, size, nonblocking);
      }
    }
  }
  return true;
}

}  // namespace conformance::litmus
