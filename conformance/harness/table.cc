#include "conformance/harness/table.h"

#include <algorithm>

#include "conformance/harness/region.h"
#include "conformance/harness/session.h"

namespace conformance {
namespace {

constexpr Shape kAllShapes[] = {Shape::kContiguous, Shape::kStrided, Shape::kVector, Shape::kValue};

bool Exists(const Way& way) {
  if (way.shape != Shape::kValue) return true;
  return way.op == Op::kPut || (way.op == Op::kGet && way.mode == Mode::kBlocking);
}

}  // namespace

std::vector<Way> AllWays() {
  std::vector<Way> ways;
  for (Op op : {Op::kPut, Op::kGet, Op::kAcc}) {
    for (Shape shape : kAllShapes) {
      for (Mode mode : kModes) {
        if (Exists({op, shape, mode})) ways.push_back({op, shape, mode});
      }
    }
  }
  return ways;
}

std::vector<Way> AllCalls() {
  return WaysThat([](const Way& way) { return way.mode == Mode::kBlocking; });
}

std::vector<Way> BlockingStores() {
  return WaysThat([](const Way& way) { return way.mode == Mode::kBlocking && way.op != Op::kGet; });
}

std::vector<Way> ModesOf(const Way& call) {
  return WaysThat([&](const Way& way) { return way.op == call.op && way.shape == call.shape; });
}

std::string NameOfCall(const Way& way) { return std::string(NameOf(way.op)) + "_" + NameOf(way.shape); }

std::string NameOf(const Way& way) { return NameOfCall(way) + "_" + NameOf(way.mode); }

const char* ShapeClause(Shape shape) {
  static constexpr const char* kClauses[] = {"XFER-2", "XFER-5", "XFER-6", "XFER-9"};
  return kClauses[static_cast<int>(shape)];
}

const char* CompletionClause(Op op, Mode mode) {
  switch (mode) {
    case Mode::kBlocking:
      return op == Op::kGet ? "CMPL-2" : "CMPL-1";
    case Mode::kNonblocking:
      return "CMPL-3";
    case Mode::kImplicit:
      return "CMPL-4";
    default:
      return "AGG-1";
  }
}

std::vector<std::size_t> SizesOf(const Way& way) {
  if (way.shape == Shape::kValue) return {4, 8};
  if (way.op == Op::kAcc) return {8, 136, 4096, 65536};
  return {8, 129, 4096, 65536};
}

Plan PlanOf(const Way& way, std::size_t bytes) { return PlanOfSize(way.shape, bytes, bytes % 8 == 0 ? 8 : 1); }

std::vector<int> TableTargets() {
  std::vector<int> targets{Me()};
  bool have_near = false;
  bool have_far = false;
  for (int i = 1; i < Np(); ++i) {
    const int p = (Me() + i) % Np();
    bool& have = SameNode(p) ? have_near : have_far;
    if (!have) targets.push_back(p);
    have = true;
  }
  return targets;
}

TableTransfer::TableTransfer(const Way& way, std::size_t bytes)
    : way_(way), plan_(PlanOf(way, bytes)), transfer_(plan_, way.op, way.mode) {
  transfer_.SetAcc(kTableType, UnitScale(kTableType));
}

void TableTransfer::Model(const char* src, char* dst) const {
  if (way_.op == Op::kAcc) {
    ModelAcc(plan_, kTableType, UnitScale(kTableType).bytes, src, dst);
  } else {
    ModelCopy(plan_, src, dst);
  }
}

void TableTransfer::Fill(Rng* rng, char* to, std::size_t bytes) const {
  if (way_.op == Op::kAcc) {
    FillElements(rng, kTableType, to, bytes);
  } else {
    rng->Fill(to, bytes);
  }
}

}  // namespace conformance
