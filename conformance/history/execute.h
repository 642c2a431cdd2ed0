// Runs programs on all ranks and brings what they saw to rank 0.
#ifndef CONFORMANCE_HISTORY_EXECUTE_H_
#define CONFORMANCE_HISTORY_EXECUTE_H_

#include "conformance/harness/region.h"
#include "conformance/history/program.h"
#include "conformance/history/record.h"

namespace conformance::history {

// The memory and mutexes that programs run on. Creation, destruction and Run are meeting points (see session.h).
class Executor {
 public:
  Executor();

  // Sets the cells to their first values, lets all ranks begin at nearly the same time, and gathers the history: whole
  // on rank 0, empty elsewhere.
  History Run(const Program& program);

 private:
  void SetCells(const Program& program);

  Region region_;
  Mutexes mutexes_;
  Gate gate_;
  long runs_ = 0;
};

}  // namespace conformance::history

#endif  // CONFORMANCE_HISTORY_EXECUTE_H_
