// ORD-4: a get in every shape and mode, between an earlier and a later store of every kind to the same place;
// generated.

#include <algorithm>
#include <string>
#include <vector>

#include "conformance/harness/table.h"
#include "conformance/harness/test.h"

namespace conformance {
namespace {

// get; store; get: the first shows what was there before, though the store came before anyone looked at its buffer; the
// second shows the store, without a fence.
bool GetStoreGet(const Way& get_way, std::size_t bytes, const Way& store_way, int target, Arena* arena) {
  TableTransfer get(get_way, bytes);
  TableTransfer store(store_way, std::clamp<std::size_t>(bytes / 8 * 8, 8, SizesOf(store_way).back()));
  const std::string text = NameOf(get_way) + " of " + std::to_string(bytes) + " bytes, " + NameOf(store_way) + ", to " +
                           std::to_string(target) + SeedText();
  char* slot = arena->Slot(target) + kGuard;
  char* image = arena->Image(target) + kGuard;
  Bytes source(static_cast<std::size_t>(store.plan().SrcEnd()));
  FillElements(&MyRng(), kTableType, source.data(), source.size() / 8 * 8);
  Bytes before(static_cast<std::size_t>(get.plan().DstEnd()), '-');
  Bytes after = before;
  Bytes expected_before = before;
  Bytes expected_after = after;
  get.Model(image, expected_before.data());
  EXPECT_EQ(get.transfer().Start(slot, before.data(), target), 0) << text;
  EXPECT_EQ(get.transfer().Wait(), 0) << text;
  store.Model(source.data(), image);
  EXPECT_EQ(store.transfer().Start(source.data(), slot, target), 0) << text;
  get.Model(image, expected_after.data());
  EXPECT_EQ(Move(get.plan(), Op::kGet, get_way.mode, slot, after.data(), target), 0) << text;
  ARMCI_Fence(target);
  const auto old = SameBytes(expected_before.data(), before.data(), before.size());
  const auto now = SameBytes(expected_after.data(), after.data(), after.size());
  EXPECT_TRUE(old) << "the get saw the later store: " << text;
  EXPECT_TRUE(now) << "the get missed the earlier store: " << text;
  return old && now;
}

void BetweenStores(const Way& get_call) {
  Arena arena(kTableExtent + 2 * kGuard);
  for (int target : TableTargets()) {
    arena.Refill(&MyRng(), target, &kTableType);
    for (const Way& get_way : ModesOf(get_call)) {
      for (std::size_t bytes : SizesOf(get_way)) {
        for (const Way& store_way : BlockingStores()) {
          if (!GetStoreGet(get_way, bytes, store_way, target, &arena)) return;
        }
      }
    }
  }
  arena.VerifyByOwners();
}

bool RegisterTable() {
  for (const Way& call : AllCalls()) {
    if (call.op != Op::kGet) continue;
    AddTest({"ORD", "ORD4_" + NameOfCall(call) + "_between_two_stores", MakeSpec("ORD-4", DeadlineSeconds(60)),
             [call] { BetweenStores(call); }, __FILE__, __LINE__});
  }
  return true;
}

const bool registered [[maybe_unused]] = RegisterTable();

}  // namespace
}  // namespace conformance
