// The regions of the program as the mutants know them: where each part is and how long, by the order of allocation,
// which is the same on all processes.
#ifndef CONFORMANCE_MUTANTS_REGIONS_H_
#define CONFORMANCE_MUTANTS_REGIONS_H_

#include <cstddef>
#include <vector>

#include "conformance/mutants/calls.h"

namespace conformance::mutants {

struct KnownRegion {
  std::vector<char*> parts;  // by process, as this one sees them
  std::vector<armci_size_t> bytes;
};

// Has ARMCI_Malloc and ARMCI_Free remember what there is; the functions for mutants with a Malloc of their own.
void RememberRegions(Calls* calls);
int RememberedMalloc(void* ptr[], armci_size_t bytes);
int RememberedFree(void* ptr);

// The region whose part of `proc` holds the address, or NULL; and its place among those that there are.
const KnownRegion* FindRegion(int proc, const void* address);
int IndexOf(const KnownRegion* region);

}  // namespace conformance::mutants

#endif  // CONFORMANCE_MUTANTS_REGIONS_H_
