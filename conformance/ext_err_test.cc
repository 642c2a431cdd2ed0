// ERR-1 for the 64-bit twins: each way to move data with each mistake that it can be given; generated.

#include <string>
#include <vector>

#include "conformance/harness/capture.h"
#include "conformance/harness/table.h"
#include "conformance/harness/test.h"

namespace conformance {
namespace {

constexpr std::size_t kBytes = 64;

struct Mistake {
  std::string what;  // the text that the error must have, empty: any
  Plan plan;
  char* remote;
  char* local;
  int proc;
  AccType type = kTableType;
};

// ARMCIX_NbPutS and the like.
std::string CallOf(const Way& way) {
  static constexpr const char* kOps[] = {"Put", "Get", "Acc"};
  static constexpr const char* kShapeLetters[] = {"", "S", "V"};
  return std::string("ARMCIX_") + (way.mode == Mode::kBlocking ? "" : "Nb") + kOps[static_cast<int>(way.op)] +
         kShapeLetters[static_cast<int>(way.shape)];
}

std::vector<Mistake> MistakesOf(const Way& way, char* remote, char* local, int target) {
  const Plan plan = PlanOf(way, kBytes);
  std::vector<Mistake> mistakes{{"-1", plan, remote, local, -1},
                                {std::to_string(Np()), plan, remote, local, Np()},
                                {"", plan, nullptr, local, target},
                                {"", plan, remote, nullptr, target},
                                {"", plan, local, local, target}};
  if (way.shape == Shape::kStrided) {
    const std::vector<int> strides(ARMCI_MAX_STRIDE_LEVEL + 1, 64);
    std::vector<int> count(strides.size() + 1, 1);
    count[0] = 8;
    mistakes.push_back({std::to_string(strides.size()), StridedPlan(count, strides, strides), remote, local, target});
  }
  if (way.op == Op::kAcc) {
    AccType unknown = kTableType;
    unknown.code = 99;
    mistakes.push_back({"99", plan, remote, local, target, unknown});
    // Not a whole number of elements, and an address that no element has.
    mistakes.push_back({"12", PlanOfSize(way.shape, 12, 12), remote, local, target});
    mistakes.push_back({"", plan, remote + 4, local, target});
  }
  return mistakes;
}

void ExpectError(const Way& way, const Mistake& bad) {
  Transfer transfer(bad.plan, way.op, way.mode, way.width);
  transfer.SetAcc(bad.type, UnitScale(kTableType));
  const bool get = way.op == Op::kGet;
  std::vector<std::string> lines;
  int code = 0;
  {
    CapturedStderr capture;
    code = transfer.Start(get ? bad.remote : bad.local, get ? bad.local : bad.remote, bad.proc);
    lines = capture.Lines();
  }
  const std::string text = NameOf(way) + " with bad " + bad.what;
  EXPECT_NE(code, 0) << text;
  ASSERT_EQ(lines.size(), 1u) << text << ": one line on stderr, got " << (lines.empty() ? "none" : lines.back());
  for (const std::string& part : {CallOf(way) + ":", bad.what, "rank " + std::to_string(Me())}) {
    EXPECT_NE(lines[0].find(part), std::string::npos) << text << ": no " << part << " in: " << lines[0];
  }
  EXPECT_EQ(lines[0].back(), ']') << text << ": no clause at the end of: " << lines[0];
}

void NothingIsWritten(Op op) {
  Arena arena(1024);
  Bytes local(1024, 'l');
  for (int target : TableTargets()) {
    arena.Refill(&MyRng(), target, &kTableType);
    for (const Way& way : WaysThat([=](const Way& each) { return each.op == op && each.width == Width::kWide; })) {
      for (const Mistake& bad : MistakesOf(way, arena.Slot(target), local.data(), target)) ExpectError(way, bad);
      EXPECT_EQ(ARMCI_WaitAll(), 0);
      EXPECT_EQ(local, Bytes(1024, 'l')) << "a failed call wrote to local memory: " << NameOf(way);
      if (!arena.Verify(target, "failed calls of " + NameOf(way))) return;
    }
  }
  arena.VerifyByOwners();
}

bool RegisterTable() {
  for (Op op : {Op::kPut, Op::kGet, Op::kAcc}) {
    TestSpec spec = MakeSpec("EXT-1", "ERR-1", "ERR-4");
    if (op == Op::kAcc) spec.clauses.push_back("ACC-5");
    AddTest({"EXT", std::string("EXT1_64bit_") + NameOf(op) + "_with_bad_arguments", spec,
             [op] { NothingIsWritten(op); }, __FILE__, __LINE__});
  }
  return true;
}

const bool registered [[maybe_unused]] = RegisterTable();

}  // namespace
}  // namespace conformance
