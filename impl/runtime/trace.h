// Timeline (ARMCI_TRACE=FILE): an event for each call of the interface on each process. One file for the whole job has
// them, in the trace-event format that Chrome and Perfetto open.
//
//   rank 0                                 rank k
//   start()   clocks that are not the same are compared by messages to and fro; the shortest round trip counts
//   record()  into memory of the calling thread, up to a number of events of the process; more are counted only
//   finish()  clocks are compared again: the difference is assumed to grow evenly in between
//             writes its events      <---- sends its own as text, in pieces, when it is its turn
//
// Rank 0 decides whether there is a trace, and alone writes it. A job that an error ends writes no file.
//
// Thread safety: record() by any thread between start() and finish(), which are collective over `comm`, by one thread.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "impl/base/status.h"

namespace armci::runtime {

struct TraceEvent {
  std::int64_t began_ns;  // of this process's steady clock
  std::int64_t duration_ns;
  std::uint64_t bytes;
  int call;
  int peer;  // -1: none
};

// How far the clock of a process is ahead of rank 0's, at two times of its own.
struct ClockDifference {
  std::int64_t first_ns = 0;
  std::int64_t first_ahead_ns = 0;
  std::int64_t last_ns = 0;
  std::int64_t last_ahead_ns = 0;

  // A time of this process, by the clock of rank 0.
  std::int64_t correct(std::int64_t own_ns) const;
};

// The name and the category of each call.
struct TraceNames {
  const char* const* names = nullptr;
  int count = 0;
  const char* (*category)(int call) = nullptr;
};

// An event as a line of JSON, with its times in microseconds since `origin_ns`.
std::string trace_line(const TraceEvent& event, const TraceNames& names, int rank, int thread, std::int64_t origin_ns,
                       const ClockDifference& clock);

// ARMCI_TRACE with %p, the process id of rank 0, and %n, the number of its starts of the library, filled in.
std::string trace_path(const std::string& path, int process_id, int start);

class Trace {
 public:
  // Begins if rank 0 names a file. Fails on all processes if rank 0 cannot write the file. `title` names the job.
  Status start(MPI_Comm comm, const std::string& path, std::int64_t events_most, const TraceNames& names,
               const std::string& title);
  bool enabled() const { return enabled_.load(std::memory_order_relaxed); }
  void record(const TraceEvent& event);
  // Writes the file, and warns if it lacks events. Does nothing when there is no trace.
  Status finish();

 private:
  struct Buffer {
    int thread = 0;
    std::deque<TraceEvent> events;  // which never moves: a call that is timed pays for no copy
  };

  Buffer* buffer_of_this_thread();
  Status choose_file(const std::string& path);
  Status write_all(int size);
  void write_own(int size);
  std::string next_piece(std::size_t* buffer, std::size_t* event) const;
  Status receive(int from);
  Status send();

  std::atomic<bool> enabled_{false};
  std::atomic<std::int64_t> events_left_{0};
  std::atomic<std::int64_t> dropped_{0};
  std::mutex mutex_;  // of buffers_
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::uint64_t generation_ = 0;  // threads outlive a trace
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  // On rank 0.
  std::FILE* file_ = nullptr;
  std::string path_;
  std::string written_path_;  // until it is whole
  int starts_ = 0;
  std::string title_;
  TraceNames names_;
  std::int64_t origin_ns_ = 0;  // of rank 0's clock
  ClockDifference clock_;
};

Trace& trace();

std::int64_t steady_now_ns();

}  // namespace armci::runtime
