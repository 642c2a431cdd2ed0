// ORD-3, ORD-4: pairs of operations on one place, in every shape and mode; generated.

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
  // The elements that are stored to, from one image of the slot to another.
  void CopyPlaces(const char* from, char* to) const {
    for (const Segment& segment : plan().segments) {
      std::memcpy(to + place_ + segment.dst, from + place_ + segment.dst, segment.bytes);
    }
  }
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

// get; store; [RMW;] get: the first shows what was there before, though the store came before the test read its
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

// The values that each element may hold after two unordered stores: as if one or the other was first. An accumulate is
// one step for other accumulates only: where it meets a put it may also have added to what was there before the put.
class Outcomes {
 public:
  Outcomes(const Bytes& before, const Store& one, const Store& other) : images_(2, before) {
    for (const Store* store : {&one, &other}) store->Model(images_[0].data());
    for (const Store* store : {&other, &one}) store->Model(images_[1].data());
    if (one.way().op == other.way().op) return;
    const Store& accumulate = one.way().op == Op::kAcc ? one : other;
    Bytes alone = before;
    accumulate.Model(alone.data());
    images_.push_back(images_[0]);
    accumulate.CopyPlaces(alone.data(), images_[2].data());
  }

  bool Allow(const Bytes& seen, const std::string& text) const {
    for (std::size_t at = 0; at < seen.size(); at += kElement) {
      const bool legal = std::any_of(images_.begin(), images_.end(), [&](const Bytes& image) {
        return std::memcmp(image.data() + at, seen.data() + at, kElement) == 0;
      });
      EXPECT_TRUE(legal) << "the element at " << at << " holds the value of no order of the two: " << text;
      if (!legal) return false;
    }
    return true;
  }

 private:
  std::vector<Bytes> images_;
};

// Two stores without an order, at places that overlap; then a fence, and a blocking store, which comes last.
bool Unordered(Store* first, Store* second, Store* last, int target, Arena* arena) {
  const std::string text = first->Text() + ", " + second->Text() + ", to " + std::to_string(target) + SeedText();
  const std::size_t bytes = arena->slot_bytes();
  char* slot = arena->Slot(target);
  const Bytes before(arena->Image(target), arena->Image(target) + bytes);
  const Outcomes outcomes(before, *first, *second);
  Bytes seen(bytes);
  first->Start(slot, target);
  second->Start(slot, target);
  // The waits in either order too.
  const bool turned = MyRng().Chance(1, 2);
  (turned ? second : first)->Wait();
  (turned ? first : second)->Wait();
  EXPECT_EQ(ARMCI_Get(slot, seen.data(), static_cast<int>(bytes), target), 0) << text;
  if (!outcomes.Allow(seen, "waited for, before the fence: " + text)) return false;
  ARMCI_Fence(target);
  EXPECT_EQ(ARMCI_Get(slot, seen.data(), static_cast<int>(bytes), target), 0) << text;
  if (!outcomes.Allow(seen, "after the fence: " + text)) return false;
  std::copy(seen.begin(), seen.end(), arena->Image(target));
  last->Model(arena->Image(target));
  last->Start(slot, target);
  return arena->Verify(target, last->Text() + " after the fence after " + text);
}

struct Pair {
  Way first;
  Way second;
};

// Every non-blocking way of the call with every store, in both orders.
std::vector<Pair> PairsOf(const Way& call, Width width) {
  std::vector<Pair> pairs;
  for (const Way& one : ModesOf(call)) {
    if (one.mode == Mode::kBlocking) continue;
    for (const Way& other : AllStores()) {
      if (!OfWidth(width, one, other)) continue;
      pairs.push_back({one, other});
      pairs.push_back({other, one});
    }
  }
  return pairs;
}

void WithoutOrder(Op op, Shape shape, Width width) {
  std::vector<Pair> all;
  for (const Way& call : BlockingStores()) {
    if (call.op != op || call.shape != shape) continue;
    const std::vector<Pair> more = PairsOf(call, width);
    all.insert(all.end(), more.begin(), more.end());
  }
  const std::vector<Way> last_ways = BlockingStores();
  for (std::size_t size : TableSizes()) {
    const std::size_t extent = ExtentOf(size);
    Arena arena(2 * extent + 2 * kGuard);
    for (int target : TableTargets()) {
      arena.Refill(&MyRng(), target, &kTableType);
      std::vector<Pair> pairs = all;
      if (Quick()) KeepSome(&MyRng(), 16, &pairs);
      if (size > kSampledBytes) KeepSome(&MyRng(), 6, &pairs);
      for (const Pair& pair : pairs) {
        // From the same place to just apart by a gap; small ones with large ones, too.
        const auto place = [&] { return static_cast<std::ptrdiff_t>(kElement * MyRng().Below(extent / 2 / kElement)); };
        const std::size_t other_size = MyRng().Chance(3, 4) ? size : kTableSizes[MyRng().Below(3)];
        Store first(pair.first, size, place());
        Store second(pair.second, std::min(size, other_size), place());
        Store last(last_ways[MyRng().Below(last_ways.size())], size, place());
        if (!Unordered(&first, &second, &last, target, &arena)) return;
      }
    }
    arena.VerifyByOwners();
  }
}

bool RegisterTable() {
  for (const Way& call : AllCalls()) {
    const Width width = call.width;
    const Shape shape = call.shape;
    const Op op = call.op;
    if (op == Op::kGet) {
      AddTableTest(width,
                   {"ORD", "ORD4_" + NameOfCall(call) + "_between_two_stores", MakeSpec("ORD-4", DeadlineSeconds(90)),
                    [=] { BetweenStores(shape, width); }, __FILE__, __LINE__});
    } else {
      AddTableTest(width, {"ORD", "ORD3_" + NameOfCall(call) + "_and_every_store_are_unordered_until_a_fence",
                           MakeSpec("ORD-3", "FENCE-1", "LC-3", DeadlineSeconds(90)),
                           [=] { WithoutOrder(op, shape, width); }, __FILE__, __LINE__});
    }
  }
  return true;
}

const bool registered [[maybe_unused]] = RegisterTable();

}  // namespace
}  // namespace conformance
