// Collective objects of a test: global memory and mutexes, freed on every way out of the test.
//
// Creation and destruction are meeting points (see session.h), so a rank that failed never waits in a collective call
// that the others do not reach.
#ifndef CONFORMANCE_HARNESS_REGION_H_
#define CONFORMANCE_HARNESS_REGION_H_

#include <atomic>
#include <cstddef>
#include <source_location>
#include <vector>

#include "armci.h"
#include "conformance/harness/session.h"

namespace conformance {

// One ARMCI_Malloc; its memory starts as zero bytes.
class Region {
 public:
  explicit Region(std::size_t my_bytes, const std::source_location& where = std::source_location::current());
  ~Region();
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  // The remote address `offset` bytes into rank p's part.
  char* At(int p, std::size_t offset = 0) const {
    return static_cast<char*>(bases_[static_cast<std::size_t>(p)]) + offset;
  }
  char* Mine() const;
  template <typename T>
  T* As(int p, std::size_t index = 0) const {
    return reinterpret_cast<T*>(At(p)) + index;
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::vector<void*> bases_;
  std::size_t bytes_;
};

// One ARMCI_Create_mutexes.
class Mutexes {
 public:
  explicit Mutexes(int mine, const std::source_location& where = std::source_location::current());
  ~Mutexes();
  Mutexes(const Mutexes&) = delete;
  Mutexes& operator=(const Mutexes&) = delete;
};

// Held by the caller from construction to destruction.
class Locked {
 public:
  Locked(int mutex, int proc);
  ~Locked();
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  const int mutex_;
  const int proc_;
};

// Brings two or more ranks to the same place at nearly the same time: closer together than MPI does, which matters for
// races of a few instructions. On one node by flags in a region, loaded and stored directly; otherwise by messages.
class Gate {
 public:
  // Collective; `ranks` are those that will call Meet. One that waits looks `close_looks` more times before it lets
  // others have its core: many where the ranks have cores of their own.
  explicit Gate(std::vector<int> ranks, int close_looks = 0);
  // All of `ranks` call it with 1, 2, 3, ... Returns false when the others do not come (a failure is recorded); and by
  // messages, which take milliseconds with more ranks than cores, on all ranks alike when 20 s are over.
  bool Meet(long round);
  // Whether the ranks load and store each other's memory; the same on all.
  bool direct() const { return direct_; }

 private:
  Region flags_;
  const std::vector<int> ranks_;
  const int close_looks_;
  bool direct_ = false;
  double end_ = 0;
};

// A loop in which ranks race against each other, and which goes on until they really have.
//
// A fixed number of quick operations can be over on one rank before the next one has begun, and then tests nothing.
// Here all begin together, and go on until each has taken `enough` steps during which another one moved, or until the
// time for it is up (more ranks than cores may never run together). Ranks on other nodes cannot be watched; then every
// rank takes a fixed number of steps.
//
//    Race race(AllRanks());
//    while (race.GoOn()) { one step }
class Race {
 public:
  // Collective; `ranks` are those that will call GoOn.
  explicit Race(std::vector<int> ranks, long enough = Scaled(20000L, 2000L));
  // Whether to take another step. Ends early on a rank that has failed.
  bool GoOn();
  long steps() const { return steps_; }

 private:
  bool Finished();

  Region flags_;
  std::vector<int> others_;
  std::vector<long> seen_;
  const long enough_;
  bool direct_ = false;
  long steps_ = 0;
  long together_ = 0;
  double end_ = 0;
};

std::vector<int> AllRanks();

// A local buffer of the test's own, any alignment, from the heap.
using Bytes = std::vector<char>;

// Loads that another process may be storing to. Memory ordering: acquire, so that what was stored before the value
// seen can be read plainly afterwards.
template <typename T>
T LoadShared(const void* at) {
  return std::atomic_ref<T>(*static_cast<T*>(const_cast<void*>(at))).load(std::memory_order_acquire);
}
template <typename T>
void StoreShared(void* at, T value) {
  std::atomic_ref<T>(*static_cast<T*>(at)).store(value, std::memory_order_release);
}

// Whether p's memory can be loaded and stored by the caller (MEM-4).
bool SameNode(int p);

// Processes of a simulated node (DOM-1), 0: nodes are real. The value of ARMCI_NODE_SIZE, unless the library has a
// query: a setting of its own may imply it. Tests that may call more than the classic functions say how.
int SimulatedNodeSize();
void AskForNodeSize(int (*ask)());

}  // namespace conformance

#endif  // CONFORMANCE_HARNESS_REGION_H_
