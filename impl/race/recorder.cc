#include "impl/race/recorder.h"

#include <algorithm>
#include <utility>

namespace armci::race {

void Recorder::start(int rank) {
  const std::lock_guard lock(mutex_);
  rank_ = rank;
  last_event_ = 0;
  accesses_.clear();
  syncs_.clear();
  pending_.clear();
  since_sync_.clear();
  observed_.clear();
  numbers_.clear();
  unfenced_.clear();
  left_out_ = 0;
  is_whole_ = true;
}

Recorder::Records Recorder::take() {
  const std::lock_guard lock(mutex_);
  const bool is_whole = std::exchange(is_whole_, true) && last_event_ < kEventsMost;
  Records records{std::move(accesses_), std::move(syncs_), std::exchange(left_out_, 0), is_whole};
  accesses_.clear();
  syncs_.clear();
  since_sync_.clear();
  observed_.clear();
  last_event_ = 0;
  for (auto& [handle, pending] : pending_) {
    Access access = records.accesses[pending.access];
    access.issued = 0;
    pending.access = accesses_.size();
    accesses_.push_back(access);
  }
  return records;
}

bool Recorder::has_open() {
  const std::lock_guard lock(mutex_);
  return !pending_.empty() || !unfenced_.empty();
}

Caller Recorder::site(std::uint32_t number) {
  const std::lock_guard lock(mutex_);
  return sites_[number];
}

std::uint32_t Recorder::site_of(const Caller& caller) {
  const auto [found, is_new] = site_numbers_.try_emplace(caller, static_cast<std::uint32_t>(sites_.size()));
  if (is_new) sites_.push_back(caller);
  return found->second;
}

Recorder::Call::Call(Recorder* recorder, Caller caller)
    : recorder_(recorder),
      lock_(recorder->mutex_),
      event_(++recorder->last_event_),
      site_(recorder->site_of(caller)),
      call_(caller.call) {}

void Recorder::Call::set_pending(const void* handle, int target, bool ends_with_fence) {
  recorder_->since_sync_.clear();  // an access before this call and one after it are not the same
  is_blocking_ = false;
  ends_with_fence_ = ends_with_fence;
  handle_ = handle;
  target_ = target;
}

void Recorder::Call::access(AccessKind kind, const Place& place, const Footprint& shape, std::uint8_t type) {
  Access access{};
  access.kind = kind;
  access.type = type;
  access.is_store = kind == AccessKind::kWrite || kind == AccessKind::kAccumulate || kind == AccessKind::kFlag;
  access.reads_word = reads_word_;
  access.region = place.region;
  access.owner = place.owner;
  access.where = shape;
  access.where.begin += place.offset;
  if (access.is_store) recorder_->unfenced_.insert(place.owner);
  add(access);
}

// Private memory matters only while an operation of this process on it may be pending.
void Recorder::Call::buffer(bool is_written, const Place& place, const Footprint& shape) {
  if (place.region == Place::kPrivate && is_blocking_ && recorder_->pending_.empty()) return;
  Access access{};
  access.kind = is_written ? AccessKind::kWrite : AccessKind::kRead;
  access.is_local = true;
  access.region = place.region;
  access.owner = place.owner;
  access.where = shape;
  access.where.begin += place.offset;
  add(access);
}

// A loop that repeats an access between two synchronisations has it once.
void Recorder::Call::add(Access access) {
  if (access.where.bytes == 0 || access.where.count == 0) return;
  access.origin = recorder_->rank_;
  access.issued = event_;
  access.completed = is_blocking_ ? event_ : kNever;
  access.is_blocking = is_blocking_;
  access.site = site_;
  access.call = call_;
  const Same same{access.where, access.region, access.owner,    site_,
                  access.kind,  access.type,   access.is_local, access.reads_word};
  if (is_blocking_ && recorder_->since_sync_.count(same) != 0) return;
  if (recorder_->accesses_.size() >= kAccessesMost) {
    ++recorder_->left_out_;
    return;
  }
  if (is_blocking_) {
    recorder_->since_sync_.insert(same);
  } else {
    const bool ends_with_fence =
        ends_with_fence_ || access.is_store || (access.is_local && access.kind == AccessKind::kRead);
    recorder_->pending_.insert({handle_, {recorder_->accesses_.size(), target_, ends_with_fence}});
  }
  if (access.kind != AccessKind::kAtomic && !access.is_local) recorder_->has_only_polled_ = false;
  recorder_->accesses_.push_back(access);
}

// A process that waits in a loop reads a word over and over, often without a change: once says as much.
bool Recorder::is_repeated_poll(const Sync& sync) {
  if (sync.kind == SyncKind::kSee)
    return !observed_.insert({sync.word.region, sync.word.offset, sync.word.owner, sync.value}).second;
  if (sync.kind != SyncKind::kAtomic || syncs_.empty() || !has_only_polled_ || sync.value != sync.before) return false;
  const Sync& last = syncs_.back();
  return last.kind == sync.kind && last.word == sync.word && last.bytes == sync.bytes && last.value == sync.value &&
         last.before == sync.before;
}

void Recorder::Call::sync(Sync sync) {
  sync.process = recorder_->rank_;
  sync.event = event_;
  if (recorder_->is_repeated_poll(sync)) return;
  const bool is_numbered = sync.kind == SyncKind::kNotify || sync.kind == SyncKind::kAwait ||
                           sync.kind == SyncKind::kSend || sync.kind == SyncKind::kReceive ||
                           sync.kind == SyncKind::kCollective;
  if (is_numbered) sync.number = ++recorder_->numbers_[{sync.kind, sync.peer, sync.key}];
  if (recorder_->syncs_.size() < kSyncsMost) {
    recorder_->syncs_.push_back(sync);
  } else {
    recorder_->is_whole_ = false;
  }
  recorder_->since_sync_.clear();
  recorder_->has_only_polled_ = true;
  if (sync.kind != SyncKind::kSee) recorder_->observed_.clear();
}

template <class Ended>
void Recorder::Call::complete_if(Ended ended) {
  std::erase_if(recorder_->pending_, [&](const auto& entry) {
    if (!ended(entry.second)) return false;
    recorder_->accesses_[entry.second.access].completed = event_;
    return true;
  });
  recorder_->since_sync_.clear();
}

void Recorder::Call::fence(int target) {
  sync({.kind = SyncKind::kFence, .peer = target});
  complete_if([&](const Pending& pending) {
    return pending.ends_with_fence && (target == kEveryone || pending.target == target);
  });
  if (target == kEveryone) {
    recorder_->unfenced_.clear();
  } else {
    recorder_->unfenced_.erase(target);
  }
}

void Recorder::Call::wait(const void* handle) {
  const auto [first, end] = recorder_->pending_.equal_range(handle);
  for (auto entry = first; entry != end; ++entry) recorder_->accesses_[entry->second.access].completed = event_;
  recorder_->pending_.erase(first, end);
  recorder_->since_sync_.clear();
}

void Recorder::Call::wait_for_target(int target) {
  complete_if([&](const Pending& pending) { return target == kEveryone || pending.target == target; });
}

}  // namespace armci::race
