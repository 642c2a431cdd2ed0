// One run of one benchmark: starts MPI and ARMCI, reads the options, runs the cases, reports.
//
// A benchmark is a list of cases; a case is the ARMCI call and its raw baselines on the same memory. Four kinds:
//
//   alone      rank 0        measure measure measure ... | tell the others
//              other ranks   asleep .................... | wake
//              The target only hosts memory; it sleeps in the kernel, looking for the message every two milliseconds at
//              the end, so that the core, the caches and the memory belong to rank 0.
//
//   served     rank 0        measure measure measure ... | tell the others
//              other ranks   inside MPI_Recv ........... | return
//              MPI serves what it has not in hardware inside its calls only. So that raw calls of MPI and every ARMCI
//              above it meet the same helpful target, it is in one. With --target-sleeps it is outside: then the case
//              shows which library makes progress without the target.
//
//   computing  as alone, but the other ranks compute, outside of any library
//
//   together   every rank    meet asleep, barrier  | act n times | agree on the time span, asleep until all are done
//              The span runs from the first start to the last end, so contention cannot hide at the edges.
//
// Thread safety: one thread per process. All members are collective unless they say otherwise.
#ifndef ARMCI_BENCH_SESSION_SESSION_H_
#define ARMCI_BENCH_SESSION_SESSION_H_

#include <mpi.h>

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bench/common/clock.h"
#include "bench/common/comparison.h"
#include "bench/common/environment.h"
#include "bench/common/local_buffer.h"
#include "bench/common/sampler.h"
#include "bench/common/verification.h"
#include "bench/session/options.h"

namespace armci::bench {

struct Question {
  const char* name;            // of the binary, without the implementation
  const char* text;            // a title; the comment at the top of the program has the question
  int ranks;                   // processes it needs
  bool between_nodes = false;  // whether it has no raw memory in it, so that the processes may be on several nodes
  bool apart = false;          // whether each process has to be on a node of its own
};

enum class Crew { kAlone, kServed, kComputing, kTogether };

struct Case {
  CaseLabel label;
  Crew crew = Crew::kAlone;
  std::function<std::vector<Action>()> actions;
  // Run after measuring, by the ranks that measured: what is wrong with the data, empty when it is right. A fast
  // wrong answer is not a result.
  std::function<std::string()> verify = {};
  double sample_s = 0.5e-3;
  // The call that the others make now and then while they sleep (crew kAlone).
  std::function<void()> meanwhile = {};
  // One iteration is a whole program: it is run a few times, the first one to warm up.
  bool whole = false;
};

// Whether the library has a function of armci.h: one of another repository may lack it. Not collective.
bool LibraryHas(const char* function);

// A case of whole programs, which all processes run together.
Case WholeCase(CaseLabel label, std::function<std::vector<Action>()> actions, std::function<std::string()> verify);

class Session {
 public:
  // Ends the process when the options ask for help or are wrong, or when there are too few ranks.
  Session(int argc, char** argv, Question question);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  bool root() const { return rank_ == 0; }
  const Options& options() const { return options_; }

  // Ends the process because the question cannot be asked like this: "bench: <name> <why>". Collective.
  [[noreturn]] void Refuse(const char* why) const;

  // Whether the filter has it measured. The same everywhere.
  bool Wants(const CaseLabel& label) const { return IsChosen(options_, label); }

  // Runs the cases whose name or size contains the filter, one after the other, sharing the time among them.
  void Run(const std::vector<Case>& cases);

  // Adds a counted result (see CountedCase) if it is wanted; `value` matters on rank 0. Not collective.
  void Count(CaseLabel label, double value);

  // Tells what is wrong with the data of a case and has the run fail, unless `fault` is empty. Not collective.
  void Judge(const CaseLabel& label, const std::string& fault);

  // Adds a fact about the run to the JSON file, by rank 0. Not collective.
  void Note(const std::string& name, const std::string& value) { notes_[name] = value; }

  // Prints the table and writes the JSON file, on rank 0. Returns the exit status of the process: not 0 when data was
  // wrong, the file could not be written, or (--strict) a target was missed.
  int Finish();

  // A together action: the first `active` ranks call `body` n times each; the seconds are those of one call by one
  // process, that is the span divided by n (by the caller) and by `active`.
  template <typename Body>
  Action Each(std::string name, Role role, int active, Body body) const {
    return {std::move(name), role,
            [this, active, body](long iterations) { return Span(active, iterations, body) / active; }};
  }

  // A together action that all ranks perform as one, like a barrier: the seconds are those of one such call.
  template <typename Body>
  Action Jointly(std::string name, Role role, Body body) const {
    return {std::move(name), role, [this, body](long iterations) { return Span(size_, iterations, body); }};
  }

  // The same for what takes long: as it comes, however much other programs disturb it.
  template <typename Body>
  Action Whole(std::string name, Role role, Body body) const {
    return {std::move(name), role, [this, body](long iterations) { return Span(size_, iterations, body, 1); }};
  }

  // Rank 0 acts; the others are meanwhile as `crew` says, which is not kTogether, and call `meanwhile` now and then if
  // they sleep.
  void ActAlone(Crew crew, const std::function<void()>& act, const std::function<void()>& meanwhile = {}) const;

 private:
  // One sample of all processes, seen from all of them: the same values everywhere.
  struct Sample {
    double span_s;       // from the first start to the last end
    double core_wait_s;  // the longest that an acting process waited for a core meanwhile
  };

  template <typename Body>
  double Span(int active, long iterations, Body body, int attempts = kAttempts) const {
    Sample sample = {};
    for (int attempt = 0; attempt < attempts; ++attempt) {
      double start = 0;
      double end = 0;
      StartTogether();
      const double core_wait_before = SecondsWithoutCore();
      if (rank_ < active) {
        start = NowSeconds();
        for (long i = 0; i < iterations; ++i) body();
        end = NowSeconds();
      }
      sample = Agree(active, start, end, SecondsWithoutCore() - core_wait_before);
      if (Undisturbed(active, sample)) break;
    }
    return sample.span_s;
  }

  // Processes that another program kept from running did not contend: such a sample is taken again, a few times.
  static constexpr int kAttempts = 5;
  bool Undisturbed(int active, const Sample& sample) const;
  Sample Agree(int active, double start, double end, double core_wait) const;
  void RequirePlaces() const;
  void StartTogether() const;
  void WakeTheOthers() const;
  void SleepUntilRootIsDone(const std::function<void()>& meanwhile) const;
  void ServeUntilRootIsDone() const;
  void ComputeUntilRootIsDone() const;
  SamplingPlan PlanFor(const Case& one, size_t cases) const;
  void RunOne(const Case& one, size_t cases);
  void Measure(const Case& one, size_t cases);
  void WarnOfDisturbance() const;
  bool WriteJson() const;

  Question question_;
  Options options_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
  int wrong_ = 0;
  std::vector<CaseResult> results_;
  std::map<std::string, std::string> notes_;
};

// Memory of one ARMCI_Malloc with the same size on every rank; the base is the one of `rank`. Collective.
class Region {
 public:
  explicit Region(const Session& session, size_t bytes);
  ~Region();
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  char* on(int rank) const { return static_cast<char*>(bases_[static_cast<size_t>(rank)]); }

 private:
  int rank_;
  std::vector<void*> bases_;
};

// Private memory of ARMCI_Malloc_local, which the library may have made known to a network device. Ends the job when
// memory is short.
class RegisteredBuffer {
 public:
  explicit RegisteredBuffer(size_t bytes);
  ~RegisteredBuffer();
  RegisteredBuffer(const RegisteredBuffer&) = delete;
  RegisteredBuffer& operator=(const RegisteredBuffer&) = delete;

  char* data() const { return data_; }

 private:
  char* data_;
};

// Of `bytes`, whole doubles, between `local` and the memory of `target`, by puts and gets with their fences. Not
// collective.
Mirror MirrorOf(char* local, char* remote, size_t bytes, int target);

// Ends the job with a message unless `ok`: for calls that have to succeed before anything can be measured.
void Require(bool ok, const char* what);

}  // namespace armci::bench

#endif  // ARMCI_BENCH_SESSION_SESSION_H_
