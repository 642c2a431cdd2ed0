// LC and RMW: histories of random programs.
//
// Every rank makes the same program from the seed, all run it, rank 0 judges what was read. When a history is illegal,
// the ranks together run smaller programs until they have a small one that still fails; that one is printed, and
// written as a C file that needs nothing of this suite.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "conformance/harness/test.h"
#include "conformance/history/check.h"
#include "conformance/history/emit_c.h"
#include "conformance/history/execute.h"
#include "conformance/history/generate.h"
#include "conformance/history/shrink.h"

namespace conformance::history {
namespace {

// Failures of one program that are waited for, to learn how often it fails.
constexpr int kTrials = 20;
// Runs of one program, at most.
constexpr int kRunsMax = 200;

// A test goes on until its programs have run and the ranks have met so often at one location, but no longer than this:
// with fewer cores than ranks they may never run together.
long OverlapsEnough() { return Scaled(5000L, 500L); }
double SecondsMax() { return Scaled(10.0, 0.8); }
constexpr int kProgramsMin = 10;

// Runs programs and shrinks the first that fails. Collective throughout; what was found is known on rank 0.
class Investigation {
 public:
  explicit Investigation(std::string test) : test_(std::move(test)) {}

  // Runs a program once. Returns, on all ranks alike, whether its history is illegal.
  bool Fails(const Program& program) {
    const History history = executor_.Run(program);
    Findings findings;
    if (Me() == 0) findings = CheckHistory(program, history);
    reads_ += findings.reads;
    calls_ += findings.calls;
    undefined_ += findings.undefined_locations;
    if (findings.violation) violation_ = findings.violation;
    struct Word {
      long overlaps;
      double now;
      bool failed;
    };
    const Word word = FromRank(0, Word{findings.overlaps, SharedClock(), findings.violation.has_value()});
    overlaps_ += word.overlaps;
    now_ = word.now;
    return word.failed;
  }

  // After Fails: shrinks, and fails the test on rank 0.
  void Explain(const Program& program) {
    if (Me() == 0) {
      // Should a smaller program bring the job down, this much is known.
      std::printf("illegal history%s [%s] %s\nshrinking ...\n", SeedText().c_str(), violation_->clause,
                  violation_->text.c_str());
      std::fflush(stdout);
    }
    const Violation first = violation_.value_or(Violation{});
    shown_ = first;
    const Sample before = Try(program, kRunsMax, kTrials);
    if (before.failures > 0) shown_ = before.last;
    const Program smallest = before.failures > 0 ? Smaller(program, before) : program;
    const Sample after = Try(smallest, kTrials, kTrials);
    if (Me() != 0) return;
    const std::string text = "illegal history" + SeedText() + " [" + first.clause + "] " + first.text +
                             "\nthe program failed again in " + before.Text() + ", the smallest found in " +
                             after.Text() + ":\n" + TextOf(smallest) + "it shows [" + shown_.clause + "] " +
                             shown_.text + "\n" + WriteC(smallest);
    ADD_FAILURE() << text;
  }

  // The same on all ranks: how often they met so far, and the time of rank 0 after the last run.
  long overlaps() const { return overlaps_; }
  double now() const { return now_; }
  // On rank 0.
  long reads() const { return reads_; }
  long calls() const { return calls_; }
  long undefined() const { return undefined_; }

 private:
  // Several runs of one program.
  struct Sample {
    int failures = 0;
    int runs = 0;
    Violation last{};  // on rank 0

    std::string Text() const { return std::to_string(failures) + " of " + std::to_string(runs) + " runs"; }
  };

  // Runs it until it has failed `enough` times.
  Sample Try(const Program& program, int runs_max, int enough) {
    Sample sample;
    while (sample.runs < runs_max && sample.failures < enough) {
      ++sample.runs;
      if (!Fails(program)) continue;
      ++sample.failures;
      if (Me() == 0) sample.last = *violation_;
    }
    return sample;
  }

  // As many runs for each candidate as make the known failure show almost certainly; rank 0's clock ends it.
  Program Smaller(const Program& program, const Sample& known) {
    // Once is not enough: a program that fails often would be traded for one that nearly never does.
    constexpr int kEnough = 2;
    const int runs = std::min(kRunsMax, 2 * kEnough * known.runs / known.failures);
    const double end = now_ + Scaled(20.0, 8.0);
    return Shrink(program, [&](const Program& candidate) {
      const Sample sample = Try(candidate, runs, kEnough);
      if (sample.failures < kEnough) return now_ > end ? Trial::kStop : Trial::kPasses;
      shown_ = sample.last;
      return Trial::kFails;
    });
  }

  // The C file; returns it, or where it is.
  std::string WriteC(const Program& program) const {
    std::string story = std::string(shown_.clause) + ": " + shown_.text + "\n\n" + test_ + SeedText() + ", " +
                        std::to_string(Np()) + " processes";
    for (std::size_t at = story.find('\n'); at != std::string::npos; at = story.find('\n', at + 1)) {
      const bool blank = at + 1 < story.size() && story[at + 1] == '\n';
      story.insert(at + 1, blank ? " *" : " * ");
    }
    const std::string code = EmitC(program, story);
    if (!ArtifactsFolder().empty()) {
      const std::string name = ArtifactsFolder() + "/" + test_ + "_seed" + std::to_string(Seed()) + ".c";
      std::error_code ignored;  // only whether the file can be written matters
      std::filesystem::create_directories(ArtifactsFolder(), ignored);
      std::ofstream file(name);
      file << code;
      file.close();
      if (file.good()) return "as a C program: " + name;
    }
    return "as a C program:\n---- begin of reproducer.c ----\n" + code + "---- end of reproducer.c ----";
  }

  const std::string test_;
  Executor executor_;
  std::optional<Violation> violation_;  // of the last run that failed
  Violation shown_{};                   // of the smallest program so far, on rank 0
  long reads_ = 0;
  long calls_ = 0;
  long undefined_ = 0;
  long overlaps_ = 0;
  double now_ = 0;
};

// Every rank must have made the same program from the seed; one that had not would hang the others.
void ExpectSameProgram(const Program& program) {
  const long mine = static_cast<long>(HashName(TextOf(program)) >> 1);
  EXPECT_EQ(FromRank(0, mine), mine) << "the ranks disagree about the program" << SeedText();
  Agree();
}

void RunPrograms(const std::string& test, Recipe recipe, int programs) {
  if (!ClockIsShared()) SkipTest("needs all ranks on one machine's clock");
  bool one_node = true;
  for (int p = 0; p < Np(); ++p) one_node = one_node && SameNode(p);
  recipe.loads_anywhere = AllAgreeOn(one_node);
  Investigation investigation(test);
  const double end = FromRank(0, SharedClock()) + SecondsMax();
  const auto finished = [&](int run) {
    if (run >= kProgramsMin && investigation.now() > end) return true;
    return run >= programs && (Np() == 1 || investigation.overlaps() >= OverlapsEnough());
  };
  int made = 0;
  for (; !finished(made); ++made) {
    const Program program = Generate(SharedRng().Next(), Np(), recipe);
    if (made == 0) ExpectSameProgram(program);
    if (!investigation.Fails(program)) continue;
    investigation.Explain(program);
    return;
  }
  if (Me() != 0) return;
  Report("history.programs", std::to_string(made));
  Report("history.reads", std::to_string(investigation.reads()));
  Report("history.calls", std::to_string(investigation.calls()));
  Report("history.overlaps", std::to_string(investigation.overlaps()));
  EXPECT_GT(recipe.counters_only ? investigation.calls() : investigation.reads(), 0) << "nothing was judged";
  EXPECT_EQ(investigation.undefined(), 0) << "a random program lets stores of different classes meet" << SeedText();
}

struct Campaign {
  const char* suite;
  const char* name;
  std::vector<std::string> clauses;
  Recipe recipe;
  int programs;
  int programs_quick;
};

Recipe Only(bool barriers, bool mutexes, bool notifications, bool messages, int steps = 40) {
  Recipe recipe;
  recipe.steps = steps;
  recipe.barriers = barriers;
  recipe.mutexes = mutexes;
  recipe.notifications = notifications;
  recipe.messages = messages;
  return recipe;
}

Recipe Counters(int steps, bool synchronised) {
  Recipe recipe = Only(synchronised, false, synchronised, synchronised, steps);
  recipe.counters_only = true;
  return recipe;
}

const std::vector<Campaign>& Campaigns() {
  static const std::vector<Campaign> campaigns{
      {"LC",
       "LC2_histories_of_random_programs",
       {"LC-1", "LC-2", "LC-3", "ORD-4", "RMW-2"},
       Only(true, true, true, true),
       2000,
       200},
      {"LC",
       "LC2_histories_of_long_random_programs",
       {"LC-1", "LC-2", "LC-3", "ORD-4", "RMW-2"},
       Only(true, true, true, true, 400),
       200,
       20},
      {"LC",
       "LC2_histories_with_barriers",
       {"LC-1", "LC-2", "LC-3", "FENCE-4"},
       Only(true, false, false, false),
       1000,
       100},
      {"LC",
       "LC2_histories_with_mutexes",
       {"LC-1", "LC-2", "LC-3", "MUTEX-2"},
       Only(false, true, false, false),
       1000,
       100},
      {"LC",
       "LC2_histories_with_notifications",
       {"LC-1", "LC-2", "LC-3", "ORD-6"},
       Only(false, false, true, false),
       1000,
       100},
      {"LC",
       "LC2_histories_with_messages_after_fences",
       {"LC-1", "LC-2", "LC-3", "FENCE-1"},
       Only(false, false, false, true),
       1000,
       100},
      {"RMW", "RMW2_histories_are_linearizable", {"RMW-2"}, Counters(2000, false), 200, 20},
      {"RMW",
       "RMW2_histories_with_synchronisation_are_linearizable",
       {"RMW-2", "LC-2"},
       Counters(100, true),
       1000,
       100},
  };
  return campaigns;
}

const bool registered [[maybe_unused]] = [] {
  for (const Campaign& campaign : Campaigns()) {
    TestSpec spec;
    spec.clauses = campaign.clauses;
    spec.deadline_s = 90;
    const std::string full_name = std::string(campaign.suite) + "." + campaign.name;
    AddTest({campaign.suite, campaign.name, spec,
             [&campaign, full_name] {
               RunPrograms(full_name, campaign.recipe, Scaled(campaign.programs, campaign.programs_quick));
             },
             __FILE__, __LINE__});
  }
  return true;
}();

}  // namespace
}  // namespace conformance::history
