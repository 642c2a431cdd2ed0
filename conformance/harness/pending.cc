#include "conformance/harness/pending.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace conformance {
namespace pending_internal {

enum Stage : int { kInside, kStarted, kWaiting };

constexpr std::size_t kDetailBytes = 80;

// Everything is stored with release and loaded with acquire: a thread that loads a field of a newer note also sees that
// the serial has changed.
struct Slot {
  std::atomic<std::uint64_t> serial{0};  // 0: free
  std::atomic<const char*> what{nullptr};
  std::atomic<const char*> how{nullptr};
  std::atomic<const char*> file{nullptr};
  std::atomic<long> bytes{-1};
  std::atomic<long> mutex{-1};
  std::atomic<long> proc{-1};
  std::atomic<unsigned> line{0};
  std::atomic<Stage> stage{kInside};
  std::atomic<char> detail[kDetailBytes]{};
};

}  // namespace pending_internal

namespace {

using pending_internal::kDetailBytes;
using pending_internal::kInside;
using pending_internal::kStarted;
using pending_internal::kWaiting;
using pending_internal::Slot;
using pending_internal::Stage;

// More than any test has pending at once, but for those that try how many there may be.
constexpr std::size_t kSlots = 64;

// The notes of one thread. Never freed: the watchdog may read at any time; another thread takes it over.
struct Block {
  std::atomic<int> thread{0};  // kernel's id, 0: has no owner
  Block* next = nullptr;       // constant once the block is listed
  Slot slots[kSlots];
  // Of the owner only.
  std::uint64_t last_serial = 0;
  std::size_t try_first = 0;
};

std::atomic<Block*> blocks{nullptr};

Block* ClaimBlock() {
  const int self = static_cast<int>(syscall(SYS_gettid));
  for (Block* block = blocks.load(std::memory_order_acquire); block != nullptr; block = block->next) {
    int no_thread = 0;
    if (block->thread.compare_exchange_strong(no_thread, self)) return block;
  }
  auto* block = new Block;
  block->thread.store(self);
  block->next = blocks.load();
  while (!blocks.compare_exchange_weak(block->next, block)) {
  }
  return block;
}

struct Owner {
  Block* const block = ClaimBlock();
  ~Owner() { block->thread.store(0); }
};

Block* MyBlock() {
  thread_local const Owner owner;
  return owner.block;
}

// Only the owner takes slots, so a free one stays free; any thread may free one.
Slot* FreeSlot(Block* block) {
  for (std::size_t i = 0; i < kSlots; ++i) {
    const std::size_t at = (block->try_first + i) % kSlots;
    Slot& slot = block->slots[at];
    if (slot.serial.load(std::memory_order_relaxed) != 0) continue;
    block->try_first = at;
    return &slot;
  }
  return nullptr;
}

// A copy of a slot, with a text of its own.
struct Noted {
  std::uint64_t serial;
  PendingCall call;
  Stage stage;
  char detail[kDetailBytes];
};

// Returns false for a slot that is free, or changes meanwhile.
bool Read(const Slot& slot, Noted* noted) {
  constexpr auto kAcquire = std::memory_order_acquire;
  noted->serial = slot.serial.load(kAcquire);
  if (noted->serial == 0) return false;
  noted->call = {
      slot.what.load(kAcquire), slot.how.load(kAcquire),  slot.bytes.load(kAcquire), slot.mutex.load(kAcquire),
      slot.proc.load(kAcquire), slot.file.load(kAcquire), slot.line.load(kAcquire),  noted->detail};
  noted->stage = slot.stage.load(kAcquire);
  for (std::size_t i = 0; i < kDetailBytes; ++i) noted->detail[i] = slot.detail[i].load(kAcquire);
  noted->detail[kDetailBytes - 1] = '\0';
  return slot.serial.load(kAcquire) == noted->serial;
}

// A line of text that needs no memory.
class Line {
 public:
  template <typename... Values>
  void Add(const char* format, Values... values) {
    const int length = std::snprintf(text_ + length_, sizeof text_ - length_, format, values...);
    length_ = std::min(length_ + static_cast<std::size_t>(std::max(length, 0)), sizeof text_ - 2);
  }
  void Write(int file) {
    text_[length_++] = '\n';
    if (write(file, text_, length_) < 0) return;
  }

 private:
  char text_[512] = "";
  std::size_t length_ = 0;
};

void Print(int file, int rank, int thread, const Noted& noted) {
  static constexpr const char* kBefore[] = {"inside", "pending:", "pending:"};
  static constexpr const char* kAfter[] = {"", ", started and not waited for", ", being waited for"};
  const PendingCall& call = noted.call;
  Line line;
  line.Add("conformance: rank %d thread %d: %s %s", rank, thread, kBefore[noted.stage], call.what);
  if (call.how != nullptr) line.Add(" (%s)", call.how);
  if (call.bytes >= 0) line.Add(" of %ld bytes", call.bytes);
  if (call.mutex >= 0) line.Add(" of mutex %ld", call.mutex);
  if (call.proc >= 0) line.Add(" at rank %ld", call.proc);
  if (call.detail[0] != '\0') line.Add(": %s", call.detail);
  if (call.file != nullptr) line.Add(", %s:%u", call.file, call.line);
  line.Add("%s", kAfter[noted.stage]);
  line.Write(file);
}

// The oldest first. Returns how many there were.
std::size_t PrintBlock(int file, int rank, const Block& block) {
  std::uint64_t printed = 0;
  for (std::size_t count = 0; count < kSlots; ++count) {
    Noted oldest{};
    for (const Slot& slot : block.slots) {
      Noted noted;
      if (Read(slot, &noted) && noted.serial > printed && (oldest.serial == 0 || noted.serial < oldest.serial)) {
        oldest = noted;
      }
    }
    if (oldest.serial == 0) return count;
    // The copied text has moved along.
    oldest.call.detail = oldest.detail;
    Print(file, rank, block.thread.load(), oldest);
    printed = oldest.serial;
  }
  return kSlots;
}

}  // namespace

void PendingNote::Begin(const PendingCall& call) {
  constexpr auto kRelease = std::memory_order_release;
  End();
  Block* block = MyBlock();
  slot_ = FreeSlot(block);
  if (slot_ == nullptr) return;
  slot_->what.store(call.what, kRelease);
  slot_->how.store(call.how, kRelease);
  slot_->bytes.store(call.bytes, kRelease);
  slot_->mutex.store(call.mutex, kRelease);
  slot_->proc.store(call.proc, kRelease);
  slot_->file.store(call.file, kRelease);
  slot_->line.store(call.line, kRelease);
  slot_->stage.store(kInside, kRelease);
  const std::size_t length = call.detail == nullptr ? 0 : std::min(std::strlen(call.detail), kDetailBytes - 1);
  for (std::size_t i = 0; i < length; ++i) slot_->detail[i].store(call.detail[i], kRelease);
  slot_->detail[length].store('\0', kRelease);
  slot_->serial.store(++block->last_serial, kRelease);
}

void PendingNote::Returned() {
  if (slot_ != nullptr) slot_->stage.store(kStarted, std::memory_order_release);
}

void PendingNote::Waits() {
  if (slot_ != nullptr) slot_->stage.store(kWaiting, std::memory_order_release);
}

void PendingNote::End() {
  if (slot_ != nullptr) slot_->serial.store(0, std::memory_order_release);
  slot_ = nullptr;
}

void PrintPending(int file, int rank) {
  std::size_t notes = 0;
  for (const Block* block = blocks.load(std::memory_order_acquire); block != nullptr; block = block->next) {
    const std::size_t of_block = PrintBlock(file, rank, *block);
    notes += of_block;
    if (of_block < kSlots) continue;
    Line line;
    line.Add("conformance: rank %d: more may be pending, no thread notes more than %zu", rank, kSlots);
    line.Write(file);
  }
  if (notes > 0) return;
  Line line;
  line.Add("conformance: rank %d: nothing pending that the suite knows of", rank);
  line.Write(file);
}

}  // namespace conformance
