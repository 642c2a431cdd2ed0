#include "impl/native-verbs/registrations.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "impl/node/node_heap.h"

namespace armci::verbs {

using node::kPageBytes;

void Registrations::keep(void* base, std::size_t bytes) {
  std::lock_guard lock(mutex_);
  const auto begin = reinterpret_cast<std::uintptr_t>(base);
  Owned<ibv_mr> region = register_range({begin, begin + bytes});
  if (region == nullptr) return;
  const std::uint32_t key = region->lkey;
  kept_.insert_or_assign(begin, Kept{bytes, key, std::move(region)});
}

void Registrations::keep_registered(void* base, std::size_t bytes, std::uint32_t key) {
  std::lock_guard lock(mutex_);
  kept_.insert_or_assign(reinterpret_cast<std::uintptr_t>(base), Kept{bytes, key, nullptr});
}

void Registrations::forget(void* base) {
  std::lock_guard lock(mutex_);
  kept_.erase(reinterpret_cast<std::uintptr_t>(base));
  refused_ = false;
}

void Registrations::warn() {
  if (warned_) return;
  warned_ = true;
  std::fprintf(
      stderr,
      "armci: the verbs device %s, or the limit on locked memory (ulimit -l), has no memory for more registered "
      "memory: transfers copy their data, and take longer; raise the limit\n",
      device_.name());
}

bool Registrations::find(const void* address, std::size_t bytes, MemoryRegion* region) {
  std::lock_guard lock(mutex_);
  return find_kept(reinterpret_cast<std::uintptr_t>(address), bytes, region);
}

bool Registrations::find_kept(std::uintptr_t address, std::size_t bytes, MemoryRegion* region) const {
  auto found = kept_.upper_bound(address);
  if (found == kept_.begin()) return false;
  --found;
  const std::size_t offset = address - found->first;
  if (offset >= found->second.bytes) return false;
  const std::size_t left = found->second.bytes - offset;
  *region = {found->second.key, std::min(bytes, left), address + left, nullptr};
  return true;
}

bool Registrations::take(const void* address, std::size_t bytes, MemoryRegion* region) {
  std::lock_guard lock(mutex_);
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  watch_.take_gone([this](const Range& gone) { drop_if(gone, [](const Range&) { return true; }); });
  return find_kept(begin, bytes, region) || find_cached(begin, bytes, region) || make(begin, bytes, region);
}

bool Registrations::find_cached(std::uintptr_t address, std::size_t bytes, MemoryRegion* region) {
  for (auto found = by_begin_.upper_bound(address); found != by_begin_.begin();) {
    --found;
    Registration* const one = found->second;
    if (one->range.begin + kSliceBytes + 2 * kPageBytes <= address) return false;
    if (one->range.end <= address) continue;
    if (!watch_.unchanged(one->range)) {
      drop(one);
      found = by_begin_.upper_bound(address);
      continue;
    }
    by_use_.splice(by_use_.begin(), by_use_, one->place);
    ++one->users;
    *region = {one->region->lkey, std::min(bytes, one->range.end - address), one->range.end, one};
    return true;
  }
  return false;
}

template <class Condition>
void Registrations::drop_if(const Range& range, Condition condition) {
  for (auto at = by_use_.begin(); at != by_use_.end();) {
    Registration* const one = *at++;
    if (one->range.overlaps(range) && condition(one->range)) drop(one);
  }
}

bool Registrations::make(std::uintptr_t address, std::size_t bytes, MemoryRegion* region) {
  if (refused_) return false;
  const std::size_t slice = std::min(bytes, kSliceBytes);
  const Range range{address / kPageBytes * kPageBytes, node::round_up(address + slice, kPageBytes)};
  auto made = std::make_unique<Registration>();
  made->range = range;
  made->users = 1;
  // Watched before it is registered, so that unchanged() sees every change after the registration.
  const bool fits = range.end - range.begin <= bounds_.bytes && bounds_.entries > 0;
  bool lasting = fits && watches();
  if (lasting) {
    // Drops changed entries of a part of the range first: after watch() they would look unchanged.
    drop_if(range, [this](const Range& known) { return !watch_.unchanged(known); });
    lasting = watch_.watch(range);
  }
  made->region = register_range(range);
  if (made->region == nullptr) return false;
  *region = {made->region->lkey, slice, range.end, made.get()};
  Registration* const one = made.get();
  all_.emplace(one, std::move(made));
  if (!lasting) return true;
  while (bytes_ + (range.end - range.begin) > bounds_.bytes || by_use_.size() >= bounds_.entries) {
    if (!evict_one()) return true;  // all entries have users: register for this transfer only
  }
  one->cached = true;
  by_use_.push_front(one);
  one->place = by_use_.begin();
  by_begin_.emplace(range.begin, one);
  bytes_ += range.end - range.begin;
  return true;
}

Owned<ibv_mr> Registrations::register_range(const Range& range) {
  for (;;) {
    Owned<ibv_mr> region(ibv_reg_mr(device_.domain(), reinterpret_cast<void*>(range.begin), range.end - range.begin,
                                    IBV_ACCESS_LOCAL_WRITE));
    if (region != nullptr || errno != ENOMEM) return region;  // others: memory that cannot be written, for example
    if (evict_one()) continue;
    refused_ = true;
    warn();
    return nullptr;
  }
}

void Registrations::share(Registration* registration) {
  std::lock_guard lock(mutex_);
  ++registration->users;
}

void Registrations::release(Registration* registration) {
  std::lock_guard lock(mutex_);
  if (--registration->users > 0) return;
  refused_ = false;
  if (!registration->cached) all_.erase(registration);
}

// Later transfers do not find it. Pending transfers keep it.
void Registrations::drop(Registration* one) {
  auto [first, last] = by_begin_.equal_range(one->range.begin);
  by_begin_.erase(std::find_if(first, last, [one](const auto& entry) { return entry.second == one; }));
  by_use_.erase(one->place);
  bytes_ -= one->range.end - one->range.begin;
  one->cached = false;
  if (one->users == 0) all_.erase(one);
}

bool Registrations::evict_one() {
  const auto idle =
      std::find_if(by_use_.rbegin(), by_use_.rend(), [](const Registration* one) { return one->users == 0; });
  if (idle == by_use_.rend()) return false;
  drop(*idle);
  return true;
}

bool Registrations::evict_idle() {
  std::lock_guard lock(mutex_);
  bool any = false;
  while (evict_one()) any = true;
  return any;
}

bool Registrations::watches() {
  if (watching_ == Watching::kNotTried) {
    watching_ = watch_.start() ? Watching::kYes : Watching::kNo;
  }
  return watching_ == Watching::kYes;
}

std::size_t Registrations::cached_bytes() {
  std::lock_guard lock(mutex_);
  return bytes_;
}

std::size_t Registrations::cached_entries() {
  std::lock_guard lock(mutex_);
  return by_use_.size();
}

bool Lookup::find(const void* address, std::size_t bytes, MemoryRegion* region) {
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  if (begin < begin_ || begin >= last_.end) {
    if (last_.held != nullptr) registrations_.release(std::exchange(last_.held, nullptr));
    last_.end = 0;
    const bool found =
        may_register_ ? registrations_.take(address, bytes, &last_) : registrations_.find(address, bytes, &last_);
    if (!found) return false;
    begin_ = begin;
  }
  *region = last_;
  region->bytes = std::min<std::size_t>(bytes, last_.end - begin);
  if (region->held != nullptr) registrations_.share(region->held);
  return true;
}

}  // namespace armci::verbs
