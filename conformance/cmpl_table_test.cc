// CMPL, AGG: in every shape and mode, what local completion lets the program do with its buffer; generated.

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "conformance/harness/table.h"
#include "conformance/harness/test.h"

namespace conformance {
namespace {

// How the program learns that its operations are locally complete.
enum class Ending { kReturn, kWait, kTest, kWaitProc, kWaitAll };

std::vector<Ending> EndingsOf(Mode mode) {
  switch (mode) {
    case Mode::kBlocking:
      return {Ending::kReturn};
    case Mode::kImplicit:
      return {Ending::kWaitProc, Ending::kWaitAll};
    case Mode::kNonblocking:
      return {Ending::kWait, Ending::kTest, Ending::kWaitProc, Ending::kWaitAll};
    default:
      // A test before the wait may leave aggregated operations unissued.
      return {Ending::kWait};
  }
}

void Complete(Ending ending, armci_hdl_t* handle, int target) {
  switch (ending) {
    case Ending::kReturn:
      return;
    case Ending::kWait:
      EXPECT_EQ(ARMCI_Wait(handle), 0);
      return;
    case Ending::kTest:
      WaitUntil([&] { return ARMCI_Test(handle) == 0; }, "ARMCI_Test to return 0");
      return;
    case Ending::kWaitProc:
      EXPECT_EQ(ARMCI_WaitProc(target), 0);
      return;
    case Ending::kWaitAll:
      EXPECT_EQ(ARMCI_WaitAll(), 0);
      return;
  }
}

// `pieces` transfers one behind the other, all pending together. Once they are complete the buffer of a store is
// overwritten, which must not arrive; that of a get must hold the data.
class Volley {
 public:
  Volley(const Way& way, std::size_t bytes, int pieces, Arena* arena, int target)
      : way_(way), arena_(arena), target_(target), text_(NameOf(way) + ", " + std::to_string(bytes) + " bytes") {
    for (int i = 0; i < pieces; ++i) {
      transfers_.push_back(std::make_unique<TableTransfer>(way, bytes));
      const Plan& plan = transfers_.back()->plan();
      window_ = (static_cast<std::size_t>(std::max(plan.SrcEnd(), plan.DstEnd())) + 63) / 64 * 64;
    }
    local_.resize(window_ * transfers_.size());
    EXPECT_LE(local_.size() + kGuard, arena->slot_bytes()) << "the table has outgrown its slots";
    transfers_[0]->Fill(&MyRng(), local_.data(), local_.size());
    ARMCI_INIT_HANDLE(&handle_);
  }

  bool Run(Ending ending) {
    expected_ = local_;
    if (way_.mode == Mode::kAggregate) ARMCI_SET_AGGREGATE_HANDLE(&handle_);
    for (std::size_t i = 0; i < transfers_.size(); ++i) StartOne(i);
    Complete(ending, &handle_, target_);
    if (way_.mode == Mode::kAggregate) ARMCI_UNSET_AGGREGATE_HANDLE(&handle_);
    if (way_.op != Op::kGet) {
      std::fill(local_.begin(), local_.end(), 'X');
      return arena_->Verify(target_, "overwritten source of " + text_ + SeedText());
    }
    const auto same = SameBytes(expected_.data(), local_.data(), local_.size());
    EXPECT_TRUE(same) << text_ << SeedText();
    return same;
  }

 private:
  void StartOne(std::size_t i) {
    TableTransfer& one = *transfers_[i];
    char* here = local_.data() + i * window_;
    char* there = arena_->Slot(target_) + kGuard + i * window_;
    char* image = arena_->Image(target_) + kGuard + i * window_;
    armci_hdl_t* handle = way_.mode == Mode::kImplicit ? nullptr : &handle_;
    if (way_.op == Op::kGet) {
      one.Model(image, expected_.data() + i * window_);
      EXPECT_EQ(one.transfer().StartOn(handle, there, here, target_), 0) << text_;
    } else {
      one.Model(here, image);
      EXPECT_EQ(one.transfer().StartOn(handle, here, there, target_), 0) << text_;
    }
  }

  const Way way_;
  Arena* const arena_;
  const int target_;
  const std::string text_;
  std::vector<std::unique_ptr<TableTransfer>> transfers_;
  std::size_t window_ = 0;
  Bytes local_;
  Bytes expected_;
  armci_hdl_t handle_;
};

// The number of transfers pending together; a long one stays alone.
constexpr int kMany = 16;
int PiecesMax(std::size_t size) { return size > 4096 ? 1 : kMany; }

bool EveryEnding(const Way& way, std::size_t size, Arena* arena, int target) {
  for (std::size_t bytes : SizesOf(way, size)) {
    for (Ending ending : EndingsOf(way.mode)) {
      if (!Volley(way, bytes, 1, arena, target).Run(ending)) return false;
      if (way.mode == Mode::kBlocking || PiecesMax(size) == 1) continue;
      if (!Volley(way, bytes, kMany, arena, target).Run(ending)) return false;
    }
  }
  return true;
}

void BuffersAreTheProgramsAgain(Op op, Mode mode, Width width, std::size_t size) {
  const std::vector<Way> ways =
      WaysThat([=](const Way& each) { return each.op == op && each.mode == mode && each.width == width; });
  Arena arena(ExtentOf(size) * static_cast<std::size_t>(PiecesMax(size)) + 2 * kGuard);
  for (int target : TableTargets()) {
    arena.Refill(&MyRng(), target, op == Op::kAcc ? &kTableType : nullptr);
    ARMCI_Fence(target);
    for (const Way& way : ways) {
      if (!EveryEnding(way, size, &arena, target)) return;
    }
  }
  arena.VerifyByOwners();
}

void AddCase(Op op, Mode mode, Width width) {
  const std::string clause = CompletionClause(op, mode);
  const std::string chapter = clause.substr(0, clause.find('-'));
  const std::string name =
      chapter + clause.substr(clause.find('-') + 1) + "_" + NameOf(mode) + "_" + NameOf(op) + "_frees_its_buffer";
  TestSpec spec = MakeSpec(clause.c_str(), DeadlineSeconds(60));
  // Many operations on one handle; and waits for a process or for all complete explicit operations too.
  if (mode == Mode::kNonblocking) spec.clauses.insert(spec.clauses.end(), {"CMPL-4", "CMPL-5"});
  const auto body = [=] {
    for (std::size_t size : TableSizes()) BuffersAreTheProgramsAgain(op, mode, width, size);
  };
  AddTableTest(width, {chapter, name, spec, body, __FILE__, __LINE__});
}

bool RegisterTable() {
  for (Width width : AllWidths()) {
    for (Op op : {Op::kPut, Op::kGet, Op::kAcc}) {
      for (Mode mode : kModes) AddCase(op, mode, width);
    }
  }
  return true;
}

const bool registered [[maybe_unused]] = RegisterTable();

}  // namespace
}  // namespace conformance
