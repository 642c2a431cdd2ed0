// Accesses without order: which bytes they touch, and which kinds go together.
#include "conformance/race/pairs.h"

namespace armci_race {
namespace {

constexpr int kOwner = kThird;

void put(Job& job, int offset, int bytes = 8) { ARMCI_Put(job.buffer, job.at(kOwner, offset), bytes, kOwner); }
void put_columns(Job& job, int offset, int rows = 8) {
  int local[] = {8};
  int remote[] = {64};
  int count[] = {8, rows};
  ARMCI_PutS(job.buffer, local, job.at(kOwner, offset), remote, count, 1, kOwner);
}
template <class Value>
void accumulate(Job& job, int type, int offset = 0, int bytes = 8) {
  Value one[] = {1, 0};
  ARMCI_Acc(type, one, job.buffer, job.at(kOwner, offset), bytes, kOwner);
}

void neighbouring_bytes(Job& job, bool racy) {
  if (job.first()) put(job, 0);
  if (job.second()) put(job, racy ? 7 : 8);
}
void the_same_offset_of_two_owners(Job& job, bool racy) {
  const int owner = racy ? kThird : kSecond;
  if (job.first()) put(job, 0);
  if (job.second()) ARMCI_Put(job.buffer, job.at(owner), 8, owner);
}
void the_same_offset_of_two_regions(Job& job, bool racy) {
  if (job.first()) put(job, 0);
  if (job.second()) ARMCI_Put(job.buffer, racy ? job.at(kOwner) : job.other_at(kOwner), 8, kOwner);
}
void columns_of_a_matrix(Job& job, bool racy) {
  if (job.first()) put_columns(job, 0);
  if (job.second()) put_columns(job, racy ? 4 : 8);
}
void column_and_row(Job& job, bool racy) {
  if (job.first()) put_columns(job, 0);
  if (job.second()) put(job, racy ? 64 : 72, 48);
}
void column_and_one_element(Job& job, bool racy) {
  if (job.first()) put_columns(job, 16, 32);
  if (job.second()) put(job, 31 * 64 + (racy ? 16 : 24));
}
void rows_with_different_strides(Job& job, bool racy) {
  int dense[] = {8};
  int stride[] = {32};
  int count[] = {8, 8};
  if (job.first()) put_columns(job, 0);  // 0, 64, 128, ... 448
  if (job.second()) ARMCI_PutS(job.buffer, dense, job.at(kOwner, racy ? 4 : 16), stride, count, 1, kOwner);
}
void planes_of_a_cube(Job& job, bool racy) {
  int dense[] = {8, 32};
  int stride[] = {32, 256};
  int count[] = {8, 4, 4};
  if (job.first()) ARMCI_PutS(job.buffer, dense, job.at(kOwner), stride, count, 2, kOwner);
  if (job.second()) ARMCI_GetS(job.at(kOwner, racy ? 6 : 8), stride, job.buffer, dense, count, 2, kOwner);
}
void segments_of_a_vector(Job& job, bool racy) {
  void* from[] = {job.buffer, job.buffer + 8};
  void* to[] = {job.at(kOwner, 0), job.at(kOwner, 512)};
  armci_giov_t iov = {from, to, 8, 2};
  if (job.first()) ARMCI_PutV(&iov, 1, kOwner);
  if (job.second()) put(job, racy ? 512 : 256);
}
void an_empty_transfer(Job& job, bool racy) {
  if (job.first()) put(job, 0);
  if (job.second()) put(job, 0, racy ? 1 : 0);
}
void long_sizes(Job& job, bool racy) {
  if (job.first()) ARMCIX_Put(job.buffer, job.at(kOwner), 2048, kOwner);
  if (job.second()) ARMCIX_Get(job.at(kOwner, racy ? 2047 : 2048), job.buffer, 1024, kOwner);
}

// --- kinds

void two_reads(Job& job, bool racy) {
  if (job.first()) ARMCI_Get(job.at(kOwner), job.buffer, 64, kOwner);
  if (job.second() && racy) put(job, 32);
  if (job.second() && !racy) ARMCI_Get(job.at(kOwner), job.buffer, 64, kOwner);
}
void accumulates_of_one_type(Job& job, bool racy) {
  if (job.first()) accumulate<double>(job, ARMCI_ACC_DBL);
  if (job.second() && !racy) accumulate<double>(job, ARMCI_ACC_DBL);
  if (job.second() && racy) accumulate<long>(job, ARMCI_ACC_LNG);
}
void accumulate_and_accumulate(Job& job, bool racy) {
  if (job.first()) accumulate<int>(job, ARMCI_ACC_INT);
  if (job.second() && !racy) accumulate<int>(job, ARMCI_ACC_INT, 4, 4);
  if (job.second() && racy) put(job, 4, 4);
}
void accumulate_and_get(Job& job, bool racy) {
  if (job.first()) accumulate<float>(job, ARMCI_ACC_FLT);
  if (racy && job.second()) ARMCI_Get(job.at(kOwner), job.buffer, 4, kOwner);
  ARMCI_Barrier();
  if (!racy && job.second()) ARMCI_Get(job.at(kOwner), job.buffer, 4, kOwner);
}
void atomics_of_one_width(Job& job, bool racy) {
  int before = 0;
  long before_long = 0;
  if (job.first()) ARMCI_Rmw(ARMCI_FETCH_AND_ADD, &before, job.at(kOwner), 1, kOwner);
  if (job.second() && !racy) ARMCI_Rmw(ARMCI_SWAP, &before, job.at(kOwner), 0, kOwner);
  if (job.second() && racy) ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &before_long, job.at(kOwner), 1, kOwner);
}
void atomic_and_put(Job& job, bool racy) {
  long before = 0;
  if (job.first()) ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &before, job.at(kOwner), 1, kOwner);
  if (job.second()) put(job, racy ? 0 : 8);
}
void atomic_and_accumulate(Job& job, bool racy) {
  long before = 0;
  if (job.first()) ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &before, job.at(kOwner), 1, kOwner);
  if (job.second() && racy) accumulate<long>(job, ARMCI_ACC_LNG);
  if (job.second() && !racy) ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &before, job.at(kOwner), 2, kOwner);
}
void flags_of_two_processes(Job& job, bool racy) {
  if (job.third()) return;
  const int mine = 64 * job.me;
  ARMCI_Put_flag(job.buffer, job.at(kOwner, racy ? 0 : mine), 8, job.word<int>(kOwner, 1024), 1, kOwner);
}
void signal_and_put(Job& job, bool racy) {
  if (job.first()) {
    ARMCIX_Put_signal(job.buffer, job.at(kOwner), 8, job.word<std::uint64_t>(kOwner, 1024), 1, ARMCIX_SIGNAL_ADD,
                      kOwner);
  }
  if (job.second()) put(job, racy ? 1024 : 1032);
}
void put_to_itself(Job& job, bool racy) {
  if (job.third()) put(job, 0);
  if (job.second() && racy) put(job, 4);
  if (job.second() && !racy) put(job, 64);
}
void freed_memory(Job& job, bool racy) {
  // The next region may lie where this one was.
  void* parts[kProcesses] = {};
  ARMCI_Malloc(parts, 256);
  if (job.first()) ARMCI_Put(job.buffer, parts[kOwner], 8, kOwner);
  if (racy && job.second()) ARMCI_Put(job.buffer, parts[kOwner], 8, kOwner);
  ARMCI_Free(parts[job.me]);
  ARMCI_Malloc(parts, 256);
  if (job.second()) ARMCI_Put(job.buffer, parts[kOwner], 8, kOwner);
  ARMCI_Free(parts[job.me]);
}

}  // namespace

void add_placed(std::vector<Pair>* pairs) {
  const Pair all[] = {
      {"neighbouring bytes", neighbouring_bytes},
      {"the same offset of two owners", the_same_offset_of_two_owners},
      {"the same offset of two regions", the_same_offset_of_two_regions},
      {"columns of a matrix", columns_of_a_matrix},
      {"column and row", column_and_row},
      {"column and one element", column_and_one_element},
      {"rows with different strides", rows_with_different_strides},
      {"planes of a cube", planes_of_a_cube},
      {"segments of a vector", segments_of_a_vector},
      {"an empty transfer", an_empty_transfer},
      {"long sizes", long_sizes},
      {"two reads", two_reads},
      {"accumulates of one type", accumulates_of_one_type},
      {"accumulate and accumulate", accumulate_and_accumulate},
      {"accumulate and get after a barrier", accumulate_and_get},
      {"atomics of one width", atomics_of_one_width},
      {"atomic and put beside it", atomic_and_put},
      {"atomic and atomic", atomic_and_accumulate},
      {"flags of two processes", flags_of_two_processes},
      {"signal and put beside it", signal_and_put},
      {"put to itself", put_to_itself},
      {"freed memory", freed_memory},
  };
  pairs->insert(pairs->end(), std::begin(all), std::end(all));
}

}  // namespace armci_race
