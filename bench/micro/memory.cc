// What do allocation and release of a region cost, and does anything grow with them?
//
// Cases, all processes:
//   malloc + free    1 MiB on each process; 64 B and 16 MiB without a target
//   growth           over 20,000 cycles (--quick: 2,000) of malloc and free of 1 MiB after a warm-up, the largest of
//                    any process: resident memory, open descriptors, mappings; and the shared memory in use on the node
#include <dirent.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string>

#include "armci.h"
#include "bench/common/report.h"
#include "bench/session/session.h"

namespace armci::bench {
namespace {

constexpr size_t kMebi = size_t{1} << 20;
constexpr long kCycles = 20'000;
constexpr long kQuickCycles = 2'000;
constexpr long kWarmUpCycles = 200;

void Cycle(const Session& session, std::vector<void*>& bases, size_t bytes) {
  Require(ARMCI_Malloc(bases.data(), static_cast<armci_size_t>(bytes)) == 0, "ARMCI_Malloc");
  Require(ARMCI_Free(bases[static_cast<size_t>(session.rank())]) == 0, "ARMCI_Free");
}

Case MallocFree(const Session& session, size_t bytes, const char* target_key) {
  const auto actions = [=, &session]() -> std::vector<Action> {
    const auto body = [=, &session, bases = std::vector<void*>(static_cast<size_t>(session.size()))]() mutable {
      Cycle(session, bases, bytes);
    };
    return {session.Jointly("ARMCI_Malloc+Free", Role::kSubject, body)};
  };
  return {{"malloc + free", FormatBytes(bytes), target_key}, Crew::kTogether, actions, {}, 2e-3};
}

// The figures of this process that a leak would raise; the last is the node's.
enum Quantity { kResident, kDescriptors, kMappings, kSharedMemory, kQuantities };

constexpr std::array<const char*, kQuantities> kQuantityNames = {"growth of resident bytes", "growth of descriptors",
                                                                 "growth of mappings", "growth of shared memory bytes"};
constexpr std::array<const char*, kQuantities> kQuantityTargets = {"growth_bytes", "growth_count", "growth_count",
                                                                   "growth_bytes"};

using Usage = std::array<double, kQuantities>;

double ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  double total = 0;
  double resident = 0;
  file >> total >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

double OpenDescriptors() {
  double count = 0;
  DIR* directory = opendir("/proc/self/fd");
  Require(directory != nullptr, "opendir of /proc/self/fd");
  while (readdir(directory) != nullptr) ++count;
  closedir(directory);
  return count;
}

double Mappings() {
  std::ifstream file("/proc/self/maps");
  double count = 0;
  for (std::string line; std::getline(file, line);) ++count;
  return count;
}

double SharedMemoryInUse() {
  const char* folder = getenv("ARMCI_SHM_DIR");
  struct statvfs system;
  if (statvfs(folder != nullptr ? folder : "/dev/shm", &system) != 0) return 0;
  return static_cast<double>(system.f_blocks - system.f_bfree) * static_cast<double>(system.f_frsize);
}

Usage MeasureUsage() {
  MPI_Barrier(MPI_COMM_WORLD);
  const Usage usage = {ResidentBytes(), OpenDescriptors(), Mappings(), SharedMemoryInUse()};
  MPI_Barrier(MPI_COMM_WORLD);
  return usage;
}

void CountGrowth(Session& session) {
  const long cycles = session.options().quick ? kQuickCycles : kCycles;
  const auto label = [=](size_t i) -> CaseLabel {
    return {kQuantityNames[i], std::to_string(cycles) + " cycles", kQuantityTargets[i]};
  };
  bool is_wanted = false;
  for (size_t i = 0; i < kQuantities; ++i) is_wanted = is_wanted || session.Wants(label(i));
  if (!is_wanted) return;
  std::vector<void*> bases(static_cast<size_t>(session.size()));
  for (long i = 0; i < kWarmUpCycles; ++i) Cycle(session, bases, kMebi);
  const Usage before = MeasureUsage();
  for (long i = 0; i < cycles; ++i) Cycle(session, bases, kMebi);
  const Usage after = MeasureUsage();
  Usage growth;
  for (size_t i = 0; i < kQuantities; ++i) growth[i] = std::max(0.0, after[i] - before[i]);
  MPI_Allreduce(MPI_IN_PLACE, growth.data(), kQuantities, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  for (size_t i = 0; i < kQuantities; ++i) session.Count(label(i), growth[i]);
}

}  // namespace
}  // namespace armci::bench

int main(int argc, char** argv) {
  using namespace armci::bench;
  Session session(argc, argv, {"memory", "cost and growth of collective allocation", 4});
  session.Run(
      {MallocFree(session, kMebi, "malloc_free"), MallocFree(session, 64, ""), MallocFree(session, 16 * kMebi, "")});
  CountGrowth(session);
  return session.Finish();
}
