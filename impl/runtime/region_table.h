// Regions: the memory of collective allocations, and the translation from (process, address) to a part of one.
//
// A part is the memory of one process: base, length and the transport's key. Lookup first reads a small per-thread
// cache, then searches the target's parts by address. The cache needs no locks: an entry carries the table's
// generation, which changes with every insertion and removal.
//
// Invariants: parts of one process are disjoint and sorted by base.
// Thread safety: lookups by any thread at any time; insertion and removal by any thread, one at a time.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "impl/base/status.h"
#include "impl/base/thread_block.h"
#include "impl/runtime/transport.h"

namespace armci::runtime {

template <class Key>
struct Region {
  struct Part {
    int proc;  // absolute id
    char* base;
    std::size_t bytes;
    Key key;
    Region* region = nullptr;  // set by RegionTable::insert
  };
  std::int64_t id = 0;  // the same on all members, never used again
  static constexpr int kAttached = -1;
  int group = 0;            // serial of the group that allocated it, or kAttached: a process attached it alone
  std::vector<Part> parts;  // by group rank; bytes == 0 and base == nullptr: no part [MEM-2]
  AccessMode mode = AccessMode::kDefault;
  void* block = nullptr;  // node memory behind the parts of this node; given back by the node's master
  std::size_t block_bytes = 0;
};

inline std::atomic<std::uint64_t> next_table_generation{1};

template <class Key>
class RegionTable {
 public:
  using RegionType = Region<Key>;
  using Part = typename RegionType::Part;

  void initialise(int processes) {
    std::unique_lock lock(mutex_);
    by_proc_.assign(static_cast<std::size_t>(processes), {});
    by_id_.clear();
    touch();
  }

  // If the region is in the table already, the table keeps and returns that one. An attached region is removed when its
  // addresses belong to another region now, since its owner has freed it.
  RegionType* insert(std::unique_ptr<RegionType> region) {
    std::unique_lock lock(mutex_);
    if (auto found = by_id_.find(region->id); found != by_id_.end()) return found->second.get();
    for (const Part& part : region->parts) drop_attached(part);
    RegionType* raw = region.get();
    for (Part& part : raw->parts) {
      if (part.bytes == 0) continue;
      part.region = raw;
      std::vector<Entry>& entries = by_proc_[static_cast<std::size_t>(part.proc)];
      const Entry entry{part.base, &part};
      entries.insert(std::upper_bound(entries.begin(), entries.end(), entry, before), entry);
    }
    by_id_.emplace(raw->id, std::move(region));
    touch();
    return raw;
  }

  std::unique_ptr<RegionType> remove(std::int64_t id) {
    std::unique_lock lock(mutex_);
    return remove_locked(id);
  }

  // The part of `proc` that holds all of [address, address + bytes) when this thread used it lately, else nullptr; also
  // nullptr for a process id outside the world and for NULL, so that a hit needs no further check.
  // Memory ordering: a region whose insertion happens before the call is found; one whose removal happens before it is
  // not.
  const Part* find_recent(int proc, const void* address, std::size_t bytes) const {
    const Hit* set = hits_for(proc, address);
    const std::uint64_t tag = tag_of(generation_.load(std::memory_order_acquire), proc);
    if (set[0].holds(tag, address, bytes)) [[likely]]
      return set[0].part;
    return set[1].holds(tag, address, bytes) ? set[1].part : nullptr;
  }

  // As above, for parts not used lately too: nullptr means that there is none. `proc` is a process of the world.
  const Part* find(int proc, const void* address, std::size_t bytes) {
    const Part* recent = find_recent(proc, address, bytes);
    return recent != nullptr ? recent : find_slow(proc, static_cast<const char*>(address), bytes);
  }

  // The region whose part of `proc` begins at `base`, or nullptr.
  RegionType* find_base(int proc, const void* base) {
    const Part* part = find(proc, base, 1);
    return part != nullptr && part->base == base ? part->region : nullptr;
  }

  RegionType* by_id(std::int64_t id) {
    std::shared_lock lock(mutex_);
    auto found = by_id_.find(id);
    return found == by_id_.end() ? nullptr : found->second.get();
  }

  std::vector<std::int64_t> ids() const {
    std::shared_lock lock(mutex_);
    std::vector<std::int64_t> all;
    for (const auto& [id, region] : by_id_) all.push_back(id);
    std::sort(all.begin(), all.end());
    return all;
  }

  // For tests, which see by it that a failed call leaves no region.
  std::size_t count() const {
    std::shared_lock lock(mutex_);
    return by_id_.size();
  }

 private:
  struct Entry {
    const char* base;
    const Part* part;
  };
  // One recent part. The tag joins table generation and process; 0 never matches.
  struct Hit {
    std::uint64_t tag = 0;
    const char* base = nullptr;
    std::size_t bytes = 0;
    const Part* part = nullptr;

    // One comparison after the other would cost a branch each; wanted <= bytes keeps the difference from wrapping.
    bool holds(std::uint64_t wanted_tag, const void* address, std::size_t wanted) const {
      const std::size_t offset = static_cast<std::size_t>(static_cast<const char*>(address) - base);
      return (tag == wanted_tag) & (wanted <= bytes) & (offset <= bytes - wanted);
    }
  };
  static_assert(sizeof(Hit) == 32, "the index is a shift");
  // Two parts in each set, so that a program that goes back and forth between two regions finds both, wherever they
  // lie.
  static constexpr std::size_t kSets = 16;
  static constexpr std::size_t kWays = 2;
  static constexpr int kProcBits = 32;

  static std::uint64_t tag_of(std::uint64_t generation, int proc) {
    return (generation << kProcBits) | static_cast<std::uint32_t>(proc);
  }
  // The sets of one thread.
  struct alignas(64) Hits {  // a set is one cache line
    Hit sets[kSets][kWays];
    ~Hits() { hits_ = kNoHits; }
  };

  // Small regions lie a few pages apart, large ones are met in every set after some accesses.
  static std::size_t set_of(int proc, const void* address) {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    return (static_cast<std::uintptr_t>(proc) ^ (at >> 12) ^ (at >> 21)) % kSets;
  }
  static const Hit* hits_for(int proc, const void* address) { return hits_[set_of(proc, address)]; }

  std::unique_ptr<RegionType> remove_locked(std::int64_t id) {
    auto found = by_id_.find(id);
    if (found == by_id_.end()) return nullptr;
    std::unique_ptr<RegionType> region = std::move(found->second);
    by_id_.erase(found);
    for (const Part& part : region->parts) {
      if (part.bytes == 0) continue;
      std::erase_if(by_proc_[static_cast<std::size_t>(part.proc)],
                    [&](const Entry& entry) { return entry.part == &part; });
    }
    touch();
    return region;
  }

  // Removes the attached regions that overlap `part`.
  void drop_attached(const Part& part) {
    if (part.bytes == 0) return;
    std::vector<std::int64_t> stale;
    for (const Entry& entry : by_proc_[static_cast<std::size_t>(part.proc)]) {
      const Part& other = *entry.part;
      const bool overlap = other.base < part.base + part.bytes && part.base < other.base + other.bytes;
      if (overlap && other.region->group == RegionType::kAttached) stale.push_back(other.region->id);
    }
    for (std::int64_t id : stale) remove_locked(id);
  }

  static bool before(const Entry& a, const Entry& b) { return a.base < b.base; }

  void touch() {
    generation_.store(next_table_generation.fetch_add(1, std::memory_order_relaxed), std::memory_order_release);
  }

  [[gnu::noinline]] const Part* find_slow(int proc, const char* at, std::size_t bytes) {
    std::shared_lock lock(mutex_);
    const std::vector<Entry>& entries = by_proc_[static_cast<std::size_t>(proc)];
    auto next = std::upper_bound(entries.begin(), entries.end(), Entry{at, nullptr}, before);
    if (next == entries.begin()) return nullptr;
    const Part* part = std::prev(next)->part;
    const auto offset = static_cast<std::size_t>(at - part->base);
    if (offset >= part->bytes || bytes > part->bytes - offset) return nullptr;
    if (Hits* const mine = ThreadBlock<Hits>::get(); mine != nullptr) {
      Hit* set = mine->sets[set_of(proc, at)];
      set[1] = set[0];
      set[0] = {tag_of(generation_.load(std::memory_order_relaxed), proc), part->base, part->bytes, part};
      hits_ = mine->sets;
    }
    return part;
  }

  std::atomic<std::uint64_t> generation_{0};
  mutable std::shared_mutex mutex_;
  std::vector<std::vector<Entry>> by_proc_;
  std::unordered_map<std::int64_t, std::unique_ptr<RegionType>> by_id_;
  // Of a thread that has found no part yet: no tag matches.
  alignas(64) static constexpr Hit kNoHits[kSets][kWays] = {};
  // initial-exec: this is on the path of every transfer.
  [[gnu::tls_model("initial-exec")]] static inline thread_local constinit const Hit (*hits_)[kWays] = kNoHits;
};

}  // namespace armci::runtime
