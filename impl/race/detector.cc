#include "impl/race/detector.h"

#include <algorithm>
#include <optional>
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

std::optional<Reason> why_unordered(const Access& one, const Access& other, const HappensBefore& order) {
  if (one.origin == other.origin) {
    if (one.issued == other.issued) return std::nullopt;  // segments of one call: XFER-7
    const Access& earlier = one.issued < other.issued ? one : other;
    const Access& later = one.issued < other.issued ? other : one;
    if (ordered_in_process(earlier, later, order)) return std::nullopt;
    return earlier.completed > later.issued ? Reason::kNoWait : Reason::kNoFence;
  }
  for (const auto& [earlier, later] : {std::pair(&one, &other), std::pair(&other, &one)}) {
    if (order.is_complete_before(*earlier, later->origin, later->issued)) return std::nullopt;
  }
  for (const auto& [earlier, later] : {std::pair(&one, &other), std::pair(&other, &one)}) {
    if (!order.is_known(earlier->origin, earlier->issued, later->origin, later->issued)) continue;
    return earlier->is_store ? Reason::kNoFence : Reason::kNoWait;
  }
  return Reason::kNoOrder;
}

// The accesses that may still meet one that begins later, in classes of those that are not in conflict.
class Open {
 public:
  template <class Visit>
  void visit_conflicts(const Access& access, Visit visit) {
    for (Class& each : classes_) {
      std::erase_if(each.members, [&](const Access* open) { return open->where.end() <= access.where.begin; });
      if (each.members.empty() || !conflict(*each.members.front(), access)) continue;
      for (const Access* open : each.members) visit(*open);
    }
  }

  void add(const Access& access) {
    const auto name = std::tuple(access.kind, access.type, access.reads_word);
    auto found = std::find_if(classes_.begin(), classes_.end(), [&](const Class& each) { return each.name == name; });
    if (found == classes_.end()) found = classes_.insert(found, {name, {}});
    found->members.push_back(&access);
  }

 private:
  struct Class {
    std::tuple<AccessKind, std::uint8_t, bool> name;
    std::vector<const Access*> members;
  };
  std::vector<Class> classes_;
};

using Sites = std::tuple<int, std::uint32_t, int, std::uint32_t>;

Sites sites_of(const Access& one, const Access& other) {
  const auto first = std::pair(one.origin, one.site);
  const auto second = std::pair(other.origin, other.site);
  const auto& [low, high] = std::minmax(first, second);
  return {low.first, low.second, high.first, high.second};
}

}  // namespace

std::vector<Race> find_races(std::vector<Access> accesses, const HappensBefore& order) {
  std::sort(accesses.begin(), accesses.end(), [](const Access& one, const Access& other) {
    return std::tuple(one.region, one.where.begin, one.origin, one.issued) <
           std::tuple(other.region, other.where.begin, other.origin, other.issued);
  });
  std::vector<Race> races;
  std::set<Sites> known;
  Open open;
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    const Access& access = accesses[i];
    if (i > 0 && accesses[i - 1].region != access.region) open = Open();
    open.visit_conflicts(access, [&](const Access& other) {
      const Sites sites = sites_of(other, access);
      if (known.count(sites) != 0) return;
      std::uint64_t byte = 0;
      if (!overlap(other.where, access.where, &byte)) return;
      const std::optional<Reason> reason = why_unordered(other, access, order);
      if (!reason) return;
      known.insert(sites);
      const bool turned = order.is_known(access.origin, access.issued, other.origin, other.issued);
      races.push_back({turned ? access : other, turned ? other : access, byte, *reason});
    });
    open.add(access);
  }
  return races;
}

}  // namespace armci::race
