// ORD-4: a get in every shape and mode, between an earlier and a later store of every kind to the same place, and an
// RMW behind the store; generated.

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "conformance/harness/table.h"
#include "conformance/harness/test.h"

namespace conformance {
namespace {

constexpr std::size_t kElement = 8;

// A store of the table at a place of the slot, with what it stores: whole elements of kTableType.
class Store {
 public:
  Store(const Way& way, std::size_t size, std::ptrdiff_t place)
      : way_(way),
        bytes_(way.shape == Shape::kValue ? kElement : (size + kElement - 1) / kElement * kElement),
        place_(static_cast<std::ptrdiff_t>(kGuard) + place),
        one_(way, bytes_),
        source_(static_cast<std::size_t>(one_.plan().SrcEnd())) {
    FillElements(&MyRng(), kTableType, source_.data(), source_.size());
  }

  const Way& way() const { return way_; }
  const Plan& plan() const { return one_.plan(); }
  std::string Text() const { return NameOf(way_) + " of " + std::to_string(bytes_) + " bytes"; }
  void Model(char* slot) const { one_.Model(source_.data(), slot + place_); }
  void Start(char* slot, int target) {
    EXPECT_EQ(one_.transfer().Start(source_.data(), slot + place_, target), 0) << Text();
  }
  void Wait() { EXPECT_EQ(one_.transfer().Wait(), 0) << Text(); }
  // The offset in the slot of some element that is stored.
  std::size_t SomeElement() const {
    const Segment& segment = plan().segments[MyRng().Below(plan().segments.size())];
    return static_cast<std::size_t>(place_ + segment.dst) + kElement * MyRng().Below(segment.bytes / kElement);
  }

 private:
  const Way way_;
  const std::size_t bytes_;
  const std::ptrdiff_t place_;
  TableTransfer one_;
  Bytes source_;
};

// An RMW on an element that was stored: it gives the stored value, and leaves another one.
void SwapSomeElement(const Store& store, char* slot, char* image, int target, const std::string& text) {
  const std::size_t at = store.SomeElement();
  long before = 0;
  std::memcpy(&before, image + at, sizeof before);
  long value = 0;
  FillElements(&MyRng(), kTableType, reinterpret_cast<char*>(&value), sizeof value);
  std::memcpy(image + at, &value, sizeof value);
  EXPECT_EQ(ARMCI_Rmw(ARMCI_SWAP_LONG, &value, slot + at, 0, target), 0) << text;
  EXPECT_EQ(value, before) << "the RMW at " << at << " missed the earlier store: " << text;
}

// get; store; [RMW;] get: the first shows what was there before, though the store came before anyone looked at its
// buffer; the RMW and the second get show the store, without a fence.
bool GetStoreGet(const Way& get_way, std::size_t bytes, Store* store, int target, Arena* arena) {
  TableTransfer get(get_way, bytes);
  char* slot = arena->Slot(target);
  char* image = arena->Image(target);
  const bool rmw = MyRng().Chance(1, 2);
  const std::string text = NameOf(get_way) + " of " + std::to_string(bytes) + " bytes, " + store->Text() +
                           (rmw ? ", RMW" : "") + ", to " + std::to_string(target) + SeedText();
  Bytes before(static_cast<std::size_t>(get.plan().DstEnd()), '-');
  Bytes after = before;
  Bytes expected_before = before;
  Bytes expected_after = after;
  get.Model(image + kGuard, expected_before.data());
  EXPECT_EQ(get.transfer().Start(slot + kGuard, before.data(), target), 0) << text;
  EXPECT_EQ(get.transfer().Wait(), 0) << text;
  store->Model(image);
  store->Start(slot, target);
  store->Wait();
  if (rmw) SwapSomeElement(*store, slot, image, target, text);
  get.Model(image + kGuard, expected_after.data());
  EXPECT_EQ(Move(get.plan(), Op::kGet, get_way.mode, slot + kGuard, after.data(), target, get_way.width), 0) << text;
  ARMCI_Fence(target);
  const auto old = SameBytes(expected_before.data(), before.data(), before.size());
  const auto now = SameBytes(expected_after.data(), after.data(), after.size());
  EXPECT_TRUE(old) << "the get saw the later store: " << text;
  EXPECT_TRUE(now) << "the get missed the earlier store: " << text;
  return old && now && !::testing::Test::HasFailure();
}

// Those that belong to the tests of a width: the tests of the twins take all in which one of two is a twin.
bool OfWidth(Width width, const Way& one, const Way& other) {
  return (one.width == Width::kWide || other.width == Width::kWide) == (width == Width::kWide);
}

// The stores that a get is tried with: all that belong to the test, or a few where that takes long.
std::vector<Way> StoresWith(const Way& get_way, std::size_t size, Width width) {
  std::vector<Way> ways = AllStores();
  std::erase_if(ways, [&](const Way& store_way) { return !OfWidth(width, get_way, store_way); });
  if (Quick()) KeepSome(&MyRng(), 8, &ways);
  if (size > kSampledBytes) KeepSome(&MyRng(), 2, &ways);
  return ways;
}

bool BetweenStoresAt(const Way& get_way, std::size_t size, Width width, int target, Arena* arena) {
  for (std::size_t bytes : SizesOf(get_way, size)) {
    for (const Way& store_way : StoresWith(get_way, size, width)) {
      Store store(store_way, size, 0);
      if (!GetStoreGet(get_way, bytes, &store, target, arena)) return false;
    }
  }
  return true;
}

// Gets in one shape, with stores in every way.
void BetweenStores(Shape shape, Width width) {
  const std::vector<Way> gets = WaysThat([=](const Way& way) { return way.op == Op::kGet && way.shape == shape; });
  for (std::size_t size : TableSizes()) {
    Arena arena(ExtentOf(size) + 2 * kGuard);
    for (int target : TableTargets()) {
      arena.Refill(&MyRng(), target, &kTableType);
      for (const Way& get_way : gets) {
        if (!BetweenStoresAt(get_way, size, width, target, &arena)) return;
      }
    }
    arena.VerifyByOwners();
  }
}

bool RegisterTable() {
  for (const Way& call : AllCalls()) {
    if (call.op != Op::kGet) continue;
    const Width width = call.width;
    const Shape shape = call.shape;
    AddTableTest(width,
                 {"ORD", "ORD4_" + NameOfCall(call) + "_between_two_stores", MakeSpec("ORD-4", DeadlineSeconds(90)),
                  [=] { BetweenStores(shape, width); }, __FILE__, __LINE__});
  }
  return true;
}

const bool registered [[maybe_unused]] = RegisterTable();

}  // namespace
}  // namespace conformance
