// CMPL: local completion of blocking and non-blocking calls.

#include <memory>
#include <vector>

#include "conformance/harness/table.h"
#include "conformance/harness/test.h"

namespace conformance {
namespace {

// Sizes on both sides of likely switches between ways of moving data.
constexpr std::size_t kSizes[] = {8, 64, 2048, 16384, 65536, 262144};

CLAUSE_TEST(CMPL, CMPL1_source_may_be_overwritten_when_a_blocking_store_returns, "CMPL-1", DeadlineSeconds(60)) {
  constexpr std::size_t kSlot = 1 << 20;
  Arena arena(kSlot);
  for (int target = 0; target < Np(); ++target) {
    arena.Refill(&MyRng(), target);
    for (std::size_t bytes : kSizes) {
      for (Shape shape : kShapes) {
        const Plan plan = PlanOfSize(shape, bytes, 8);
        Bytes local(static_cast<std::size_t>(plan.SrcEnd()));
        MyRng().Fill(local.data(), local.size());
        ModelCopy(plan, local.data(), arena.Image(target) + kGuard);
        EXPECT_EQ(Move(plan, Op::kPut, Mode::kBlocking, local.data(), arena.Slot(target) + kGuard, target), 0);
        std::fill(local.begin(), local.end(), 'X');
        if (!arena.Verify(target, plan.Text())) return;
      }
    }
    long value = 99;
    std::memcpy(arena.Image(target) + kGuard, &value, sizeof value);
    EXPECT_EQ(ARMCI_PutValueLong(value, arena.Slot(target) + kGuard, target), 0);
    arena.Verify(target, "value put");
  }
  arena.VerifyByOwners();
}

CLAUSE_TEST(CMPL, CMPL1_source_and_scale_of_an_accumulate_may_be_overwritten, "CMPL-1", "ACC-1") {
  Arena arena(1 << 20);
  const AccType& type = kAccTypes[1];
  for (int target : TableTargets()) {
    arena.Refill(&MyRng(), target, &type);
    for (std::size_t bytes : kSizes) {
      for (Shape shape : kShapes) {
        const Plan plan = PlanOfSize(shape, bytes, 8);
        Bytes local(static_cast<std::size_t>(plan.SrcEnd()));
        FillElements(&MyRng(), type, local.data(), local.size());
        const Scale scale = SmallScale(&MyRng(), type);
        ModelAcc(plan, type, scale.bytes, local.data(), arena.Image(target) + kGuard);
        Transfer transfer(plan, Op::kAcc, Mode::kBlocking);
        transfer.SetAcc(type, scale);
        EXPECT_EQ(transfer.Start(local.data(), arena.Slot(target) + kGuard, target), 0);
        std::fill(local.begin(), local.end(), 'X');
        transfer.SetAcc(type, Scale{});
        if (!arena.Verify(target, plan.Text())) return;
      }
    }
  }
}

CLAUSE_TEST(CMPL, CMPL2_blocking_get_holds_the_data, "CMPL-2") {
  Arena arena(1 << 20);
  for (int target = 0; target < Np(); ++target) {
    arena.Refill(&MyRng(), target);
    for (std::size_t bytes : kSizes) {
      for (Shape shape : kShapes) {
        if (!CheckGet(&arena, PlanOfSize(shape, bytes, 4), Mode::kBlocking, target, kGuard, kGuard)) return;
      }
    }
  }
}

// Starts a non-blocking operation and calls ARMCI_Test until it says complete; the target does nothing meanwhile.
void TestUntilComplete(Arena* arena, Op op, std::size_t bytes, int target) {
  const Plan plan = ContiguousPlan(bytes);
  Bytes local(bytes);
  MyRng().Fill(local.data(), bytes);
  long one = 1;
  armci_hdl_t handle;
  ARMCI_INIT_HANDLE(&handle);
  char* slot = arena->Slot(target) + kGuard;
  char* image = arena->Image(target) + kGuard;
  const int n = static_cast<int>(bytes);
  switch (op) {
    case Op::kPut:
      EXPECT_EQ(ARMCI_NbPut(local.data(), slot, n, target, &handle), 0);
      ModelCopy(plan, local.data(), image);
      break;
    case Op::kGet:
      EXPECT_EQ(ARMCI_NbGet(slot, local.data(), n, target, &handle), 0);
      break;
    case Op::kAcc:
      EXPECT_EQ(ARMCI_NbAcc(ARMCI_ACC_LNG, &one, local.data(), slot, n, target, &handle), 0);
      ModelAcc(plan, kAccTypes[1], &one, local.data(), image);
      break;
  }
  if (!WaitUntil([&] { return ARMCI_Test(&handle) == 0; }, "ARMCI_Test to return 0")) return;
  EXPECT_EQ(ARMCI_Test(&handle), 0) << "complete once, complete ever after";
  if (op == Op::kGet) {
    EXPECT_TRUE(SameBytes(image, local.data(), bytes));
  } else {
    std::fill(local.begin(), local.end(), 'X');
  }
  arena->Verify(target, std::string("tested ") + NameOf(op));
}

CLAUSE_TEST(CMPL, CMPL3_test_ends_in_zero_without_the_targets_help, "CMPL-3", NeedsRanks(2), DeadlineSeconds(60)) {
  Arena arena((1 << 20) + 512);
  Sync();
  if (Me() == 0) {
    for (int target = 0; target < Np(); ++target) {
      arena.Refill(&MyRng(), target);
      for (std::size_t bytes : {std::size_t{8}, std::size_t{4096}, std::size_t{1} << 20}) {
        for (Op op : {Op::kPut, Op::kGet, Op::kAcc}) TestUntilComplete(&arena, op, bytes, target);
      }
    }
    for (int target = 1; target < Np(); ++target) MPI_Send(nullptr, 0, MPI_INT, target, 0, Comm());
  } else {
    MPI_Recv(nullptr, 0, MPI_INT, 0, 0, Comm(), MPI_STATUS_IGNORE);
  }
}

CLAUSE_TEST(CMPL, CMPL3_wait_completes_every_kind_and_shape, "CMPL-3", "XFER-4") {
  Arena arena((1 << 18) * 2);
  const AccType& type = kAccTypes[3];
  for (int target = 0; target < Np(); ++target) {
    for (std::size_t bytes : {std::size_t{8}, std::size_t{1024}, std::size_t{1} << 17}) {
      for (Shape shape : kShapes) {
        const Plan plan = PlanOfSize(shape, bytes, 8);
        arena.Refill(&MyRng(), target, &type);
        CheckPut(&arena, plan, Mode::kNonblocking, target, kGuard, kGuard);
        CheckGet(&arena, plan, Mode::kNonblocking, target, kGuard, kGuard);
        arena.Refill(&MyRng(), target, &type);
        if (!CheckAcc(&arena, plan, Mode::kNonblocking, target, type, kGuard, kGuard)) return;
      }
    }
  }
}

CLAUSE_TEST(CMPL, CMPL4_implicit_operations_complete_by_waitproc_and_waitall, "CMPL-4") {
  constexpr int kCount = 200;
  Region region(static_cast<std::size_t>(Np()) * kCount * 8);
  for (int round = 0; round < 4; ++round) {
    std::vector<long> out(static_cast<std::size_t>(Np() * kCount));
    std::vector<long> in(out.size(), -1);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<long>(MyRng().Next());
    const std::vector<long> kept = out;
    const auto at = [&](int target, int i) {
      return region.As<long>(target, static_cast<std::size_t>(Me() * kCount + i));
    };
    for (int i = 0; i < kCount; ++i) {
      for (int target = 0; target < Np(); ++target) {
        EXPECT_EQ(ARMCI_NbPut(&out[static_cast<std::size_t>(target * kCount + i)], at(target, i), 8, target, nullptr),
                  0);
      }
    }
    const auto complete = [&] {
      if (round % 2 == 0) {
        EXPECT_EQ(ARMCI_WaitAll(), 0);
      } else {
        for (int target = 0; target < Np(); ++target) EXPECT_EQ(ARMCI_WaitProc(target), 0);
      }
    };
    complete();
    std::fill(out.begin(), out.end(), -2);
    ARMCI_AllFence();
    for (int i = 0; i < kCount; ++i) {
      for (int target = 0; target < Np(); ++target) {
        EXPECT_EQ(ARMCI_NbGet(at(target, i), &in[static_cast<std::size_t>(target * kCount + i)], 8, target, nullptr),
                  0);
      }
    }
    complete();
    EXPECT_EQ(in, kept);
  }
}

CLAUSE_TEST(CMPL, CMPL4_waitall_completes_explicit_handles_too, "CMPL-4", "CMPL-5") {
  constexpr int kCount = 64;
  Region region(static_cast<std::size_t>(Np()) * kCount * 8);
  const auto word = [&](int target, int origin, int i) {
    return region.As<long>(target, static_cast<std::size_t>(origin * kCount + i));
  };
  for (int offset = 0; offset < std::min(Np(), 3); ++offset) {
    std::vector<armci_hdl_t> handles(kCount);
    std::vector<long> out(kCount);
    const int target = (Me() + offset) % Np();
    for (int i = 0; i < kCount; ++i) {
      const auto index = static_cast<std::size_t>(i);
      ARMCI_INIT_HANDLE(&handles[index]);
      out[index] = 100 * Me() + i;
      EXPECT_EQ(ARMCI_NbPut(&out[index], word(target, Me(), i), 8, target, &handles[index]), 0);
    }
    EXPECT_EQ(ARMCI_WaitAll(), 0);
    std::fill(out.begin(), out.end(), -1);
    for (armci_hdl_t& handle : handles) {
      EXPECT_EQ(ARMCI_Test(&handle), 0) << "completed by WaitAll";
      EXPECT_EQ(ARMCI_Wait(&handle), 0);
    }
    Sync();
    const int origin = (Me() + Np() - offset) % Np();
    for (int i = 0; i < kCount; ++i) EXPECT_EQ(LoadShared<long>(word(Me(), origin, i)), 100 * origin + i);
  }
}

// Many puts on one handle, of any size, and then many gets on the same.
bool ManyOnOneHandle(armci_hdl_t* handle, Arena* arena, int target) {
  constexpr int kPieces = 50;
  char* slot = arena->Slot(target) + kGuard;
  char* image = arena->Image(target) + kGuard;
  Bytes out(kPieces * 200);
  MyRng().Fill(out.data(), out.size());
  for (int i = 0; i < kPieces; ++i) {
    const int bytes = static_cast<int>(1 + MyRng().Below(200));
    char* from = out.data() + 200 * i;
    std::copy_n(from, bytes, image + 200 * i);
    EXPECT_EQ(ARMCI_NbPut(from, slot + 200 * i, bytes, target, handle), 0);
  }
  EXPECT_EQ(ARMCI_Wait(handle), 0);
  std::fill(out.begin(), out.end(), 'X');
  EXPECT_EQ(ARMCI_Wait(handle), 0) << "already completed";
  EXPECT_EQ(ARMCI_Test(handle), 0) << "already completed";
  if (!arena->Verify(target, "many puts on one handle")) return false;
  Bytes in(kPieces * 200, 0);
  for (int i = 0; i < kPieces; ++i) {
    EXPECT_EQ(ARMCI_NbGet(slot + 200 * i, in.data() + 200 * i, 200, target, handle), 0);
  }
  EXPECT_EQ(ARMCI_Wait(handle), 0);
  const auto same = SameBytes(image, in.data(), in.size());
  EXPECT_TRUE(same);
  return same;
}

CLAUSE_TEST(CMPL, CMPL5_one_handle_many_operations_and_reuse, "CMPL-5") {
  Arena arena(1 << 16);
  armci_hdl_t handle;
  ARMCI_INIT_HANDLE(&handle);
  EXPECT_EQ(ARMCI_Test(&handle), 0) << "unused handle";
  EXPECT_EQ(ARMCI_Wait(&handle), 0) << "unused handle";
  for (int target : TableTargets()) {
    arena.Refill(&MyRng(), target);
    for (int round = 0; round < 20; ++round) {
      if (!ManyOnOneHandle(&handle, &arena, target)) return;
    }
  }
}

CLAUSE_TEST(CMPL, CMPL6_a_million_puts_without_a_wait, "CMPL-6", DeadlineSeconds(120)) {
  constexpr long kSlots = 4096;
  const long count = Scaled(1000000, 50000);
  Region region(static_cast<std::size_t>(Np() * kSlots) * 8);
  const auto slot_at = [&](int target, long slot) {
    return region.As<long>(target, static_cast<std::size_t>(Me() * kSlots + slot));
  };
  std::fill_n(region.As<long>(Me()), Np() * kSlots, -9);
  Sync();
  // Put i goes to process i mod Np, slot i / Np mod kSlots; every slot is hit many times.
  std::vector<long> out(static_cast<std::size_t>(count));
  for (long i = 0; i < count; ++i) {
    long* source = &out[static_cast<std::size_t>(i)];
    *source = i;
    const int target = static_cast<int>(i % Np());
    ASSERT_EQ(ARMCI_NbPut(source, slot_at(target, i / Np() % kSlots), 8, target, nullptr), 0) << "put " << i;
  }
  EXPECT_EQ(ARMCI_WaitAll(), 0);
  std::fill(out.begin(), out.end(), -1);
  ARMCI_AllFence();
  // Puts to one word are unordered among themselves: any of them may be the last, but one of them it must be.
  std::vector<long> back(kSlots);
  for (int target = 0; target < Np(); ++target) {
    EXPECT_EQ(ARMCI_Get(slot_at(target, 0), back.data(), kSlots * 8, target), 0);
    for (long slot = 0; slot < kSlots; ++slot) {
      const long seen = back[static_cast<std::size_t>(slot)];
      ASSERT_TRUE(seen >= 0 && seen < count && seen % Np() == target && seen / Np() % kSlots == slot)
          << "target " << target << " slot " << slot << " holds " << seen << ", which was never put there";
    }
  }
}

CLAUSE_TEST(CMPL, CMPL6_many_handles_at_once, "CMPL-6", "CMPL-5", DeadlineSeconds(60)) {
  const auto count = static_cast<std::size_t>(Scaled(200000, 20000));
  const std::vector<int> targets = TableTargets();
  Region region(8 * count * static_cast<std::size_t>(Np()));
  const std::size_t first = static_cast<std::size_t>(Me()) * count;
  std::vector<armci_hdl_t> handles(count);
  std::vector<long> out(count);
  for (std::size_t i = 0; i < count; ++i) {
    const int target = targets[i % targets.size()];
    ARMCI_INIT_HANDLE(&handles[i]);
    out[i] = static_cast<long>(i) + 1;
    ASSERT_EQ(ARMCI_NbPut(&out[i], region.As<long>(target, first + i), 8, target, &handles[i]), 0) << "put " << i;
  }
  // Waited for in the opposite order.
  for (std::size_t i = count; i-- > 0;) ASSERT_EQ(ARMCI_Wait(&handles[i]), 0) << "handle " << i;
  std::fill(out.begin(), out.end(), -1);
  ARMCI_AllFence();
  for (std::size_t k = 0; k < targets.size(); ++k) {
    const int target = targets[k];
    EXPECT_EQ(ARMCI_Get(region.As<long>(target, first), out.data(), static_cast<int>(8 * count), target), 0);
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(out[i], i % targets.size() == k ? static_cast<long>(i) + 1 : 0) << "word " << i << " at " << target;
    }
  }
}

CLAUSE_TEST(CMPL, CMPL7_wait_frees_the_buffer_and_fence_completes_at_the_target, "CMPL-7", "CMPL-3", "FENCE-1") {
  constexpr int kElements = 4096;
  constexpr int kBytes = kElements * 8;
  Region region(static_cast<std::size_t>(Np()) * kBytes);
  for (int target : TableTargets()) {
    char* slot = region.At(target, static_cast<std::size_t>(Me()) * kBytes);
    std::vector<long> out(kElements);
    std::vector<long> in(kElements);
    armci_hdl_t handle;
    ARMCI_INIT_HANDLE(&handle);
    for (long round = 1; round <= Scaled(300, 60); ++round) {
      std::fill(out.begin(), out.end(), round);
      EXPECT_EQ(ARMCI_NbPut(out.data(), slot, kBytes, target, &handle), 0);
      EXPECT_EQ(ARMCI_Wait(&handle), 0);
      // A wait that does not wait lets this overwrite reach the target.
      std::fill(out.begin(), out.end(), -5);
      ARMCI_Fence(target);
      std::fill(in.begin(), in.end(), -round);
      EXPECT_EQ(ARMCI_NbGet(slot, in.data(), kBytes, target, &handle), 0);
      EXPECT_EQ(ARMCI_Wait(&handle), 0);
      ASSERT_EQ(in, std::vector<long>(kElements, round));
    }
  }
}

CLAUSE_TEST(CMPL, CMPL3_shape_arrays_are_read_before_the_call_returns, "CMPL-3", "AGG-2") {
  Region region(static_cast<std::size_t>(Np()) * 4096);
  for (bool aggregate : {false, true}) {
    for (int target = 0; target < Np(); ++target) {
      char* slot = region.At(target, static_cast<std::size_t>(Me()) * 4096);
      Bytes out(512);
      MyRng().Fill(out.data(), out.size());
      Bytes junk(512, 'j');
      armci_hdl_t handle;
      ARMCI_INIT_HANDLE(&handle);
      if (aggregate) ARMCI_SET_AGGREGATE_HANDLE(&handle);
      void* src[] = {out.data(), out.data() + 64};
      void* dst[] = {slot, slot + 64};
      armci_giov_t giov = Descriptor(src, dst, 64, 2);
      EXPECT_EQ(ARMCI_NbPutV(&giov, 1, target, &handle), 0);
      std::fill_n(src, 2, junk.data());
      std::fill_n(dst, 2, slot + 2048);
      giov = Descriptor(nullptr, nullptr, 1, 77);
      int stride[] = {32};
      int count[] = {32, 4};
      EXPECT_EQ(ARMCI_NbPutS(out.data() + 128, stride, slot + 128, stride, count, 1, target, &handle), 0);
      stride[0] = 1;
      count[0] = count[1] = 1;
      EXPECT_EQ(ARMCI_Wait(&handle), 0);
      if (aggregate) ARMCI_UNSET_AGGREGATE_HANDLE(&handle);
      ARMCI_Fence(target);
      Bytes back(256);
      EXPECT_EQ(ARMCI_Get(slot, back.data(), 256, target), 0);
      EXPECT_TRUE(SameBytes(out.data(), back.data(), 256)) << "aggregate: " << aggregate;
    }
  }
}

CLAUSE_TEST(CMPL, CMPL8_free_completes_what_is_outstanding, "CMPL-8") {
  constexpr int kElements = 32768;
  constexpr int kBytes = kElements * 8;
  constexpr int kHalf = kBytes / 2;
  for (int round = 0; round < Rounds(30, 10); ++round) {
    std::vector<long> out(kElements, round);
    std::vector<long> in(kElements, -1);
    std::vector<long> in_at_free(kElements, -1);
    // Oneself and the neighbours by turns.
    const int target = (Me() + round % 3) % Np();
    {
      Region first(kBytes);
      std::fill_n(first.As<long>(Me()), kElements, 4242);
      Sync();
      EXPECT_EQ(ARMCI_NbGet(first.At(target), in.data(), kBytes, target, nullptr), 0);
      EXPECT_EQ(ARMCI_WaitProc(target), 0);
      EXPECT_EQ(in, std::vector<long>(kElements, 4242));
      Sync();
      // Puts into one half, a get of the other: the free is what completes them.
      for (int i = 0; i < 8; ++i) EXPECT_EQ(ARMCI_NbPut(out.data(), first.At(target), kHalf, target, nullptr), 0);
      EXPECT_EQ(ARMCI_NbGet(first.At(target, kHalf), in_at_free.data(), kHalf, target, nullptr), 0);
    }
    for (std::size_t i = 0; i < kElements / 2; ++i) ASSERT_EQ(in_at_free[i], 4242) << "get that was not waited for";
    // The free completed the puts: the source is free again, and nothing arrives in memory allocated next.
    std::fill(out.begin(), out.end(), -7);
    Region second(kBytes);
    std::fill_n(second.As<long>(Me()), kElements, 31 + round);
    Sync();
    for (int i = 0; i < kElements; ++i)
      ASSERT_EQ(LoadShared<long>(second.As<long>(Me(), static_cast<std::size_t>(i))), 31 + round);
  }
}

}  // namespace
}  // namespace conformance
