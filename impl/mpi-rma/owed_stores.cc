#include "impl/mpi-rma/owed_stores.h"

#include <algorithm>

namespace armci::rma {

void OwedStores::reset(int processes) { targets_ = std::vector<Target>(static_cast<std::size_t>(processes)); }

void OwedStores::note(int target, Window* window, int rank) {
  if (window->unflushed(rank).load()) return;
  const std::lock_guard guard(to(target).mutex);
  if (!window->unflushed(rank).exchange(true)) to(target).entries.emplace_back(window, rank);
}

Status OwedStores::settle(int target, const std::function<Status(Window*, int)>& flush) {
  std::vector<std::pair<Window*, int>>& entries = to(target).entries;
  const std::lock_guard guard(to(target).mutex);
  while (!entries.empty()) {
    const auto [window, rank] = entries.back();
    window->unflushed(rank).store(false);
    const Status status = flush(window, rank);
    if (!status.ok()) {
      window->unflushed(rank).store(true);
      return status;
    }
    entries.pop_back();
  }
  return kSuccess;
}

// Under the locks of all targets; who holds several took them in this order.
Status OwedStores::settle_all(const std::function<Status(Window*)>& flush_all) {
  std::vector<std::unique_lock<std::mutex>> guards;
  std::vector<Window*> windows;
  for (Target& target : targets_) {
    guards.emplace_back(target.mutex);
    for (const auto& [window, rank] : target.entries) {
      window->unflushed(rank).store(false);
      if (std::find(windows.begin(), windows.end(), window) == windows.end()) windows.push_back(window);
    }
  }
  Status status;
  std::erase_if(windows, [&](Window* window) {
    const Status flushed = flush_all(window);
    if (!flushed.ok()) status = flushed;
    return flushed.ok();
  });
  // Those that are left failed.
  for (Target& target : targets_) {
    std::erase_if(target.entries, [&](const auto& entry) {
      const bool failed = std::find(windows.begin(), windows.end(), entry.first) != windows.end();
      if (failed) entry.first->unflushed(entry.second).store(true);
      return !failed;
    });
  }
  return status;
}

void OwedStores::forget(const Window* window) {
  for (Target& target : targets_) {
    const std::lock_guard guard(target.mutex);
    std::erase_if(target.entries, [&](const auto& entry) { return entry.first == window; });
  }
}

}  // namespace armci::rma
