// Small programs and histories written by hand, for the unit tests.
#ifndef CONFORMANCE_HISTORY_TESTING_H_
#define CONFORMANCE_HISTORY_TESTING_H_

#include <string>
#include <vector>

#include "conformance/history/check.h"
#include "conformance/history/program.h"
#include "conformance/history/record.h"

namespace conformance::history {

// Cells of the hand-written programs.
enum { kX, kY, kSumCell, kMixedCell, kCounterCell };

// Writes a program step by step, with what each read saw. Steps happen one after the other, in the order in which they
// are written, unless said otherwise.
class Script {
 public:
  explicit Script(int ranks) {
    program_.ranks = ranks;
    program_.cells = {
        {Role::kData, 0}, {Role::kData, 8}, {Role::kSum, 64}, {Role::kMixed, 128}, {Role::kCounterLong, 192}};
  }

  // Blocking, on one cell of rank 0.
  Script& Put(int rank, int cell, long value) { return Store(Kind::kPut, rank, cell, value); }
  Script& Acc(int rank, int cell, long bit) { return Store(Kind::kAccumulate, rank, cell, bit); }
  Script& Get(int rank, int cell, long seen) { return Read(Kind::kGet, rank, cell, seen); }
  Script& Load(int rank, int cell, long seen) { return Read(Kind::kLoad, rank, cell, seen); }
  Script& FetchAndAdd(int rank, int cell, long extra, long seen) {
    Store(Kind::kFetchAndAdd, rank, cell, extra);
    return Saw(seen);
  }
  Script& Swap(int rank, int cell, long value, long seen) {
    Store(Kind::kSwap, rank, cell, value);
    return Saw(seen);
  }

  // Changes the last step.
  Script& Nonblocking(int handle) {
    Last().mode = Mode::kNonblocking;
    Last().handle = handle;
    return *this;
  }
  Script& At(int target) {
    Last().target = target;
    return *this;
  }
  Script& During(double start, double end) {
    times_.back() = {start, end};
    return *this;
  }
  // Makes it one unit with an earlier step.
  Script& Of(int unit) {
    Last().unit = unit;
    return *this;
  }

  Script& Wait(int rank, int handle) {
    Add(Kind::kWait, rank).handle = handle;
    return *this;
  }
  Script& Fence(int rank) { return Plain(Kind::kAllFence, rank); }
  Script& Barrier() { return Plain(Kind::kBarrier, kEveryone); }
  Script& MpiBarrier() { return Plain(Kind::kMpiBarrier, kEveryone); }
  Script& Notify(int rank, int target, int unit) { return Plain(Kind::kNotify, rank).At(target).Of(unit); }
  Script& Await(int rank, int target, int unit) { return Plain(Kind::kAwait, rank).At(target).Of(unit); }
  Script& Send(int rank, int target, int unit) { return Plain(Kind::kSend, rank).At(target).Of(unit); }
  Script& Receive(int rank, int target, int unit) { return Plain(Kind::kReceive, rank).At(target).Of(unit); }
  Script& Lock(int rank, int unit) { return Plain(Kind::kLock, rank).Of(unit); }
  Script& Unlock(int rank, int unit) { return Plain(Kind::kUnlock, rank).Of(unit); }

  const Program& program() const { return program_; }
  History history() const {
    History history(program_);
    history.seen = seen_;
    history.times = times_;
    return history;
  }
  Findings Judge() const { return CheckHistory(program_, history()); }
  // The clause that is broken, "" if none is.
  std::string Broken() const {
    const Findings findings = Judge();
    return findings.violation ? findings.violation->clause : "";
  }
  long Initial(int cell) const { return InitialValue(program_, cell); }

 private:
  Step& Last() { return program_.steps.back(); }

  Step& Add(Kind kind, int rank) {
    Step step;
    step.kind = kind;
    step.rank = rank;
    step.unit = 1000 + static_cast<int>(program_.steps.size());
    program_.steps.push_back(step);
    seen_.emplace_back();
    times_.push_back({clock_ + 1, clock_ + 2});
    clock_ += 2;
    return program_.steps.back();
  }
  Script& Plain(Kind kind, int rank) {
    Add(kind, rank);
    return *this;
  }
  Script& Store(Kind kind, int rank, int cell, long value) {
    Step& step = Add(kind, rank);
    step.cells = {cell};
    step.values = {value};
    return *this;
  }
  Script& Read(Kind kind, int rank, int cell, long seen) {
    Add(kind, rank).cells = {cell};
    return Saw(seen);
  }
  Script& Saw(long value) {
    seen_.back() = {value};
    return *this;
  }

  Program program_;
  std::vector<std::vector<long>> seen_;
  std::vector<Interval> times_;
  double clock_ = 0;
};

}  // namespace conformance::history

#endif  // CONFORMANCE_HISTORY_TESTING_H_
