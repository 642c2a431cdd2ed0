#include "impl/mpi-rma/unflushed_stores.h"

#include <algorithm>

namespace armci::rma {

void UnflushedStores::reset(int processes) { targets_ = std::vector<Target>(static_cast<std::size_t>(processes)); }

void UnflushedStores::note(int target, Window* window, int rank) {
  if (window->unflushed(rank).load()) return;
  const std::lock_guard guard(to(target).mutex);
  if (!window->unflushed(rank).exchange(true)) to(target).entries.emplace_back(window, rank);
}

bool UnflushedStores::any(int target) {
  Target& of = to(target);
  const std::lock_guard guard(of.mutex);
  return !of.entries.empty();
}

Status UnflushedStores::flush(int target, const std::function<Status(Window*, int)>& flush_window) {
  std::vector<std::pair<Window*, int>>& entries = to(target).entries;
  const std::lock_guard guard(to(target).mutex);
  while (!entries.empty()) {
    const auto [window, rank] = entries.back();
    window->unflushed(rank).store(false);
    const Status status = flush_window(window, rank);
    if (!status.ok()) {
      window->unflushed(rank).store(true);
      return status;
    }
    entries.pop_back();
  }
  return kSuccess;
}

// Holds the locks of all targets, taken in the order of the targets.
Status UnflushedStores::flush_all(const std::function<Status(Window*)>& flush_window) {
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
    const Status flushed = flush_window(window);
    if (!flushed.ok()) status = flushed;
    return flushed.ok();
  });
  // The windows that remain are those whose flush failed.
  for (Target& target : targets_) {
    std::erase_if(target.entries, [&](const auto& entry) {
      const bool failed = std::find(windows.begin(), windows.end(), entry.first) != windows.end();
      if (failed) entry.first->unflushed(entry.second).store(true);
      return !failed;
    });
  }
  return status;
}

void UnflushedStores::forget(const Window* window) {
  for (Target& target : targets_) {
    const std::lock_guard guard(target.mutex);
    std::erase_if(target.entries, [&](const auto& entry) { return entry.first == window; });
  }
}

}  // namespace armci::rma
