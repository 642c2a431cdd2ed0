// armci-prof: every call of the interface, in front of the library by its profiling interface. Loaded with LD_PRELOAD,
// or linked before the library. Prints at the last ARMCI_Finalize, to the file that PARMCI_PROF_OUTPUT names or on the
// error stream.
#include <chrono>
#include <cstdlib>
#include <type_traits>
#include <vector>

#include "parmci.h"
#include "spec/api_table.h"
#include "tools/prof/profile.h"

namespace armci::prof {
namespace {

Profile& profile() {
  static Profile the_profile;
  return the_profile;
}

int inits = 0;

void print() {
  const char* const path = std::getenv("PARMCI_PROF_OUTPUT");
  std::FILE* out = stderr;
  if (path != nullptr && parmci_msg_me() == 0) {
    out = std::fopen(path, "w");
    if (out == nullptr) {
      std::fprintf(stderr, "armci-prof: cannot write %s: printing it here\n", path);
      out = stderr;
    }
  }
  profile().print(out);
  if (out == stderr) return;
  const bool is_whole = std::ferror(out) == 0;
  if (std::fclose(out) != 0 || !is_whole) std::fprintf(stderr, "armci-prof: cannot write all of %s\n", path);
}

// The work besides counting, before a call, and after one that succeeded.
template <ApiId>
struct Around {
  template <class... Arguments>
  static void before(Arguments...) {}
  template <class... Arguments>
  static void after(Arguments...) {}
};

struct Starts {
  template <class... Arguments>
  static void before(Arguments...) {}
  template <class... Arguments>
  static void after(Arguments...) {
    if (inits++ > 0) return;
    ARMCI_Group world;
    PARMCI_Group_get_world(&world);
    profile().begin(parmci_group_comm(&world));
  }
};
template <>
struct Around<ApiId::ARMCI_Init> : Starts {};
template <>
struct Around<ApiId::ARMCI_Init_args> : Starts {};
template <>
struct Around<ApiId::ARMCI_Init_thread> : Starts {};
template <>
struct Around<ApiId::ARMCI_Init_thread_comm> : Starts {};
template <>
struct Around<ApiId::ARMCI_Init_mpi_comm> : Starts {};
template <>
struct Around<ApiId::ARMCIX_Init_comm_f> : Starts {};

template <>
struct Around<ApiId::ARMCI_Finalize> {
  static void before() {
    if (inits > 0 && --inits == 0) print();
  }
  static void after() {}
};

std::vector<int> processes_of(ARMCI_Group* group) {
  int size = 0;
  PARMCI_Group_size(group, &size);
  std::vector<int> processes;
  for (int rank = 0; rank < size; ++rank) processes.push_back(PARMCI_Absolute_id(group, rank));
  return processes;
}

// Collective, as the calls around are: what a process knows of its own part is gathered from all.
void note_allocated(void** parts, armci_size_t bytes, ARMCI_Group* group) {
  const std::vector<int> processes = processes_of(group);
  std::uint64_t own = bytes > 0 ? static_cast<std::uint64_t>(bytes) : 0;
  std::vector<std::uint64_t> lengths(processes.size());
  PMPI_Allgather(&own, 1, MPI_UINT64_T, lengths.data(), 1, MPI_UINT64_T, parmci_group_comm(group));
  profile().add_region(parts, lengths.data(), static_cast<int>(processes.size()), processes.data());
}
void note_freed(void* part, ARMCI_Group* group) {
  const std::vector<int> processes = processes_of(group);
  auto own = reinterpret_cast<std::uint64_t>(part);
  std::vector<std::uint64_t> parts(processes.size());
  PMPI_Allgather(&own, 1, MPI_UINT64_T, parts.data(), 1, MPI_UINT64_T, parmci_group_comm(group));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i] != 0) return profile().remove_region(reinterpret_cast<const void*>(parts[i]), processes[i]);
  }
}

struct Allocates {
  template <class... Arguments>
  static void before(Arguments...) {}
  static void after(void** parts, armci_size_t bytes, const char* = nullptr) {
    ARMCI_Group world;
    PARMCI_Group_get_world(&world);
    note_allocated(parts, bytes, &world);
  }
  static void after(void** parts, armci_size_t bytes, ARMCI_Group* group, const char* = nullptr) {
    note_allocated(parts, bytes, group);
  }
};
template <>
struct Around<ApiId::ARMCI_Malloc> : Allocates {};
template <>
struct Around<ApiId::ARMCI_Malloc_memdev> : Allocates {};
template <>
struct Around<ApiId::ARMCI_Malloc_group> : Allocates {};
template <>
struct Around<ApiId::ARMCI_Malloc_group_memdev> : Allocates {};

// Before: afterwards another allocation may have the addresses.
struct Frees {
  static void before(void* part) {
    ARMCI_Group world;
    PARMCI_Group_get_world(&world);
    note_freed(part, &world);
  }
  static void before(void* part, ARMCI_Group* group) { note_freed(part, group); }
  template <class... Arguments>
  static void after(Arguments...) {}
};
template <>
struct Around<ApiId::ARMCI_Free> : Frees {};
template <>
struct Around<ApiId::ARMCI_Free_memdev> : Frees {};
template <>
struct Around<ApiId::ARMCI_Free_group> : Frees {};

template <ApiId id, class Body, class After>
auto observed(const Moved& moved, Body body, After after) {
  const auto began = std::chrono::steady_clock::now();
  const auto count = [&] {
    const std::chrono::nanoseconds spent = std::chrono::steady_clock::now() - began;
    profile().record(id, moved, static_cast<std::uint64_t>(spent.count()));
  };
  if constexpr (std::is_void_v<decltype(body())>) {
    body();
    count();
    after();
  } else {
    const auto outcome = body();
    count();
    if constexpr (std::is_same_v<decltype(outcome), const int>) {
      if (outcome == 0) after();
    }
    return outcome;
  }
}

}  // namespace
}  // namespace armci::prof

#define PROF_ENTRY(result, strong, weak_name, parameters, arguments)                                                  \
  extern "C" __attribute__((visibility("default"))) result weak_name parameters {                                     \
    using namespace armci::prof;                                                                                      \
    constexpr ApiId call_id = ApiId::weak_name;                                                                       \
    Around<call_id>::before arguments;                                                                                \
    return observed<call_id>(                                                                                         \
        Describe<call_id> {} arguments, [&] { return strong arguments; }, [&] { Around<call_id>::after arguments; }); \
  }

ARMCI_API_ALL(PROF_ENTRY)
