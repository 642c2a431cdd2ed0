// ChoiceList: the choices of a transport at init, for its choices().
//
// Thread safety: written by one thread, at init and finalise; read by any in between.
#pragma once

#include <mpi.h>

#include <deque>
#include <span>
#include <string>
#include <vector>

#include "impl/base/status.h"
#include "impl/runtime/transport.h"

namespace armci::runtime {

class ChoiceList {
 public:
  void add(const std::string& name, const std::string& value);
  // Replaces the choices of all processes by those of the first, since nodes may have chosen differently. Collective.
  Status share(MPI_Comm comm);
  void clear();
  // The texts are valid until share() or clear().
  std::span<const Choice> all() const { return views_; }

 private:
  std::deque<std::string> texts_;  // which stay where they are
  std::vector<Choice> views_;
};

}  // namespace armci::runtime
