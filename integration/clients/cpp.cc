// A client in C++: memory that frees itself, views of the parts of a distributed vector, and handles that wait when
// they go out of scope.
#include <mpi.h>

#include <cstdio>
#include <numeric>
#include <span>
#include <vector>

#include "armci.h"

namespace {

template <typename T>
class Distributed {
 public:
  Distributed(int rank, int size, std::size_t each) : rank_(rank), each_(each), parts_(static_cast<std::size_t>(size)) {
    if (ARMCI_Malloc(parts_.data(), static_cast<armci_size_t>(each * sizeof(T))) != 0) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  ~Distributed() { ARMCI_Free(parts_[static_cast<std::size_t>(rank_)]); }
  Distributed(const Distributed&) = delete;
  Distributed& operator=(const Distributed&) = delete;

  std::span<T> mine() { return {at(rank_), each_}; }
  T* at(int rank) { return static_cast<T*>(parts_[static_cast<std::size_t>(rank)]); }

 private:
  int rank_;
  std::size_t each_;
  std::vector<void*> parts_;
};

class Pending {
 public:
  Pending() { ARMCI_INIT_HANDLE(&handle_); }
  ~Pending() { ARMCI_Wait(&handle_); }
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;
  armci_hdl_t* get() { return &handle_; }

 private:
  armci_hdl_t handle_;
};

constexpr std::size_t kEach = 1000;

// Every process fetches all parts at once and sums them up.
long SumOfAll(Distributed<long>* vector, int size) {
  std::vector<long> all(kEach * static_cast<std::size_t>(size));
  {
    std::vector<Pending> pending(static_cast<std::size_t>(size));
    for (int other = 0; other < size; ++other) {
      const auto which = static_cast<std::size_t>(other);
      ARMCI_NbGet(vector->at(other), &all[which * kEach], kEach * sizeof(long), other, pending[which].get());
    }
  }
  return std::accumulate(all.begin(), all.end(), 0L);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (ARMCI_Init() != 0) MPI_Abort(MPI_COMM_WORLD, 1);
  int wrong = 0;
  {
    Distributed<long> vector(rank, size, kEach);
    std::iota(vector.mine().begin(), vector.mine().end(), static_cast<long>(rank) * static_cast<long>(kEach));
    ARMCI_Barrier();
    const long count = static_cast<long>(kEach) * size;
    wrong = SumOfAll(&vector, size) != count * (count - 1) / 2;
    ARMCI_Barrier();
  }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  ARMCI_Finalize();
  if (rank == 0) std::printf("cpp: %s, %d processes\n", wrong == 0 ? "PASS" : "FAIL", size);
  MPI_Finalize();
  return wrong;
}
