// XFER: value calls, empty calls, packing helpers.

#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "conformance/harness/table.h"
#include "conformance/harness/test.h"

namespace conformance {
namespace {

template <typename T>
int PutValue(T value, void* dst, int proc) {
  if constexpr (std::is_same_v<T, int>) return ARMCI_PutValueInt(value, dst, proc);
  if constexpr (std::is_same_v<T, long>) return ARMCI_PutValueLong(value, dst, proc);
  if constexpr (std::is_same_v<T, float>) return ARMCI_PutValueFloat(value, dst, proc);
  if constexpr (std::is_same_v<T, double>) return ARMCI_PutValueDouble(value, dst, proc);
}

template <typename T>
int NbPutValue(T value, void* dst, int proc, armci_hdl_t* handle) {
  if constexpr (std::is_same_v<T, int>) return ARMCI_NbPutValueInt(value, dst, proc, handle);
  if constexpr (std::is_same_v<T, long>) return ARMCI_NbPutValueLong(value, dst, proc, handle);
  if constexpr (std::is_same_v<T, float>) return ARMCI_NbPutValueFloat(value, dst, proc, handle);
  if constexpr (std::is_same_v<T, double>) return ARMCI_NbPutValueDouble(value, dst, proc, handle);
}

template <typename T>
T GetValue(void* src, int proc) {
  if constexpr (std::is_same_v<T, int>) return ARMCI_GetValueInt(src, proc);
  if constexpr (std::is_same_v<T, long>) return ARMCI_GetValueLong(src, proc);
  if constexpr (std::is_same_v<T, float>) return ARMCI_GetValueFloat(src, proc);
  if constexpr (std::is_same_v<T, double>) return ARMCI_GetValueDouble(src, proc);
}

template <typename T>
void CheckValues() {
  Arena arena(1024);
  const std::vector<T> values{T(0),
                              T(1),
                              T(-1),
                              T(1234567),
                              std::numeric_limits<T>::max(),
                              std::numeric_limits<T>::lowest(),
                              std::numeric_limits<T>::min()};
  for (int target = 0; target < Np(); ++target) {
    arena.Refill(&MyRng(), target);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const T value = values[i];
      // Alignment to the type only, at changing distances from a cache line.
      const std::size_t at = kGuard + sizeof(T) * (i * 5 + 1);
      void* slot = arena.Slot(target) + at;
      std::memcpy(arena.Image(target) + at, &value, sizeof(T));
      EXPECT_EQ(PutValue<T>(value, slot, target), 0);
      EXPECT_EQ(GetValue<T>(slot, target), value);
      arena.Verify(target, "value put");
      T copy{};
      EXPECT_EQ(ARMCI_Get(slot, &copy, sizeof(T), target), 0);
      EXPECT_EQ(copy, value) << "equals the one-element get";

      armci_hdl_t handle;
      ARMCI_INIT_HANDLE(&handle);
      const T other = values[(i + 1) % values.size()];
      std::memcpy(arena.Image(target) + at, &other, sizeof(T));
      EXPECT_EQ(NbPutValue<T>(other, slot, target, &handle), 0);
      EXPECT_EQ(ARMCI_Wait(&handle), 0);
      arena.Verify(target, "non-blocking value put");
      std::memcpy(arena.Image(target) + at, &value, sizeof(T));
      EXPECT_EQ(NbPutValue<T>(value, slot, target, nullptr), 0);
      EXPECT_EQ(ARMCI_WaitProc(target), 0);
      arena.Verify(target, "implicit value put");
    }
  }
  arena.VerifyByOwners();
}

CLAUSE_TEST(XFER, XFER9_int_values, "XFER-9", "XFER-4") { CheckValues<int>(); }
CLAUSE_TEST(XFER, XFER9_long_values, "XFER-9", "XFER-4") { CheckValues<long>(); }
CLAUSE_TEST(XFER, XFER9_float_values, "XFER-9", "XFER-4") { CheckValues<float>(); }
CLAUSE_TEST(XFER, XFER9_double_values, "XFER-9", "XFER-4") { CheckValues<double>(); }

// Each has nothing to move.
std::vector<Plan> EmptyPlans(Shape shape) {
  if (shape == Shape::kContiguous) return {ContiguousPlan(0)};
  std::vector<Plan> plans;
  if (shape == Shape::kStrided) {
    plans.push_back(StridedPlan({0}, {}, {}));
    for (std::size_t zero = 0; zero < 3; ++zero) {
      std::vector<int> count{16, 2, 2};
      count[zero] = 0;
      plans.push_back(StridedPlan(count, {32, 64}, {32, 64}));
    }
    return plans;
  }
  const std::vector<Segment> no_segments;
  const std::vector<Segment> no_bytes{{0, 0, 0}, {8, 8, 0}};
  plans.push_back(VectorPlan(std::vector<std::vector<Segment>>{}));
  plans.push_back(VectorPlan({no_segments, no_segments}));
  plans.push_back(VectorPlan({no_bytes, no_segments, no_bytes}));
  return plans;
}

void MoveNothing(const Way& way, const Plan& plan, char* remote, char* local, int target) {
  Transfer transfer(plan, way.op, way.mode, way.width);
  transfer.SetAcc(kTableType, UnitScale(kTableType));
  const std::string text = NameOf(way) + ": " + plan.Text() + " to " + std::to_string(target);
  EXPECT_EQ(way.op == Op::kGet ? transfer.Start(remote, local, target) : transfer.Start(local, remote, target), 0)
      << text;
  EXPECT_EQ(transfer.Wait(), 0) << text;
}

// Segments of some length, but none of them.
void NoSegmentOfSomeBytes(char* remote, char* local, int target) {
  double scale = 2;
  void* here[] = {local};
  void* there[] = {remote};
  armci_giov_t store = Descriptor(here, there, 8, 0);
  armci_giov_t get = Descriptor(there, here, 8, 0);
  EXPECT_EQ(ARMCI_PutV(&store, 1, target), 0);
  EXPECT_EQ(ARMCI_AccV(ARMCI_ACC_DBL, &scale, &store, 1, target), 0);
  EXPECT_EQ(ARMCI_GetV(&get, 1, target), 0);
}

// Calls that move nothing between others of the same aggregate.
void NothingAmongOthers(Op op, Arena* arena, Bytes* local, int target) {
  constexpr std::size_t kWord = 8;
  char* remote = arena->Slot(target) + kGuard;
  char* image = arena->Image(target) + kGuard;
  armci_hdl_t handle;
  ARMCI_INIT_HANDLE(&handle);
  ARMCI_SET_AGGREGATE_HANDLE(&handle);
  std::size_t at = 0;
  std::vector<Plan> plans;
  for (Shape shape : kShapes) {
    for (const Plan& plan : EmptyPlans(shape)) plans.push_back(plan);
  }
  for (const Plan& plan : plans) {
    Transfer nothing(plan, op, Mode::kAggregate);
    if (op == Op::kPut) {
      EXPECT_EQ(ARMCI_NbPut(local->data() + at, remote + at, kWord, target, &handle), 0);
      EXPECT_EQ(nothing.StartOn(&handle, local->data() + at, remote + at, target), 0) << plan.Text();
      std::copy_n(local->data() + at, kWord, image + at);
    } else {
      EXPECT_EQ(ARMCI_NbGet(remote + at, local->data() + at, kWord, target, &handle), 0);
      EXPECT_EQ(nothing.StartOn(&handle, remote + at, local->data() + at, target), 0) << plan.Text();
    }
    at += kWord;
  }
  EXPECT_EQ(ARMCI_Wait(&handle), 0);
  ARMCI_UNSET_AGGREGATE_HANDLE(&handle);
  EXPECT_TRUE(SameBytes(image, local->data(), at)) << NameOf(op) << SeedText();
}

CLAUSE_TEST(XFER, XFER3_nothing_to_move, "XFER-3", "XFER-4", "ACC-3") {
  Arena arena(1024);
  Bytes local(512, 'l');
  for (int target = 0; target < Np(); ++target) {
    arena.Refill(&MyRng(), target);
    for (const Way& way : WaysThat([](const Way& each) { return each.shape != Shape::kValue; })) {
      for (const Plan& plan : EmptyPlans(way.shape)) {
        MoveNothing(way, plan, arena.Slot(target) + kGuard, local.data() + 64, target);
        // The addresses are not looked at: neither has what an element needs.
        MoveNothing(way, plan, arena.Slot(target) + kGuard + 1, local.data() + 65, target);
      }
    }
    NoSegmentOfSomeBytes(arena.Slot(target) + kGuard, local.data() + 64, target);
    EXPECT_EQ(local, Bytes(512, 'l'));
    if (!arena.Verify(target, "empty calls")) return;
  }
  arena.VerifyByOwners();
}

CLAUSE_TEST(XFER, XFER3_nothing_to_move_among_others_of_an_aggregate, "XFER-3", "AGG-2") {
  Arena arena(1024);
  for (int target : TableTargets()) {
    arena.Refill(&MyRng(), target);
    Bytes local(512);
    MyRng().Fill(local.data(), local.size());
    NothingAmongOthers(Op::kPut, &arena, &local, target);
    if (!arena.Verify(target, "aggregate with empty puts")) return;
    NothingAmongOthers(Op::kGet, &arena, &local, target);
  }
  arena.VerifyByOwners();
}

CLAUSE_TEST(XFER, XFER10_write_strided_packs_and_read_strided_unpacks, "XFER-10") {
  for (int i = 0; i < 200; ++i) {
    const Plan plan = RandomPlan(&MyRng(), Shape::kStrided, 8192, 1);
    Bytes memory(8192 + 64);
    MyRng().Fill(memory.data(), memory.size());
    const std::size_t total = plan.TotalBytes();
    Bytes expected(total);
    std::size_t at = 0;
    for (const Segment& segment : plan.segments) {
      std::copy_n(memory.begin() + segment.src, segment.bytes, expected.begin() + static_cast<std::ptrdiff_t>(at));
      at += segment.bytes;
    }
    std::vector<int> count = plan.count;
    std::vector<int> stride = plan.src_stride;
    const int levels = static_cast<int>(stride.size());
    Bytes packed(total + 8, 'g');
    armci_write_strided(memory.data(), levels, stride.data(), count.data(), packed.data());
    EXPECT_TRUE(SameBytes(expected.data(), packed.data(), total)) << plan.Text() << SeedText();
    EXPECT_EQ(packed[total], 'g') << "one byte too many";

    Bytes unpacked(memory.size(), 'h');
    Bytes model(memory.size(), 'h');
    for (const Segment& segment : plan.segments) {
      std::copy_n(memory.begin() + segment.src, segment.bytes, model.begin() + segment.src);
    }
    armci_read_strided(unpacked.data(), levels, stride.data(), count.data(), packed.data());
    EXPECT_TRUE(SameBytes(model.data(), unpacked.data(), model.size())) << plan.Text() << SeedText();
  }
}

}  // namespace
}  // namespace conformance
