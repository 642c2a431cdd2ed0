#include "impl/mpi-rma/sync_exclusive.h"

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <new>
#include <numeric>
#include <type_traits>

#include "impl/mpi-rma/epoch.h"
#include "impl/node/node_memory.h"

namespace armci::rma {

namespace {

// Gets of read-only memory, and accumulates on accumulate-only memory, need not exclude each other.
int lock_for(const Access& access) {
  const runtime::AccessMode mode = access.window->mode();
  const bool shared = (mode == runtime::AccessMode::kReadOnly && access.kind == Kind::kGet) ||
                      (mode == runtime::AccessMode::kAccOnly && access.kind == Kind::kAccumulate);
  return shared ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE;
}

// Operations of one window and rank in one epoch.
Status epoch(std::span<const Access> accesses) {
  constexpr const char* kNames[] = {"MPI_Put", "MPI_Get", "MPI_Accumulate"};
  const Access& first = accesses.front();
  Window& window = *first.window;
  const auto operations = [&] {
    int error = MPI_SUCCESS;
    for (const Access& access : accesses) {
      if (error == MPI_SUCCESS) error = issue_operation(access);
    }
    return error;
  };
  return epoch_of(window.handle(), lock_for(first), first.rank, first.rank == window.rank(), window.epochs(),
                  kNames[static_cast<int>(first.kind)], operations);
}

// An epoch for each run of operations that share window and rank.
Status epochs(std::span<const Access> accesses) {
  while (!accesses.empty()) {
    const Access& first = accesses.front();
    const auto end = std::find_if(accesses.begin(), accesses.end(), [&](const Access& access) {
      return access.window != first.window || access.rank != first.rank;
    });
    const auto count = static_cast<std::size_t>(end - accesses.begin());
    ARMCI_RETURN_IF_ERROR(epoch(accesses.first(count)));
    accesses = accesses.subspan(count);
  }
  return kSuccess;
}

// The bytes that the local side of an operation spans.
Status local_span(const Access& access, const char** from, const char** to) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  MPI_Aint unused = 0;
  MPI_Aint step = 0;
  ARMCI_MPI(MPI_Type_get_true_extent(access.local_type, &lower, &extent));
  ARMCI_MPI(MPI_Type_get_extent(access.local_type, &unused, &step));
  *from = static_cast<const char*>(access.local) + lower;
  *to = *from + step * std::max(access.local_count - 1, 0) + extent;
  return kSuccess;
}

bool in_node_memory(const char* from, const char* to) {
  const node::NodeMemory& memory = node::node_memory();
  return from < memory.end() && to > memory.begin();
}

// Copies that stand for local buffers in exposed memory.
class Staging {
 public:
  // `access` now uses a copy of the buffer, which `own` exposes.
  Status stage(Window* own, Access* access) {
    MPI_Count bytes = 0;
    int element_bytes = 0;
    ARMCI_MPI(MPI_Type_size_x(access->local_type, &bytes));
    ARMCI_MPI(MPI_Type_size(access->element, &element_bytes));
    const auto total = static_cast<std::size_t>(bytes) * static_cast<std::size_t>(access->local_count);
    if (total / static_cast<std::size_t>(element_bytes) > INT_MAX) {
      return fail(
          Code::kUnsupported, "XFER-8",
          "%zu bytes from or to memory that this process exposes are one operation of MPI here, which cannot be "
          "staged; set ARMCI_RMA_STRIDED=batched and ARMCI_RMA_VECTOR=batched, or ARMCI_RMA_SYNC=epochless",
          total);
    }
    copies_.emplace_back(new (std::nothrow) char[total]);
    if (copies_.back() == nullptr)
      return fail(Code::kMemory, nullptr,
                  "the process has no memory for a copy of %zu bytes; transfer fewer bytes in a call", total);
    Access copying = *access;
    copying.kind = access->kind == Kind::kGet ? Kind::kPut : Kind::kGet;
    copying.window = own;
    copying.rank = own->rank();
    copying.displacement = own->displacement(access->local);
    copying.count = access->local_count;
    copying.type = access->local_type;
    copying.local = access->local = copies_.back().get();
    copying.local_count = access->local_count = static_cast<int>(total / static_cast<std::size_t>(element_bytes));
    copying.local_type = access->local_type = access->element;
    (access->kind == Kind::kGet ? after_ : before_).push_back(copying);
    return kSuccess;
  }

  // In between, the operations themselves.
  Status copy_in() { return epochs(before_); }
  Status copy_out() { return epochs(after_); }

 private:
  std::vector<std::unique_ptr<char[]>> copies_;
  std::vector<Access> before_;
  std::vector<Access> after_;
};

}  // namespace

Status Exclusive::initialise(MPI_Comm world) {
  int size = 0;
  ARMCI_MPI(MPI_Comm_size(world, &size));
  ARMCI_MPI(MPI_Comm_group(world, &world_));
  threads_ = std::vector<std::mutex>(static_cast<std::size_t>(size));
  return MessageMutexes::create(world, std::vector<int>(static_cast<std::size_t>(size), 1), &atomics_);
}

Exclusive::~Exclusive() {
  if (world_ != MPI_GROUP_NULL) MPI_Group_free(&world_);
}

Status Exclusive::open(Window* window) {
  std::vector<int> ranks(static_cast<std::size_t>(window->size()));
  std::vector<int> processes(ranks.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  MPI_Group group = MPI_GROUP_NULL;
  ARMCI_MPI(MPI_Win_get_group(window->handle(), &group));
  const int error = MPI_Group_translate_ranks(group, window->size(), ranks.data(), world_, processes.data());
  MPI_Group_free(&group);
  if (error != MPI_SUCCESS) return fail_mpi(error, "MPI_Group_translate_ranks");
  std::lock_guard guard(opened_mutex_);
  if (window->memory() != nullptr && !in_node_memory(window->memory(), window->memory() + 1)) elsewhere_ = true;
  opened_.push_back({window, std::move(processes)});
  return kSuccess;
}

Status Exclusive::close(Window* window) {
  std::lock_guard guard(opened_mutex_);
  std::erase_if(opened_, [&](const Opened& one) { return one.window == window; });
  return kSuccess;
}

int Exclusive::process_of(const Window* window, int rank) {
  std::shared_lock guard(opened_mutex_);
  const auto found =
      std::find_if(opened_.begin(), opened_.end(), [&](const auto& one) { return one.window == window; });
  return found->processes[static_cast<std::size_t>(rank)];
}

// The window that exposes the local buffer as memory of this process; nullptr: none does.
Window* Exclusive::exposing(const Access& access, Status* status) {
  const char* from = nullptr;
  const char* to = nullptr;
  *status = local_span(access, &from, &to);
  if (!status->ok() || (!elsewhere_ && !in_node_memory(from, to))) return nullptr;
  std::shared_lock guard(opened_mutex_);
  // The dynamic window comes last, since it may expose the memory of a region as well.
  const auto found =
      std::find_if(opened_.rbegin(), opened_.rend(), [&](const auto& one) { return one.window->exposes(from, to); });
  return found == opened_.rend() ? nullptr : found->window;
}

Status Exclusive::issue(std::span<const Access> accesses) {
  std::vector<Access> staged;
  Staging staging;
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    Status status;
    Window* own = exposing(accesses[i], &status);
    ARMCI_RETURN_IF_ERROR(status);
    if (own == nullptr) continue;
    if (staged.empty()) staged.assign(accesses.begin(), accesses.end());
    ARMCI_RETURN_IF_ERROR(staging.stage(own, &staged[i]));
  }
  ARMCI_RETURN_IF_ERROR(staging.copy_in());
  ARMCI_RETURN_IF_ERROR(epochs(staged.empty() ? accesses : std::span<const Access>(staged)));
  return staging.copy_out();
}

Status Exclusive::start(const Access& access, Pending* pending) {
  ARMCI_RETURN_IF_ERROR(issue({&access, 1}));
  if (pending != nullptr) *pending = Pending();
  return kSuccess;
}

template <class Word>
Status Exclusive::atomic_on(MPI_Datatype type, const Atomic& a, void* before) {
  Word value = 0;
  Access access{Kind::kGet, a.window, a.rank, &value, 1, type, a.displacement, 1, type, type};
  const int host = process_of(a.window, a.rank);
  std::lock_guard thread(threads_[static_cast<std::size_t>(host)]);
  ARMCI_RETURN_IF_ERROR(atomics_->lock(0, host));
  Status status = epoch({&access, 1});
  const Word found = value;
  value = node::rmw_result(a.rmw.op, found, static_cast<Word>(a.rmw.operand), static_cast<Word>(a.rmw.compare));
  if (status.ok() && value != found) {
    access.kind = Kind::kPut;
    status = epoch({&access, 1});
  }
  const Status unlocked = atomics_->unlock(0, host);
  ARMCI_RETURN_IF_ERROR(status);
  ARMCI_RETURN_IF_ERROR(unlocked);
  std::memcpy(before, &found, sizeof found);
  return kSuccess;
}

Status Exclusive::atomic(const Atomic& atomic, void* before, Pending* pending) {
  if (pending != nullptr) *pending = Pending();
  return atomic.rmw.bytes == sizeof(std::int32_t) ? atomic_on<std::int32_t>(MPI_INT32_T, atomic, before)
                                                  : atomic_on<std::int64_t>(MPI_INT64_T, atomic, before);
}

}  // namespace armci::rma
