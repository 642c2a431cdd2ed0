#include "conformance/harness/table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "conformance/harness/region.h"
#include "conformance/harness/session.h"

namespace conformance {
namespace {

constexpr Shape kAllShapes[] = {Shape::kContiguous, Shape::kStrided, Shape::kVector, Shape::kValue};

bool Exists(const Way& way) {
  if (way.shape != Shape::kValue) return HasCalls(way.width);
  if (way.width == Width::kWide) return false;
  return way.op == Op::kPut || (way.op == Op::kGet && way.mode == Mode::kBlocking);
}

}  // namespace

std::vector<Way> AllWays() {
  std::vector<Way> ways;
  for (Width width : AllWidths()) {
    for (Op op : {Op::kPut, Op::kGet, Op::kAcc}) {
      for (Shape shape : kAllShapes) {
        for (Mode mode : kModes) {
          if (Exists({op, shape, mode, width})) ways.push_back({op, shape, mode, width});
        }
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

std::vector<Way> AllStores() {
  return WaysThat([](const Way& way) { return way.op != Op::kGet; });
}

std::vector<Width> AllWidths() {
  std::vector<Width> widths{Width::kClassic};
  if (HasCalls(Width::kWide)) widths.push_back(Width::kWide);
  return widths;
}

std::vector<Way> ModesOf(const Way& call) {
  return WaysThat(
      [&](const Way& way) { return way.op == call.op && way.shape == call.shape && way.width == call.width; });
}

std::string NameOfCall(const Way& way) { return std::string(NameOf(way.op)) + "_" + NameOf(way.shape); }

std::string NameOf(const Way& way) {
  return (way.width == Width::kWide ? "64bit_" : "") + NameOfCall(way) + "_" + NameOf(way.mode);
}

bool AddTableTest(Width width, TestCase test) {
  if (width == Width::kWide) {
    test.suite = "EXT";
    test.name = "EXT1_64bit" + test.name.substr(test.name.find('_'));
    test.spec.clauses.insert(test.spec.clauses.begin(), "EXT-1");
  }
  return AddTest(std::move(test));
}

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

std::vector<std::size_t> TableSizes() {
  std::vector<std::size_t> sizes(std::begin(kTableSizes), std::end(kTableSizes));
  if (Quick()) sizes.pop_back();
  return sizes;
}

std::vector<std::size_t> SizesOf(const Way& way, std::size_t size) {
  if (way.shape == Shape::kValue)
    return size == kTableSizes[0] ? std::vector<std::size_t>{4, 8} : std::vector<std::size_t>{};
  if (way.op == Op::kAcc) return {(size + 7) / 8 * 8};
  return {size};
}

Plan PlanOf(const Way& way, std::size_t bytes) { return PlanOfSize(way.shape, bytes, bytes % 8 == 0 ? 8 : 1); }

std::size_t ExtentOf(std::size_t size) {
  std::ptrdiff_t end = 0;
  for (const Way& call : AllCalls()) {
    for (std::size_t bytes : SizesOf(call, size)) {
      const Plan plan = PlanOf(call, bytes);
      end = std::max({end, plan.SrcEnd(), plan.DstEnd()});
    }
  }
  return (static_cast<std::size_t>(end) + 63) / 64 * 64;
}

std::vector<std::size_t> ModestSizesOf(const Way& way) {
  std::vector<std::size_t> sizes;
  for (std::size_t size : kTableSizes) {
    if (size > kModestExtent) break;
    EXPECT_LE(ExtentOf(size), kModestExtent);
    for (std::size_t bytes : SizesOf(way, size)) sizes.push_back(bytes);
  }
  return sizes;
}

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
    : way_(way), plan_(PlanOf(way, bytes)), transfer_(plan_, way.op, way.mode, way.width) {
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
