#include "impl/node/wait_report.h"

#include <unistd.h>

#include <array>
#include <utility>

#include "impl/node/wait.h"

namespace armci::node {

struct WaitRecord {
  std::atomic<int> tid{0};  // 0: free
  std::atomic<WaitKind> kind{WaitKind::kBarrier};
  std::atomic<std::int64_t> since_us{0};
  std::atomic<int> mutex{-1};
  std::atomic<int> host{-1};
  std::atomic<const std::atomic<std::int32_t>*> holder{nullptr};
};

namespace {

constexpr int kFree = 0;
constexpr int kBeingWritten = -1;

constinit std::array<WaitRecord, 64> records;

struct Totals {
  std::atomic<std::uint64_t> waits{0};
  std::atomic<std::uint64_t> microseconds{0};
};
constinit std::array<Totals, kWaitKinds> totals;

constinit thread_local bool waits_for_mutex = false;

// nullptr: all are taken.
WaitRecord* take_record() {
  for (WaitRecord& record : records) {
    int free = kFree;
    if (record.tid.load(std::memory_order_relaxed) == kFree &&
        record.tid.compare_exchange_strong(free, kBeingWritten, std::memory_order_acquire)) {
      return &record;
    }
  }
  return nullptr;
}

struct Subject {
  int mutex = -1;
  int host = -1;
  const std::atomic<std::int32_t>* holder = nullptr;
};

WaitRecord* list(WaitKind kind, std::int64_t since_us, const Subject& subject) {
  WaitRecord* const record = take_record();
  if (record == nullptr) return nullptr;
  record->kind.store(kind, std::memory_order_relaxed);
  record->since_us.store(since_us, std::memory_order_relaxed);
  record->mutex.store(subject.mutex, std::memory_order_relaxed);
  record->host.store(subject.host, std::memory_order_relaxed);
  record->holder.store(subject.holder, std::memory_order_relaxed);
  record->tid.store(gettid(), std::memory_order_release);
  return record;
}

void unlist(WaitRecord* record) {
  if (record != nullptr) record->tid.store(kFree, std::memory_order_release);
}

constexpr std::array<const char*, kWaitKinds> kNames = {
    "a barrier",
    "a mutex of this node",
    "a mutex that another thread of this process holds",
    "a mutex of another node",
    "the next process in the queue of a mutex",
    "a notification",
    "a signal",
    "an accumulate of another process to the same elements",
    "an event of the network",
    "pending operations",
    "a reply of another node",
    "the accumulates of another process to the same target",
    "the other nodes in a barrier",
    "a message of another process",
    "the other processes in a collective call",
    nullptr,
    nullptr,
};

}  // namespace

const char* wait_name(WaitKind kind) { return kNames[static_cast<std::size_t>(kind)]; }

void ReportedWait::enter(WaitKind kind, std::int64_t since_us) {
  entered_ = true;
  kind_ = kind;
  since_us_ = since_us;
  record_ = waits_for_mutex ? nullptr : list(kind, since_us, {});
}

void ReportedWait::end() {
  Totals& total = totals[static_cast<std::size_t>(kind_)];
  total.waits.fetch_add(1, std::memory_order_relaxed);
  total.microseconds.fetch_add(static_cast<std::uint64_t>(now_us() - since_us_), std::memory_order_relaxed);
  unlist(record_);
  entered_ = false;
}

CollectiveWait::CollectiveWait() { wait_.enter(WaitKind::kCollective, now_us()); }

MutexWait::MutexWait(int number, int host, const std::atomic<std::int32_t>* holder)
    : record_(list(WaitKind::kMutex, now_us(), {number, host, holder})), outer_(std::exchange(waits_for_mutex, true)) {}

MutexWait::~MutexWait() {
  waits_for_mutex = outer_;
  unlist(record_);
}

void visit_waits(WaitVisit visit, void* self) {
  for (const WaitRecord& record : records) {
    const int tid = record.tid.load(std::memory_order_acquire);
    if (tid <= 0) continue;
    const std::atomic<std::int32_t>* const holder = record.holder.load(std::memory_order_relaxed);
    const WaitReport report{tid,
                            record.kind.load(std::memory_order_relaxed),
                            record.since_us.load(std::memory_order_relaxed),
                            record.mutex.load(std::memory_order_relaxed),
                            record.host.load(std::memory_order_relaxed),
                            holder != nullptr ? holder->load(std::memory_order_relaxed) - 1 : -1};
    visit(self, report);
  }
}

WaitTotals wait_totals(WaitKind kind) {
  const Totals& total = totals[static_cast<std::size_t>(kind)];
  return {total.waits.load(std::memory_order_relaxed), total.microseconds.load(std::memory_order_relaxed)};
}

void reset_wait_totals() {
  for (Totals& total : totals) {
    total.waits.store(0, std::memory_order_relaxed);
    total.microseconds.store(0, std::memory_order_relaxed);
  }
}

}  // namespace armci::node
