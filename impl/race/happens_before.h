// HappensBefore: which events of a job are ordered, by vector clocks.
//
// The constructor replays the synchronisation of all processes: an event that acquires (a wait for a notification, a
// lock, a receive) executes after the one that releases to it, and learns all that this one knew. The clock of a
// process holds for each process the number of the last event that it knows of.
//
//   program order             all events of a process
//   notify -> await           by their numbers                                  [ORD-6]
//   unlock -> lock            by the tickets that lock() took                   [MUTEX-2]
//   send -> receive, collectives                                                [LC-1]
//   atomic -> atomic          of one word, in the order that tickets and values tell   [RMW-2, RMW-5]
//   signal, flag -> see       of one word, by their values                      [ORD-5, EXT-3]
//
// An order of program points is not enough for stores: they also have to be complete. is_complete_before() knows the
// events that complete them: fences, and for some readers notifications, signals and atomics.
//
// Thread safety: none; const members may be called by several threads.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "impl/race/record.h"

namespace armci::race {

class HappensBefore {
 public:
  // `records`: of all processes; those of one process in program order.
  HappensBefore(int processes, const std::vector<Sync>& records);

  // Whether event `earlier` of process `of` is ordered before `later` of process `by`; also for the same process.
  bool is_known(int of, Event earlier, int by, Event later) const;

  // Whether `access` is complete in its memory before event `event` of `process` begins.
  bool is_complete_before(const Access& access, int process, Event event) const;

  // Whether the call that issued this store raised a signal for this store alone.
  bool has_own_signal(const Access& store) const { return own_signals_.count({store.origin, store.issued}) != 0; }

 private:
  friend class Replay;
  using Clock = std::vector<Event>;
  struct Snapshot {
    Event event;
    Clock clock;
  };
  // When a process sees signals, or notifications, of an origin: each covers the origin's stores up to `covered`.
  class SeenOrder {
   public:
    void add(Event covered, Event seen) { entries_.push_back({covered, seen}); }
    void sort();
    // The first event by which the process knows that a store issued then is complete; kNever: none.
    Event first_covering(Event issued) const;

   private:
    struct Entry {
      Event covered;
      Event seen;
    };
    std::vector<Entry> entries_;
  };
  // Of an origin, a target, and the process that sees.
  using SeenOrders = std::map<std::pair<int, int>, std::map<int, SeenOrder>>;
  using Pair = std::pair<int, int>;  // origin, target

  bool is_fenced(const std::map<Pair, std::vector<Event>>& fences, const Access& store, int process, Event event) const;
  bool is_own_signal_seen(const Access& store, int process, Event event) const;
  bool is_seen(const SeenOrders& seen, const Access& store, int process, Event event) const;

  std::vector<std::vector<Snapshot>> snapshots_;  // of each process, after each event that acquires
  std::map<Pair, std::vector<Event>> fences_;     // target kEveryone: of all
  std::map<Pair, std::vector<Event>> atomics_;
  SeenOrders notified_;
  SeenOrders signals_;  // with earlier blocking stores
  // Of non-blocking calls, which cover their own data alone: by origin and event, when each process sees it.
  std::map<std::pair<int, Event>, std::map<int, Event>> own_signals_;
};

}  // namespace armci::race
