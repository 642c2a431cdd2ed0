// LC-1: the generated litmus programs, a part of them in each test. The short run takes as many of the part as there is
// time for, drawn by the seed; the full run takes all.

#include "conformance/litmus/shapes.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "conformance/harness/test.h"
#include "conformance/litmus/run.h"

namespace conformance::litmus {
namespace {

constexpr std::size_t kParts = 8;
constexpr std::size_t kSizes[] = {8, 256, 16384};
constexpr std::size_t kNamesOfMissing = 40;  // of outcomes that never came, in a report of the short run

bool Has(const Program& program, Act act) {
  return std::any_of(program.threads.begin(), program.threads.end(), [act](const std::vector<Step>& steps) {
    return std::any_of(steps.begin(), steps.end(), [act](const Step& step) { return step.act == act; });
  });
}

bool Fits(const Program& program) {
  const int threads = static_cast<int>(program.threads.size());
  if (Has(program, Act::kNotify) && !(LibraryHas("armci_notify") && LibraryHas("armci_notify_wait"))) return false;
  return std::max(threads, program.letters) <= Np() && (!program.barriers || threads == Np());
}

// The same on all ranks.
Form DrawForm(const Program& program) {
  constexpr Kind kKinds[] = {Kind::kContiguous, Kind::kStrided, Kind::kVector, Kind::kValue};
  const Kind kind = kKinds[SharedRng().Below(Has(program, Act::kAccumulate) ? 3 : 4)];
  return {kind, kind == Kind::kValue ? 8 : kSizes[SharedRng().Below(std::size(kSizes))], false};
}

// The programs of a part in the order of this run, the same on all ranks.
std::vector<const Litmus*> DrawPart(std::size_t part) {
  std::vector<const Litmus*> chosen;
  for (std::size_t i = part; i < Shapes().size(); i += kParts) chosen.push_back(&Shapes()[i]);
  SharedRng().Shuffle(&chosen);
  return chosen;
}

void RunPart(std::size_t part) {
  const double end = SharedClock() + Scaled(1e9, 0.5);
  long programs = 0;
  long fewest = 0;
  long iterations = 0;
  long allowed = 0;
  std::vector<std::string> never;
  std::vector<std::string> forbidden;
  for (const Litmus* shape : DrawPart(part)) {
    const Program program = Parse(*shape);
    if (!Fits(program)) continue;
    // Rank 0 decides: clocks may differ.
    if (SumOverRanks(Me() == 0 && SharedClock() > end ? 1L : 0L) != 0) break;
    const Seen seen = RunQuietly(*shape, DrawForm(program), Scaled(0.04, 0.008), Scaled<std::size_t>(3, 1));
    fewest = programs++ == 0 ? seen.iterations : std::min(fewest, seen.iterations);
    iterations += seen.iterations;
    forbidden.insert(forbidden.end(), seen.forbidden.begin(), seen.forbidden.end());
    allowed += static_cast<long>(shape->blocking.size());
    for (const std::string& outcome : seen.never) never.push_back(TextOf(*shape) + ": " + outcome);
  }
  Report("programs", std::to_string(programs) + " of " + std::to_string(DrawPart(part).size()));
  Report("iterations", std::to_string(iterations));
  Report("fewest iterations of a program", std::to_string(fewest));
  Report("allowed outcomes", std::to_string(allowed));
  Report("never seen", std::to_string(never.size()));
  for (std::size_t i = 0; i < std::min(never.size(), Scaled(never.size(), kNamesOfMissing)); ++i) {
    Report("never seen " + std::to_string(i + 1), never[i]);
  }
  // At the end: a failure would end the part at the next meeting.
  for (const std::string& text : forbidden) {
    if (Me() == 0) ADD_FAILURE() << text;
  }
}

bool AddParts() {
  for (std::size_t part = 0; part < kParts; ++part) {
    TestSpec spec = MakeSpec("LC-1", "LC-3", "LC-4", "ORD-1", "ORD-4", "ORD-6", "CMPL-2", "FENCE-1", "FENCE-2",
                             "FENCE-4", "FENCE-8", "ACC-2", "RMW-2", "RMW-5", "MUTEX-2", DeadlineSeconds(3600));
    spec.min_ranks = 2;
    AddTest({"LC", "LC1_generated_litmus_" + std::to_string(part + 1) + "_of_" + std::to_string(kParts), spec,
             [=] { RunPart(part); }, __FILE__, __LINE__});
  }
  return true;
}

const bool registered [[maybe_unused]] = AddParts();

}  // namespace
}  // namespace conformance::litmus
