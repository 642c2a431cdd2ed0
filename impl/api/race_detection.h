// The detector of data races of this process (ARMCI_CHECK=race): what the calls of the interface mean to it.
//
// race_record.h maps the arguments of each call to these functions. Tickets tell the order of locks, and of atomics: a
// counter in the memory of the process that has the mutex or the word, which is read and advanced right after the call.
//
// Included by entry.h only. Thread safety: as the interface.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "impl/api/api_id.h"
#include "impl/race/analysis.h"
#include "impl/race/recorder.h"
#include "impl/runtime/groups.h"
#include "impl/runtime/runtime.h"

namespace armci::runtime {

class RaceDetection {
 public:
  bool is_on() const { return is_on_; }
  // Collective; `call_names`: by ApiId. With `stacks` each call is recorded with its callers.
  Status start(const char* const* call_names, bool stacks);
  // `address`: behind the call of the entry point.
  race::Caller caller(const void* address, ApiId id) const;
  // After a barrier that completed all operations: the analysis of what was recorded.
  Status analyse();
  // After another barrier: the same, if nothing is open.
  Status analyse_if_complete();
  Status finish();

  race::Recorder* recorder() { return &recorder_; }

  race::Place place_of(int owner, const void* address);
  // Memory that this process accesses by itself: of its own, or of a process of its node.
  race::Place local_place(const void* address);
  std::int64_t take_ticket(int host, std::uint64_t key);

  // The name of a group for collectives, equal on its members.
  static std::uint64_t key_of(const std::vector<int>& members);
  static std::uint64_t mutex_key(std::uint64_t set, int mutex, int host);
  std::uint64_t number_of_set(const Group& group);

  // A word of this process on which it waited.
  void note_waited(std::uint64_t* word, const race::Place& place);

 private:
  static constexpr std::uint64_t kTickets = 512;

  void record_last_values();

  bool is_on_ = false;
  bool has_stacks_ = false;
  race::Recorder recorder_;
  race::Analysis analysis_;
  std::vector<void*> tickets_;  // of each process
  std::mutex mutex_;            // of what follows
  std::map<std::uint64_t*, race::Place> waited_;
  std::map<std::uint64_t, std::uint64_t> sets_;  // created by each group
};

RaceDetection& race_detection();

}  // namespace armci::runtime
