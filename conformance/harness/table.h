// The table that tests over every way to move data are generated from: operation x shape x mode, and for each of these
// sizes and targets.
//
// A Way is one row: `put strided aggregate`. Tests are registered in a loop over AllWays(); inside, they go over
// SizesOf(way) and TableTargets().
#ifndef CONFORMANCE_HARNESS_TABLE_H_
#define CONFORMANCE_HARNESS_TABLE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "conformance/harness/plan.h"

namespace conformance {

struct Way {
  Op op;
  Shape shape;
  Mode mode;
};

// All that exist: a value get blocks, and there is no value accumulate.
std::vector<Way> AllWays();
// Those with a property, as in WaysThat([](const Way& way) { return way.op == Op::kGet; }).
template <class Property>
std::vector<Way> WaysThat(Property property) {
  std::vector<Way> ways = AllWays();
  std::erase_if(ways, [&](const Way& way) { return !property(way); });
  return ways;
}
// Every operation in every shape, each once: its mode is Mode::kBlocking. And those of them that store.
std::vector<Way> AllCalls();
std::vector<Way> BlockingStores();
// The modes in which a call exists.
std::vector<Way> ModesOf(const Way& call);
// `put_strided_aggregate`, to be part of a test's name; and `put_strided`.
std::string NameOf(const Way& way);
std::string NameOfCall(const Way& way);
// The clause that says what this shape means.
const char* ShapeClause(Shape shape);
// The clause that says when a call in this mode is locally complete.
const char* CompletionClause(Op op, Mode mode);

// The type that accumulates of the table add.
inline constexpr const AccType& kTableType = kAccTypes[3];

// Small ones, an odd one, a page, and one that no library sends with its request; a value is one element of each width.
std::vector<std::size_t> SizesOf(const Way& way);
// The transfer of a way. Accumulates and whole numbers of elements consist of whole elements of kTableType.
Plan PlanOf(const Way& way, std::size_t bytes);
// More than any local or remote side of a PlanOf reaches.
inline constexpr std::size_t kTableExtent = 160 << 10;

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
  // What a serial program would do.
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
