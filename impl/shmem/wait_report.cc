#include "impl/shmem/wait_report.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <array>

#include "impl/shmem/wait.h"

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
constinit WaitRecord unlisted;  // of threads for which there is none; never read

struct Totals {
  std::atomic<std::uint64_t> waits{0};
  std::atomic<std::uint64_t> microseconds{0};
};
constinit std::array<Totals, kWaitKinds> totals;

constinit thread_local const MutexWait* mutex_wait = nullptr;

int own_tid() {
  constinit thread_local static int tid = 0;
  if (tid == 0) tid = static_cast<int>(syscall(SYS_gettid));
  return tid;
}

WaitRecord* take_record() {
  for (WaitRecord& record : records) {
    int free = kFree;
    if (record.tid.load(std::memory_order_relaxed) == kFree &&
        record.tid.compare_exchange_strong(free, kBeingWritten, std::memory_order_acquire)) {
      return &record;
    }
  }
  return &unlisted;
}

}  // namespace

void ReportedWait::enter(WaitKind kind, std::int64_t since_us) {
  kind_ = kind;
  since_us_ = since_us;
  record_ = take_record();
  if (record_ == &unlisted) return;
  record_->kind.store(kind, std::memory_order_relaxed);
  record_->since_us.store(since_us, std::memory_order_relaxed);
  record_->mutex.store(mutex_wait != nullptr ? mutex_wait->mutex : -1, std::memory_order_relaxed);
  record_->host.store(mutex_wait != nullptr ? mutex_wait->host : -1, std::memory_order_relaxed);
  record_->holder.store(mutex_wait != nullptr ? mutex_wait->holder : nullptr, std::memory_order_relaxed);
  record_->tid.store(own_tid(), std::memory_order_release);
}

void ReportedWait::end() {
  Totals& total = totals[static_cast<std::size_t>(kind_)];
  total.waits.fetch_add(1, std::memory_order_relaxed);
  total.microseconds.fetch_add(static_cast<std::uint64_t>(now_us() - since_us_), std::memory_order_relaxed);
  if (record_ != &unlisted) record_->tid.store(kFree, std::memory_order_release);
  record_ = nullptr;
}

CollectiveWait::CollectiveWait() { wait_.enter(WaitKind::kCollective, now_us()); }

MutexWait::MutexWait(int mutex, int host, const std::atomic<std::int32_t>* holder)
    : mutex(mutex), host(host), holder(holder), outer_(mutex_wait) {
  mutex_wait = this;
}

MutexWait::~MutexWait() { mutex_wait = outer_; }

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
