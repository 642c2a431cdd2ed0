// How the iterations go.
//
// Iterations are made in rounds. In a round every iteration has variables of its own (a slot), so the ranks need not
// meet between them to tidy up. They start each iteration together: on one node by flags that they load and store, so
// that the start is sharp and costs less than the iteration itself; otherwise by messages, once for a few iterations.
//
//    round:  zero slots | barrier | start 0: P0 P1 | start 1: P0 P1 | ... | barrier | final values | sum the registers
//
// Every rank has the registers of all then, and all draw the same conclusions: go on, next place, or stop.

#include "conformance/litmus/run.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "conformance/harness/own_core.h"
#include "conformance/harness/test.h"
#include "conformance/litmus/part.h"
#include "conformance/litmus/places.h"

namespace conformance::litmus {
namespace {

constexpr std::size_t kRoundBytes = 2 << 20;
constexpr std::size_t kSlotsMax = 1024;
// Where starting together takes messages.
constexpr std::size_t kSlotsApart = 128;
constexpr std::size_t kIterationsPerMessage = 16;

// How often an outcome came, and the first time it did.
struct Tally {
  long count = 0;
  long iteration = 0;
  std::string place;
};

// When a place has had enough.
struct End {
  double time;
  long iterations;
  bool IsReached(long made) const { return made >= iterations && SharedClock() > time; }
};

std::size_t SlotsFor(const Program& program, const Layout& layout) {
  const std::size_t fit = kRoundBytes / (program.variables.size() * layout.RemoteBytes());
  return std::clamp<std::size_t>(fit, 1, kSlotsMax);
}

class Run {
 public:
  Run(const Litmus& litmus, const Form& form);
  // Returns the places.
  std::string Go(const Extent& extent);
  void ReportAll() const;
  Seen Summary() const;

 private:
  // Iterations at one place, for so long and until there are so many in all. Returns false after a forbidden outcome.
  bool At(const Place& place, double seconds, long iterations);
  void ZeroSlots();
  // As many iterations as there is time for; returns how many.
  std::size_t Iterations(const Place& place, const End& end);
  void FinalValues(const Place& place, std::size_t iterations);
  bool Count(const Place& place, const std::vector<long>& all, std::size_t iterations);
  const std::vector<OutcomeRow>& Table() const { return form_.nonblocking ? litmus_.nonblocking : litmus_.blocking; }
  std::vector<std::string> Values(const std::vector<long>& raw) const;
  std::vector<std::string> Forbidden() const;
  std::string TextOfFailure(const std::vector<long>& raw, const Tally& tally, const OutcomeRow& row) const;
  long* Registers(std::size_t slot) { return registers_.data() + slot * program_.registers.size(); }
  // The slot before which the round ends, set by the first thread; 0: the last.
  char* EndWord() const { return region_.At(threads_[0]); }

  const Litmus& litmus_;
  const Form form_;
  const Program program_;
  const Layout layout_;
  const std::vector<int> threads_;  // rank of each thread
  const int thread_;                // this rank's, or -1
  const OwnCore core_;
  Gate gate_;
  const std::size_t slots_;
  const Region region_;
  const Memory memory_;
  std::optional<Mutexes> mutexes_;
  std::unique_ptr<Part> part_;
  std::vector<long> registers_;
  std::map<std::vector<long>, Tally> tallies_;
  long iterations_ = 0;  // of all rounds
  long gates_ = 0;
};

Run::Run(const Litmus& litmus, const Form& form)
    : litmus_(litmus),
      form_(form),
      program_(Parse(litmus)),
      layout_(form),
      threads_(DrawThreads(static_cast<int>(program_.threads.size()))),
      thread_([&] {
        const auto mine = std::find(threads_.begin(), threads_.end(), Me());
        return mine == threads_.end() ? -1 : static_cast<int>(mine - threads_.begin());
      }()),
      core_(thread_, static_cast<int>(threads_.size())),
      gate_(threads_, core_.close_looks()),
      slots_(gate_.direct() ? SlotsFor(program_, layout_) : std::min(kSlotsApart, SlotsFor(program_, layout_))),
      region_(Memory::kControlBytes + program_.variables.size() * slots_ * layout_.RemoteBytes()),
      memory_{&region_, slots_, layout_.RemoteBytes()} {
  Cast cast{threads_, 0, SharedRng().Next()};
  cast.lock_host = static_cast<int>(SharedRng().Below(static_cast<std::uint64_t>(Np())));
  if (program_.locks) mutexes_.emplace(Me() == cast.lock_host ? 1 : 0);
  if (thread_ < 0) return;
  part_ = std::make_unique<Part>(litmus_, program_, thread_, form_, layout_, memory_, cast, !core_.enough());
}

std::string Run::Go(const Extent& extent) {
  const std::vector<Place> places = DrawPlaces(program_, threads_, litmus_.loads, extent.places);
  const auto number = static_cast<long>(places.size());
  std::string texts;
  for (const Place& place : places) texts += (texts.empty() ? "" : ", ") + place.text;
  for (long i = 0; i < number; ++i) {
    const long iterations = extent.iterations * (i + 1) / number;
    if (!At(places[static_cast<std::size_t>(i)], extent.seconds / static_cast<double>(number), iterations)) break;
  }
  return texts;
}

bool Run::At(const Place& place, double seconds, long iterations) {
  const End end{SharedClock() + seconds, iterations};
  while (true) {
    ZeroSlots();
    Sync();
    // Two more numbers go along with the registers: of the iterations made, and whether time is up.
    registers_.assign(slots_ * program_.registers.size() + 2, 0);
    const std::size_t mine = thread_ >= 0 ? Iterations(place, end) : 0;
    Sync();
    if (thread_ >= 0) FinalValues(place, mine);
    if (thread_ == 0) {
      registers_.end()[-2] = static_cast<long>(mine);
      registers_.end()[-1] = end.IsReached(iterations_ + registers_.end()[-2]);
    }
    const std::vector<long> all = SumOverRanks(registers_);
    const auto made = static_cast<std::size_t>(all.end()[-2]);
    if (!Count(place, all, made)) return false;
    iterations_ += all.end()[-2];
    if (all.end()[-1] != 0) return true;
  }
}

void Run::ZeroSlots() {
  // Every rank has read the last round's values: the sum of the registers was a meeting point.
  ARMCI_Access_begin(region_.Mine());
  std::memset(region_.Mine(), 0, region_.bytes());
  ARMCI_Access_end(region_.Mine());
}

std::size_t Run::Iterations(const Place& place, const End& end) {
  const bool direct = gate_.direct();
  for (std::size_t slot = 0; slot < slots_; ++slot) {
    if (direct && thread_ == 0 && slot > 0 && end.IsReached(iterations_ + static_cast<long>(slot))) {
      StoreShared<long>(EndWord(), static_cast<long>(slot));
    }
    if ((direct || slot % kIterationsPerMessage == 0) && !gate_.Meet(++gates_)) return slot;
    if (direct && slot > 0 && LoadShared<long>(EndWord()) == static_cast<long>(slot)) return slot;
    part_->Run(place, iterations_ + static_cast<long>(slot), slot, Registers(slot));
  }
  return slots_;
}

void Run::FinalValues(const Place& place, std::size_t iterations) {
  for (std::size_t reg = 0; reg < program_.registers.size(); ++reg) {
    const int variable = program_.final_variable[reg];
    if (variable < 0) continue;
    // The threads look in turn.
    for (auto slot = static_cast<std::size_t>(thread_); slot < iterations; slot += threads_.size()) {
      Registers(slot)[reg] = part_->Final(place, iterations_ + static_cast<long>(slot), slot, variable);
    }
  }
}

bool Run::Count(const Place& place, const std::vector<long>& all, std::size_t iterations) {
  const std::size_t width = program_.registers.size();
  for (std::size_t slot = 0; slot < iterations; ++slot) {
    const auto from = all.begin() + static_cast<std::ptrdiff_t>(slot * width);
    Tally& tally = tallies_[std::vector<long>(from, from + static_cast<std::ptrdiff_t>(width))];
    if (tally.count++ == 0) {
      tally.iteration = iterations_ + static_cast<long>(slot);
      tally.place = place.text;
    }
  }
  return std::none_of(tallies_.begin(), tallies_.end(), [&](const auto& outcome) {
    return Judge(Table(), Values(outcome.first)).grade == Grade::kForbidden;
  });
}

std::vector<std::string> Run::Values(const std::vector<long>& raw) const {
  std::vector<std::string> values;
  for (long value : raw) values.push_back(ValueText(value, UnitOf(program_)));
  return values;
}

void Run::ReportAll() const {
  Report("program", TextOf(litmus_));
  const auto report = [&](const std::vector<std::string>& values, Grade grade, long count) {
    Report(std::string("outcome.") + NameOf(grade) + "." + OutcomeText(program_, values), std::to_string(count));
  };
  // The table first, with what never came; then what is not in it.
  for (const OutcomeRow& row : Table()) report(Words(row.values), row.grade, 0);
  for (const auto& [raw, tally] : tallies_) report(Values(raw), Judge(Table(), Values(raw)).grade, tally.count);
}

Seen Run::Summary() const {
  Seen seen{iterations_, {}, Forbidden()};
  for (const OutcomeRow& row : Table()) {
    const std::vector<std::string> values = Words(row.values);
    const bool came = std::any_of(tallies_.begin(), tallies_.end(),
                                  [&](const auto& outcome) { return Values(outcome.first) == values; });
    if (!came && row.grade != Grade::kForbidden) seen.never.push_back(OutcomeText(program_, values));
  }
  return seen;
}

std::vector<std::string> Run::Forbidden() const {
  std::vector<std::string> texts;
  for (const auto& [raw, tally] : tallies_) {
    const OutcomeRow row = Judge(Table(), Values(raw));
    if (row.grade == Grade::kForbidden) texts.push_back(TextOfFailure(raw, tally, row));
  }
  return texts;
}

std::string Run::TextOfFailure(const std::vector<long>& raw, const Tally& tally, const OutcomeRow& row) const {
  std::string bits;
  for (long value : raw) {
    char text[24];
    std::snprintf(text, sizeof text, " 0x%lx", static_cast<unsigned long>(value));
    bits += text;
  }
  std::string command = "python3 spec/model/tables.py outcomes '" + litmus_.places + "' '" + litmus_.registers + "'";
  for (const std::string& thread : litmus_.threads) command += " '" + thread + "'";
  return litmus_.name + ": forbidden outcome " + OutcomeText(program_, Values(raw)) +
         (row.clauses.empty() ? "" : " [" + row.clauses + "]") + "\n  " + TextOf(litmus_) +
         (form_.nonblocking ? ", non-blocking" : "") + "\n  " + std::to_string(tally.count) +
         " times, first in iteration " + std::to_string(tally.iteration) + " at " + tally.place + ", stores " +
         layout_.StorePlan(false).Text() + ", in memory" + bits + SeedText() + "\n  the clauses: " + command;
}

}  // namespace

void RunLitmus(const Litmus& litmus, const Form& form) {
  for (const std::string& function : litmus.needs) {
    if (!LibraryHas(function.c_str())) SkipTest(MissingText(function.c_str()));
  }
  Run run(litmus, form);
  Report("places", run.Go({Scaled(0.09, 0.012), Scaled<std::size_t>(6, 2)}));
  if (Me() != 0) return;
  run.ReportAll();
  for (const std::string& text : run.Summary().forbidden) ADD_FAILURE() << text;
}

Seen RunQuietly(const Litmus& litmus, const Form& form, const Extent& extent) {
  Run run(litmus, form);
  run.Go(extent);
  return run.Summary();
}

}  // namespace conformance::litmus
