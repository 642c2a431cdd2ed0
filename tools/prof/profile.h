// The counts of armci-prof: the share of the time in calls; calls with their bytes, sizes and times; bytes by peer;
// bytes by region.
//
// Thread safety: record() by any thread. begin(), regions and print() by one thread at a time, as the calls that lead
// to them are.
#ifndef ARMCI_TOOLS_PROF_PROFILE_H_
#define ARMCI_TOOLS_PROF_PROFILE_H_

#include <mpi.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <shared_mutex>
#include <string>
#include <vector>

#include "tools/prof/describe.h"

namespace armci::prof {

// Classes of sizes: up to 8 B, 64 B, ... 2 MiB, and more.
inline constexpr int kClasses = 8;
int class_of(std::uint64_t bytes);

struct Counters {
  std::atomic<std::uint64_t> calls{0};
  std::atomic<std::uint64_t> bytes{0};
  std::atomic<std::uint64_t> nanoseconds{0};
  std::array<std::atomic<std::uint64_t>, kClasses> sizes{};
};

class Profile {
 public:
  // Counts from 0. `comm`: of all processes; kept until print().
  void begin(MPI_Comm comm);
  void record(runtime::ApiId call, const Moved& moved, std::uint64_t nanoseconds);

  // `parts`: of each process of a collective allocation, and their lengths; `processes` of the same number, or nullptr:
  // all of the job, in order.
  void add_region(void* const parts[], const std::uint64_t lengths[], int count, const int* processes);
  // By the part of any of its processes.
  void remove_region(const void* part, int process);

  // The sums of all processes, printed by rank 0 to `out`. Collective.
  void print(std::FILE* out);

 private:
  struct Region {
    int number = 0;  // in the order of allocation on this process
    std::uint64_t length = 0;
    int process = 0;
    std::shared_ptr<std::atomic<std::uint64_t>> moved;
  };

  void print_share(int rank, std::FILE* out) const;
  void print_calls(int rank, std::FILE* out) const;
  void print_sizes(int rank, std::FILE* out) const;
  void print_peers(int rank, std::FILE* out) const;
  void print_regions(int rank, std::FILE* out) const;

  MPI_Comm comm_ = MPI_COMM_NULL;
  std::chrono::steady_clock::time_point start_;
  std::array<Counters, runtime::kApiCount> calls_;
  // By process: moved from this one to it, then from it to this one.
  std::vector<std::atomic<std::uint64_t>> peers_;
  mutable std::shared_mutex mutex_;  // of parts_ and totals_
  // By process and address of the first byte.
  std::map<std::pair<int, std::uintptr_t>, Region> parts_;
  struct Total {
    std::uint64_t length;  // of this process's part
    std::shared_ptr<std::atomic<std::uint64_t>> moved;
  };
  std::vector<Total> totals_;
};

}  // namespace armci::prof

#endif  // ARMCI_TOOLS_PROF_PROFILE_H_
