#include "impl/api/totals.h"

#include <atomic>
#include <chrono>
#include <cstring>

#include "impl/runtime/stats.h"

namespace armci::runtime {
namespace {

using Clock = std::chrono::steady_clock;

std::atomic<std::uint64_t> errors{0};
std::atomic<std::uint64_t> same_node_bytes{0};
std::atomic<std::uint64_t> remote_bytes{0};
std::atomic<Clock::rep> since{0};

bool contains(const char* name, const char* part) { return std::strstr(name, part) != nullptr; }

// Adds one function's calls to the fields it belongs to; the names follow the interface's pattern.
void add(const char* name, const CallStats& one, armcix_stats_t* totals) {
  totals->calls += one.calls;
  if (contains(name, "Put")) {
    totals->puts += one.calls;
    totals->put_bytes += one.bytes;
  } else if (contains(name, "Get")) {
    totals->gets += one.calls;
    totals->get_bytes += one.bytes;
  } else if (contains(name, "Acc") && !contains(name, "Access")) {
    totals->accs += one.calls;
    totals->acc_bytes += one.bytes;
  } else if (contains(name, "Rmw")) {
    totals->rmws += one.calls;
  } else if (contains(name, "_Lock") || contains(name, "_Trylock")) {
    totals->locks += one.calls;
  } else if (contains(name, "Fence")) {
    totals->fences += one.calls;
  } else if (contains(name, "arrier")) {
    totals->barriers += one.calls;
  }
}

}  // namespace

void count_call(ApiId id, const Usage& usage, std::uint64_t nanoseconds) {
  if (!stats().enabled()) return;
  stats().record(static_cast<int>(id), usage.bytes, nanoseconds);
  same_node_bytes.fetch_add(usage.same_node_bytes, std::memory_order_relaxed);
  remote_bytes.fetch_add(usage.bytes - usage.same_node_bytes, std::memory_order_relaxed);
}

void count_error() {
  if (stats().enabled()) errors.fetch_add(1, std::memory_order_relaxed);
}

armcix_stats_t snapshot_totals() {
  armcix_stats_t totals{};
  if (!stats().enabled()) return totals;
  for (int call = 0; call < kApiCount; ++call) add(kApiNames[call], stats().snapshot(call), &totals);
  totals.errors = errors.load(std::memory_order_relaxed);
  totals.same_node_bytes = same_node_bytes.load(std::memory_order_relaxed);
  totals.remote_bytes = remote_bytes.load(std::memory_order_relaxed);
  const Clock::duration passed(Clock::now().time_since_epoch().count() - since.load(std::memory_order_relaxed));
  totals.seconds = std::chrono::duration<double>(passed).count();
  return totals;
}

void reset_totals() {
  errors.store(0, std::memory_order_relaxed);
  same_node_bytes.store(0, std::memory_order_relaxed);
  remote_bytes.store(0, std::memory_order_relaxed);
  since.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed);
}

int find_call(const char* name) {
  for (int call = 0; call < kApiCount; ++call) {
    if (std::strcmp(kApiNames[call], name) == 0) return call;
  }
  return -1;
}

}  // namespace armci::runtime
