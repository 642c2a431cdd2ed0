#include "impl/runtime/world.h"

#include <sched.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <utility>

namespace armci::runtime {
namespace {

// The launcher may have bound each process to a few CPUs, and a container leaves out others.
Status count_cpus(MPI_Comm machine, int* cpus) {
  const int online = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  cpu_set_t usable;
  if (sched_getaffinity(0, sizeof usable, &usable) != 0) std::memset(&usable, 0xff, sizeof usable);
  constexpr int kWords = sizeof usable / sizeof(unsigned long);
  ARMCI_MPI(MPI_Allreduce(MPI_IN_PLACE, &usable, kWords, MPI_UNSIGNED_LONG, MPI_BOR, machine));
  // On a machine with more CPUs than the set holds, the call fails.
  *cpus = CPU_COUNT(&usable) < CPU_SETSIZE ? CPU_COUNT(&usable) : online;
  ARMCI_MPI(MPI_Allreduce(MPI_IN_PLACE, cpus, 1, MPI_INT, MPI_MIN, machine));
  return kSuccess;
}

}  // namespace

Status World::initialise(MPI_Comm parent, int node_size) {
  ARMCI_MPI(MPI_Comm_dup(parent, &comm_));
  // Errors of the layer below come back as codes, with the call and the peer, instead of ending the job there [ERR-3].
  ARMCI_MPI(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN));
  ARMCI_MPI(MPI_Comm_rank(comm_, &rank_));
  ARMCI_MPI(MPI_Comm_size(comm_, &size_));
  set_message_rank(rank_);
  ARMCI_MPI(MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &machine_comm_));
  ARMCI_MPI(MPI_Comm_set_errhandler(machine_comm_, MPI_ERRORS_RETURN));
  int machine_rank = 0;
  ARMCI_MPI(MPI_Comm_rank(machine_comm_, &machine_rank));
  ARMCI_MPI(MPI_Comm_size(machine_comm_, &machine_processes_));
  ARMCI_RETURN_IF_ERROR(count_cpus(machine_comm_, &machine_cpus_));

  // A node is named by (lowest rank of its machine, simulated part); equal on all its processes.
  struct Place {
    int machine;
    int part;
  };
  Place mine{rank_, node_size > 0 ? machine_rank / node_size : 0};
  ARMCI_MPI(MPI_Bcast(&mine.machine, 1, MPI_INT, 0, machine_comm_));
  std::vector<Place> places(static_cast<size_t>(size_));
  ARMCI_MPI(MPI_Allgather(&mine, 2, MPI_INT, places.data(), 2, MPI_INT, comm_));

  std::map<std::pair<int, int>, int> ids;
  std::map<int, int> machines;
  nodes_.clear();
  node_of_.assign(static_cast<size_t>(size_), 0);
  for (int r = 0; r < size_; ++r) {
    const Place& place = places[static_cast<size_t>(r)];
    machines.emplace(place.machine, 0);
    auto [entry, fresh] = ids.emplace(std::make_pair(place.machine, place.part), static_cast<int>(nodes_.size()));
    if (fresh) nodes_.emplace_back();
    std::vector<int>& ranks = nodes_[static_cast<size_t>(entry->second)].ranks;
    node_of_[static_cast<size_t>(r)] = entry->second;
    ranks.push_back(r);
  }
  machine_count_ = static_cast<int>(machines.size());
  my_node_ = node_of_[static_cast<size_t>(rank_)];
  simulated_ = node_size > 0 && static_cast<int>(ids.size()) > machine_count_;
  return kSuccess;
}

void World::finalise() {
  if (machine_comm_ != MPI_COMM_NULL) MPI_Comm_free(&machine_comm_);
  if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
  *this = World();
}

World& world() {
  static World instance;
  return instance;
}

}  // namespace armci::runtime
