// What aggregate handles have gathered and nobody has begun yet: for each handle segments of one kind and target, which
// leave together, as lists [AGG-1].
//
// Thread safety: all members may be called by several threads.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "impl/node/accumulate.h"
#include "impl/runtime/handles.h"
#include "impl/runtime/shapes.h"

namespace armci::runtime {

// What the segments of one handle have in common.
struct GatheredAs {
  Kind kind = Kind::kPut;
  int proc = -1;
  node::AccType type = node::AccType::kInt;
  alignas(std::max_align_t) std::array<unsigned char, 16> scale{};  // of an accumulate: its own copy

  GatheredAs(Kind of, int target) : kind(of), proc(target) {}
  GatheredAs() = default;
  void set_accumulate(const node::AccSpec& acc) {
    type = acc.type;
    std::memcpy(scale.data(), acc.scale, node::element_bytes(acc.type));
  }
  node::AccSpec accumulate() const { return {type, scale.data()}; }
  bool operator==(const GatheredAs& other) const {
    return kind == other.kind && proc == other.proc &&
           (kind != Kind::kAcc || (type == other.type && scale == other.scale));
  }
};

// The segments of one handle, for whoever begins them.
struct Gathered {
  GatheredAs as;
  HandleBits handle{};
  std::vector<void*> src;
  std::vector<void*> dst;
  std::vector<std::size_t> bytes;
  std::size_t begun = 0;  // how many, from the first on

  bool all_begun() const { return begun == bytes.size(); }
  // Of those that have not been begun, of which there are some, the first ones that are of one length.
  Segments next() const {
    std::size_t last = begun + 1;
    while (last < bytes.size() && bytes[last] == bytes[begun]) ++last;
    return {src.data() + begun, dst.data() + begun, bytes[begun], last - begun};
  }
  void reserve(std::size_t segments) {
    src.reserve(segments);
    dst.reserve(segments);
    bytes.reserve(segments);
  }
  void add(const void* from, const void* to, std::size_t length) {
    src.push_back(const_cast<void*>(from));
    dst.push_back(const_cast<void*>(to));
    bytes.push_back(length);
  }
  void clear() {
    src.clear();
    dst.clear();
    bytes.clear();
    begun = 0;
    handle = HandleBits{};
  }
};

class Aggregates {
 public:
  static constexpr std::size_t kSegmentsMax = 1024;     // gathered by one handle
  static constexpr std::size_t kSegmentBytesMax = 512;  // of one segment: longer ones go by themselves
  static constexpr std::size_t kHandlesMax = 16;        // at a time

  // Nothing is gathered, or taken and not begun, as far as this thread can know: what it has gathered itself it sees.
  // Memory ordering: who sees that what it had gathered has been begun sees what was done to begin it.
  bool empty() const { return open_.load(std::memory_order_acquire) == 0; }

  // Adds to what `handle` has gathered; false, and nothing done, unless that is of this kind and has room for it.
  bool add(const HandleBits& handle, const GatheredAs& as, const void* src, const void* dst, std::size_t bytes) {
    Place& place = place_of(handle);
    const std::lock_guard lock(place);
    if (!place.is_of(handle) || !(place.gathered.as == as) || place.gathered.src.size() == kSegmentsMax) return false;
    place.gathered.add(src, dst, bytes);
    return true;
  }

  // The first of its kind; false, and nothing done, while another handle has the place.
  bool open(const HandleBits& handle, const GatheredAs& as, const void* src, const void* dst, std::size_t bytes) {
    Place& place = place_of(handle);
    const std::lock_guard lock(place);
    if (place.gathered.handle.slot != 0) return false;
    place.gathered.handle = handle;
    place.gathered.as = as;
    place.gathered.reserve(kSegmentsMax);
    place.gathered.add(src, dst, bytes);
    open_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }

  // Moves what `handle` has gathered to *taken, in exchange for memory; false if there is nothing. Whoever takes
  // something says when it has been begun.
  bool take(const HandleBits& handle, Gathered* taken) {
    Place& place = place_of(handle);
    const std::lock_guard lock(place);
    if (!place.is_of(handle)) return false;
    take_out(place, taken);
    return true;
  }

  // The same of place number `number`, whosever it is, if the target is `wanted(int)`.
  template <class Wanted>
  bool take_from(std::size_t number, Wanted wanted, Gathered* taken) {
    Place& place = places_[number];
    const std::lock_guard lock(place);
    if (place.gathered.handle.slot == 0 || !wanted(place.gathered.as.proc)) return false;
    take_out(place, taken);
    return true;
  }

  // What has been taken and not begun; false, and nothing done, if another handle has the place.
  bool put_back(Gathered* rest) {
    Place& place = place_of(rest->handle);
    const std::lock_guard lock(place);
    if (place.gathered.handle.slot != 0) return false;
    std::swap(*rest, place.gathered);
    return true;
  }

  void begun() { open_.fetch_sub(1, std::memory_order_release); }

  void clear() {
    for (Place& place : places_) place.gathered = Gathered{};
    open_ = 0;
  }

 private:
  // A lock that costs one exchange: it is held for the time of a few stores.
  struct Place {
    std::atomic<bool> locked{false};
    Gathered gathered;

    void lock() {
      while (locked.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
    }
    void unlock() { locked.store(false, std::memory_order_release); }
    bool is_of(const HandleBits& handle) const {
      return gathered.handle.slot == handle.slot && gathered.handle.serial == handle.serial && handle.slot != 0;
    }
  };

  Place& place_of(const HandleBits& handle) { return places_[handle.slot % kHandlesMax]; }

  static void take_out(Place& place, Gathered* taken) {
    std::swap(*taken, place.gathered);
    place.gathered.clear();
  }

  std::array<Place, kHandlesMax> places_;
  std::atomic<int> open_{0};  // handles that have gathered something, or of which what was taken has not been begun
};

}  // namespace armci::runtime
