#include "conformance/history/execute.h"

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "armci.h"
#include "conformance/harness/collect.h"
#include "conformance/harness/plan.h"
#include "conformance/harness/session.h"
#include "conformance/history/generate.h"

namespace conformance::history {
namespace {

// The message of a rank to rank 0.
struct ReadValue {
  int step;
  int index;
  long value;
};
struct StepTime {
  int step;
  Interval time;
};

// One rank's run through one program.
class Walk {
 public:
  Walk(const Program& program, const Region& region) : program_(program), region_(region), pending_(kHandles + 1) {
    for (armci_hdl_t& handle : handles_) ARMCI_INIT_HANDLE(&handle);
    // Beforehand, for a deadline's report: during the run texts would keep the ranks apart.
    for (std::size_t at = 0; at < program.steps.size(); ++at) texts_.push_back(TextOf(program, at));
  }

  void Run() {
    for (std::size_t at = 0; at < program_.steps.size(); ++at) {
      const Step& step = program_.steps[at];
      if (step.rank != Me() && step.rank != kEveryone) continue;
      const std::size_t mine = times_.size();
      const PendingNote inside({.what = "step of the history", .detail = texts_[at].c_str()});
      times_.push_back({static_cast<int>(at), {SharedClock(), 0}});
      Do(static_cast<int>(at), step);
      // The wait moves the end of a non-blocking operation further.
      times_[mine].time.end = SharedClock();
    }
    for (int handle = 0; handle <= kImplicitHandle; ++handle) WaitFor(handle);
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }

  // The values read, and the time of each step.
  const std::vector<ReadValue>& values() const { return values_; }
  const std::vector<StepTime>& times() const { return times_; }

 private:
  // A transfer and its local buffer. The plan must stay where it is.
  struct Operation {
    int step;
    std::size_t time;  // index in times_
    Plan plan;
    std::unique_ptr<Transfer> transfer;
    std::vector<char> buffer;
  };

  void Do(int at, const Step& step) {
    int count = 0;
    switch (step.kind) {
      case Kind::kWait:
        return WaitFor(step.handle);
      case Kind::kFence:
        return ARMCI_Fence(step.target);
      case Kind::kAllFence:
        return ARMCI_AllFence();
      case Kind::kLock:
        return ARMCI_Lock(step.number, program_.MutexHost(step.number));
      case Kind::kUnlock:
        return ARMCI_Unlock(step.number, program_.MutexHost(step.number));
      case Kind::kNotify:
        EXPECT_EQ(armci_notify(step.target), 0);
        return;
      case Kind::kAwait:
        EXPECT_EQ(armci_notify_wait(step.target, &count), 0);
        return;
      case Kind::kSend:
      case Kind::kReceive:
        return Message(step);
      case Kind::kBarrier:
        return ARMCI_Barrier();
      case Kind::kMpiBarrier:
        MPI_Barrier(Comm());
        return;
      case Kind::kPause:
        for (volatile int i = 0; i < step.number;) i = i + 1;
        return;
      default:
        return Access(at, step);
    }
  }

  void Message(const Step& step) {
    constexpr int kTags = 32768;
    const int tag = step.unit % kTags;
    if (step.kind == Kind::kReceive) {
      MPI_Recv(nullptr, 0, MPI_BYTE, step.target, tag, Comm(), MPI_STATUS_IGNORE);
    } else {
      MPI_Isend(nullptr, 0, MPI_BYTE, step.target, tag, Comm(), &requests_.emplace_back());
    }
  }

  int OffsetOf(const Step& step, std::size_t index) const {
    return program_.cells[static_cast<std::size_t>(step.cells[index])].offset;
  }
  char* Remote(const Step& step, std::size_t index = 0) const {
    return region_.At(step.target, static_cast<std::size_t>(OffsetOf(step, index)));
  }

  void Access(int at, const Step& step) {
    if (IsRmw(step.kind)) return ReadModifyWrite(at, step);
    if (step.kind == Kind::kLoad) {
      for (std::size_t i = 0; i < step.cells.size(); ++i) Note(at, i, LoadShared<long>(Remote(step, i)));
      return;
    }
    auto operation = std::make_unique<Operation>();
    operation->step = at;
    operation->time = times_.size() - 1;
    operation->plan = PlanOf(program_, step);
    operation->buffer.assign(static_cast<std::size_t>(LocalBytes(program_, step)),
                             step.kind == Kind::kGet ? kPoison : '\0');
    char* local = operation->buffer.data();
    const std::vector<int> offsets = LocalOffsets(program_, step);
    for (std::size_t i = 0; Stores(step.kind) && i < offsets.size(); ++i) {
      const long value = step.values[i] / step.scale;
      std::memcpy(local + offsets[i], &value, sizeof value);
    }
    Start(step, operation.get());
    if (step.mode == Mode::kBlocking) return Complete(*operation);
    pending_[static_cast<std::size_t>(step.handle)].push_back(std::move(operation));
  }

  void Start(const Step& step, Operation* operation) {
    const bool get = step.kind == Kind::kGet;
    const Op op = get ? Op::kGet : step.kind == Kind::kPut ? Op::kPut : Op::kAcc;
    operation->transfer = std::make_unique<Transfer>(operation->plan, op, step.mode);
    const long factor = step.scale;
    Scale scale{};
    std::memcpy(scale.bytes, &factor, sizeof factor);
    operation->transfer->SetAcc({ARMCI_ACC_LNG, "long", 8, 8}, scale);
    armci_hdl_t* handle = step.mode == Mode::kImplicit ? nullptr : &handles_[static_cast<std::size_t>(step.handle)];
    if (step.mode == Mode::kAggregate && pending_[static_cast<std::size_t>(step.handle)].empty()) {
      ARMCI_SET_AGGREGATE_HANDLE(handle);
    }
    char* local = operation->buffer.data();
    char* remote = Remote(step);
    EXPECT_EQ(operation->transfer->StartOn(handle, get ? remote : local, get ? local : remote, step.target), 0)
        << TextOf(program_, static_cast<std::size_t>(operation->step)) << SeedText();
  }

  void WaitFor(int handle) {
    auto& pending = pending_[static_cast<std::size_t>(handle)];
    if (handle == kImplicitHandle) {
      EXPECT_EQ(ARMCI_WaitAll(), 0);
    } else {
      armci_hdl_t* waited = &handles_[static_cast<std::size_t>(handle)];
      EXPECT_EQ(ARMCI_Wait(waited), 0);
      const bool aggregate = !pending.empty() && ModeOf(*pending.front()) == Mode::kAggregate;
      if (aggregate) ARMCI_UNSET_AGGREGATE_HANDLE(waited);
    }
    for (const auto& operation : pending) Complete(*operation);
    pending.clear();
  }

  Mode ModeOf(const Operation& operation) const {
    return program_.steps[static_cast<std::size_t>(operation.step)].mode;
  }

  // The buffer is the program's again: what came in is noted, what went out overwritten at once (CMPL-1, CMPL-3).
  void Complete(Operation& operation) {
    const Step& step = program_.steps[static_cast<std::size_t>(operation.step)];
    times_[operation.time].time.end = SharedClock();
    if (step.kind != Kind::kGet) {
      std::memset(operation.buffer.data(), kPoison, operation.buffer.size());
      return;
    }
    const std::vector<int> offsets = LocalOffsets(program_, step);
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      long value;
      std::memcpy(&value, operation.buffer.data() + offsets[i], sizeof value);
      Note(operation.step, i, value);
    }
  }

  void ReadModifyWrite(int at, const Step& step) {
    const bool swap = step.kind == Kind::kSwap;
    const int extra = swap ? 0 : static_cast<int>(step.values[0]);
    if (program_.cells[static_cast<std::size_t>(step.cells[0])].role == Role::kCounterInt) {
      int value = swap ? static_cast<int>(step.values[0]) : 0;
      EXPECT_EQ(ARMCI_Rmw(swap ? ARMCI_SWAP : ARMCI_FETCH_AND_ADD, &value, Remote(step), extra, step.target), 0);
      return Note(at, 0, value);
    }
    long value = swap ? step.values[0] : 0;
    EXPECT_EQ(ARMCI_Rmw(swap ? ARMCI_SWAP_LONG : ARMCI_FETCH_AND_ADD_LONG, &value, Remote(step), extra, step.target),
              0);
    Note(at, 0, value);
  }

  void Note(int step, std::size_t index, long value) { values_.push_back({step, static_cast<int>(index), value}); }

  const Program& program_;
  const Region& region_;
  std::vector<std::string> texts_;  // of the steps
  armci_hdl_t handles_[kHandles];
  std::vector<std::vector<std::unique_ptr<Operation>>> pending_;  // by handle
  std::vector<MPI_Request> requests_;
  std::vector<ReadValue> values_;
  std::vector<StepTime> times_;
};

}  // namespace

Executor::Executor() : region_(kPartBytesMax), mutexes_(kMutexes), gate_(AllRanks()) {}

void Executor::SetCells(const Program& program) {
  for (std::size_t cell = 0; cell < program.cells.size(); ++cell) {
    const long value = InitialValue(program, program.Location(Me(), static_cast<int>(cell)));
    StoreShared<long>(region_.At(Me(), static_cast<std::size_t>(program.cells[cell].offset)), value);
  }
}

History Executor::Run(const Program& program) {
  SetCells(program);
  Sync();
  gate_.Meet(++runs_);
  Walk walk(program, region_);
  walk.Run();
  // No rank sets cells for the next run while stores of this one are pending.
  Sync();
  const std::vector<ReadValue> values = GatherAtZero(walk.values());
  const std::vector<StepTime> times = GatherAtZero(walk.times());
  if (Me() != 0) return {};
  History history(program);
  for (const ReadValue& read : values) {
    history.seen[static_cast<std::size_t>(read.step)][static_cast<std::size_t>(read.index)] = read.value;
  }
  for (const StepTime& item : times) history.times[static_cast<std::size_t>(item.step)] = item.time;
  return history;
}

}  // namespace conformance::history
