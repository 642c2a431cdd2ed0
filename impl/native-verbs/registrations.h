// What of this process's memory the device may use as the local side of a transfer.
//
//   kept      ARMCI's own memory, from its allocation to its end
//   cached    the program's: registered when a long transfer needs it, for later ones too as long as it is the same
//             memory (memory_watch.h), within bounds of bytes and entries; the one not used for longest goes first
//   passing   what cannot be watched, or is too much to keep: registered until the transfer has ended
//
// Long transfers register slice by slice, so that the next one is registered while the last one travels.
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
  int users = 0;        // transfers under way
  bool cached = false;  // found by others
  std::list<Registration*>::iterator place;
};

// The beginning of a transfer's memory that may be used with one key.
struct Usable {
  std::uint32_t key = 0;
  std::size_t bytes = 0;
  std::uintptr_t end = 0;        // of what may be used with it, beyond what was asked for
  Registration* held = nullptr;  // for release() when the transfer has ended
};

class Registrations {
 public:
  static constexpr std::size_t kSliceBytes = std::size_t{1} << 20;

  Registrations(const Device& device, CacheBounds bounds) : device_(device), bounds_(bounds) {}

  // ARMCI's memory, from now on until forget(). Where the device, or the limit on locked memory, has no room for it,
  // transfers copy it; the first time a line says so.
  void keep(void* base, std::size_t bytes);
  // The same for what is registered already.
  void keep_registered(void* base, std::size_t bytes, std::uint32_t key);
  void forget(void* base);

  // ARMCI's memory only: nothing to release.
  bool find(const void* address, std::size_t bytes, Usable* usable);
  // Registers if need be. False: it has to be copied.
  bool take(const void* address, std::size_t bytes, Usable* usable);
  // One more user of what take() gave, and one less.
  void share(Registration* registration);
  void release(Registration* registration);

  // Ends all that are kept for later only; false if there were none.
  bool make_room();

  std::size_t cached_bytes();
  std::size_t cached_entries();

 private:
  struct Kept {
    std::size_t bytes;
    std::uint32_t key;
    Owned<ibv_mr> region;  // none where somebody else registered it
  };
  bool find_kept(std::uintptr_t address, std::size_t bytes, Usable* usable) const;
  bool find_cached(std::uintptr_t address, std::size_t bytes, Usable* usable);
  bool make(std::uintptr_t address, std::size_t bytes, Usable* usable);
  Owned<ibv_mr> enrol(const Range& range);
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
  bool refused_ = false;   // the last attempt, for lack of room
  bool warned_ = false;
  enum class Watching : std::uint8_t { kNotTried, kYes, kNo } watching_ = Watching::kNotTried;
  MemoryWatch watch_;
};

// Finds the memory of one transfer, which is in one piece of `whole` bytes, or in pieces of so many: the program's only
// from `threshold` bytes on. Places next to each other are looked up once.
class Lookup {
 public:
  Lookup(Registrations* registrations, std::size_t whole, std::size_t threshold)
      : registrations_(*registrations), whole_(whole), may_register_(whole >= threshold) {}
  ~Lookup() {
    if (last_.held != nullptr) registrations_.release(last_.held);
  }
  Lookup(const Lookup&) = delete;
  Lookup& operator=(const Lookup&) = delete;

  bool find(const void* address, std::size_t bytes, Usable* usable);

 private:
  Registrations& registrations_;
  const std::size_t whole_;
  bool may_register_;  // not any more once it was refused
  std::uintptr_t first_ = 0;
  std::uintptr_t begin_ = 0;
  Usable last_;
};

}  // namespace armci::verbs
