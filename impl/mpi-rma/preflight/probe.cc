#include "impl/mpi-rma/preflight/probe.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace armci::rma {
namespace {

// Ranks shifted by one along `order`, as partners of `rank`.
Partners shifted(const std::vector<int>& order, int rank) {
  const std::size_t count = order.size();
  const std::size_t place =
      static_cast<std::size_t>(std::distance(order.begin(), std::find(order.begin(), order.end(), rank)));
  return {order[(place + 1) % count], order[(place + count - 1) % count]};
}

}  // namespace

Neighbourhood::Neighbourhood(MPI_Comm parent) {
  MPI_Comm_dup(parent, &comm_);
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);

  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node);
  std::array<int, 2> mine = {rank_, 0};  // the node's lowest rank, the place on the node
  MPI_Bcast(&mine[0], 1, MPI_INT, 0, node);
  MPI_Comm_rank(node, &mine[1]);
  MPI_Comm_free(&node);

  std::vector<std::array<int, 2>> places(static_cast<std::size_t>(size_));
  MPI_Allgather(mine.data(), 2, MPI_INT, places.data(), 2, MPI_INT, comm_);
  nodes_ = static_cast<int>(std::count_if(places.begin(), places.end(), [](const auto& one) { return one[1] == 0; }));

  std::vector<int> together;
  for (int rank = 0; rank < size_; ++rank) {
    if (places[static_cast<std::size_t>(rank)][0] == mine[0]) together.push_back(rank);
  }
  rounds_.push_back(shifted(together, rank_));
  if (nodes_ == 1) return;
  // Those with the same place on their nodes stand in a row, so that the next one is mostly on another node.
  std::vector<int> across(static_cast<std::size_t>(size_));
  std::iota(across.begin(), across.end(), 0);
  std::stable_sort(across.begin(), across.end(), [&](int a, int b) {
    return places[static_cast<std::size_t>(a)][1] < places[static_cast<std::size_t>(b)][1];
  });
  rounds_.push_back(shifted(across, rank_));
}

Neighbourhood::~Neighbourhood() { MPI_Comm_free(&comm_); }

bool Neighbourhood::all(bool mine) const {
  int value = mine ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_MIN, comm_);
  return value == 1;
}

ProbeWindow::ProbeWindow(const Neighbourhood& around, WindowKind kind, std::size_t bytes)
    : around_(around), kind_(kind) {
  ok_ = around_.all(create(kind, bytes));
  if (!ok_) return;
  MPI_Win_set_errhandler(win_, MPI_ERRORS_RETURN);
  if (bytes != 0) std::memset(memory_, 0, bytes);
  if (kind_ == WindowKind::kDynamic) {
    MPI_Aint base = 0;
    MPI_Get_address(memory_, &base);
    bases_.resize(static_cast<std::size_t>(around_.size()));
    MPI_Allgather(&base, 1, MPI_AINT, bases_.data(), 1, MPI_AINT, around_.comm());
  }
  locked_ = went_well(MPI_Win_lock_all(MPI_MODE_NOCHECK, win_));
  ok_ = around_.all(locked_);
}

bool ProbeWindow::create(WindowKind kind, std::size_t bytes) {
  const auto length = static_cast<MPI_Aint>(bytes);
  if (kind == WindowKind::kAllocate) {
    return went_well(MPI_Win_allocate(length, 1, MPI_INFO_NULL, around_.comm(), &memory_, &win_));
  }
  if (kind == WindowKind::kCreateShared) {
    void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (mapped != MAP_FAILED) {
      memory_ = static_cast<std::byte*>(mapped);
      mapped_bytes_ = bytes;
    }
    if (!around_.all(memory_ != nullptr)) return false;
  } else {
    private_memory_ = std::make_unique<std::byte[]>(bytes);
    memory_ = private_memory_.get();
  }
  if (kind != WindowKind::kDynamic) {
    return went_well(MPI_Win_create(memory_, length, 1, MPI_INFO_NULL, around_.comm(), &win_));
  }
  if (!went_well(MPI_Win_create_dynamic(MPI_INFO_NULL, around_.comm(), &win_))) return false;
  MPI_Win_set_errhandler(win_, MPI_ERRORS_RETURN);
  return went_well(MPI_Win_attach(win_, memory_, length));
}

ProbeWindow::~ProbeWindow() {
  if (locked_) MPI_Win_unlock_all(win_);
  if (ok_) {
    around_.barrier();
    if (kind_ == WindowKind::kDynamic) MPI_Win_detach(win_, memory_);
    MPI_Win_free(&win_);
  }
  if (mapped_bytes_ != 0) munmap(memory_, mapped_bytes_);
}

MPI_Aint ProbeWindow::displacement(int rank, std::size_t offset) const {
  const auto plain = static_cast<MPI_Aint>(offset);
  return kind_ == WindowKind::kDynamic ? MPI_Aint_add(bases_[static_cast<std::size_t>(rank)], plain) : plain;
}

void ProbeWindow::meet() const {
  MPI_Win_sync(win_);
  around_.barrier();
  MPI_Win_sync(win_);
}

}  // namespace armci::rma
