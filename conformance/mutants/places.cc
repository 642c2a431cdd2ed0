// MEM, DLA: addresses, local buffers, and memory that the program loads and stores by itself.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "conformance/mutants/mutants.h"
#include "conformance/mutants/pieces.h"
#include "conformance/mutants/regions.h"
#include "mpi.h"

namespace conformance::mutants {
namespace {

int Me() { return parmci_msg_me(); }

MUTANT(last_byte_of_a_region_is_refused, "MEM-3", "a put that ends where its region ends is an error") {
  RememberRegions(calls);
  RoutePuts(calls, [](const Move& move) {
    for (const Piece& piece : move.pieces) {
      const bool at_end = piece.bytes > 0 && FindRegion(move.proc, piece.dst) != nullptr &&
                          FindRegion(move.proc, piece.dst + piece.bytes) == nullptr;
      if (at_end) return static_cast<int>(ARMCI_ERR_ADDRESS);
    }
    return RightPut(move);
  });
}

MUTANT(large_puts_need_aligned_addresses, "MEM-3", "a put of more than 1 KiB goes to a multiple of 4") {
  RoutePuts(calls, [](const Move& move) {
    Move copy = move;
    for (Piece& piece : copy.pieces) {
      if (piece.bytes > 1024) piece.dst -= reinterpret_cast<std::uintptr_t>(piece.dst) % 4;
    }
    return RightPut(copy);
  });
}

MUTANT(get_by_pages_leaves_its_region, "MEM-3", "a get that crosses 4 KiB begins again at the page's start",
       Tests{"^MEM\\.MEM3"}) {
  calls->ARMCI_Get = [](void* src, void* dst, int bytes, int proc) {
    constexpr int kPage = 4096;
    const int first = kPage - static_cast<int>(reinterpret_cast<std::uintptr_t>(src) % kPage);
    if (bytes <= first) return PARMCI_Get(src, dst, bytes, proc);
    const int code = PARMCI_Get(src, dst, first, proc);
    if (code != 0) return code;
    return PARMCI_Get(static_cast<char*>(src) + first - (first < kPage ? 1 : 0), static_cast<char*>(dst) + first,
                      bytes - first, proc);
  };
}

// The memory that the program gets as another process's part: its own, updated at synchronisation.
struct Copy {
  int proc;
  char* real;
  std::vector<char> now;
  std::vector<char> then;  // at the last meeting
};
std::vector<Copy> copies;

char* Real(int proc, char* address) {
  for (Copy& copy : copies) {
    if (copy.proc == proc && address >= copy.now.data() && address < copy.now.data() + copy.now.size()) {
      return copy.real + (address - copy.now.data());
    }
  }
  return address;
}

MUTANT(other_parts_are_copies, "MEM-4", "what a process stores to another's part arrives at the next barrier",
       Tests{"^MEM\\.MEM4"}) {
  calls->ARMCI_Malloc = [](void* ptr[], armci_size_t bytes) {
    if (const int code = RememberedMalloc(ptr, bytes); code != 0) return code;
    const KnownRegion* region = FindRegion(Me(), ptr[Me()]);
    for (int p = 0; p < parmci_msg_nproc() && region != nullptr; ++p) {
      const auto size = static_cast<std::size_t>(region->bytes[static_cast<std::size_t>(p)]);
      if (p == Me() || size == 0) continue;
      const std::vector<char> zeros(size, 0);
      copies.push_back({p, static_cast<char*>(ptr[p]), zeros, zeros});
      ptr[p] = copies.back().now.data();
    }
    return 0;
  };
  calls->ARMCI_Free = RememberedFree;
  calls->ARMCI_Barrier = [] {
    for (Copy& copy : copies) {
      for (std::size_t i = 0; i < copy.now.size(); ++i) {
        if (copy.now[i] != copy.then[i]) copy.real[i] = copy.now[i];
      }
    }
    PARMCI_Barrier();
    for (Copy& copy : copies) copy.now.assign(copy.real, copy.real + copy.now.size());
    for (Copy& copy : copies) copy.then = copy.now;
    PARMCI_Barrier();
  };
  RoutePuts(calls, [](const Move& move) {
    Move real = move;
    for (Piece& piece : real.pieces) piece.dst = Real(move.proc, piece.dst);
    return RightPut(real);
  });
}

MUTANT(local_allocation_is_collective, "MEM-9", "an allocation of local memory waits for the other processes", Hangs{},
       Tests{"MEM9_local"}) {
  calls->ARMCI_Malloc_local = [](armci_size_t bytes) {
    MPI_Barrier(MPI_COMM_WORLD);
    return PARMCI_Malloc_local(bytes);
  };
}

MUTANT(local_allocations_overlap, "MEM-9", "an allocation of local memory begins with the last bytes of the one before",
       Tests{"MEM9_local"}) {
  calls->ARMCI_Malloc_local = [](armci_size_t bytes) -> void* {
    static char* next = static_cast<char*>(std::calloc(1, 1 << 20));
    char* made = next;
    next += bytes - 8;
    return made;
  };
  calls->ARMCI_Free_local = [](void*) { return 0; };
}

MUTANT(local_memory_is_shared, "MEM-9", "an allocation of local memory is the same memory for all processes",
       Tests{"MEM9_local"}) {
  static char* next = nullptr;
  calls->ARMCI_Init = [] {
    const int code = PARMCI_Init();
    if (code != 0 || next != nullptr) return code;
    std::vector<void*> parts(static_cast<std::size_t>(parmci_msg_nproc()));
    if (const int failed = PARMCI_Malloc(parts.data(), 1 << 20); failed != 0) return failed;
    next = static_cast<char*>(parts[0]);
    return 0;
  };
  calls->ARMCI_Malloc_local = [](armci_size_t bytes) -> void* {
    return std::exchange(next, next + (bytes + 63) / 64 * 64);
  };
  calls->ARMCI_Free_local = [](void*) { return 0; };
}

MUTANT(put_writes_to_its_source, "MEM-9", "a put stores the first byte of its source again") {
  calls->ARMCI_Put = [](void* src, void* dst, int bytes, int proc) {
    volatile char* first = static_cast<char*>(src);
    if (bytes > 0) *first = *first;
    return PARMCI_Put(src, dst, bytes, proc);
  };
}

MUTANT(transfers_inside_a_region_are_left_out, "MEM-10", "a put whose two sides lie in one region does nothing") {
  RememberRegions(calls);
  RoutePuts(calls, [](const Move& move) {
    const Piece& piece = move.pieces[0];
    const KnownRegion* region = FindRegion(Me(), piece.src);
    return region != nullptr && region == FindRegion(move.proc, piece.dst) ? 0 : RightPut(move);
  });
}

MUTANT(get_into_a_region_goes_to_the_target, "MEM-10", "a local buffer in a region is taken for the target's part") {
  RememberRegions(calls);
  calls->ARMCI_Get = [](void* src, void* dst, int bytes, int proc) {
    const KnownRegion* region = FindRegion(Me(), dst);
    if (region == nullptr) return PARMCI_Get(src, dst, bytes, proc);
    const std::ptrdiff_t offset = static_cast<char*>(dst) - region->parts[static_cast<std::size_t>(Me())];
    std::vector<char> data(static_cast<std::size_t>(bytes));
    PARMCI_Get(src, data.data(), bytes, proc);
    return PARMCI_Put(data.data(), region->parts[static_cast<std::size_t>(proc)] + offset, bytes, proc);
  };
}

MUTANT(accumulate_from_a_region_adds_nothing, "MEM-10", "an accumulate whose source lies in a region does nothing") {
  RememberRegions(calls);
  RouteAccumulates(calls, [](const Move& move) {
    return FindRegion(Me(), move.pieces[0].src) != nullptr ? 0 : RightAccumulate(move);
  });
}

MUTANT(strided_get_into_a_region_is_left_out, "MEM-10",
       "a strided get whose destination lies in a region does nothing") {
  RememberRegions(calls);
  RouteGets(calls, [](const Move& move) {
    return move.form == Form::kStrided && FindRegion(Me(), move.pieces[0].dst) != nullptr ? 0 : RightGet(move);
  });
}

MUTANT(unknown_kind_of_memory_is_refused, "MEM-13", "memory of an unknown kind is not allocated") {
  calls->ARMCI_Malloc_memdev = [](void* ptr[], armci_size_t bytes, const char* device) {
    return device != nullptr ? static_cast<int>(ARMCI_ERR_TYPE) : PARMCI_Malloc_memdev(ptr, bytes, device);
  };
}

MUTANT(unknown_kind_of_group_memory_is_refused, "MEM-13", "a group gets no memory of an unknown kind") {
  calls->ARMCI_Malloc_group_memdev = [](void* ptr[], armci_size_t bytes, ARMCI_Group* group, const char* device) {
    return device != nullptr ? static_cast<int>(ARMCI_ERR_TYPE) : PARMCI_Malloc_group_memdev(ptr, bytes, group, device);
  };
}

MUTANT(unknown_kind_of_memory_draws_no_warning, "MEM-13", "memory of an unknown kind is allocated silently") {
  calls->ARMCI_Malloc_memdev = [](void* ptr[], armci_size_t bytes, const char*) { return PARMCI_Malloc(ptr, bytes); };
}

MUTANT(unknown_kind_of_memory_draws_every_warning, "MEM-13", "each allocation of an unknown kind draws a warning") {
  calls->ARMCI_Malloc_memdev = [](void* ptr[], armci_size_t bytes, const char* device) {
    if (device != nullptr) std::fprintf(stderr, "warning: no memory \"%s\"\n", device);
    return PARMCI_Malloc(ptr, bytes);
  };
}

// Own parts as the last access to them left them.
std::map<char*, std::vector<char>> accessed;

char* OwnPart(void* address, std::size_t* bytes) {
  const KnownRegion* region = FindRegion(Me(), address);
  if (region == nullptr) return nullptr;
  *bytes = static_cast<std::size_t>(region->bytes[static_cast<std::size_t>(Me())]);
  return region->parts[static_cast<std::size_t>(Me())];
}

MUTANT(access_begins_with_an_old_copy, "DLA-1", "the owner sees its part as it left it, and not what came since") {
  RememberRegions(calls);
  calls->ARMCI_Access_begin = [](void* ptr) {
    std::size_t bytes = 0;
    char* part = OwnPart(ptr, &bytes);
    if (part != nullptr && accessed[part].size() == bytes) std::memcpy(part, accessed[part].data(), bytes);
  };
  calls->ARMCI_Access_end = [](void* ptr) {
    std::size_t bytes = 0;
    char* part = OwnPart(ptr, &bytes);
    if (part != nullptr) accessed[part].assign(part, part + bytes);
  };
}

MUTANT(access_ends_without_others_seeing_it, "DLA-1", "what the owner stores is shown to others by the next barrier") {
  static std::map<char*, std::vector<char>> unpublished;
  RememberRegions(calls);
  calls->ARMCI_Access_begin = [](void* ptr) {
    std::size_t bytes = 0;
    char* part = OwnPart(ptr, &bytes);
    if (part != nullptr) accessed[part].assign(part, part + bytes);
  };
  calls->ARMCI_Access_end = [](void* ptr) {
    std::size_t bytes = 0;
    char* part = OwnPart(ptr, &bytes);
    if (part == nullptr || accessed[part].size() != bytes) return;
    unpublished[part].assign(part, part + bytes);
    std::memcpy(part, accessed[part].data(), bytes);
  };
  calls->ARMCI_Barrier = [] {
    for (const auto& [part, bytes] : unpublished) {
      if (FindRegion(Me(), part) != nullptr) std::memcpy(part, bytes.data(), bytes.size());
    }
    unpublished.clear();
    PARMCI_Barrier();
  };
}

}  // namespace
}  // namespace conformance::mutants
