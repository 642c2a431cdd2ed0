// XFER: value calls, empty calls, packing helpers.

#include <limits>
#include <type_traits>
#include <vector>

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

// Every call with nothing to move; all must succeed and touch nothing.
void EmptyCalls(char* remote, char* local, int target) {
  const double scale = 2;
  void* one = const_cast<double*>(&scale);
  armci_hdl_t handle;
  ARMCI_INIT_HANDLE(&handle);
  EXPECT_EQ(ARMCI_Put(local, remote, 0, target), 0);
  EXPECT_EQ(ARMCI_Get(remote, local, 0, target), 0);
  EXPECT_EQ(ARMCI_Acc(ARMCI_ACC_DBL, one, local, remote, 0, target), 0);
  EXPECT_EQ(ARMCI_Acc(ARMCI_ACC_DBL, one, local, remote + 1, 0, target), 0) << "an address that is not used";
  EXPECT_EQ(ARMCI_NbPut(local, remote, 0, target, &handle), 0);
  EXPECT_EQ(ARMCI_Wait(&handle), 0);
  EXPECT_EQ(ARMCI_NbGet(remote, local, 0, target, nullptr), 0);
  EXPECT_EQ(ARMCI_NbAcc(ARMCI_ACC_DBL, one, local, remote, 0, target, nullptr), 0);
  EXPECT_EQ(ARMCI_WaitProc(target), 0);
  // A zero in each dimension in turn.
  for (int zero = 0; zero < 3; ++zero) {
    int count[] = {16, 2, 2};
    count[zero] = 0;
    int stride[] = {32, 64};
    EXPECT_EQ(ARMCI_PutS(local, stride, remote, stride, count, 2, target), 0) << "dimension " << zero;
    EXPECT_EQ(ARMCI_GetS(remote, stride, local, stride, count, 2, target), 0) << "dimension " << zero;
    EXPECT_EQ(ARMCI_AccS(ARMCI_ACC_DBL, one, local, stride, remote, stride, count, 2, target), 0)
        << "dimension " << zero;
    EXPECT_EQ(ARMCI_NbPutS(local, stride, remote, stride, count, 2, target, nullptr), 0) << "dimension " << zero;
  }
  void* src[] = {local};
  void* dst[] = {remote};
  void* back[] = {local};
  armci_giov_t no_segments = Descriptor(src, dst, 8, 0);
  armci_giov_t no_bytes = Descriptor(src, dst, 0, 1);
  armci_giov_t get_no_bytes = Descriptor(dst, back, 0, 1);
  for (armci_giov_t* giov : {&no_segments, &no_bytes}) {
    EXPECT_EQ(ARMCI_PutV(giov, 1, target), 0);
    EXPECT_EQ(ARMCI_AccV(ARMCI_ACC_DBL, one, giov, 1, target), 0);
    EXPECT_EQ(ARMCI_NbPutV(giov, 1, target, nullptr), 0);
  }
  EXPECT_EQ(ARMCI_GetV(&get_no_bytes, 1, target), 0);
  EXPECT_EQ(ARMCI_PutV(&no_bytes, 0, target), 0) << "no descriptor at all";
  EXPECT_EQ(ARMCI_WaitAll(), 0);
}

CLAUSE_TEST(XFER, XFER3_nothing_to_move, "XFER-3", "XFER-4") {
  Arena arena(1024);
  Bytes local(512, 'l');
  for (int target = 0; target < Np(); ++target) {
    arena.Refill(&MyRng(), target);
    EmptyCalls(arena.Slot(target) + 128, local.data() + 64, target);
    EXPECT_EQ(local, Bytes(512, 'l'));
    arena.Verify(target, "empty calls");
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
