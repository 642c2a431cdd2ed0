#include "impl/race/detector.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace armci::race {
namespace {

bool conflict(const Access& one, const Access& other) {
  if (one.kind == AccessKind::kRead && other.kind == AccessKind::kRead) return false;
  if (one.kind == AccessKind::kFlag || other.kind == AccessKind::kFlag) {
    const Access& with = one.kind == AccessKind::kFlag ? other : one;
    return with.kind == AccessKind::kWrite || with.kind == AccessKind::kAccumulate ||
           (with.kind == AccessKind::kRead && !with.reads_word);
  }
  const bool are_atomic = one.kind == AccessKind::kAccumulate || one.kind == AccessKind::kAtomic;
  return !(are_atomic && one.kind == other.kind && one.type == other.type);
}

// Of one process, `later` issued after `earlier`.
bool ordered_in_process(const Access& earlier, const Access& later, const HappensBefore& order) {
  if (order.is_complete_before(earlier, later.origin, later.issued)) return true;
  if (earlier.completed > later.issued) return false;
  const bool stores = earlier.is_store && later.is_store;
  return !stores || (earlier.is_blocking && later.is_blocking);
}

// Whether `one` is complete before `other` is issued, or as good as that for the process that issues both.
bool is_before(const Access& one, const Access& other, const HappensBefore& order) {
  if (one.origin != other.origin) return order.is_complete_before(one, other.origin, other.issued);
  return one.issued < other.issued && ordered_in_process(one, other, order);
}

// Why two accesses are unordered of which `earlier` is not issued after the other one, if they are ordered at all.
Reason reason_of(const Access& earlier, const Access& later, const HappensBefore& order) {
  if (!order.is_known(earlier.origin, earlier.issued, later.origin, later.issued)) return Reason::kNoOrder;
  const bool lacks_fence = earlier.is_store && (earlier.origin != later.origin || earlier.completed <= later.issued);
  return lacks_fence ? Reason::kNoFence : Reason::kNoWait;
}

// Accesses that differ in their times only, in the order in which they were issued.
class Repeats {
 public:
  void add(const Access& access, const HappensBefore& order) {
    const bool follows = members_.empty() || members_.back()->completed <= access.completed;
    is_in_turn_ = is_in_turn_ && follows && !order.has_own_signal(access);
    members_.push_back(&access);
  }
  const std::vector<const Access*>& members() const { return members_; }
  const Access& like() const { return *members_.front(); }
  const Footprint& where() const { return like().where; }

  // One that is neither before nor after `access`.
  const Access* unordered_with(const Access& access, const HappensBefore& order) const {
    const auto is_earlier = [&](const Access* member) { return is_before(*member, access, order); };
    const auto first = is_in_turn_ ? std::partition_point(members_.begin(), members_.end(), is_earlier)
                                   : std::find_if_not(members_.begin(), members_.end(), is_earlier);
    // Those that follow one that is after it are later still.
    for (auto found = first; found != members_.end() && !is_before(access, **found, order); ++found) {
      // Segments of one call are its own matter [XFER-7].
      const bool is_same_call = (*found)->origin == access.origin && (*found)->issued == access.issued;
      if (!is_same_call && !is_earlier(*found)) return *found;
    }
    return nullptr;
  }

 private:
  std::vector<const Access*> members_;
  bool is_in_turn_ = true;  // they are completed in the order in which they were issued
};

auto identity(const Access& access) {
  return std::tuple(access.region, access.where, access.kind, access.type, access.reads_word, access.is_local,
                    access.is_blocking, access.origin, access.site);
}

std::vector<Repeats> groups_of(const std::vector<Access>& accesses, const HappensBefore& order) {
  std::vector<Repeats> groups;
  for (const Access& access : accesses) {
    if (groups.empty() || identity(groups.back().like()) != identity(access)) groups.emplace_back();
    groups.back().add(access, order);
  }
  return groups;
}

class Search {
 public:
  explicit Search(const HappensBefore& order) : order_(order) {}

  // Of one group, that means: an access and the next one.
  void compare_within(const Repeats& group) {
    std::uint64_t byte = group.where().begin;
    if (!conflict(group.like(), group.like())) return;
    for (std::size_t i = 1; i < group.members().size(); ++i) {
      const Access& earlier = *group.members()[i - 1];
      const Access& later = *group.members()[i];
      if (earlier.issued != later.issued && !is_before(earlier, later, order_)) return add(earlier, later, byte);
    }
  }

  void compare(const Repeats& one, const Repeats& other) {
    std::uint64_t byte = 0;
    // Blocking calls of one process are in order.
    if (one.like().origin == other.like().origin && one.like().is_blocking && other.like().is_blocking) return;
    if (!conflict(one.like(), other.like()) || !overlap(one.where(), other.where(), &byte)) return;
    const bool turned = one.members().size() > other.members().size();
    const Repeats& few = turned ? other : one;
    const Repeats& many = turned ? one : other;
    for (const Access* access : few.members()) {
      if (const Access* found = many.unordered_with(*access, order_)) return add(*found, *access, byte);
    }
  }

  std::vector<Race> take() { return std::move(races_); }

 private:
  void add(const Access& one, const Access& other, std::uint64_t byte) {
    const bool turned = order_.is_known(other.origin, other.issued, one.origin, one.issued);
    const Access& first = turned ? other : one;
    const Access& second = turned ? one : other;
    if (!known_.insert(std::minmax(std::pair(one.origin, one.site), std::pair(other.origin, other.site))).second)
      return;
    races_.push_back({first, second, byte, reason_of(first, second, order_)});
  }

  const HappensBefore& order_;
  std::set<std::pair<std::pair<int, std::uint32_t>, std::pair<int, std::uint32_t>>> known_;
  std::vector<Race> races_;
};

}  // namespace

std::vector<Race> find_races(std::vector<Access> accesses, const HappensBefore& order) {
  std::sort(accesses.begin(), accesses.end(), [](const Access& one, const Access& other) {
    return std::tuple(identity(one), one.issued) < std::tuple(identity(other), other.issued);
  });
  const std::vector<Repeats> groups = groups_of(accesses, order);
  Search search(order);
  std::vector<const Repeats*> open;  // those that may still meet a group that begins later
  for (const Repeats& group : groups) {
    const auto is_past = [&](const Repeats* earlier) {
      return earlier->like().region != group.like().region || earlier->where().end() <= group.where().begin;
    };
    std::erase_if(open, is_past);
    search.compare_within(group);
    for (const Repeats* earlier : open) search.compare(*earlier, group);
    open.push_back(&group);
  }
  return search.take();
}

}  // namespace armci::race
