#include "impl/runtime/groups.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "impl/node/wait_report.h"
#include "impl/runtime/group_comm.h"
#include "impl/runtime/world.h"

namespace armci::runtime {
namespace {

// The data of a group behind the communicator.
struct HandleWords {
  int kind;  // kMember, kOutside; anything else: no handle of this library
  int number;
  int serial;
};
constexpr int kMember = 0x41475250;
constexpr int kOutside = 0x41475258;
static_assert(sizeof(ARMCI_Group) == 32 && sizeof(HandleWords) <= sizeof(ARMCI_Group::opaque));

HandleWords read_words(const ARMCI_Group& handle) {
  HandleWords words;
  std::memcpy(&words, handle.opaque, sizeof words);
  return words;
}

ARMCI_Group make_handle(MPI_Comm comm, const HandleWords& words) {
  ARMCI_Group handle{};
  handle.comm = comm;
  std::memcpy(handle.opaque, &words, sizeof words);
  return handle;
}

Status check_list(const Group& parent, const int* ranks, int count) {
  if (count <= 0 || count > parent.size()) {
    return fail(Code::kLength, "GROUP-1",
                "argument n = %d is outside 1..%d, the size of the parent group; pass as many as pids has", count,
                parent.size());
  }
  if (ranks == nullptr) return fail(Code::kNull, "ERR-1", "argument pids is NULL; pass an array of ranks");
  std::vector<bool> seen(static_cast<std::size_t>(parent.size()));
  for (int i = 0; i < count; ++i) {
    if (ranks[i] < 0 || ranks[i] >= parent.size()) {
      return fail(Code::kProc, "GROUP-1",
                  "argument pids[%d] = %d is outside 0..%d, the ranks of the parent group; pass one of these", i,
                  ranks[i], parent.size() - 1);
    }
    if (seen[static_cast<std::size_t>(ranks[i])]) {
      return fail(Code::kProc, "GROUP-1", "argument pids[%d] = %d is listed twice; list each rank once", i, ranks[i]);
    }
    seen[static_cast<std::size_t>(ranks[i])] = true;
  }
  return kSuccess;
}

}  // namespace

int Group::group_rank_of(int absolute_id) const {
  auto found = std::find(members_.begin(), members_.end(), absolute_id);
  return found == members_.end() ? -1 : static_cast<int>(found - members_.begin());
}

Status Group::place_members() {
  ARMCI_MPI(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN));
  int size = 0;
  ARMCI_MPI(MPI_Comm_rank(comm_, &rank_));
  ARMCI_MPI(MPI_Comm_size(comm_, &size));
  members_.resize(static_cast<std::size_t>(size));
  // Local: the list of members needs no messages.
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  MPI_Group mine = MPI_GROUP_NULL;
  MPI_Group all = MPI_GROUP_NULL;
  ARMCI_MPI(MPI_Comm_group(comm_, &mine));
  ARMCI_MPI(MPI_Comm_group(runtime::world().comm(), &all));
  const int translated = MPI_Group_translate_ranks(mine, size, ranks.data(), all, members_.data());
  MPI_Group_free(&mine);
  MPI_Group_free(&all);
  if (translated != MPI_SUCCESS) return fail_mpi(translated, "MPI_Group_translate_ranks");
  const World& world = runtime::world();
  std::vector<bool> node_seen(static_cast<std::size_t>(world.node_count()));
  for (int r = 0; r < size; ++r) {
    const int node = world.node_of(absolute_id(r));
    if (node == world.my_node()) on_node_.push_back(r);
    if (!node_seen[static_cast<std::size_t>(node)]) masters_.push_back(r);
    node_seen[static_cast<std::size_t>(node)] = true;
  }
  return kSuccess;
}

Status Group::scope_comm(Scope scope, MPI_Comm* out) {
  if (scope == Scope::kAll) {
    *out = comm_;
    return kSuccess;
  }
  if (scope == Scope::kMasters && !is_master()) {
    return fail(Code::kGroup, "MSG-1",
                "scope masters: process %d is not its node's first in the group; only the "
                "members of a scope may call",
                absolute_id(rank_));
  }
  MPI_Comm& cached = scopes_[static_cast<int>(scope)];
  if (cached == MPI_COMM_NULL) {
    const std::vector<int>& ranks = scope == Scope::kNode ? on_node_ : masters_;
    ARMCI_RETURN_IF_ERROR(make_comm(comm_, ranks.data(), static_cast<int>(ranks.size()), &cached));
    ARMCI_MPI(MPI_Comm_set_errhandler(cached, MPI_ERRORS_RETURN));
  }
  *out = cached;
  return kSuccess;
}

Status Group::messages_comm(Scope scope, MPI_Comm* out) {
  if (scope != Scope::kAll) return scope_comm(scope, out);
  MPI_Comm& cached = scopes_[static_cast<int>(scope)];
  if (cached == MPI_COMM_NULL) ARMCI_MPI(MPI_Comm_dup(comm_, &cached));
  *out = cached;
  return kSuccess;
}

Status GroupTable::adopt(MPI_Comm comm, ARMCI_Group* handle, Group** made) {
  auto group = std::make_unique<Group>();
  group->comm_ = comm;
  ARMCI_RETURN_IF_ERROR(group->place_members());
  std::lock_guard lock(mutex_);
  group->serial_ = next_serial_++;
  if (free_numbers_.empty()) {
    free_numbers_.push_back(static_cast<int>(groups_.size()));
    groups_.emplace_back();
  }
  group->number_ = free_numbers_.back();
  free_numbers_.pop_back();
  *handle = make_handle(comm, {kMember, group->number_, group->serial_});
  *made = group.get();
  groups_[static_cast<std::size_t>(group->number_)] = std::move(group);
  return kSuccess;
}

Status GroupTable::initialise(MPI_Comm world_comm) {
  ARMCI_RETURN_IF_ERROR(adopt(world_comm, &world_handle_, &world_));
  default_handle_ = world_handle_;
  return kSuccess;
}

void GroupTable::finalise() {
  std::lock_guard lock(mutex_);
  for (std::unique_ptr<Group>& group : groups_) {
    if (group == nullptr) continue;
    for (MPI_Comm& comm : group->scopes_) {
      if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
    }
    if (group.get() != world_) MPI_Comm_free(&group->comm_);
  }
  groups_.clear();
  free_numbers_.clear();
  world_ = nullptr;
  world_handle_ = default_handle_ = ARMCI_Group{};
}

Status GroupTable::find(const ARMCI_Group* handle, Group** group) {
  *group = nullptr;
  if (handle == nullptr) return fail(Code::kNull, "ERR-1", "argument group is NULL; pass the address of a group");
  const HandleWords words = read_words(*handle);
  if (words.kind == kOutside) {
    return fail(Code::kGroup, "GROUP-1", "argument group: this process is no member (rank -1); only members may call");
  }
  std::lock_guard lock(mutex_);
  if (words.kind == kMember && words.number >= 0 && words.number < static_cast<int>(groups_.size())) {
    *group = groups_[static_cast<std::size_t>(words.number)].get();
    if (*group != nullptr && (*group)->serial_ == words.serial && !(*group)->forgotten_) return kSuccess;
    *group = nullptr;
  }
  return fail(Code::kGroup, "ERR-1",
              "argument group is no group of this library, or one that was freed; pass a live group");
}

Status GroupTable::create(const Group& parent, const int* ranks, int count, ARMCI_Group* handle, Group** made) {
  *made = nullptr;
  ARMCI_RETURN_IF_ERROR(check_list(parent, ranks, count));
  if (std::find(ranks, ranks + count, parent.rank()) == ranks + count) {
    *handle = make_handle(MPI_COMM_NULL, {kOutside, 0, 0});
    return kSuccess;
  }
  MPI_Comm comm = MPI_COMM_NULL;
  ARMCI_RETURN_IF_ERROR(make_comm(parent.comm(), ranks, count, &comm));
  return adopt(comm, handle, made);
}

Status GroupTable::split(const Group& parent, int colour, int key, ARMCI_Group* handle, Group** made) {
  *made = nullptr;
  MPI_Comm comm = MPI_COMM_NULL;
  const node::CollectiveWait waiting;
  ARMCI_MPI(MPI_Comm_split(parent.comm(), colour, key, &comm));
  if (comm == MPI_COMM_NULL) {
    *handle = make_handle(MPI_COMM_NULL, {kOutside, 0, 0});
    return kSuccess;
  }
  return adopt(comm, handle, made);
}

bool GroupTable::outside(const ARMCI_Group* handle) const {
  return handle != nullptr && read_words(*handle).kind == kOutside;
}

Status GroupTable::forget(ARMCI_Group* handle, Group** group) {
  *group = nullptr;
  if (!outside(handle)) {
    ARMCI_RETURN_IF_ERROR(find(handle, group));
    if (*group == world_)
      return fail(Code::kGroup, "GROUP-1",
                  "argument group is the world group, which cannot be freed; free groups that the program created");
    std::lock_guard lock(mutex_);
    (*group)->forgotten_ = true;
    if (read_words(default_handle_).serial == (*group)->serial_) default_handle_ = world_handle_;
  }
  *handle = ARMCI_Group{};
  return kSuccess;
}

Status GroupTable::release(Group* group) {
  for (MPI_Comm& comm : group->scopes_) {
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  }
  const int number = group->number_;
  ARMCI_MPI(MPI_Comm_free(&group->comm_));
  std::lock_guard lock(mutex_);
  groups_[static_cast<std::size_t>(number)].reset();
  free_numbers_.push_back(number);
  return kSuccess;
}

GroupTable& groups() {
  static GroupTable table;
  return table;
}

}  // namespace armci::runtime
