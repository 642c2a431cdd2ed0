// armci-prof: every call of the interface, in front of the library by its profiling interface. Loaded with LD_PRELOAD,
// or linked before the library. Prints at the last ARMCI_Finalize, to the file that PARMCI_PROF_OUTPUT names or on the
// error stream.
#include <chrono>
#include <cstdlib>
#include <type_traits>
#include <vector>

#include "impl/common/api_table.h"
#include "parmci.h"
#include "tools/prof/profile.h"

namespace armci::prof {
namespace {

Profile& profile() {
  static Profile the_profile;
  return the_profile;
}

int inits = 0;

void print() {
  ARMCI_Group world;
  PARMCI_Group_get_world(&world);
  const char* const path = std::getenv("PARMCI_PROF_OUTPUT");
  std::FILE* out = stderr;
  if (path != nullptr && parmci_msg_me() == 0) {
    out = std::fopen(path, "w");
    if (out == nullptr) {
      std::fprintf(stderr, "armci-prof: cannot write %s: printing it here\n", path);
      out = stderr;
    }
  }
  profile().print(parmci_group_comm(&world), out);
  if (out != stderr) std::fclose(out);
}

// What has to be done besides counting, before and after a call.
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
    if (PARMCI_Initialized() != 0 && inits++ == 0) profile().begin(parmci_msg_nproc());
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
struct Around<ApiId::ARMCI_Finalize> {
  static void before() {
    if (inits > 0 && --inits == 0) print();
  }
  static void after() {}
};

template <>
struct Around<ApiId::ARMCI_Malloc> {
  static void before(void**, armci_size_t) {}
  static void after(void** parts, armci_size_t bytes) {
    profile().add_region(parts, parmci_msg_nproc(), nullptr, static_cast<std::uint64_t>(bytes));
  }
};
template <>
struct Around<ApiId::ARMCI_Malloc_group> {
  static void before(void**, armci_size_t, ARMCI_Group*) {}
  static void after(void** parts, armci_size_t bytes, ARMCI_Group* group) {
    int size = 0;
    PARMCI_Group_size(group, &size);
    std::vector<int> processes;
    for (int rank = 0; rank < size; ++rank) processes.push_back(PARMCI_Absolute_id(group, rank));
    profile().add_region(parts, size, processes.data(), static_cast<std::uint64_t>(bytes));
  }
};
template <>
struct Around<ApiId::ARMCI_Free> {
  static void before(void* part) { profile().remove_region(part, parmci_msg_me()); }
  static void after(void*) {}
};
template <>
struct Around<ApiId::ARMCI_Free_group> {
  static void before(void* part, ARMCI_Group*) { profile().remove_region(part, parmci_msg_me()); }
  static void after(void*, ARMCI_Group*) {}
};

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
    after();
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
