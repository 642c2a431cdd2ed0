#include "impl/testing/fake_transport.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>

namespace armci::runtime::testing {
namespace {

// Aligned words of remote memory are read and written whole [LC-3]: their owner may use them at the same time.
template <class Word>
bool move_word(char* to, const char* from, std::size_t bytes) {
  const bool aligned =
      (reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from)) % sizeof(Word) == 0;
  if (bytes != sizeof(Word) || !aligned) return false;
  Word* source = reinterpret_cast<Word*>(const_cast<char*>(from));
  std::atomic_ref<Word>(*reinterpret_cast<Word*>(to)).store(std::atomic_ref<Word>(*source).load());
  return true;
}

void move_bytes(char* to, const char* from, std::size_t bytes) {
  if (move_word<std::uint64_t>(to, from, bytes) || move_word<std::uint32_t>(to, from, bytes)) return;
  std::memcpy(to, from, bytes);
}

}  // namespace

Status FakeNetwork::record(FakeCallKind kind, int target, const void* remote, std::size_t bytes,
                           std::uint64_t operation) {
  calls_.push_back({kind, target, remote, bytes, operation});
  Status status;
  for (Failure& failure : failures_) {
    if (failure.kind == kind && --failure.left == 0) status = fail(failure.code, "ERR-3", "%s", kInjected);
  }
  return status;
}

void FakeNetwork::check_key(int target, const Key& key) const {
  EXPECT_EQ(key.owner, target) << "the key is that of another process";
}

bool FakeNetwork::is_get(FakeCallKind kind) {
  return kind == FakeCallKind::kGet || kind == FakeCallKind::kGetNow || kind == FakeCallKind::kGetStrided ||
         kind == FakeCallKind::kGetList;
}

Status FakeNetwork::start(FakeCallKind kind, int target, const Key& key, const void* remote, std::vector<Piece> pieces,
                          const node::AccSpec* acc, Completion* completion) {
  std::lock_guard lock(mutex_);
  check_key(target, key);
  Operation operation;
  operation.number = operations_.size() + 1;
  operation.target = target;
  operation.put = !is_get(kind);
  operation.held = holding_ && completion != nullptr;
  for (const Piece& piece : pieces) operation.bytes += piece.bytes;
  operation.pieces = std::move(pieces);
  if (acc != nullptr) {
    operation.adds = acc->type;
    std::memcpy(operation.scale.data(), acc->scale, node::element_bytes(acc->type));
  }
  ARMCI_RETURN_IF_ERROR(record(kind, target, remote, operation.bytes, operation.number));
  if (completion != nullptr) {
    completion->operation = operation.number;
  } else if (operation.put) {
    stage(&operation);
  } else {
    read(&operation);
  }
  operations_.push_back(std::move(operation));
  return kSuccess;
}

Status FakeNetwork::register_memory(void* base, std::size_t bytes, Key* key) {
  std::lock_guard lock(mutex_);
  ARMCI_RETURN_IF_ERROR(record(FakeCallKind::kRegister, -1, base, bytes, 0));
  ++registered_;
  *key = {0, next_key_++};
  return kSuccess;
}

void FakeNetwork::deregister_memory(const Key&) {
  std::lock_guard lock(mutex_);
  (void)record(FakeCallKind::kDeregister, -1, nullptr, 0, 0);
  --registered_;
}

Status FakeNetwork::put(int target, const Key& key, void* remote, const void* local, std::size_t bytes,
                        Completion* completion) {
  return start(FakeCallKind::kPut, target, key, remote, {{remote, local, bytes}}, nullptr, completion);
}

Status FakeNetwork::get(int target, const Key& key, const void* remote, void* local, std::size_t bytes,
                        Completion* completion) {
  return start(FakeCallKind::kGet, target, key, remote, {{local, remote, bytes}}, nullptr, completion);
}

template <class Word>
Status FakeNetwork::atomic(int target, const Key& key, void* remote, AtomicOp op, Word operand, Word compare,
                           Word* before) {
  if (before_atomic) before_atomic();
  std::lock_guard lock(mutex_);
  check_key(target, key);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(remote) % sizeof(Word), 0u) << "atomics need aligned words";
  ARMCI_RETURN_IF_ERROR(record(FakeCallKind::kAtomic, target, remote, sizeof operand, 0));
  if (in_order_) deliver_in_order(target);
  std::atomic_ref<Word> word(*static_cast<Word*>(remote));
  if (op == AtomicOp::kFetchAdd) {
    *before = word.fetch_add(operand);
  } else if (op == AtomicOp::kSwap) {
    *before = word.exchange(operand);
  } else {
    *before = compare;
    word.compare_exchange_strong(*before, operand);
  }
  return kSuccess;
}

template Status FakeNetwork::atomic(int, const Key&, void*, AtomicOp, std::int32_t, std::int32_t, std::int32_t*);
template Status FakeNetwork::atomic(int, const Key&, void*, AtomicOp, std::int64_t, std::int64_t, std::int64_t*);

Status FakeNetwork::put_and_hold(int target, const Key& key, void* remote, const void* local, std::size_t bytes,
                                 const node::Signal& signal) {
  if (bytes > 0) {
    ARMCI_RETURN_IF_ERROR(
        start(FakeCallKind::kPutNow, target, key, remote, {{remote, local, bytes}}, nullptr, nullptr));
  }
  std::lock_guard lock(mutex_);
  check_key(target, key);
  ARMCI_RETURN_IF_ERROR(record(FakeCallKind::kSignal, target, signal.word, sizeof *signal.word, 0));
  signals_.push_back({invisible_locked(target), signal});
  return kSuccess;
}

std::vector<bool> FakeNetwork::sole_writers() const {
  std::lock_guard lock(mutex_);
  std::vector<bool> all;
  for (const HeldSignal& held : signals_) all.push_back(held.signal.sole_writer);
  return all;
}

void FakeNetwork::deliver_held_signals() {
  std::lock_guard lock(mutex_);
  for (const HeldSignal& held : signals_) {
    for (const std::uint64_t number : held.before) {
      if (!operations_[number - 1].visible) deliver({number});
    }
    node::apply(held.signal);
  }
  signals_.clear();
}

void FakeNetwork::stage(Operation* put) {
  if (put->done) return;
  for (const Piece& piece : put->pieces) {
    const char* from = static_cast<const char*>(piece.from);
    put->staged.insert(put->staged.end(), from, from + piece.bytes);
  }
  put->done = true;
  put->held = false;
}

void FakeNetwork::write(const Operation& put) {
  const char* from = put.staged.data();
  for (const Piece& piece : put.pieces) {
    if (put.adds) {
      node::accumulate_kernel (*put.adds)(put.scale.data(), from, piece.to,
                                          piece.bytes / node::element_bytes(*put.adds));
    } else {
      move_bytes(static_cast<char*>(piece.to), from, piece.bytes);
    }
    from += piece.bytes;
  }
}

void FakeNetwork::read(Operation* get) {
  if (in_order_) deliver_in_order(get->target);
  for (const Piece& piece : get->pieces) {
    move_bytes(static_cast<char*>(piece.to), static_cast<const char*>(piece.from), piece.bytes);
  }
  get->done = true;
}

std::size_t FakeNetwork::deliver(const std::vector<std::uint64_t>& numbers) {
  for (std::uint64_t number : numbers) {
    Operation& put = operations_[number - 1];
    stage(&put);
    write(put);
    put.visible = true;
    visible_.push_back(number);
  }
  return numbers.size();
}

std::vector<std::uint64_t> FakeNetwork::invisible_locked(int target) const {
  std::vector<std::uint64_t> numbers;
  for (const Operation& operation : operations_) {
    if (operation.put && !operation.visible && operation.target == target) numbers.push_back(operation.number);
  }
  return numbers;
}

// Completes earlier operations, as a network that keeps the order of issue does before a later operation takes effect.
void FakeNetwork::deliver_in_order(int target) { deliver(invisible_locked(target)); }

Status FakeNetwork::test(Completion* completion, bool* done) {
  std::lock_guard lock(mutex_);
  *done = true;
  if (completion->operation == 0) return kSuccess;
  Operation& operation = operations_[completion->operation - 1];
  const Status status = record(FakeCallKind::kTest, operation.target, nullptr, operation.bytes, operation.number);
  if (!status.ok()) {
    operation.done = operation.visible = true;  // over, and nothing arrived
    return status;
  }
  if (operation.done) return kSuccess;
  *done = !operation.held && ++operation.tests >= tests_until_done_;
  if (!*done) return kSuccess;
  if (operation.put) {
    stage(&operation);
  } else {
    read(&operation);
  }
  return kSuccess;
}

void FakeNetwork::notify_visible(std::size_t times) const {
  for (std::size_t i = 0; on_visible && i < times; ++i) on_visible();
}

Status FakeNetwork::flush(int target) {
  std::vector<std::uint64_t> numbers;
  {
    std::lock_guard lock(mutex_);
    ARMCI_RETURN_IF_ERROR(record(FakeCallKind::kFlush, target, nullptr, 0, 0));
    numbers = invisible_locked(target);
    if (!in_order_ && flush_order_ == Order::kReversed) std::reverse(numbers.begin(), numbers.end());
    if (!in_order_ && flush_order_ == Order::kShuffled) std::shuffle(numbers.begin(), numbers.end(), random_);
  }
  if (on_flush) on_flush(target);
  for (std::uint64_t number : numbers) {
    std::size_t delivered = 0;
    {
      std::lock_guard lock(mutex_);
      if (!operations_[number - 1].visible) delivered = deliver({number});
    }
    notify_visible(delivered);
  }
  return kSuccess;
}

void FakeNetwork::progress() {
  std::lock_guard lock(mutex_);
  ++progress_count_;
}

void FakeNetwork::set_flush_order(Order order, std::uint32_t seed) {
  std::lock_guard lock(mutex_);
  flush_order_ = order;
  random_.seed(seed);
}

void FakeNetwork::set_tests_until_done(int tests) {
  std::lock_guard lock(mutex_);
  tests_until_done_ = tests;
}

void FakeNetwork::hold() {
  std::lock_guard lock(mutex_);
  holding_ = true;
}

void FakeNetwork::release_held() {
  std::lock_guard lock(mutex_);
  holding_ = false;
  for (Operation& operation : operations_) operation.held = false;
}

void FakeNetwork::make_visible(std::uint64_t operation) {
  {
    std::lock_guard lock(mutex_);
    deliver({operation});
  }
  notify_visible(1);
}

void FakeNetwork::fail_call(FakeCallKind kind, int number, Code code) {
  std::lock_guard lock(mutex_);
  failures_.push_back({kind, number, code});
}

std::vector<FakeCall> FakeNetwork::calls() const {
  std::lock_guard lock(mutex_);
  return calls_;
}

std::vector<FakeCall> FakeNetwork::calls(FakeCallKind kind) const {
  std::vector<FakeCall> wanted = calls();
  std::erase_if(wanted, [kind](const FakeCall& call) { return call.kind != kind; });
  return wanted;
}

std::vector<int> FakeNetwork::flushed() const {
  std::vector<int> targets;
  for (const FakeCall& call : calls(FakeCallKind::kFlush)) targets.push_back(call.target);
  return targets;
}

std::vector<std::uint64_t> FakeNetwork::visible() const {
  std::lock_guard lock(mutex_);
  return visible_;
}

std::vector<std::uint64_t> FakeNetwork::invisible(int target) const {
  std::lock_guard lock(mutex_);
  return invisible_locked(target);
}

int FakeNetwork::progress_count() const {
  std::lock_guard lock(mutex_);
  return progress_count_;
}

int FakeNetwork::registered() const {
  std::lock_guard lock(mutex_);
  return registered_;
}

void FakeNetwork::forget_calls() {
  std::lock_guard lock(mutex_);
  calls_.clear();
}

}  // namespace armci::runtime::testing
