#include "impl/race/happens_before.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace armci::race {

// Executes the records of all processes, one event at a time in turns.
class Replay {
 public:
  Replay(int processes, const std::vector<Sync>& records, HappensBefore* out);
  void run();

 private:
  using Clock = HappensBefore::Clock;
  using Word = std::tuple<std::int64_t, std::uint64_t, std::int32_t>;
  struct Release {
    Clock clock;
    int process;
    Event event;
    bool covers_earlier;
  };
  // Signals of one word that have executed: all additions, or those that set one value.
  struct Executed {
    std::vector<Release> releases;
    Clock clock;                         // of all of them
    std::map<int, std::size_t> seen_by;  // how many of them a process has seen
  };
  struct Signals {
    std::map<std::int64_t, Executed> sets;
    Executed additions;
    std::int64_t added = 0;
    std::int64_t adds_of_all = 0;
    std::map<std::int64_t, std::size_t> sets_of_all;  // how often each value
    std::int64_t last = 0;                            // the value at the end
    bool has_last = false;
  };
  struct Atomics {
    std::vector<const Sync*> order;
    std::size_t next = 0;
    std::set<const Sync*> early;  // executed by force
    Clock clock;
  };
  struct Mutex {
    std::vector<const Sync*> order;  // locks by their tickets
    std::set<int> lockers;
    std::size_t unlocks = 0;
    std::size_t held_before = 0;
    Clock clock;
  };
  // How much an event that acquires may do without, when no process can go on: nothing, a later signal of the value
  // that one has had already, or any release.
  enum class Force { kNone, kLaterSignal, kAny };
  using Name = std::tuple<SyncKind, std::int32_t, std::int32_t, std::uint64_t, std::int64_t>;

  static bool by_number(const Sync* one, const Sync* other) { return one->number < other->number; }
  static Word word_of(const Sync& sync) { return {sync.word.region, sync.word.offset, sync.word.owner}; }
  static Name name_of_message(SyncKind kind, int from, int to, const Sync& sync) {
    return {kind, from, to, sync.key, sync.number};
  }
  void order_by_values(std::vector<const Sync*>* atomics);
  void collect(const Sync& sync);
  bool step(int process, Force force);
  bool execute(const Sync& sync, Force force);
  bool receive(const Sync& sync, const Name& name, Force force);
  bool take_lock(const Sync& sync, Force force);
  bool see(const Sync& sync, Force force);
  bool join_collective(const Sync& sync, Force force);
  bool take_atomic(const Sync& sync, Force force);
  void learn(const Sync& sync, const Clock& clock);
  void learn_signals(const Sync& sync, Executed* executed);
  Clock& clock(int process) { return clocks_[static_cast<std::size_t>(process)]; }
  Release release(const Sync& sync) { return {clock(sync.process), sync.process, sync.event, sync.covers_earlier}; }

  HappensBefore* out_;
  std::vector<std::vector<const Sync*>> queues_;
  std::vector<std::size_t> next_;
  std::vector<Clock> clocks_;
  std::set<Name> names_sent_;  // of all notifications and messages
  std::map<Name, Release> sent_;
  struct Gathered {
    Clock clock;
    std::set<std::int32_t> arrived;
  };
  std::map<Name, Gathered> collectives_;
  std::map<std::uint64_t, Mutex> mutexes_;
  std::map<std::pair<Word, std::int32_t>, Atomics> atomics_;  // of a word as of so many bytes [EXT-2]
  std::map<Word, Signals> signals_;
};

namespace {

void join(std::vector<Event>* into, const std::vector<Event>& from) {
  into->resize(std::max(into->size(), from.size()));
  for (std::size_t i = 0; i < from.size(); ++i) (*into)[i] = std::max((*into)[i], from[i]);
}

}  // namespace

Replay::Replay(int processes, const std::vector<Sync>& records, HappensBefore* out)
    : out_(out),
      queues_(static_cast<std::size_t>(processes)),
      next_(static_cast<std::size_t>(processes)),
      clocks_(static_cast<std::size_t>(processes), Clock(static_cast<std::size_t>(processes))) {
  for (const Sync& sync : records) {
    queues_[static_cast<std::size_t>(sync.process)].push_back(&sync);
    collect(sync);
  }
  for (auto& [key, mutex] : mutexes_) {
    std::sort(mutex.order.begin(), mutex.order.end(), by_number);
  }
  for (auto& [word, atomics] : atomics_) order_by_values(&atomics.order);
}

// The replay has to know this of all records before the first executes.
void Replay::collect(const Sync& sync) {
  switch (sync.kind) {
    case SyncKind::kLock:
      mutexes_[sync.key].order.push_back(&sync);
      mutexes_[sync.key].lockers.insert(sync.process);
      break;
    case SyncKind::kUnlock:
      // Locked since before the records began.
      if (mutexes_[sync.key].lockers.count(sync.process) == 0) mutexes_[sync.key].held_before = 1;
      break;
    case SyncKind::kAtomic:
      atomics_[{word_of(sync), sync.bytes}].order.push_back(&sync);
      break;
    case SyncKind::kNotify:
    case SyncKind::kSend:
      names_sent_.insert(name_of_message(sync.kind, sync.process, sync.peer, sync));
      break;
    case SyncKind::kSignal:
      if (sync.adds) {
        signals_[word_of(sync)].adds_of_all += sync.value;
      } else {
        ++signals_[word_of(sync)].sets_of_all[sync.value];
      }
      break;
    case SyncKind::kLast:
      signals_[word_of(sync)].last = sync.value;
      signals_[word_of(sync)].has_last = true;
      break;
    default:
      break;
  }
}

namespace {

// The atomics of a word in an order in which each finds the value that its predecessor left, as far as there is one:
// of the first ones left of all processes. Otherwise that with the lowest ticket is next.
class Chain {
 public:
  // `atomics`: by their tickets.
  Chain(const std::vector<const Sync*>& atomics, std::size_t processes) : left_(processes) {
    for (const Sync* atomic : atomics) left_[static_cast<std::size_t>(atomic->process)].push_back(atomic);
    next_.assign(processes, 0);
  }

  // The order, as far as `length`; the first one is of process `first`. Counts how often no one found its value.
  std::vector<const Sync*> from(int first, std::size_t length, std::size_t* breaks) {
    std::fill(next_.begin(), next_.end(), 0);
    next_[static_cast<std::size_t>(first)] = 1;
    std::vector<const Sync*> order{left_[static_cast<std::size_t>(first)].front()};
    for (*breaks = 0; order.size() < length;) {
      std::size_t next = find([&](const Sync* atomic) { return atomic->before == order.back()->value; });
      if (next == left_.size()) {
        ++*breaks;
        next = find([](const Sync*) { return true; });
      }
      order.push_back(left_[next][next_[next]++]);
    }
    return order;
  }

 private:
  // The process of the lowest ticket that fits, of those whose turn it is.
  template <class Fits>
  std::size_t find(Fits fits) const {
    std::size_t found = left_.size();
    for (std::size_t process = 0; process < left_.size(); ++process) {
      if (next_[process] == left_[process].size() || !fits(head(process))) continue;
      if (found == left_.size() || head(process)->number < head(found)->number) found = process;
    }
    return found;
  }
  const Sync* head(std::size_t process) const { return left_[process][next_[process]]; }

  std::vector<std::vector<const Sync*>> left_;
  std::vector<std::size_t> next_;
};

}  // namespace

// A ticket is taken after the atomic, so some of nearly the same time may have theirs in another order. The values
// decide. Which one came first shows in the chain that follows it.
void Replay::order_by_values(std::vector<const Sync*>* atomics) {
  std::sort(atomics->begin(), atomics->end(), by_number);
  Chain chain(*atomics, queues_.size());
  const std::size_t start = std::min(atomics->size(), 2 * queues_.size() + 2);
  const Sync* best = atomics->front();
  std::size_t fewest = SIZE_MAX;
  std::set<int> tried;
  for (const Sync* first : *atomics) {
    if (fewest == 0 || tried.size() == queues_.size()) break;
    if (!tried.insert(first->process).second) continue;
    std::size_t breaks = 0;
    chain.from(first->process, start, &breaks);
    if (breaks >= fewest) continue;
    fewest = breaks;
    best = first;
  }
  *atomics = chain.from(best->process, atomics->size(), &fewest);
}

void Replay::run() {
  for (Force force = Force::kNone;;) {
    bool moved = false;
    bool left = false;
    for (int process = 0; process < static_cast<int>(queues_.size()); ++process) {
      if (next_[static_cast<std::size_t>(process)] == queues_[static_cast<std::size_t>(process)].size()) continue;
      left = true;
      moved |= step(process, force);
      if (moved && force != Force::kNone) break;  // one event by force may be enough for the others
    }
    if (!left) return;
    force = moved ? Force::kNone : force == Force::kNone ? Force::kLaterSignal : Force::kAny;
  }
}

// Executes the next event of a process if it can; by force without its release.
bool Replay::step(int process, Force force) {
  std::size_t& next = next_[static_cast<std::size_t>(process)];
  const Sync& sync = *queues_[static_cast<std::size_t>(process)][next];
  Event& own = clock(process)[static_cast<std::size_t>(process)];
  own = std::max(own, sync.event);
  if (!execute(sync, force)) return false;
  ++next;
  return true;
}

bool Replay::execute(const Sync& sync, Force force) {
  switch (sync.kind) {
    case SyncKind::kFence:
      out_->fences_[{sync.process, sync.peer}].push_back(sync.event);
      return true;
    case SyncKind::kNotify:
    case SyncKind::kSend:
      sent_[name_of_message(sync.kind, sync.process, sync.peer, sync)] = release(sync);
      return true;
    case SyncKind::kAwait:
      return receive(sync, name_of_message(SyncKind::kNotify, sync.peer, sync.process, sync), force);
    case SyncKind::kReceive:
      return receive(sync, name_of_message(SyncKind::kSend, sync.peer, sync.process, sync), force);
    case SyncKind::kLock:
      return take_lock(sync, force);
    case SyncKind::kUnlock:
      ++mutexes_[sync.key].unlocks;
      mutexes_[sync.key].clock = clock(sync.process);
      return true;
    case SyncKind::kCollective:
      return join_collective(sync, force);
    case SyncKind::kAtomic:
      return take_atomic(sync, force);
    case SyncKind::kSignal: {
      Signals& signals = signals_[word_of(sync)];
      Executed& executed = sync.adds ? signals.additions : signals.sets[sync.value];
      executed.releases.push_back(release(sync));
      join(&executed.clock, clock(sync.process));
      if (sync.adds) signals.added += sync.value;
      return true;
    }
    case SyncKind::kSee:
      return see(sync, force);
    case SyncKind::kLast:
      return true;
  }
  return true;
}

void Replay::learn(const Sync& sync, const Clock& from) {
  join(&clock(sync.process), from);
  auto& snapshots = out_->snapshots_[static_cast<std::size_t>(sync.process)];
  snapshots.push_back({sync.event, clock(sync.process)});
}

bool Replay::receive(const Sync& sync, const Name& name, Force force) {
  const auto found = sent_.find(name);
  // Sent before the records began, which orders nothing in them.
  if (found == sent_.end()) return force == Force::kAny || names_sent_.count(name) == 0;
  const Release& from = found->second;
  if (sync.kind == SyncKind::kAwait) {
    out_->notified_[{from.process, sync.process}][sync.process].add(from.event, sync.event);
  }
  learn(sync, from.clock);
  return true;
}

bool Replay::take_lock(const Sync& sync, Force force) {
  Mutex& mutex = mutexes_[sync.key];
  const auto place = std::lower_bound(mutex.order.begin(), mutex.order.end(), &sync, by_number);
  const auto before = static_cast<std::size_t>(place - mutex.order.begin());
  if (mutex.unlocks < before + mutex.held_before && force != Force::kAny) return false;
  if (mutex.unlocks > 0) learn(sync, mutex.clock);
  return true;
}

bool Replay::join_collective(const Sync& sync, Force force) {
  Gathered& gathered = collectives_[{SyncKind::kCollective, sync.peer, 0, sync.key, sync.number}];
  const bool is_root = sync.process == sync.peer;
  const bool gives = sync.peer == kEveryone || is_root == sync.from_root;
  const bool takes = sync.peer == kEveryone || is_root != sync.from_root;
  if (gives && gathered.arrived.insert(sync.process).second) join(&gathered.clock, clock(sync.process));
  if (!takes) return true;
  const std::size_t awaited = sync.peer == kEveryone ? static_cast<std::size_t>(sync.members)
                              : sync.from_root       ? 1
                                                     : static_cast<std::size_t>(sync.members) - 1;
  if (gathered.arrived.size() < awaited && force != Force::kAny) return false;
  learn(sync, gathered.clock);
  return true;
}

bool Replay::take_atomic(const Sync& sync, Force force) {
  Atomics& atomics = atomics_[{word_of(sync), sync.bytes}];
  while (atomics.next < atomics.order.size() && atomics.early.count(atomics.order[atomics.next]) != 0) ++atomics.next;
  const bool is_next = atomics.next < atomics.order.size() && atomics.order[atomics.next] == &sync;
  if (!is_next && force != Force::kAny) return false;
  if (is_next) {
    ++atomics.next;
  } else {
    atomics.early.insert(&sync);
  }
  learn(sync, atomics.clock);
  join(&atomics.clock, clock(sync.process));
  out_->atomics_[{sync.process, sync.word.owner}].push_back(sync.event);
  return true;
}

// The value tells which signals the process has seen: with additions how many of them, else the one that set it.
bool Replay::see(const Sync& sync, Force force) {
  const auto found = signals_.find(word_of(sync));
  if (found == signals_.end()) return true;
  Signals& signals = found->second;
  if (signals.adds_of_all != 0) {
    const bool counts = signals.has_last && signals.sets_of_all.empty();
    const std::int64_t at_start = signals.last - signals.adds_of_all;
    const bool enough = counts ? signals.added >= sync.value - at_start : signals.added == signals.adds_of_all;
    if (!enough && force != Force::kAny) return false;
    learn_signals(sync, &signals.additions);
  }
  const auto sets = signals.sets_of_all.find(sync.value);
  if (sets == signals.sets_of_all.end()) return true;  // a value from before
  Executed& executed = signals.sets[sync.value];
  if (executed.releases.empty() && force != Force::kAny) return false;
  // The word may have been reset, and set to the value again.
  const bool has_seen_all = executed.seen_by[sync.process] == executed.releases.size();
  if (has_seen_all && executed.releases.size() < sets->second && force == Force::kNone) return false;
  learn_signals(sync, &executed);
  return true;
}

// A process that saw a signal before knows that already.
void Replay::learn_signals(const Sync& sync, Executed* executed) {
  std::size_t& next = executed->seen_by[sync.process];
  for (; next < executed->releases.size(); ++next) {
    const Release& from = executed->releases[next];
    if (from.covers_earlier) {
      out_->signals_[{from.process, sync.word.owner}][sync.process].add(from.event, sync.event);
    } else {
      out_->own_signals_[{from.process, from.event}].try_emplace(sync.process, sync.event);
    }
  }
  learn(sync, executed->clock);
}

HappensBefore::HappensBefore(int processes, const std::vector<Sync>& records)
    : snapshots_(static_cast<std::size_t>(processes)) {
  Replay(processes, records, this).run();
  for (SeenOrders* orders : {&notified_, &signals_}) {
    for (auto& [pair, by] : *orders) {
      for (auto& [seer, order] : by) order.sort();
    }
  }
}

bool HappensBefore::is_known(int of, Event earlier, int by, Event later) const {
  if (of == by) return earlier <= later;
  const std::vector<Snapshot>& all = snapshots_[static_cast<std::size_t>(by)];
  const auto after = std::upper_bound(all.begin(), all.end(), later,
                                      [](Event event, const Snapshot& snapshot) { return event < snapshot.event; });
  return after != all.begin() && std::prev(after)->clock[static_cast<std::size_t>(of)] >= earlier;
}

bool HappensBefore::is_fenced(const std::map<Pair, std::vector<Event>>& fences, const Access& store, int process,
                              Event event) const {
  for (const int target : {store.owner, kEveryone}) {
    const auto found = fences.find({store.origin, target});
    if (found == fences.end()) continue;
    const auto first = std::upper_bound(found->second.begin(), found->second.end(), store.issued);
    if (first != found->second.end() && is_known(store.origin, *first, process, event)) return true;
  }
  return false;
}

// By `covered`; each entry then has the first event of all that cover as much.
void HappensBefore::SeenOrder::sort() {
  std::sort(entries_.begin(), entries_.end(),
            [](const Entry& one, const Entry& other) { return one.covered < other.covered; });
  for (std::size_t i = entries_.size(); i-- > 1;) {
    entries_[i - 1].seen = std::min(entries_[i - 1].seen, entries_[i].seen);
  }
}

Event HappensBefore::SeenOrder::first_covering(Event issued) const {
  const auto found = std::lower_bound(entries_.begin(), entries_.end(), issued,
                                      [](const Entry& entry, Event event) { return entry.covered < event; });
  return found == entries_.end() ? kNever : found->seen;
}

bool HappensBefore::is_own_signal_seen(const Access& store, int process, Event event) const {
  const auto found = own_signals_.find({store.origin, store.issued});
  if (found == own_signals_.end()) return false;
  return std::any_of(found->second.begin(), found->second.end(),
                     [&](const auto& by) { return is_known(by.first, by.second, process, event); });
}

bool HappensBefore::is_seen(const SeenOrders& seen, const Access& store, int process, Event event) const {
  const auto found = seen.find({store.origin, store.owner});
  if (found == seen.end()) return false;
  return std::any_of(found->second.begin(), found->second.end(), [&](const auto& by) {
    const Event first = by.second.first_covering(store.issued);
    return first != kNever && is_known(by.first, first, process, event);
  });
}

bool HappensBefore::is_complete_before(const Access& access, int process, Event event) const {
  if (!access.is_store) return access.completed != kNever && is_known(access.origin, access.completed, process, event);
  if (is_fenced(fences_, access, process, event)) return true;
  if (access.is_blocking && is_fenced(atomics_, access, process, event)) return true;
  // A notification covers every store to the waiting process, a signal the blocking ones.
  return is_seen(notified_, access, process, event) || is_own_signal_seen(access, process, event) ||
         (access.is_blocking && is_seen(signals_, access, process, event));
}

}  // namespace armci::race
