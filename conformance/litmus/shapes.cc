#include "conformance/litmus/shapes.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>

#include "conformance/litmus/run.h"

namespace conformance::litmus {
namespace {

constexpr std::size_t kSizes[] = {8, 256, 16384};
constexpr std::size_t kNamesOfMissing = 40;  // of outcomes that never came, in a report of the short run
constexpr long kFewestIterations = 2000;     // of a program in the full run

std::vector<std::string> SplitAt(const std::string& text, const std::string& mark) {
  std::vector<std::string> parts;
  std::size_t from = 0;
  for (std::size_t to = text.find(mark); to != std::string::npos; to = text.find(mark, from)) {
    parts.push_back(text.substr(from, to - from));
    from = to + mark.size();
  }
  parts.push_back(text.substr(from));
  return parts;
}

bool ReadsItsOwnStore(const std::string& thread) {
  for (const char variable : std::string("xyzu")) {
    const std::string name(1, variable);
    const std::size_t stored = std::min(thread.find(name + "="), thread.find(name + "+="));
    const std::size_t read = thread.rfind("=" + name);
    if (stored != std::string::npos && read != std::string::npos && stored < read) return true;
  }
  return false;
}

bool Has(const Program& program, Act act) {
  return std::any_of(program.threads.begin(), program.threads.end(), [act](const std::vector<Step>& steps) {
    return std::any_of(steps.begin(), steps.end(), [act](const Step& step) { return step.act == act; });
  });
}

Litmus ParseShape(const std::string& line, const ShapeTests& tests) {
  std::vector<std::string> fields = SplitAt(line, " | ");
  Litmus shape;
  shape.name = "a generated program";
  shape.places = fields.front();
  shape.threads.assign(fields.begin() + 1, fields.end() - 2);
  shape.registers = fields.end()[-2];
  // ORD-4 speaks of gets: no process loads what it has stored.
  shape.loads = std::none_of(shape.threads.begin(), shape.threads.end(), ReadsItsOwnStore);
  for (std::string& values : SplitAt(fields.back(), ", ")) {
    const bool is_interesting = values.ends_with(" i");
    if (is_interesting) values.resize(values.size() - 2);
    shape.blocking.push_back({values, is_interesting ? Grade::kInteresting : Grade::kAcceptable});
  }
  shape.calls = tests.calls;
  if (Has(Parse(shape), Act::kStoreFlag)) {
    shape.stores = tests.flags;
    shape.needs = tests.needs;
  }
  return shape;
}

std::vector<Litmus> ParseShapes(const ShapeTests& tests) {
  std::vector<Litmus> all;
  std::istringstream in(tests.texts);
  for (std::string line; std::getline(in, line);) all.push_back(ParseShape(line, tests));
  return all;
}

bool Fits(const Litmus& shape, const Program& program) {
  const auto has = [](const std::string& function) { return LibraryHas(function.c_str()); };
  const int threads = static_cast<int>(program.threads.size());
  if (Has(program, Act::kNotify) && !(has("armci_notify") && has("armci_notify_wait"))) return false;
  if (!std::all_of(shape.needs.begin(), shape.needs.end(), has)) return false;
  return std::max(threads, program.letters) <= Np() && (!program.barriers || threads == Np());
}

std::size_t KindsOf(const Litmus& shape, const Program& program) {
  if (shape.stores == Stores::kContiguousFlag) return 1;
  if (shape.stores == Stores::kContiguousOrStridedFlag) return 2;
  return Has(program, Act::kAccumulate) ? 3 : 4;
}

// The same on all ranks.
Form DrawForm(const Litmus& shape, const Program& program) {
  constexpr Kind kKinds[] = {Kind::kContiguous, Kind::kStrided, Kind::kVector, Kind::kValue};
  const Kind kind = kKinds[SharedRng().Below(KindsOf(shape, program))];
  return {kind, kind == Kind::kValue ? 8 : kSizes[SharedRng().Below(std::size(kSizes))], false};
}

// The programs of a part in the order of this run, the same on all ranks.
std::vector<const Litmus*> DrawPart(const std::vector<Litmus>& shapes, std::size_t part, std::size_t parts) {
  std::vector<const Litmus*> chosen;
  for (std::size_t i = part; i < shapes.size(); i += parts) chosen.push_back(&shapes[i]);
  SharedRng().Shuffle(&chosen);
  return chosen;
}

// The sums of a test.
struct Sums {
  long programs = 0;
  long fewest = 0;
  long iterations = 0;
  long allowed = 0;
  std::vector<std::string> never;
  std::vector<std::string> forbidden;

  void Add(const Litmus& shape, const Seen& seen) {
    fewest = programs++ == 0 ? seen.iterations : std::min(fewest, seen.iterations);
    iterations += seen.iterations;
    allowed += static_cast<long>(shape.blocking.size());
    forbidden.insert(forbidden.end(), seen.forbidden.begin(), seen.forbidden.end());
    for (const std::string& outcome : seen.never) never.push_back(TextOf(shape) + ": " + outcome);
  }

  void ReportAll(std::size_t of) const {
    Report("programs", std::to_string(programs) + " of " + std::to_string(of));
    Report("iterations", std::to_string(iterations));
    Report("fewest iterations of a program", std::to_string(fewest));
    Report("allowed outcomes", std::to_string(allowed));
    Report("never seen", std::to_string(never.size()));
    for (std::size_t i = 0; i < std::min(never.size(), Scaled(never.size(), kNamesOfMissing)); ++i) {
      Report("never seen " + std::to_string(i + 1), never[i]);
    }
  }
};

void RunPart(const std::vector<Litmus>& shapes, std::size_t part, std::size_t parts) {
  const double end = SharedClock() + Scaled(1e9, 0.5);
  const std::vector<const Litmus*> drawn = DrawPart(shapes, part, parts);
  Sums sums;
  for (const Litmus* shape : drawn) {
    const Program program = Parse(*shape);
    if (!Fits(*shape, program)) continue;
    // Rank 0 decides: clocks may differ.
    if (SumOverRanks(Me() == 0 && SharedClock() > end ? 1L : 0L) != 0) break;
    sums.Add(*shape, RunQuietly(*shape, DrawForm(*shape, program),
                                {Scaled(0.04, 0.008), Scaled<std::size_t>(3, 1), Scaled(kFewestIterations, 0L)}));
  }
  sums.ReportAll(drawn.size());
  // At the end: a failure would end the part at the next meeting.
  for (const std::string& text : sums.forbidden) {
    if (Me() == 0) ADD_FAILURE() << text;
  }
}

}  // namespace

bool AddShapeTests(const ShapeTests& tests) {
  // Parsed when the first of them runs.
  const auto shapes = std::make_shared<std::vector<Litmus>>();
  for (std::size_t part = 0; part < tests.parts; ++part) {
    const auto body = [=] {
      if (shapes->empty()) *shapes = ParseShapes(tests);
      RunPart(*shapes, part, tests.parts);
    };
    const std::string number = std::to_string(part + 1) + "_of_" + std::to_string(tests.parts);
    AddTest({tests.chapter, tests.name + "_" + number, tests.spec, body, __FILE__, __LINE__});
  }
  return true;
}

}  // namespace conformance::litmus
