// Memory that runs out: every process must get the same error, and earlier allocations must still work.
#include <mpi.h>

#include <cstdint>
#include <cstring>

#include "armci.h"
#include "conformance/faults/faults.h"

namespace faults {
namespace {

// The byte that process p writes all over its part of region r.
unsigned char Pattern(int region, int p) { return static_cast<unsigned char>(1 + region * 7 + p * 31); }

struct Region {
  std::vector<void*> parts;
  int64_t bytes = 0;
  unsigned char pattern_base = 0;
};

// Collective. The result of ARMCI_Malloc, which must be the same kind of answer on all processes.
int Allocate(const World& world, int64_t bytes, Region* region) {
  region->parts.assign(world.nproc, nullptr);
  region->bytes = bytes;
  int code = ARMCI_Malloc(region->parts.data(), bytes);
  int failed = code != 0;
  int failures = 0;
  MPI_Allreduce(&failed, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (failures != 0 && failures != world.nproc) {
    Say("UNEXPECTED ARMCI_Malloc failed on %d of %d processes", failures, world.nproc);
    MPI_Abort(MPI_COMM_WORLD, 99);
  }
  if (code != 0) {
    for (void* part : region->parts) {
      if (part != nullptr) Say("UNEXPECTED a failed ARMCI_Malloc changed ptr[]");
    }
  }
  return code;
}

void Fill(const World& world, int number, const Region& region) {
  // Every page is touched: this is where a promised page that is not there would raise SIGBUS.
  std::memset(region.parts[world.me], Pattern(number, world.me), region.bytes);
}

// The number of wrong bytes in the part of the next process.
int64_t CountWrong(const World& world, int number, const Region& region) {
  int next = (world.me + 1) % world.nproc;
  std::vector<unsigned char> found(region.bytes);
  Check(ARMCI_Get(region.parts[next], found.data(), static_cast<int>(region.bytes), next), "ARMCI_Get");
  int64_t wrong = 0;
  for (unsigned char byte : found) wrong += byte != Pattern(number, next);
  return wrong;
}

// Allocates regions of BYTES until one is refused (at the latest after LIMIT), checks the others, frees half of them
// and allocates once more.
int Exhaust(const World& world) {
  int64_t bytes = Number(world, 0, 1 << 20);
  long limit = Number(world, 1, 1000);
  std::vector<Region> regions;
  int code = 0;
  while (static_cast<long>(regions.size()) < limit) {
    Region region;
    code = Allocate(world, bytes, &region);
    if (code != 0) break;
    Fill(world, static_cast<int>(regions.size()), region);
    regions.push_back(region);
  }
  ARMCI_Barrier();
  int64_t wrong = 0;
  for (size_t i = 0; i < regions.size(); ++i) wrong += CountWrong(world, static_cast<int>(i), regions[i]);
  Say("EXHAUSTED rank %d regions %zu code %d wrong %lld", world.me, regions.size(), code,
      static_cast<long long>(wrong));

  ARMCI_Barrier();
  size_t kept = regions.size() / 2;
  for (size_t i = kept; i < regions.size(); ++i) Check(ARMCI_Free(regions[i].parts[world.me]), "ARMCI_Free");
  if (kept < regions.size()) {
    Region again;
    Check(Allocate(world, bytes, &again), "ARMCI_Malloc after ARMCI_Free");
    Fill(world, 0, again);
    ARMCI_Barrier();
    Say("AGAIN rank %d wrong %lld", world.me, static_cast<long long>(CountWrong(world, 0, again)));
    ARMCI_Barrier();
    Check(ARMCI_Free(again.parts[world.me]), "ARMCI_Free");
  }
  for (size_t i = 0; i < kept; ++i) Check(ARMCI_Free(regions[i].parts[world.me]), "ARMCI_Free");
  return 0;
}

// One process asks for more than any machine has, the others for nothing or for BYTES.
int Unequal(const World& world) {
  Region before;
  Check(Allocate(world, 4096, &before), "ARMCI_Malloc");
  Fill(world, 0, before);
  Region huge;
  int64_t bytes = world.me == 0 ? int64_t{1} << 60 : Number(world, 0, 0);
  int code = Allocate(world, bytes, &huge);
  ARMCI_Barrier();
  Say("UNEQUAL rank %d code %d wrong %lld", world.me, code, static_cast<long long>(CountWrong(world, 0, before)));
  ARMCI_Barrier();
  Check(ARMCI_Free(before.parts[world.me]), "ARMCI_Free");
  return 0;
}

constexpr Case kCases[] = {
    {"exhaust", "BYTES LIMIT", "allocates until memory runs out, then checks and goes on", true, Exhaust},
    {"unequal", "BYTES", "process 0 asks for 2^60 bytes, the others for BYTES", true, Unequal},
};

}  // namespace

std::span<const Case> MemoryCases() { return kCases; }

}  // namespace faults
