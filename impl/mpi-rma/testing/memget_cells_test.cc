// Strided and vector transfers of ARMCI_Memget memory across the end of a cell of the dynamic window
// (dynamic_window.h).
//
//   cell |.............|.............     process 1 owns a block that is longer than a cell
//               rows ===|===              what process 0 moves lies on both sides of the boundary, one row on the line
//
// Status 1 when a check fails.
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "armci.h"
#include "impl/testing/job.h"

namespace {

using namespace armci::runtime::testing;

constexpr std::size_t kCellBytes = std::size_t{1} << 30;  // DynamicWindow::kCellBytes
constexpr std::size_t kMargin = std::size_t{1} << 20;
constexpr int kOwner = 1;
constexpr int kRows = 64;
constexpr int kRowWords = 100;
constexpr int kRowBytes = kRowWords * static_cast<int>(sizeof(double));

// Rows on the owner, the middle one across the boundary, and the same number of dense rows here.
struct Block {
  double* boundary;
  int remote_step;  // words from row to row
  int local_step;

  double* remote(int row = 0) const { return boundary + (row - kRows / 2) * remote_step - kRowWords / 2; }
  std::size_t local_words() const { return static_cast<std::size_t>(kRows) * static_cast<std::size_t>(local_step); }
};

double value_of(int row, int word) { return 1000.0 * row + word + 1; }

std::vector<double> filled(const Block& block) {
  std::vector<double> local(block.local_words(), -1.0);
  for (int row = 0; row < kRows; ++row) {
    for (int word = 0; word < kRowWords; ++word) {
      local[static_cast<std::size_t>(row * block.local_step + word)] = value_of(row, word);
    }
  }
  return local;
}

// The rows are there, `times` of each value, and what lies between is not touched. True on those that do not own it.
bool arrived(const Block& block, double times) {
  if (rank != kOwner) return true;
  for (int row = 0; row < kRows; ++row) {
    for (int word = 0; word < block.remote_step; ++word) {
      const double expected = word < kRowWords ? times * value_of(row, word) : 0.0;
      if (block.remote(row)[word] != expected) return false;
    }
  }
  return true;
}

void clear(const Block& block) {
  if (rank == kOwner) {
    std::memset(block.remote(), 0, sizeof(double) * static_cast<std::size_t>(kRows * block.remote_step));
  }
  ARMCI_Barrier();
}

struct Strides {
  explicit Strides(const Block& block)
      : there(block.remote_step * static_cast<int>(sizeof(double))),
        here(block.local_step * static_cast<int>(sizeof(double))) {}
  int there;
  int here;
  int count[2] = {kRowBytes, kRows};
};

void check_strided(const Block& block) {
  Strides s(block);
  double scale = 2;
  const std::vector<double> source = filled(block);
  std::vector<double> back(block.local_words(), -1.0);
  auto* from = const_cast<double*>(source.data());
  clear(block);
  check(rank == kOwner || ARMCI_PutS(from, &s.here, block.remote(), &s.there, s.count, 1, kOwner) == 0, "strided put");
  ARMCI_Barrier();
  check(arrived(block, 1), "what was put strided is there");
  check(rank == kOwner ||
            (ARMCI_GetS(block.remote(), &s.there, back.data(), &s.here, s.count, 1, kOwner) == 0 && back == source),
        "strided get");
  check(rank == kOwner ||
            ARMCI_AccS(ARMCI_ACC_DBL, &scale, from, &s.here, block.remote(), &s.there, s.count, 1, kOwner) == 0,
        "strided accumulate");
  ARMCI_Barrier();
  check(arrived(block, 3), "what was accumulated strided is there");
}

void check_nonblocking(const Block& block) {
  Strides s(block);
  double scale = 1;
  const std::vector<double> source = filled(block);
  std::vector<double> back(block.local_words(), -1.0);
  auto* from = const_cast<double*>(source.data());
  armci_hdl_t handle;
  ARMCI_INIT_HANDLE(&handle);
  clear(block);
  check(rank == kOwner || (ARMCI_NbAccS(ARMCI_ACC_DBL, &scale, from, &s.here, block.remote(), &s.there, s.count, 1,
                                        kOwner, &handle) == 0 &&
                           ARMCI_Wait(&handle) == 0),
        "non-blocking strided accumulate");
  ARMCI_Barrier();
  check(arrived(block, 1), "what was accumulated by a handle is there");
  ARMCI_INIT_HANDLE(&handle);
  check(rank == kOwner ||
            (ARMCI_NbGetS(block.remote(), &s.there, back.data(), &s.here, s.count, 1, kOwner, &handle) == 0 &&
             ARMCI_Wait(&handle) == 0 && back == source),
        "non-blocking strided get");
}

void check_vector(const Block& block) {
  double scale = 2;
  std::vector<double> source = filled(block);
  std::vector<double> back(block.local_words(), -1.0);
  std::vector<void*> here;
  std::vector<void*> result;
  std::vector<void*> there;
  for (int row = 0; row < kRows; ++row) {
    here.push_back(&source[static_cast<std::size_t>(row * block.local_step)]);
    result.push_back(&back[static_cast<std::size_t>(row * block.local_step)]);
    there.push_back(block.remote(row));
  }
  armci_giov_t to{here.data(), there.data(), kRowBytes, kRows};
  armci_giov_t from{there.data(), result.data(), kRowBytes, kRows};
  clear(block);
  check(rank == kOwner || ARMCI_PutV(&to, 1, kOwner) == 0, "vector put");
  check(rank == kOwner || ARMCI_AccV(ARMCI_ACC_DBL, &scale, &to, 1, kOwner) == 0, "vector accumulate");
  ARMCI_Barrier();
  check(arrived(block, 3), "what was put and accumulated by vectors is there");
  check(rank == kOwner || ARMCI_GetV(&from, 1, kOwner) == 0, "vector get");
  bool same = true;
  for (std::size_t i = 0; i < back.size(); ++i) same = same && back[i] == (source[i] < 0 ? -1 : 3 * source[i]);
  check(rank == kOwner || same, "what was got by vectors is here");
}

// The first cell's end in a block that is longer than a cell, with a margin on both sides.
double* boundary_in(void* base) {
  const auto from = reinterpret_cast<std::uintptr_t>(base) + kMargin;
  return reinterpret_cast<double*>((from + kCellBytes - 1) / kCellBytes * kCellBytes);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  read_rank();
  if (ARMCI_Init() != 0) MPI_Abort(MPI_COMM_WORLD, 2);
  armci_meminfo_t info{};
  check(rank != kOwner || ARMCI_Memget(kCellBytes + 2 * kMargin, &info, 0) == 0, "memory is there");
  MPI_Bcast(&info, sizeof info, MPI_BYTE, kOwner, MPI_COMM_WORLD);
  if (rank != kOwner) ARMCI_Memctl(&info);
  double* const boundary = boundary_in(ARMCI_Memat(&info, 0));
  for (const Block& block : {Block{boundary, kRowWords, kRowWords}, Block{boundary, kRowWords, kRowWords + 3},
                             Block{boundary, kRowWords + 7, kRowWords}, Block{boundary, 1001, 2 * kRowWords}}) {
    check_strided(block);
    check_nonblocking(block);
    check_vector(block);
  }
  ARMCI_Barrier();
  if (rank == kOwner) ARMCI_Memdt(&info, 0);
  ARMCI_Finalize();
  return verdict();
}
