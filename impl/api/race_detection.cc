#include "impl/api/race_detection.h"

#include <execinfo.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "impl/api/entry.h"
#include "impl/base/backtrace.h"

namespace armci::runtime {

// Never destroyed, as other threads may be in a call when the process ends.
RaceDetection& race_detection() {
  static RaceDetection* const detection = new RaceDetection;
  return *detection;
}

Status RaceDetection::start(const char* const* call_names, bool stacks) {
  has_stacks_ = stacks;
  if (stacks) prepare_backtraces();
  tickets_.assign(static_cast<std::size_t>(world().size()), nullptr);
  constexpr std::int64_t kBytes = kTickets * sizeof(std::int64_t);
  ARMCI_RETURN_IF_ERROR(runtime().allocate(groups().world(), kBytes, tickets_.data()));
  std::fill_n(static_cast<std::int64_t*>(tickets_[static_cast<std::size_t>(world().rank())]), kTickets, 0);
  ARMCI_RETURN_IF_ERROR(runtime().barrier(groups().world()));
  ARMCI_RETURN_IF_ERROR(analysis_.start(world().comm(), call_names));
  recorder_.start(world().rank());
  is_on_ = true;
  return kSuccess;
}

// Frames of the library lie inside of the entry point's.
race::Caller RaceDetection::caller(const void* address, ApiId id) const {
  race::Caller made;
  made.call = static_cast<std::uint16_t>(id);
  made.frames[0] = address;
  if (!has_stacks_) return made;
  constexpr int kOwnMost = 10;
  std::array<void*, race::Caller::kFrames + kOwnMost> stack{};
  const auto end = stack.begin() + backtrace(stack.data(), static_cast<int>(stack.size()));
  const auto entry = std::find(stack.begin(), end, address);
  std::copy(entry, std::min(end, entry + race::Caller::kFrames), made.frames.begin());
  return made;
}

Status RaceDetection::analyse() {
  const UntimedScope untimed;
  record_last_values();
  return analysis_.run(&recorder_);
}

Status RaceDetection::analyse_if_complete() {
  bool all = false;
  ARMCI_RETURN_IF_ERROR(analysis_.agree_all_complete(!recorder_.has_open(), &all));
  return all ? analyse() : kSuccess;
}

Status RaceDetection::finish() {
  is_on_ = false;
  ARMCI_RETURN_IF_ERROR(analyse());
  ARMCI_RETURN_IF_ERROR(analysis_.finish());
  return runtime().release(groups().world(), tickets_[static_cast<std::size_t>(world().rank())]);
}

// Signals that are added to a word tell by its last value how many of them an earlier value had seen.
void RaceDetection::record_last_values() {
  const std::lock_guard lock(mutex_);
  race::Recorder::Call call(&recorder_, {});
  for (const auto& [word, place] : waited_) {
    if (runtime().regions().by_id(place.region) == nullptr) continue;  // freed
    const std::uint64_t value = std::atomic_ref(*word).load(std::memory_order_acquire);
    call.sync({.kind = race::SyncKind::kLast, .word = place, .value = static_cast<std::int64_t>(value)});
  }
  waited_.clear();
}

race::Place RaceDetection::place_of(int owner, const void* address) {
  const auto* part = runtime().regions().find(owner, address, 1);
  if (part == nullptr) return {race::Place::kPrivate, reinterpret_cast<std::uintptr_t>(address), owner};
  return {part->region->id, static_cast<std::uint64_t>(static_cast<const char*>(address) - part->base), owner};
}

race::Place RaceDetection::local_place(const void* address) {
  const race::Place own = place_of(world().rank(), address);
  if (own.region != race::Place::kPrivate) return own;
  for (const int process : world().node(world().my_node()).ranks) {
    const race::Place place = place_of(process, address);
    if (place.region != race::Place::kPrivate) return place;
  }
  return own;
}

std::int64_t RaceDetection::take_ticket(int host, std::uint64_t key) {
  auto* const counter = static_cast<std::int64_t*>(tickets_[static_cast<std::size_t>(host)]) + key % kTickets;
  std::int64_t ticket = 0;
  if (!runtime().rmw<std::int64_t>(node::RmwOp::kAdd, counter, 1, 0, &ticket, host).ok()) {
    die_of_failure("taking a ticket for ARMCI_CHECK=race");
  }
  return ticket;
}

namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  constexpr std::uint64_t kPrime = 1099511628211U;  // FNV-1a, a word at a time
  return (hash ^ value) * kPrime;
}
constexpr std::uint64_t kHashStart = 14695981039346656037U;

}  // namespace

std::uint64_t RaceDetection::key_of(const std::vector<int>& members) {
  std::uint64_t hash = kHashStart;
  for (const int member : members) hash = mix(hash, static_cast<std::uint64_t>(member));
  return hash;
}

std::uint64_t RaceDetection::mutex_key(std::uint64_t set, int mutex, int host) {
  const std::uint64_t hash = mix(mix(kHashStart, set), static_cast<std::uint64_t>(host));
  return mix(hash, static_cast<std::uint64_t>(mutex));
}

// Creation is collective: a group's k-th set is the k-th on all members.
std::uint64_t RaceDetection::number_of_set(const Group& group) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t key = key_of(group.members());
  return mix(key, ++sets_[key]);
}

void RaceDetection::note_waited(std::uint64_t* word, const race::Place& place) {
  const std::lock_guard lock(mutex_);
  waited_.emplace(word, place);
}

}  // namespace armci::runtime
