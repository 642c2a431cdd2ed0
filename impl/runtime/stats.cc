#include "impl/runtime/stats.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <vector>

namespace armci::runtime {

// Padded to whole cache lines so that neighbouring calls of one shard do not disturb each other either.
struct alignas(64) Stats::Counters {
  std::atomic<uint64_t> bytes{0};
  std::atomic<uint64_t> nanoseconds{0};
  std::atomic<uint64_t> histogram[kSizeBuckets] = {};  // their sum is the number of calls
};

namespace {

int shard_of_this_thread(int shards) {
  static std::atomic<int> next{0};
  static thread_local constinit int number = -1;
  if (number < 0) number = next.fetch_add(1, std::memory_order_relaxed);
  return number % shards;
}

// Rows of the table that goes from rank to rank: per call, calls, bytes, nanoseconds, then the histogram.
constexpr int kColumns = 3 + kSizeBuckets;

struct Totals {
  std::vector<uint64_t> least, most, sum;
  int ranks = 0;
};

std::string bucket_label(int bucket) {
  if (bucket == 0) return "0";
  const int shift = bucket - 1;
  static constexpr const char* kUnits[] = {"", "K", "M", "G", "T"};
  return std::to_string(1 << (shift % 10)) + kUnits[shift / 10];
}

void print_call(const Totals& totals, size_t row, const char* name, FILE* out) {
  const uint64_t* least = &totals.least[row];
  const uint64_t* most = &totals.most[row];
  const uint64_t* sum = &totals.sum[row];
  const double ranks = totals.ranks;
  std::fprintf(out, "armci: %-28s %10llu %12.1f %10llu  %14.0f  %11.6f %11.6f %11.6f\n", name,
               static_cast<unsigned long long>(least[0]), static_cast<double>(sum[0]) / ranks,
               static_cast<unsigned long long>(most[0]), static_cast<double>(sum[1]),
               static_cast<double>(least[2]) * 1e-9, static_cast<double>(sum[2]) * 1e-9 / ranks,
               static_cast<double>(most[2]) * 1e-9);
  if (sum[1] == 0) return;
  std::string sizes;
  for (int bucket = 0; bucket < kSizeBuckets; ++bucket) {
    if (const uint64_t calls = sum[3 + bucket]; calls > 0) {
      sizes.append(" ").append(bucket_label(bucket)).append(":").append(std::to_string(calls));
    }
  }
  std::fprintf(out, "armci:   sizes from (bytes:calls)%s\n", sizes.c_str());
}

void print_totals(const Totals& totals, const char* const* names, int count, FILE* out) {
  std::fprintf(out, "armci: statistics of %d process%s (ARMCI_STATS)\n", totals.ranks, totals.ranks == 1 ? "" : "es");
  std::fprintf(out, "armci: %-28s %10s %12s %10s  %14s  %11s %11s %11s\n", "call", "calls min", "mean", "max",
               "bytes in all", "seconds min", "mean", "max");
  for (int call = 0; call < count; ++call) {
    const size_t row = static_cast<size_t>(call) * kColumns;
    if (totals.sum[row] > 0) print_call(totals, row, names[call], out);
  }
  std::fflush(out);
}

}  // namespace

Stats::Stats() = default;
Stats::~Stats() = default;

Status Stats::initialise(const char* const* names, int count) {
  for (auto& shard : shards_) {
    shard.reset(new (std::nothrow) Counters[static_cast<size_t>(count)]);
    if (shard == nullptr) {
      finalise();
      return fail(Code::kMemory, nullptr, "the process has no memory for the statistics of %d calls; unset ARMCI_STATS",
                  count);
    }
  }
  names_ = names;
  count_ = count;
  return kSuccess;
}

void Stats::finalise() {
  count_ = 0;
  names_ = nullptr;
  for (auto& shard : shards_) shard.reset();
}

void Stats::record(int call, uint64_t bytes, uint64_t nanoseconds) {
  if (call < 0 || call >= count_) return;
  Counters& counters = shards_[shard_of_this_thread(kShards)][call];
  if (bytes > 0) counters.bytes.fetch_add(bytes, std::memory_order_relaxed);
  counters.nanoseconds.fetch_add(nanoseconds, std::memory_order_relaxed);
  counters.histogram[size_bucket(bytes)].fetch_add(1, std::memory_order_relaxed);
}

int Stats::find(const char* name) const {
  for (int call = 0; call < count_; ++call) {
    if (std::strcmp(names_[call], name) == 0) return call;
  }
  return -1;
}

CallStats Stats::snapshot(int call) const {
  CallStats result;
  if (call < 0 || call >= count_) return result;
  for (const auto& shard : shards_) {
    const Counters& counters = shard[call];
    result.bytes += counters.bytes.load(std::memory_order_relaxed);
    result.nanoseconds += counters.nanoseconds.load(std::memory_order_relaxed);
    for (int bucket = 0; bucket < kSizeBuckets; ++bucket) {
      const uint64_t calls = counters.histogram[bucket].load(std::memory_order_relaxed);
      result.histogram[bucket] += calls;
      result.calls += calls;
    }
  }
  return result;
}

void Stats::reset() {
  for (int call = 0; call < count_; ++call) {
    for (auto& shard : shards_) {
      Counters& counters = shard[call];
      counters.bytes.store(0, std::memory_order_relaxed);
      counters.nanoseconds.store(0, std::memory_order_relaxed);
      for (auto& calls : counters.histogram) calls.store(0, std::memory_order_relaxed);
    }
  }
}

Status Stats::print_summary(MPI_Comm comm, FILE* out) const {
  // Processes may disagree about ARMCI_STATS (a launcher need not pass the environment on), so they agree first.
  int count = 0;
  ARMCI_MPI(MPI_Allreduce(&count_, &count, 1, MPI_INT, MPI_MAX, comm));
  if (count == 0) return kSuccess;
  std::vector<uint64_t> own(static_cast<size_t>(count) * kColumns);
  for (int call = 0; call < count_; ++call) {
    const CallStats stats = snapshot(call);
    uint64_t* row = &own[static_cast<size_t>(call) * kColumns];
    row[0] = stats.calls;
    row[1] = stats.bytes;
    row[2] = stats.nanoseconds;
    std::copy(std::begin(stats.histogram), std::end(stats.histogram), row + 3);
  }
  Totals totals;
  int rank = 0;
  ARMCI_MPI(MPI_Comm_rank(comm, &rank));
  ARMCI_MPI(MPI_Comm_size(comm, &totals.ranks));
  totals.least = totals.most = totals.sum = own;
  const int length = static_cast<int>(own.size());
  ARMCI_MPI(MPI_Reduce(own.data(), totals.least.data(), length, MPI_UINT64_T, MPI_MIN, 0, comm));
  ARMCI_MPI(MPI_Reduce(own.data(), totals.most.data(), length, MPI_UINT64_T, MPI_MAX, 0, comm));
  ARMCI_MPI(MPI_Reduce(own.data(), totals.sum.data(), length, MPI_UINT64_T, MPI_SUM, 0, comm));
  // Without a table of its own rank 0 has no names for the others' calls.
  if (rank == 0 && count_ > 0) print_totals(totals, names_, count_, out);
  return kSuccess;
}

Stats& stats() {
  static Stats process_stats;
  return process_stats;
}

}  // namespace armci::runtime
