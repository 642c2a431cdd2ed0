// The sending side of a link: the pending work requests in the order of posting, and which of them are signaled.
//
// Completions cost time. A work request is signaled if a buffer, data or a later fence need its completion, and if no
// pending one is signaled. So is one in each quarter of the queue. One completion completes all work requests that were
// posted before.
//
// Thread safety: none.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "impl/native-verbs/link.h"

namespace armci::verbs {

// A queue of limited length whose entries are numbered from 1 on and keep their memory.
template <class Entry>
class Ring {
 public:
  void make(std::size_t entries) { entries_.resize(entries); }
  std::size_t room() const { return entries_.size() - (next_ - first_); }
  bool empty() const { return next_ == first_; }
  std::uint64_t first() const { return first_; }    // the oldest one's number
  std::uint64_t last() const { return next_ - 1; }  // the newest one's
  Entry& at(std::uint64_t number) { return entries_[number % entries_.size()]; }
  Entry& push() { return at(next_++); }
  void pop() { ++first_; }
  std::size_t capacity() const { return entries_.size(); }

 private:
  std::vector<Entry> entries_;
  std::uint64_t first_ = 1;
  std::uint64_t next_ = 1;
};

template <class Entry>
class Sender {
 public:
  Link link;

  Status create(const Device& device, std::uint32_t index, const LinkParts& parts) {
    index_ = index;
    ARMCI_RETURN_IF_ERROR(link.create(device, parts));
    pending_.make(std::min<std::size_t>(parts.sends, link.sends_max()));
    return kSuccess;
  }

  bool can_post() const { return room() > 0; }
  std::size_t room() const { return pending_.room(); }
  std::uint64_t posted() const { return pending_.last(); }
  std::uint64_t ended() const { return pending_.first() - 1; }
  // Whether a completion has reported, or will report, all work requests up to `number`.
  bool reports(std::uint64_t number) const { return ended() >= number || signaled_ >= number; }
  bool any_signaled() const { return signaled_ > ended(); }
  // Whether the last work request is signaled.
  bool is_signaled() const { return signaled_ == posted(); }

  // Adds it to the batch of link.submit(). Precondition: can_post(). The entry keeps its old contents.
  Status add(Work work, Entry** entry) {
    *entry = &pending_.push();
    const bool is_alone = work.opcode != IBV_WR_SEND && !any_signaled();
    work.signaled |= is_alone || posted() - signaled_ >= pending_.capacity() / 4;
    if (work.signaled) signaled_ = posted();
    return link.add(work, WorkId{false, index_, posted()}.packed());
  }

  // The pending work request with the number of a completion.
  Entry& entry(std::uint64_t number) { return pending_.at(ended() + ((number - ended()) & WorkId::kNumberMask)); }

  // A completion reported this number: calls when_ended(entry) for each pending work request up to it.
  template <class Ended>
  void retire(std::uint64_t number, Ended when_ended) {
    std::uint64_t left = ((number - ended()) & WorkId::kNumberMask);
    for (; left > 0; --left) {
      when_ended(pending_.at(pending_.first()));
      pending_.pop();
    }
  }

 private:
  std::uint32_t index_ = 0;
  Ring<Entry> pending_;
  std::uint64_t signaled_ = 0;
};

}  // namespace armci::verbs
