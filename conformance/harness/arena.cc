#include "conformance/harness/arena.h"

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstring>

#include "conformance/harness/compare.h"
#include "conformance/harness/session.h"

namespace conformance {
namespace {

std::string CaseText(const char* what, const Plan& plan, Mode mode, Width width, int target, std::size_t src_shift,
                     std::size_t dst_shift) {
  return std::string(width == Width::kWide ? "64-bit " : "") + NameOf(mode) + " " + what + " to " +
         std::to_string(target) + ": " + plan.Text() + ", source shifted " + std::to_string(src_shift) +
         ", destination shifted " + std::to_string(dst_shift) + SeedText();
}

}  // namespace

Arena::Arena(std::size_t slot_bytes)
    : slot_bytes_(slot_bytes),
      region_(slot_bytes * static_cast<std::size_t>(Np())),
      images_(slot_bytes * static_cast<std::size_t>(Np()), 0),
      readback_(slot_bytes) {}

char* Arena::Slot(int target) const { return region_.At(target, static_cast<std::size_t>(Me()) * slot_bytes_); }

void Arena::Refill(Rng* rng, int target, const AccType* type) {
  if (type != nullptr) {
    FillElements(rng, *type, Image(target), slot_bytes_);
  } else {
    rng->Fill(Image(target), slot_bytes_);
  }
  EXPECT_EQ(ARMCI_Put(Image(target), Slot(target), static_cast<int>(slot_bytes_), target), 0);
  // Non-blocking stores that follow have no order with it otherwise [ORD-3].
  ARMCI_Fence(target);
}

bool Arena::Verify(int target, const std::string& text) {
  ARMCI_Fence(target);
  const int result = ARMCI_Get(Slot(target), readback_.data(), static_cast<int>(slot_bytes_), target);
  EXPECT_EQ(result, 0) << text;
  const auto same = SameBytes(Image(target), readback_.data(), slot_bytes_);
  EXPECT_TRUE(same) << text;
  return result == 0 && same;
}

void Arena::VerifyByOwners() {
  Sync();
  std::vector<char> expected(images_.size());
  MPI_Alltoall(images_.data(), static_cast<int>(slot_bytes_), MPI_CHAR, expected.data(), static_cast<int>(slot_bytes_),
               MPI_CHAR, Comm());
  ARMCI_Access_begin(region_.Mine());
  EXPECT_TRUE(SameBytes(expected.data(), region_.Mine(), expected.size())) << "owner's view by load" << SeedText();
  ARMCI_Access_end(region_.Mine());
}

bool CheckPut(Arena* arena, const Plan& plan, Mode mode, int target, std::size_t src_shift, std::size_t dst_shift,
              Width width) {
  const std::string text = CaseText("put", plan, mode, width, target, src_shift, dst_shift);
  Bytes local(arena->slot_bytes());
  MyRng().Fill(local.data(), local.size());
  const Bytes before = local;
  ModelCopy(plan, local.data() + src_shift, arena->Image(target) + dst_shift);
  EXPECT_EQ(Move(plan, Op::kPut, mode, local.data() + src_shift, arena->Slot(target) + dst_shift, target, width), 0)
      << text;
  const auto source_kept = SameBytes(before.data(), local.data(), local.size());
  EXPECT_TRUE(source_kept) << "source changed by " << text;
  return arena->Verify(target, text) && source_kept;
}

bool CheckGet(Arena* arena, const Plan& plan, Mode mode, int target, std::size_t src_shift, std::size_t dst_shift,
              Width width) {
  const std::string text = CaseText("get", plan, mode, width, target, src_shift, dst_shift);
  Bytes local(arena->slot_bytes());
  MyRng().Fill(local.data(), local.size());
  Bytes expected = local;
  ModelCopy(plan, arena->Image(target) + src_shift, expected.data() + dst_shift);
  EXPECT_EQ(Move(plan, Op::kGet, mode, arena->Slot(target) + src_shift, local.data() + dst_shift, target, width), 0)
      << text;
  const auto same = SameBytes(expected.data(), local.data(), local.size());
  EXPECT_TRUE(same) << text;
  return same;
}

bool CheckAcc(Arena* arena, const Plan& plan, Mode mode, int target, const AccType& type, std::size_t src_shift,
              std::size_t dst_shift, Width width) {
  const std::string text =
      std::string(type.name) + " " + CaseText("accumulate", plan, mode, width, target, src_shift, dst_shift);
  Bytes local(arena->slot_bytes());
  FillElements(&MyRng(), type, local.data(), local.size());
  const Bytes before = local;
  const Scale scale = SmallScale(&MyRng(), type);
  ModelAcc(plan, type, scale.bytes, local.data() + src_shift, arena->Image(target) + dst_shift);
  Transfer transfer(plan, Op::kAcc, mode, width);
  transfer.SetAcc(type, scale);
  EXPECT_EQ(transfer.Start(local.data() + src_shift, arena->Slot(target) + dst_shift, target), 0) << text;
  EXPECT_EQ(transfer.Wait(), 0) << text;
  const auto source_kept = SameBytes(before.data(), local.data(), local.size());
  EXPECT_TRUE(source_kept) << "source changed by " << text;
  return arena->Verify(target, text) && source_kept;
}

}  // namespace conformance
