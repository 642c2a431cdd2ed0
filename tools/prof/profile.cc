#include "tools/prof/profile.h"

#include <algorithm>
#include <bit>
#include <mutex>

namespace armci::prof {
namespace {

using runtime::ApiId;

constexpr int kBitsPerClass = 3;
constexpr const char* kClassNames[kClasses] = {"<= 8 B",    "<= 64 B",    "<= 512 B", "<= 4 KiB",
                                               "<= 32 KiB", "<= 256 KiB", "<= 2 MiB", "more"};
constexpr int kPeersShown = 16;
constexpr int kRegionsShown = 16;

#define PROF_NAME(result, strong, weak_name, parameters, arguments) #weak_name,
constexpr const char* kNames[runtime::kApiCount] = {ARMCI_API_ALL(PROF_NAME)};
#undef PROF_NAME

std::string bytes_text(std::uint64_t bytes) {
  char text[32];
  const double value = static_cast<double>(bytes);
  if (value >= 1e9) {
    std::snprintf(text, sizeof text, "%.3g GB", value / 1e9);
  } else if (value >= 1e6) {
    std::snprintf(text, sizeof text, "%.3g MB", value / 1e6);
  } else if (value >= 1e3) {
    std::snprintf(text, sizeof text, "%.3g kB", value / 1e3);
  } else {
    std::snprintf(text, sizeof text, "%.0f B", value);
  }
  return text;
}

// In place; collective.
void sum_up(std::vector<std::uint64_t>* values, MPI_Comm comm, int rank) {
  const auto count = static_cast<int>(values->size());
  PMPI_Reduce(rank == 0 ? MPI_IN_PLACE : values->data(), values->data(), count, MPI_UINT64_T, MPI_SUM, 0, comm);
}

}  // namespace

int class_of(std::uint64_t bytes) {
  if (bytes <= 1) return 0;
  const int width = std::bit_width(bytes - 1);  // 8 bytes have 3, 9 have 4
  return std::min((width + kBitsPerClass - 1) / kBitsPerClass - 1, kClasses - 1);
}

void Profile::begin(MPI_Comm comm) {
  comm_ = comm;
  start_ = std::chrono::steady_clock::now();
  int processes = 1;
  PMPI_Comm_size(comm_, &processes);
  for (Counters& one : calls_) {
    one.calls = one.bytes = one.nanoseconds = 0;
    for (auto& size : one.sizes) size = 0;
  }
  peers_ = std::vector<std::atomic<std::uint64_t>>(2 * static_cast<std::size_t>(processes));
  const std::unique_lock lock(mutex_);
  parts_.clear();
  totals_.clear();
}

void Profile::record(ApiId call, const Moved& moved, std::uint64_t nanoseconds) {
  Counters& one = calls_[static_cast<std::size_t>(call)];
  one.calls.fetch_add(1, std::memory_order_relaxed);
  one.nanoseconds.fetch_add(nanoseconds, std::memory_order_relaxed);
  if (moved.bytes == 0) return;
  one.bytes.fetch_add(moved.bytes, std::memory_order_relaxed);
  one.sizes[static_cast<std::size_t>(class_of(moved.bytes))].fetch_add(1, std::memory_order_relaxed);
  const std::size_t processes = peers_.size() / 2;
  const auto peer = static_cast<std::size_t>(moved.peer);
  if (moved.peer < 0 || peer >= processes) return;
  peers_[peer + (moved.incoming ? processes : 0)].fetch_add(moved.bytes, std::memory_order_relaxed);
  const auto address = reinterpret_cast<std::uintptr_t>(moved.remote);
  const std::shared_lock lock(mutex_);
  auto after = parts_.upper_bound({moved.peer, address});
  if (after == parts_.begin()) return;
  const auto& [place, region] = *std::prev(after);
  const bool is_inside = place.first == moved.peer && address - place.second < region.length;
  if (is_inside) region.moved->fetch_add(moved.bytes, std::memory_order_relaxed);
}

void Profile::add_region(void* const parts[], const std::uint64_t lengths[], int count, const int* processes) {
  int own = 0;
  PMPI_Comm_rank(comm_, &own);
  const auto moved = std::make_shared<std::atomic<std::uint64_t>>(0);
  const std::unique_lock lock(mutex_);
  totals_.push_back({0, moved});
  for (int i = 0; i < count; ++i) {
    if (parts[i] == nullptr) continue;
    const int process = processes != nullptr ? processes[i] : i;
    if (process == own) totals_.back().length = lengths[i];
    parts_[{process, reinterpret_cast<std::uintptr_t>(parts[i])}] = {static_cast<int>(totals_.size()) - 1, lengths[i],
                                                                     process, moved};
  }
}

void Profile::remove_region(const void* part, int process) {
  const std::unique_lock lock(mutex_);
  const auto found = parts_.find({process, reinterpret_cast<std::uintptr_t>(part)});
  if (found == parts_.end()) return;
  const int number = found->second.number;
  std::erase_if(parts_, [number](const auto& one) { return one.second.number == number; });
}

void Profile::print(std::FILE* out) {
  int rank = 0;
  PMPI_Comm_rank(comm_, &rank);
  print_share(rank, out);
  print_calls(rank, out);
  print_sizes(rank, out);
  print_peers(rank, out);
  print_regions(rank, out);
  if (rank == 0) std::fflush(out);
}

// Simultaneous calls of several threads each count, so the share may exceed 100 %.
void Profile::print_share(int rank, std::FILE* out) const {
  const auto elapsed = std::chrono::steady_clock::now() - start_;
  std::vector<std::uint64_t> sums{static_cast<std::uint64_t>(std::chrono::nanoseconds(elapsed).count()), 0};
  for (const Counters& one : calls_) sums[1] += one.nanoseconds.load();
  sum_up(&sums, comm_, rank);
  if (rank != 0) return;
  int size = 1;
  PMPI_Comm_size(comm_, &size);
  const auto all = static_cast<double>(std::max<std::uint64_t>(sums[0], 1));
  std::fprintf(out, "armci-prof: %d processes, %.3f s each, %.1f %% of it in ARMCI\n", size, all * 1e-9 / size,
               static_cast<double>(sums[1]) * 100.0 / all);
}

void Profile::print_calls(int rank, std::FILE* out) const {
  std::vector<std::uint64_t> sums;
  std::vector<std::uint64_t> longest;
  for (const Counters& one : calls_) {
    sums.insert(sums.end(), {one.calls.load(), one.bytes.load(), one.nanoseconds.load()});
    longest.push_back(one.nanoseconds.load());
  }
  sum_up(&sums, comm_, rank);
  PMPI_Reduce(rank == 0 ? MPI_IN_PLACE : longest.data(), longest.data(), static_cast<int>(longest.size()), MPI_UINT64_T,
              MPI_MAX, 0, comm_);
  if (rank != 0) return;
  std::fprintf(out, "%-28s %12s %12s %14s %14s %14s\n", "call", "calls", "bytes", "seconds, all", "most of one",
               "us a call");
  for (std::size_t call = 0; call < calls_.size(); ++call) {
    const std::uint64_t* const sum = &sums[3 * call];
    if (sum[0] == 0) continue;
    std::fprintf(out, "%-28s %12llu %12s %14.6f %14.6f %14.3f\n", kNames[call], static_cast<unsigned long long>(sum[0]),
                 bytes_text(sum[1]).c_str(), static_cast<double>(sum[2]) * 1e-9,
                 static_cast<double>(longest[call]) * 1e-9,
                 static_cast<double>(sum[2]) * 1e-3 / static_cast<double>(sum[0]));
  }
}

void Profile::print_sizes(int rank, std::FILE* out) const {
  std::vector<std::uint64_t> sums;
  for (const Counters& one : calls_) {
    for (const auto& size : one.sizes) sums.push_back(size.load());
  }
  sum_up(&sums, comm_, rank);
  if (rank != 0) return;
  std::fprintf(out, "\n%-28s", "calls by size");
  for (const char* name : kClassNames) std::fprintf(out, " %10s", name);
  std::fprintf(out, "\n");
  for (std::size_t call = 0; call < calls_.size(); ++call) {
    const std::uint64_t* const sizes = &sums[kClasses * call];
    if (std::all_of(sizes, sizes + kClasses, [](std::uint64_t count) { return count == 0; })) continue;
    std::fprintf(out, "%-28s", kNames[call]);
    for (int i = 0; i < kClasses; ++i) std::fprintf(out, " %10llu", static_cast<unsigned long long>(sizes[i]));
    std::fprintf(out, "\n");
  }
}

// The matrix, or its corner where it is large.
void Profile::print_peers(int rank, std::FILE* out) const {
  const std::size_t count = peers_.size() / 2;
  std::vector<std::uint64_t> mine;
  for (const auto& one : peers_) mine.push_back(one.load());
  int size = 1;
  PMPI_Comm_size(comm_, &size);
  const auto each = static_cast<int>(mine.size());
  std::vector<std::uint64_t> all(rank == 0 ? mine.size() * static_cast<std::size_t>(size) : 0);
  PMPI_Gather(mine.data(), each, MPI_UINT64_T, all.data(), each, MPI_UINT64_T, 0, comm_);
  if (rank != 0) return;
  std::fprintf(out, "\nbytes from (down) to (across)%s\n", count > kPeersShown ? ", the first processes" : "");
  const std::size_t shown = std::min<std::size_t>(count, kPeersShown);
  for (std::size_t from = 0; from < shown; ++from) {
    std::fprintf(out, "%4zu", from);
    for (std::size_t to = 0; to < shown; ++to) {
      const std::uint64_t sent = all[from * mine.size() + to];
      const std::uint64_t fetched = all[to * mine.size() + count + from];
      std::fprintf(out, " %9s", bytes_text(sent + fetched).c_str());
    }
    std::fprintf(out, "\n");
  }
}

// Regions are numbered in the order of their allocation, which is the same on all processes that take part in all of
// them; those of groups are reported for the processes of that group together where the numbers agree.
void Profile::print_regions(int rank, std::FILE* out) const {
  auto count = static_cast<int>(totals_.size());
  PMPI_Allreduce(MPI_IN_PLACE, &count, 1, MPI_INT, MPI_MAX, comm_);
  std::vector<std::uint64_t> moved(static_cast<std::size_t>(count));
  std::vector<std::uint64_t> lengths(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < totals_.size(); ++i) {
    moved[i] = totals_[i].moved->load();
    lengths[i] = totals_[i].length;
  }
  if (count == 0) return;
  sum_up(&moved, comm_, rank);
  sum_up(&lengths, comm_, rank);
  if (rank != 0) return;
  std::fprintf(out, "\n%-10s %12s %12s\n", "region", "its bytes", "bytes moved");
  for (int i = 0; i < std::min(count, kRegionsShown); ++i) {
    std::fprintf(out, "%-10d %12s %12s\n", i, bytes_text(lengths[static_cast<std::size_t>(i)]).c_str(),
                 bytes_text(moved[static_cast<std::size_t>(i)]).c_str());
  }
  if (count > kRegionsShown) std::fprintf(out, "and %d more\n", count - kRegionsShown);
}

}  // namespace armci::prof
