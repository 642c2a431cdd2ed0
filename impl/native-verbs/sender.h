// The sending side of a link: what is under way, in the order in which it was posted and ends, and whose end is told.
//
// Completions cost: the end of a work request is told if somebody waits for it (a buffer, data that come), if the end
// of none before it will be told, and once in a quarter of the queue. One completion ends all that was posted before.
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
  bool full() const { return next_ - first_ >= entries_.size(); }
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
    under_way_.make(std::min<std::size_t>(parts.sends, link.sends_max()));
    return kSuccess;
  }

  bool has_room() const { return !under_way_.full(); }
  std::uint64_t posted() const { return under_way_.last(); }
  std::uint64_t ended() const { return under_way_.first() - 1; }
  // Whether the end of everything up to `number` has been told, or will be.
  bool will_tell(std::uint64_t number) const { return ended() >= number || told_ >= number; }
  bool told_any() const { return told_ > ended(); }
  // Whether the end of the last one will be.
  bool is_told() const { return told_ == posted(); }

  // Gathers it, for link.submit(); there must be room. The entry is what the last user of its place left.
  Status add(Work work, Entry** entry) {
    *entry = &under_way_.push();
    const bool is_alone = work.opcode != IBV_WR_SEND && !told_any();
    work.told |= is_alone || posted() - told_ >= under_way_.capacity() / 4;
    if (work.told) told_ = posted();
    return link.add(work, WorkId{false, index_, posted()}.packed());
  }

  // What is under way, by the number in its completion.
  Entry& entry(std::uint64_t number) { return under_way_.at(ended() + ((number - ended()) & WorkId::kNumberMask)); }

  // A completion said that the work of this number has ended: ended(entry) for it and each before it.
  template <class Ended>
  void retire(std::uint64_t number, Ended when_ended) {
    std::uint64_t left = ((number - ended()) & WorkId::kNumberMask);
    for (; left > 0; --left) {
      when_ended(under_way_.at(under_way_.first()));
      under_way_.pop();
    }
  }

 private:
  std::uint32_t index_ = 0;
  Ring<Entry> under_way_;
  std::uint64_t told_ = 0;
};

}  // namespace armci::verbs
