// main() of tests that need MPI's collective calls among one process: no launcher is involved.
#include <gtest/gtest.h>
#include <mpi.h>

// The leak checker's interface; absent in builds without it.
extern "C" {
[[gnu::weak]] void __lsan_disable();
[[gnu::weak]] void __lsan_enable();
const char* __lsan_default_suppressions();
}

// MPI libraries keep much of what they allocate, some of it in modules that are unloaded when the checker looks. Ours
// is still found.
const char* __lsan_default_suppressions() { return "leak:libmpi\nleak:libopen-\nleak:libpmix\nleak:libhwloc\n"; }

namespace {

// Allocations of its lifetime are no leaks.
class MpiAllocates {
 public:
  MpiAllocates() {
    if (__lsan_disable != nullptr) __lsan_disable();
  }
  ~MpiAllocates() {
    if (__lsan_enable != nullptr) __lsan_enable();
  }
};

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  {
    const MpiAllocates scope;
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  }
  const int result = RUN_ALL_TESTS();
  const MpiAllocates scope;
  MPI_Finalize();
  return result;
}
