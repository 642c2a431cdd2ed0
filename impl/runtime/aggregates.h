// Aggregates holds the batches of aggregate handles. A batch is a set of coalesced segments of one kind and target,
// which the runtime issues together, as lists [AGG-1]. A batch of impl/engine is another thing: a request.
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

// The properties that all segments of a batch share.
struct AggregateKey {
  Kind kind = Kind::kPut;
  int proc = -1;
  node::AccType type = node::AccType::kInt;
  alignas(std::max_align_t) std::array<unsigned char, 16> scale{};  // of an accumulate: its own copy

  AggregateKey(Kind of, int target) : kind(of), proc(target) {}
  AggregateKey() = default;
  void set_accumulate(const node::AccSpec& acc) {
    type = acc.type;
    std::memcpy(scale.data(), acc.scale, node::element_bytes(acc.type));
  }
  node::AccSpec accumulate() const { return {type, scale.data()}; }
  bool operator==(const AggregateKey& other) const {
    return kind == other.kind && proc == other.proc &&
           (kind != Kind::kAcc || (type == other.type && scale == other.scale));
  }
};

// The coalesced segments of one handle.
struct AggregateBatch {
  AggregateKey key;
  HandleBits handle{};
  std::vector<void*> src;
  std::vector<void*> dst;
  std::vector<std::size_t> bytes;
  std::size_t issued = 0;  // how many, from the first on

  bool all_issued() const { return issued == bytes.size(); }
  // The next run of segments of one length that are not issued. At least one segment must remain.
  Segments next() const {
    std::size_t last = issued + 1;
    while (last < bytes.size() && bytes[last] == bytes[issued]) ++last;
    return {src.data() + issued, dst.data() + issued, bytes[issued], last - issued};
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
    issued = 0;
    handle = HandleBits{};
  }
};

class Aggregates {
 public:
  static constexpr std::size_t kSegmentsMax = 1024;       // coalesced by one handle
  static constexpr std::size_t kCoalescedBytesMax = 512;  // of one segment: longer ones are not coalesced
  static constexpr std::size_t kHandlesMax = 16;          // at a time

  // Whether no batch waits to be issued. A thread always sees its own batches; another thread's may be missed.
  // Memory ordering: a thread that finds its own batch issued also sees the effects of issuing it.
  bool empty() const { return open_.load(std::memory_order_acquire) == 0; }

  // Adds a segment to the batch of `handle`. False, without effect, if the batch has another key, is full or is absent.
  bool add(const HandleBits& handle, const AggregateKey& key, const void* src, const void* dst, std::size_t bytes) {
    Bucket& bucket = bucket_of(handle);
    const std::lock_guard lock(bucket);
    if (!bucket.is_of(handle) || !(bucket.batch.key == key) || bucket.batch.src.size() == kSegmentsMax) return false;
    bucket.batch.add(src, dst, bytes);
    return true;
  }

  // Opens a batch with its first segment. False, without effect, while another handle has the bucket.
  bool open(const HandleBits& handle, const AggregateKey& key, const void* src, const void* dst, std::size_t bytes) {
    Bucket& bucket = bucket_of(handle);
    const std::lock_guard lock(bucket);
    if (bucket.batch.handle.slot != 0) return false;
    bucket.batch.handle = handle;
    bucket.batch.key = key;
    bucket.batch.reserve(kSegmentsMax);
    bucket.batch.add(src, dst, bytes);
    open_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }

  // Moves the batch of `handle` to *taken, in exchange for memory; false if there is none. The taker calls flushed()
  // once all of the batch is issued.
  bool take(const HandleBits& handle, AggregateBatch* taken) {
    Bucket& bucket = bucket_of(handle);
    const std::lock_guard lock(bucket);
    if (!bucket.is_of(handle)) return false;
    take_out(bucket, taken);
    return true;
  }

  // As take(), of bucket number `number` and any handle, if `wanted(int)` accepts the target.
  template <class Wanted>
  bool take_from(std::size_t number, Wanted wanted, AggregateBatch* taken) {
    Bucket& bucket = buckets_[number];
    const std::lock_guard lock(bucket);
    if (bucket.batch.handle.slot == 0 || !wanted(bucket.batch.key.proc)) return false;
    take_out(bucket, taken);
    return true;
  }

  // Returns the rest of a taken batch. False, without effect, if another handle has the bucket.
  bool put_back(AggregateBatch* rest) {
    Bucket& bucket = bucket_of(rest->handle);
    const std::lock_guard lock(bucket);
    if (bucket.batch.handle.slot != 0) return false;
    std::swap(*rest, bucket.batch);
    return true;
  }

  void flushed() { open_.fetch_sub(1, std::memory_order_release); }

  void clear() {
    for (Bucket& bucket : buckets_) bucket.batch = AggregateBatch{};
    open_ = 0;
  }

 private:
  // The batch of one handle, found by the slot of the handle: handles whose slots are equal modulo kHandlesMax share a
  // bucket. Its lock costs one exchange, and is held for the time of a few stores.
  struct Bucket {
    std::atomic<bool> locked{false};
    AggregateBatch batch;

    void lock() {
      while (locked.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
    }
    void unlock() { locked.store(false, std::memory_order_release); }
    bool is_of(const HandleBits& handle) const {
      return batch.handle.slot == handle.slot && batch.handle.serial == handle.serial && handle.slot != 0;
    }
  };

  Bucket& bucket_of(const HandleBits& handle) { return buckets_[handle.slot % kHandlesMax]; }

  static void take_out(Bucket& bucket, AggregateBatch* taken) {
    std::swap(*taken, bucket.batch);
    bucket.batch.clear();
  }

  std::array<Bucket, kHandlesMax> buckets_;
  std::atomic<int> open_{0};  // batches that are not flushed
};

}  // namespace armci::runtime
