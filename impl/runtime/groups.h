// Groups: ordered sets of processes, over MPI communicators.
//
// A Group lives from its creation to ARMCI_Group_free on every member, or as long as mutex sets of it do; ARMCI_Group
// in the program holds the communicator (which some clients read) and the number of the Group here. Creation needs the
// members only (group_comm.h).
//
// Thread safety: creation, lookup and release may be called by several threads; the members of a Group are
// constant.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "armci.h"
#include "impl/base/status.h"

namespace armci::node {
struct Barrier;
struct ExchangeSlot;
}  // namespace armci::node

namespace armci::runtime {

enum class Scope : int { kAll = 0, kNode = 1, kMasters = 2 };

class Group {
 public:
  MPI_Comm comm() const { return comm_; }
  int rank() const { return rank_; }
  int size() const { return static_cast<int>(members_.size()); }
  // Absolute ids in the order of group ranks.
  const std::vector<int>& members() const { return members_; }
  int absolute_id(int group_rank) const { return members_[static_cast<size_t>(group_rank)]; }
  int group_rank_of(int absolute_id) const;  // -1: not a member

  // Group ranks of the members on this process's node, ascending, and of the first member of every node.
  const std::vector<int>& on_node() const { return on_node_; }
  const std::vector<int>& masters() const { return masters_; }
  bool single_node() const { return masters_.size() == 1; }
  bool is_master() const { return on_node_[0] == rank_; }

  // The communicator of a scope. The members of the scope make it at first use, and must all call. kMasters on a
  // process that is no master is an error of the caller [MSG-1].
  Status scope_comm(Scope scope, MPI_Comm* out);
  // The same, of which the program does not know: messages over it meet none of the program's [INIT-4].
  Status messages_comm(Scope scope, MPI_Comm* out);

  // The node barrier's place in node memory, set once by the creator (see node_memory.h); nullptr until then.
  node::Barrier* barrier = nullptr;
  // Behind the barrier, for groups on one node: slots to exchange records, and the number of exchanges.
  node::ExchangeSlot* exchange_slots = nullptr;
  unsigned exchanges = 0;
  // Sets of mutexes of this group. While there are any, a group that the program has freed lives on for them.
  std::atomic<int> mutex_sets{0};
  bool forgotten() const { return forgotten_; }
  // Names the group in the program's handles: the slot is reused after a release, the serial is not.
  int number() const { return number_; }
  int serial() const { return serial_; }

 private:
  friend class GroupTable;
  friend class GroupForTest;
  Status place_members();

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = -1;
  int number_ = 0;
  int serial_ = 0;
  bool forgotten_ = false;
  std::vector<int> members_;
  std::vector<int> on_node_;
  std::vector<int> masters_;
  // Made at first use. The first is of messages_comm().
  MPI_Comm scopes_[3] = {MPI_COMM_NULL, MPI_COMM_NULL, MPI_COMM_NULL};
};

// All groups of the process.
class GroupTable {
 public:
  // Collective over the world's communicator, which the world group takes over without duplicating.
  Status initialise(MPI_Comm world_comm);
  void finalise();

  Group& world() { return *world_; }
  // The group that a handle of the program names. An error (kNull or kGroup), and *group nullptr, when it names none or
  // one that was freed, or when this process is not in it.
  Status find(const ARMCI_Group* handle, Group** group);

  // Whether a handle is that of a group this process is not in (rank -1).
  bool outside(const ARMCI_Group* handle) const;

  // `ranks` are ranks of `parent`; called by every listed process, and optionally by others, which get a handle
  // with rank -1 and no Group (*made = nullptr). Blocks until all members called.
  Status create(const Group& parent, const int* ranks, int count, ARMCI_Group* handle, Group** made);
  // Collective over parent (MPI_Comm_split); colour MPI_UNDEFINED gives no group.
  Status split(const Group& parent, int colour, int key, ARMCI_Group* handle, Group** made);
  // Makes a handle invalid; *group is the group of the handle, to be released after its last use, or nullptr for
  // a handle with rank -1. An error for the world.
  Status forget(ARMCI_Group* handle, Group** group);
  // Destroys a group. Not collective by itself; the communicator is freed collectively by MPI's rules.
  Status release(Group* group);

  // The default group is the parent of ARMCI_Group_create.
  const ARMCI_Group& world_handle() const { return world_handle_; }
  ARMCI_Group default_handle() const { return default_handle_; }
  void set_default(const ARMCI_Group& handle) { default_handle_ = handle; }

 private:
  Status adopt(MPI_Comm comm, ARMCI_Group* handle, Group** made);

  std::vector<std::unique_ptr<Group>> groups_;  // by number; freed ones are empty
  std::vector<int> free_numbers_;
  int next_serial_ = 1;
  mutable std::mutex mutex_;
  Group* world_ = nullptr;
  ARMCI_Group world_handle_{};
  ARMCI_Group default_handle_{};
};

GroupTable& groups();

}  // namespace armci::runtime
