// MEM: regions that are in the wrong place, freed in error, or never given back.

#include <fcntl.h>

#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "conformance/mutants/mutants.h"

namespace conformance::mutants {
namespace {

constexpr std::size_t kLeakBytes = 4096;

MUTANT(empty_part_is_not_null, "MEM-2", "a process that asks for nothing gets an address all the same") {
  calls->ARMCI_Malloc = [](void* ptr[], armci_size_t bytes) { return PARMCI_Malloc(ptr, bytes == 0 ? 8 : bytes); };
}

MUTANT(pointers_are_by_neighbour, "MEM-1", "the last process sees everybody's memory at the place of its neighbour") {
  calls->ARMCI_Malloc = [](void* ptr[], armci_size_t bytes) {
    const int code = PARMCI_Malloc(ptr, bytes);
    const int ranks = parmci_msg_nproc();
    if (code == 0 && parmci_msg_me() == ranks - 1 && ranks > 1) std::swap(ptr[0], ptr[ranks - 1]);
    return code;
  };
}

MUTANT(bases_are_misaligned, "MEM-5", "a part begins 16 bytes after a multiple of 64") {
  calls->ARMCI_Malloc = [](void* ptr[], armci_size_t bytes) {
    const int code = PARMCI_Malloc(ptr, bytes + 16);
    for (int p = 0; code == 0 && p < parmci_msg_nproc(); ++p) ptr[p] = static_cast<char*>(ptr[p]) + 16;
    return code;
  };
  calls->ARMCI_Free = [](void* ptr) { return PARMCI_Free(static_cast<char*>(ptr) - 16); };
}

// Own parts of the regions that are there, in the order of allocation.
std::vector<void*> regions;

MUTANT(free_takes_the_newest_region, "MEM-7", "a free gives the region back that was allocated last") {
  calls->ARMCI_Malloc = [](void* ptr[], armci_size_t bytes) {
    const int code = PARMCI_Malloc(ptr, bytes);
    if (code == 0) regions.push_back(ptr[parmci_msg_me()]);
    return code;
  };
  calls->ARMCI_Free = [](void*) {
    void* newest = regions.back();
    regions.pop_back();
    return PARMCI_Free(newest);
  };
}

MUTANT(free_of_null_takes_the_newest_region, "MEM-6", "where a process has no memory, each frees what it pleases") {
  calls->ARMCI_Malloc = [](void* ptr[], armci_size_t bytes) {
    const int code = PARMCI_Malloc(ptr, bytes);
    if (code == 0 && ptr[parmci_msg_me()] != nullptr) regions.push_back(ptr[parmci_msg_me()]);
    return code;
  };
  calls->ARMCI_Free = [](void* ptr) {
    // The processes do not agree: one without memory gives back the last that it has.
    if (ptr != nullptr || regions.empty()) {
      std::erase(regions, ptr);
      return PARMCI_Free(ptr);
    }
    void* newest = regions.back();
    regions.pop_back();
    return PARMCI_Free(newest);
  };
}

MUTANT(allocation_leaks_memory, "MEM-7", "each allocation keeps 4 KiB for ever") {
  calls->ARMCI_Malloc = [](void* ptr[], armci_size_t bytes) {
    static std::vector<void*> kept;
    kept.push_back(std::memset(std::malloc(kLeakBytes), 1, kLeakBytes));
    return PARMCI_Malloc(ptr, bytes);
  };
}

MUTANT(allocation_leaks_descriptors, "MEM-7", "every hundredth allocation leaves a file open") {
  calls->ARMCI_Malloc = [](void* ptr[], armci_size_t bytes) {
    static long count = 0;
    static int last = -1;
    if (++count % 100 == 0) last = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return last == -2 ? 1 : PARMCI_Malloc(ptr, bytes);
  };
}

MUTANT(failure_is_told_to_one_process, "MEM-8",
       "when memory is short, only the process that asked for it hears of it") {
  calls->ARMCI_Malloc = [](void* ptr[], armci_size_t bytes) {
    const int code = PARMCI_Malloc(ptr, bytes);
    return bytes > armci_size_t{1} << 40 ? code : 0;
  };
}

MUTANT(failed_allocation_frees_the_others, "MEM-8", "when memory is short, the newest region is given up") {
  calls->ARMCI_Malloc = [](void* ptr[], armci_size_t bytes) {
    const int code = PARMCI_Malloc(ptr, bytes);
    if (code == 0) regions.push_back(ptr[parmci_msg_me()]);
    if (code != 0 && !regions.empty()) PARMCI_Free(regions.back());
    return code;
  };
}

MUTANT(group_memory_is_indexed_by_id, "MEM-11", "the pointers of a group allocation are at the absolute ids") {
  calls->ARMCI_Malloc_group = [](void* ptr[], armci_size_t bytes, ARMCI_Group* group) {
    int size = 0;
    PARMCI_Group_size(group, &size);
    std::vector<void*> by_rank(static_cast<std::size_t>(size));
    const int code = PARMCI_Malloc_group(by_rank.data(), bytes, group);
    for (int rank = 0; code == 0 && rank < size; ++rank) {
      const int id = PARMCI_Absolute_id(group, rank);
      if (id < size) ptr[id] = by_rank[static_cast<std::size_t>(rank)];
    }
    return code;
  };
}

MUTANT(negative_size_is_taken_as_zero, "MEM-12", "an allocation of a negative size succeeds") {
  calls->ARMCI_Malloc = [](void* ptr[], armci_size_t bytes) { return PARMCI_Malloc(ptr, bytes < 0 ? 0 : bytes); };
}

MUTANT(memat_forgets_the_offset, "MEM-14", "an address inside memory from memget is that of its begin") {
  calls->ARMCI_Memat = [](armci_meminfo_t* info, long) { return PARMCI_Memat(info, 0); };
}

MUTANT(shared_memory_is_a_matter_of_opinion, "MEM-15", "one process says that regions are not shared") {
  calls->ARMCI_Uses_shm = [] { return parmci_msg_me() == 0 ? 0 : PARMCI_Uses_shm(); };
}

MUTANT(copy_moves_one_byte_less, "MEM-16", "a copy of more than one byte leaves the last one out") {
  calls->ARMCI_Copy = [](void* src, void* dst, int n) { PARMCI_Copy(src, dst, n > 1 ? n - 1 : n); };
}

}  // namespace
}  // namespace conformance::mutants
