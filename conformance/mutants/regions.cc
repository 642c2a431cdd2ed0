#include "conformance/mutants/regions.h"

#include <functional>

#include "mpi.h"

namespace conformance::mutants {
namespace {

std::vector<KnownRegion> known;

}  // namespace

int RememberedMalloc(void* ptr[], armci_size_t bytes) {
  if (const int code = PARMCI_Malloc(ptr, bytes); code != 0) return code;
  const auto ranks = static_cast<std::size_t>(parmci_msg_nproc());
  KnownRegion region;
  for (std::size_t p = 0; p < ranks; ++p) region.parts.push_back(static_cast<char*>(ptr[p]));
  region.bytes.resize(ranks);
  MPI_Allgather(&bytes, 1, MPI_LONG, region.bytes.data(), 1, MPI_LONG, MPI_COMM_WORLD);
  known.push_back(region);
  return 0;
}

int RememberedFree(void* ptr) {
  const auto me = static_cast<std::size_t>(parmci_msg_me());
  std::erase_if(known, [&](const KnownRegion& region) { return ptr != nullptr && region.parts[me] == ptr; });
  return PARMCI_Free(ptr);
}

void RememberRegions(Calls* calls) {
  calls->ARMCI_Malloc = RememberedMalloc;
  calls->ARMCI_Free = RememberedFree;
}

const KnownRegion* FindRegion(int proc, const void* address) {
  const auto* at = static_cast<const char*>(address);
  const auto p = static_cast<std::size_t>(proc);
  for (const KnownRegion& region : known) {
    const char* begin = region.parts[p];
    if (begin == nullptr || std::less<>()(at, begin) || !std::less<>()(at, begin + region.bytes[p])) continue;
    return &region;
  }
  return nullptr;
}

int IndexOf(const KnownRegion* region) { return static_cast<int>(region - known.data()); }

}  // namespace conformance::mutants
