// Analysis: at a barrier of all processes, finds the races in their records and prints each pair of calls once.
//
//   each process               sends its synchronisation to all, and each access to the process whose memory it
//   touches;
//                              nothing, where no process has accessed anything, or one has had too much to record
//   owner of the memory        orders the events, and compares the accesses to its memory
//   process of a call          looks up the source line
//   process 0                  prints; at the end a line with the number of races
//
// Thread safety: collective over the communicator, by one thread of each process.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "impl/base/status.h"
#include "impl/race/detector.h"
#include "impl/race/recorder.h"

namespace armci::race {

class Analysis {
 public:
  // Duplicates `comm`, whose ranks are the processes. `call_names`: of the numbers of calls.
  Status start(MPI_Comm comm, const char* const* call_names);
  // Analyses what the recorder has.
  Status run(Recorder* recorder);
  // Whether no process has pending operations or stores without a fence; collective.
  Status agree_all_complete(bool mine, bool* all);
  // Prints the number of races on process 0.
  Status finish();

 private:
  std::string describe(const Race& race, const std::string& first, const std::string& second) const;
  // Of the words that some process raises signals in: others tell nothing.
  Status drop_other_words(std::vector<Sync>* syncs) const;
  // The races whose calls have not been printed.
  std::vector<Race> new_ones(const std::vector<Race>& races);
  Status print(const std::vector<Race>& races, Recorder* recorder);

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
  const char* const* call_names_ = nullptr;
  using Side = std::pair<int, std::uint32_t>;              // process, site
  std::set<std::pair<Side, Side>> known_;                  // calls that race; the same on all processes
  std::set<std::pair<std::string, std::string>> printed_;  // on process 0
  std::uint64_t left_out_ = 0;
  std::uint64_t not_analysed_ = 0;  // times
};

}  // namespace armci::race
