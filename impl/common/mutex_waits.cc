#include "impl/common/mutex_waits.h"

#include "impl/common/report_line.h"

namespace armci::common {

MutexWaitRecord mutex_waits[kMutexWaitsMax];

namespace {
constexpr int kBeingWritten = -1;
}  // namespace

MutexWait::MutexWait(int mutex, int host, const std::atomic<std::int32_t>* holder) {
  for (MutexWaitRecord& record : mutex_waits) {
    int nobody = 0;
    if (!record.tid.compare_exchange_strong(nobody, kBeingWritten, std::memory_order_acquire)) continue;
    record.mutex.store(mutex, std::memory_order_relaxed);
    record.host.store(host, std::memory_order_relaxed);
    record.holder.store(holder, std::memory_order_relaxed);
    record.tid.store(own_tid(), std::memory_order_release);
    record_ = &record;
    return;
  }
}

MutexWait::~MutexWait() {
  if (record_ != nullptr) record_->tid.store(0, std::memory_order_release);
}

}  // namespace armci::common
