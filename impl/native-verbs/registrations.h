// The memory of this process that is registered with the device, as the local side of transfers.
//
//   kept      ARMCI's own memory, from its allocation to its release
//   cached    the program's memory. A long transfer registers it, and later transfers use it as long as it is the same
//             memory (memory_watch.h). Bytes and entries are bounded: the least recently used entry is evicted first
//   passing   memory that cannot be watched, or exceeds the bounds: registered until the transfer is complete
//
// Long transfers register slice by slice, so that the device sends one slice while the process registers the next.
//
// Thread safety: all members.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>

#include "impl/native-verbs/device.h"
#include "impl/native-verbs/memory_watch.h"

namespace armci::verbs {

struct CacheBounds {
  std::size_t bytes;
  std::size_t entries;
};

// The program's memory, registered.
struct Registration {
  Range range;
  Owned<ibv_mr> region;
  int users = 0;        // pending transfers
  bool cached = false;  // later transfers may find it
  std::list<Registration*>::iterator place;
};

// The first part of a transfer's memory that is registered under one key.
struct MemoryRegion {
  std::uint32_t key = 0;
  std::size_t bytes = 0;
  std::uintptr_t end = 0;        // end of the registered memory; may be beyond the transfer
  Registration* held = nullptr;  // for release() when the transfer is complete
};

class Registrations {
 public:
  static constexpr std::size_t kSliceBytes = std::size_t{1} << 20;

  Registrations(const Device& device, CacheBounds bounds) : device_(device), bounds_(bounds) {}

  // Registers memory of ARMCI until forget(). If the device or the limit on locked memory refuses, transfers copy their
  // data, and the first refusal prints a line.
  void keep(void* base, std::size_t bytes);
  // The same for memory that is registered already.
  void keep_registered(void* base, std::size_t bytes, std::uint32_t key);
  void forget(void* base);

  // Finds memory of ARMCI only: the caller releases nothing.
  bool find(const void* address, std::size_t bytes, MemoryRegion* region);
  // Registers the memory if necessary. False: the caller has to copy the data.
  bool take(const void* address, std::size_t bytes, MemoryRegion* region);
  // Adds a user to the result of take(), and removes one.
  void share(Registration* registration);
  void release(Registration* registration);

  // Deregisters all cached entries without a user; false if there were none.
  bool evict_idle();

  // For tests of the two limits.
  std::size_t cached_bytes();
  std::size_t cached_entries();

 private:
  struct Kept {
    std::size_t bytes;
    std::uint32_t key;
    Owned<ibv_mr> region;  // null: another component registered it
  };
  bool find_kept(std::uintptr_t address, std::size_t bytes, MemoryRegion* region) const;
  bool find_cached(std::uintptr_t address, std::size_t bytes, MemoryRegion* region);
  bool make(std::uintptr_t address, std::size_t bytes, MemoryRegion* region);
  Owned<ibv_mr> register_range(const Range& range);
  template <class Condition>
  void drop_if(const Range& range, Condition condition);
  void drop(Registration* registration);
  bool evict_one();
  bool watches();
  void warn();

  const Device& device_;
  const CacheBounds bounds_;
  std::mutex mutex_;
  std::map<std::uintptr_t, Kept> kept_;                    // by base
  std::multimap<std::uintptr_t, Registration*> by_begin_;  // cached
  std::list<Registration*> by_use_;                        // cached, the last used first
  std::map<Registration*, std::unique_ptr<Registration>> all_;
  std::size_t bytes_ = 0;  // cached
  bool refused_ = false;   // the device refused the last attempt (ENOMEM)
  bool warned_ = false;
  enum class Watching : std::uint8_t { kNotTried, kYes, kNo } watching_ = Watching::kNotTried;
  MemoryWatch watch_;
};

// Finds the memory regions of one transfer, which consists of pieces of `whole` bytes. Registers memory of the program
// only if `whole` is at least `threshold`. Adjacent addresses cost one search.
class Lookup {
 public:
  Lookup(Registrations* registrations, std::size_t whole, std::size_t threshold)
      : registrations_(*registrations), whole_(whole), may_register_(whole >= threshold) {}
  ~Lookup() {
    if (last_.held != nullptr) registrations_.release(last_.held);
  }
  Lookup(const Lookup&) = delete;
  Lookup& operator=(const Lookup&) = delete;

  bool find(const void* address, std::size_t bytes, MemoryRegion* region);

 private:
  Registrations& registrations_;
  const std::size_t whole_;
  bool may_register_;  // false after a refusal
  std::uintptr_t first_ = 0;
  std::uintptr_t begin_ = 0;
  MemoryRegion last_;
};

}  // namespace armci::verbs
