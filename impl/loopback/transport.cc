#include "impl/loopback/transport.h"

#include <atomic>
#include <chrono>
#include <iterator>
#include <utility>

#include "impl/node/copy.h"

namespace armci::loopback {

namespace {

// So many puts may be on their way after they left their buffers.
constexpr std::size_t kTakenMax = 1000;

void execute(void* to, const void* from, std::size_t bytes) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  node::copy(to, from, bytes);
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

}  // namespace

Status Transport::initialise(const runtime::World& world) {
  if (!world.one_machine()) {
    return fail(Code::kUnsupported, nullptr, "loopback is a test port for one machine; link another implementation");
  }
  leaving_ = false;
  card_ = std::thread([this] { run_card(); });
  return kSuccess;
}

void Transport::finalise() {
  {
    std::lock_guard lock(mutex_);
    leaving_ = true;
    work_.notify_one();
  }
  if (card_.joinable()) card_.join();
  waiting_.clear();
  order_.clear();
}

// One operation per wake-up, late enough that the program usually gets to test or flush first.
void Transport::run_card() {
  constexpr std::chrono::microseconds kLatency(200);
  std::unique_lock lock(mutex_);
  while (!leaving_) {
    if (waiting_.empty()) {
      work_.wait(lock);
      continue;
    }
    lock.unlock();
    std::this_thread::sleep_for(kLatency);
    lock.lock();
    execute_latest(kAnyTarget);
  }
}

bool Transport::execute_latest(int target) {
  for (auto number = order_.rbegin(); number != order_.rend(); ++number) {
    auto found = waiting_.find(*number);
    if (found == waiting_.end() || (target != kAnyTarget && found->second.target != target)) continue;
    const Operation& operation = found->second;
    execute(operation.to, operation.taken.empty() ? operation.from : operation.taken.data(), operation.bytes);
    waiting_.erase(found);
    order_.erase(std::next(number).base());
    return true;
  }
  return false;
}

void Transport::postpone(Operation operation, Completion* completion) {
  std::lock_guard lock(mutex_);
  if (waiting_.empty()) order_.clear();
  completion->number = next_++;
  waiting_.emplace(completion->number, std::move(operation));
  order_.push_back(completion->number);
  if (waiting_.size() == 1) work_.notify_one();
}

Status Transport::put(int target, const Key&, void* remote, const void* local, std::size_t bytes,
                      Completion* completion) {
  postpone({target, remote, local, bytes, true, {}}, completion);
  return kSuccess;
}

Status Transport::get(int target, const Key&, const void* remote, void* local, std::size_t bytes,
                      Completion* completion) {
  postpone({target, local, remote, bytes, false, {}}, completion);
  return kSuccess;
}

Status Transport::test(Completion* completion, bool* done) {
  std::lock_guard lock(mutex_);
  *done = true;
  auto found = waiting_.find(completion->number);
  if (found == waiting_.end()) return kSuccess;
  Operation& operation = found->second;
  if (operation.is_put && waiting_.size() < kTakenMax) {
    const char* from = static_cast<const char*>(operation.from);
    if (operation.taken.empty()) operation.taken.assign(from, from + operation.bytes);
    return kSuccess;
  }
  execute(operation.to, operation.taken.empty() ? operation.from : operation.taken.data(), operation.bytes);
  waiting_.erase(found);
  return kSuccess;
}

Status Transport::flush(int target) {
  std::lock_guard lock(mutex_);
  while (execute_latest(target)) {
  }
  return kSuccess;
}

Status Transport::atomic64(int, const Key&, void* remote, runtime::AtomicOp op, std::int64_t operand,
                           std::int64_t compare, std::int64_t* before) {
  std::atomic_ref<std::int64_t> word(*static_cast<std::int64_t*>(remote));
  if (op == runtime::AtomicOp::kFetchAdd) {
    *before = word.fetch_add(operand);
  } else if (op == runtime::AtomicOp::kSwap) {
    *before = word.exchange(operand);
  } else {
    *before = compare;
    word.compare_exchange_strong(*before, operand);
  }
  return kSuccess;
}

}  // namespace armci::loopback
