// The table that tests over every way to move data are generated from: operation x shape x mode x width, and for each
// of these sizes and targets.
//
// A Way is one row: `put strided aggregate`. Tests are registered in a loop over AllCalls() by AddTableTest; inside,
// they go over TableSizes(), SizesOf(way, size) and TableTargets().
#ifndef CONFORMANCE_HARNESS_TABLE_H_
#define CONFORMANCE_HARNESS_TABLE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "conformance/harness/plan.h"
#include "conformance/harness/registry.h"

namespace conformance {

struct Way {
  Op op;
  Shape shape;
  Mode mode;
  Width width = Width::kClassic;
};

// All that exist: a value get blocks, there is no value accumulate, and values have no 64-bit twins. The twins are
// there where the suite is built with the extensions.
std::vector<Way> AllWays();
// Those with a property, as in WaysThat([](const Way& way) { return way.op == Op::kGet; }).
template <class Property>
std::vector<Way> WaysThat(Property property) {
  std::vector<Way> ways = AllWays();
  std::erase_if(ways, [&](const Way& way) { return !property(way); });
  return ways;
}
// Every operation in every shape and width, each once: its mode is Mode::kBlocking. And those of them that store.
std::vector<Way> AllCalls();
std::vector<Way> BlockingStores();
std::vector<Width> AllWidths();
// The modes in which a call exists.
std::vector<Way> ModesOf(const Way& call);
// All stores in all modes.
std::vector<Way> AllStores();
// `put_strided_aggregate`, for texts; `put_strided`, to be part of a test's name, the same for both widths.
std::string NameOf(const Way& way);
std::string NameOfCall(const Way& way);
// Registers a test of calls of one width. `test` is that of the classic calls; for their twins it becomes a test of
// EXT-1 and the same clauses: XFER.XFER4_x becomes EXT.EXT1_64bit_x.
bool AddTableTest(Width width, TestCase test);
// The clause that says what this shape means.
const char* ShapeClause(Shape shape);
// The clause that says when a call in this mode is locally complete.
const char* CompletionClause(Op op, Mode mode);

// The type that accumulates of the table add.
inline constexpr const AccType& kTableType = kAccTypes[3];

// On both sides of what libraries switch at: one element, rows and odd ends, a page, and rendezvous, registration and
// pipelines between 16 KiB and 1 MiB.
inline constexpr std::size_t kTableSizes[] = {8, 129, 2049, 16385, 65537, (1 << 20) + 1};
// The largest takes long: the quick run leaves it out, and tests that multiply much take a few of its rows.
inline constexpr std::size_t kSampledBytes = 1 << 20;
std::vector<std::size_t> TableSizes();
// The data of a way at a size of the table: whole elements of an accumulate; of the values those of either width, at
// the smallest size; otherwise that many bytes.
std::vector<std::size_t> SizesOf(const Way& way, std::size_t size);
// The transfer of a way. Accumulates and whole numbers of elements consist of whole elements of kTableType.
Plan PlanOf(const Way& way, std::size_t bytes);
// Where the longest local or remote side of a transfer of this size of the table ends; a multiple of 64.
std::size_t ExtentOf(std::size_t size);

// For tests that multiply much by other things: the sizes up to 64 KiB, and a constant that covers their extent.
inline constexpr std::size_t kModestExtent = 160 << 10;
std::vector<std::size_t> ModestSizesOf(const Way& way);

// Keeps `n` of the items, by chance.
template <class Item>
void KeepSome(Rng* rng, std::size_t n, std::vector<Item>* items) {
  rng->Shuffle(items);
  if (items->size() > n) items->resize(n);
}

// One process of each kind there is: the caller, another one on its node, one on another node.
std::vector<int> TableTargets();

// A transfer of the table, ready to start; kAcc adds with a scale of one.
class TableTransfer {
 public:
  TableTransfer(const Way& way, std::size_t bytes);
  TableTransfer(const TableTransfer&) = delete;
  TableTransfer& operator=(const TableTransfer&) = delete;

  const Plan& plan() const { return plan_; }
  Transfer& transfer() { return transfer_; }
  // The result of a serial program.
  void Model(const char* src, char* dst) const;
  // Content that the operation can work on: elements of kTableType for an accumulate, else anything.
  void Fill(Rng* rng, char* to, std::size_t bytes) const;

 private:
  const Way way_;
  const Plan plan_;
  Transfer transfer_;
};

}  // namespace conformance

#endif  // CONFORMANCE_HARNESS_TABLE_H_
