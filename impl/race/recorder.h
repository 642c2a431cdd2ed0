// Recorder: the records of this process since the last analysis.
//
// Thread safety: members may be called by several threads. The events of all threads of a process make one program
// order: races between them are those of another tool.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <tuple>
#include <vector>

#include "impl/race/record.h"

namespace armci::race {

// The place of a call: the addresses behind the call instructions on the stack, the innermost first, and then nullptr.
struct Caller {
  static constexpr std::size_t kFrames = 6;
  std::array<const void*, kFrames> frames{};
  std::uint16_t call = 0;  // the number in the table of calls
  auto operator<=>(const Caller&) const = default;
};

class Recorder {
 public:
  // Of what follows between two barriers.
  static constexpr std::size_t kAccessesMost = std::size_t{1} << 20;
  static constexpr std::size_t kSyncsMost = std::size_t{1} << 20;
  static constexpr Event kEventsMost = kNever / 2;

  void start(int rank);

  // Begins the event of a call; the accesses and the synchronisation that follow are its own.
  class Call {
   public:
    Call(Recorder* recorder, Caller caller);
    // Of what follows: pending until `handle` (nullptr: implicit), the target or all are waited for, or the fence that
    // completes every operation of this kind, as it does stores.
    void set_pending(const void* handle, int target, bool ends_with_fence = false);
    // A blocking get of a word, by which programs poll.
    void set_reads_word() { reads_word_ = true; }

    // The target's memory; nothing for an empty footprint.
    void access(AccessKind kind, const Place& place, const Footprint& shape, std::uint8_t type = 0);
    // The local buffer.
    void buffer(bool is_written, const Place& place, const Footprint& shape);
    // With its own event and process; numbered, if its kind is matched by numbers.
    void sync(Sync sync);
    void fence(int target);  // kEveryone: all
    void wait(const void* handle);
    void wait_for_target(int target);  // kEveryone: all

   private:
    void add(Access access);
    template <class Ended>
    void complete_if(Ended ended);

    Recorder* recorder_;
    std::unique_lock<std::mutex> lock_;
    Event event_;
    std::uint32_t site_;
    std::uint16_t call_;
    bool is_blocking_ = true;
    bool reads_word_ = false;
    bool ends_with_fence_ = false;
    const void* handle_ = nullptr;
    int target_ = 0;
  };

  // Hands out the records and begins anew. Accesses that are not complete are in the next records as well.
  struct Records {
    std::vector<Access> accesses;
    std::vector<Sync> syncs;
    std::size_t left_out = 0;
    bool is_whole = true;  // false: too much to order it
  };
  Records take();
  // Whether an operation is pending, or a store not fenced.
  bool has_open();
  Caller site(std::uint32_t number);

 private:
  friend class Call;
  struct Pending {
    std::size_t access;
    int target;
    bool ends_with_fence;
  };
  // A blocking access, but for its time.
  using Same = std::tuple<Footprint, std::int64_t, std::int32_t, std::uint32_t, AccessKind, std::uint8_t, bool, bool>;
  using Observation = std::tuple<std::int64_t, std::uint64_t, std::int32_t, std::int64_t>;  // a word and its value

  std::uint32_t site_of(const Caller& caller);
  bool is_repeated_poll(const Sync& sync);

  std::mutex mutex_;
  int rank_ = 0;
  Event last_event_ = 0;
  std::vector<Access> accesses_;
  std::vector<Sync> syncs_;
  std::multimap<const void*, Pending> pending_;  // by handle
  std::set<Same> since_sync_;
  std::set<Observation> observed_;  // since the last synchronisation of another kind
  bool has_only_polled_ = false;    // since the last synchronisation
  std::map<std::tuple<SyncKind, int, std::uint64_t>, std::int64_t> numbers_;
  std::map<Caller, std::uint32_t> site_numbers_;
  std::vector<Caller> sites_;
  std::set<int> unfenced_;  // targets
  std::size_t left_out_ = 0;
  bool is_whole_ = true;
};

}  // namespace armci::race
