// Lists of pending MPI operations, whose items have a `request`.
//
// Thread safety: one thread at a time for each list.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "impl/base/status.h"

namespace armci::twosided {

// Removes the completed items from a list, whose order is not kept, and passes each to `take`.
template <class Item, class Take>
Status take_ended(std::vector<Item>* list, Take take) {
  for (std::size_t i = 0; i < list->size();) {
    int ended = 0;
    ARMCI_MPI(MPI_Test(&(*list)[i].request, &ended, MPI_STATUS_IGNORE));
    if (ended == 0) {
      ++i;
      continue;
    }
    Item item = std::move((*list)[i]);
    if (i + 1 < list->size()) (*list)[i] = std::move(list->back());
    list->pop_back();
    ARMCI_RETURN_IF_ERROR(take(std::move(item)));
  }
  return kSuccess;
}

// Adds a begun operation to the list, or passes it to `take` if MPI has completed it already, as it does with most
// short messages. Each item of the list counts as pending, and threads are woken for it.
template <class Item, class Take>
Status add_unless_ended(std::vector<Item>* list, Item item, Take take) {
  int ended = 0;
  ARMCI_MPI(MPI_Test(&item.request, &ended, MPI_STATUS_IGNORE));
  if (ended != 0) return take(std::move(item));
  list->push_back(std::move(item));
  return kSuccess;
}

}  // namespace armci::twosided
