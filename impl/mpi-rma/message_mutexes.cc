#include "impl/mpi-rma/message_mutexes.h"

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstdint>
#include <new>
#include <thread>

#include "impl/mpi-rma/epoch.h"
#include "impl/node/agree.h"
#include "impl/node/waiter.h"
#include "impl/runtime/group_comm.h"

namespace armci::rma {

namespace {

// MPICH 4.0 takes the base of a window for a multiple of 16: at other addresses puts land below it.
constexpr std::size_t kBaseAlignment = 64;

bool all_zero(std::span<const char> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char byte) { return byte == 0; });
}

}  // namespace

Status MessageMutexes::create(MPI_Comm comm, std::span<const int> counts, std::unique_ptr<MessageMutexes>* out) {
  std::unique_ptr<MessageMutexes> made(new MessageMutexes());
  ARMCI_RETURN_IF_ERROR(made->initialise(comm, counts));
  *out = std::move(made);
  return kSuccess;
}

Status MessageMutexes::initialise(MPI_Comm comm, std::span<const int> counts) {
  ARMCI_MPI(MPI_Comm_dup(comm, &comm_));
  std::size_t bytes = 0;
  ARMCI_RETURN_IF_ERROR(node::agree(comm_, prepare(counts, &bytes), "creating mutexes"));
  const auto at = reinterpret_cast<std::uintptr_t>(memory_.get());
  char* base = memory_.get() + (kBaseAlignment - at % kBaseAlignment) % kBaseAlignment;
  ARMCI_MPI(MPI_Win_create(base, static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, comm_, &window_));
  ARMCI_MPI(MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN));
  return kSuccess;
}

// The local part of create(): the numbers of the mutexes, and memory for the bytes of this process's own.
Status MessageMutexes::prepare(std::span<const int> counts, std::size_t* bytes) {
  ARMCI_MPI(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN));
  ARMCI_MPI(MPI_Comm_rank(comm_, &rank_));
  ARMCI_MPI(MPI_Comm_size(comm_, &size_));
  std::int64_t total = 0;
  for (const int count : counts) {
    first_.push_back(static_cast<int>(std::min<std::int64_t>(total, INT_MAX)));
    total += count;
  }
  int tag_max = 0;
  ARMCI_RETURN_IF_ERROR(runtime::largest_tag(comm_, &tag_max));
  if (total - 1 > tag_max) {
    return fail(Code::kUnsupported, nullptr,
                "%lld mutexes over messages need a tag each, and this MPI has %d; set "
                "ARMCI_RMA_MUTEX=atomic",
                static_cast<long long>(total), tag_max);
  }
  *bytes = static_cast<std::size_t>(counts[static_cast<std::size_t>(rank_)]) * static_cast<std::size_t>(size_);
  memory_.reset(new (std::nothrow) char[*bytes + kBaseAlignment]());
  if (memory_ != nullptr) return kSuccess;
  return fail(Code::kMemory, "MUTEX-1", "the process has no memory for mutexes, %zu bytes; create fewer", *bytes);
}

MessageMutexes::~MessageMutexes() {
  int ended = 0;
  MPI_Finalized(&ended);
  if (ended != 0) return;
  if (window_ != MPI_WIN_NULL) MPI_Win_free(&window_);
  if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
}

int MessageMutexes::put_own(int mutex, int host, const char* mine) {
  return MPI_Put(mine, 1, MPI_CHAR, host, displacement(mutex, rank_), 1, MPI_CHAR, window_);
}

// Not the own byte, which a put of the same epoch writes.
int MessageMutexes::get_others(int mutex, int host, std::span<char> bytes) {
  const int above = size_ - rank_ - 1;
  int error = MPI_SUCCESS;
  if (rank_ > 0) error = MPI_Get(bytes.data(), rank_, MPI_CHAR, host, displacement(mutex, 0), rank_, MPI_CHAR, window_);
  if (error != MPI_SUCCESS || above == 0) return error;
  return MPI_Get(bytes.data() + rank_ + 1, above, MPI_CHAR, host, displacement(mutex, rank_ + 1), above, MPI_CHAR,
                 window_);
}

template <class Operations>
Status MessageMutexes::epoch(int host, const char* what, Operations operations) {
  return epoch_of(window_, MPI_LOCK_EXCLUSIVE, host, host == rank_, epoch_, what, operations);
}

Status MessageMutexes::exchange(int mutex, int host, char mine, std::span<char> bytes) {
  return epoch(host, "MPI_Put, MPI_Get", [&] {
    const int error = put_own(mutex, host, &mine);
    return error == MPI_SUCCESS ? get_others(mutex, host, bytes) : error;
  });
}

Status MessageMutexes::lock(int mutex, int host) {
  std::vector<char> bytes(static_cast<std::size_t>(size_));
  ARMCI_RETURN_IF_ERROR(exchange(mutex, host, 1, bytes));
  return all_zero(bytes) ? kSuccess : wait_for_turn(number(mutex, host));
}

// No epoch is open meanwhile, and no lock of this process held: other threads go on.
Status MessageMutexes::wait_for_turn(int number) {
  MPI_Request request = MPI_REQUEST_NULL;
  ARMCI_MPI(MPI_Irecv(nullptr, 0, MPI_CHAR, MPI_ANY_SOURCE, number, comm_, &request));
  node::Waiter waiter(node::WaitKind::kMutexGrant);
  for (;;) {
    int done = 0;
    ARMCI_MPI(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    if (done != 0) return kSuccess;
    waiter.step();
  }
}

Status MessageMutexes::try_lock(int mutex, int host, bool* taken) {
  constexpr char kMine = 1;
  std::vector<char> bytes(static_cast<std::size_t>(size_));
  bool free = false;
  ARMCI_RETURN_IF_ERROR(epoch(host, "MPI_Get, MPI_Win_flush, MPI_Put", [&] {
    int error = get_others(mutex, host, bytes);
    if (error == MPI_SUCCESS) error = MPI_Win_flush(host, window_);
    free = error == MPI_SUCCESS && all_zero(bytes);
    return free ? put_own(mutex, host, &kMine) : error;
  }));
  *taken = free;
  if (free) {
    failed_tries_.store(0, std::memory_order_relaxed);
  } else {
    constexpr int kShortestUs = 16;
    constexpr int kDoublingsMax = 6;
    const int tries = failed_tries_.fetch_add(1, std::memory_order_relaxed);
    std::this_thread::sleep_for(std::chrono::microseconds(kShortestUs << std::clamp(tries, 0, kDoublingsMax)));
  }
  return kSuccess;
}

Status MessageMutexes::unlock(int mutex, int host) {
  std::vector<char> bytes(static_cast<std::size_t>(size_));
  ARMCI_RETURN_IF_ERROR(exchange(mutex, host, 0, bytes));
  for (int step = 1; step < size_; ++step) {
    const int next = (rank_ + step) % size_;
    if (bytes[static_cast<std::size_t>(next)] == 0) continue;
    ARMCI_MPI(MPI_Send(nullptr, 0, MPI_CHAR, next, number(mutex, host), comm_));
    break;
  }
  return kSuccess;
}

Status MessageMutexes::is_free(int mutex, bool* free) {
  std::vector<char> bytes(static_cast<std::size_t>(size_));
  ARMCI_RETURN_IF_ERROR(epoch(rank_, "MPI_Get", [&] {
    return MPI_Get(bytes.data(), size_, MPI_CHAR, rank_, displacement(mutex, 0), size_, MPI_CHAR, window_);
  }));
  *free = all_zero(bytes);
  return kSuccess;
}

}  // namespace armci::rma
