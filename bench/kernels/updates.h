// Random updates of a table that is distributed by equal parts, as in the RandomAccess benchmark.
//
// Thread safety: values and pure functions.
// Invariants: every process can make the updates of every other, so that each can check its part of the table alone.
#ifndef ARMCI_BENCH_KERNELS_UPDATES_H_
#define ARMCI_BENCH_KERNELS_UPDATES_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "bench/kernels/draw.h"

namespace armci::bench {

struct Update {
  int owner;
  int value;
  long offset;  // in the owner's part
};

struct Table {
  long entries;  // of one process
  int processes;
};

// The first `count` updates of `process`; values between -2^30 and 2^30, so that sums of 2^33 of them are exact.
inline std::vector<Update> MakeUpdates(const Table& table, int process, long count) {
  Draw draw(static_cast<uint64_t>(process) + 1);
  std::vector<Update> updates(static_cast<size_t>(count));
  for (Update& update : updates) {
    update.owner = static_cast<int>(draw.Below(static_cast<uint64_t>(table.processes)));
    update.offset = static_cast<long>(draw.Below(static_cast<uint64_t>(table.entries)));
    update.value = static_cast<int>(draw.Below(uint64_t{1} << 31)) - (1 << 30);
  }
  return updates;
}

// The value of an entry before the first update.
inline long StartOf(const Table& table, int process, long offset) { return process * table.entries + offset; }

// The part of `process` after the first `count` updates of all.
inline std::vector<long> PartAfter(const Table& table, int process, long count) {
  std::vector<long> part(static_cast<size_t>(table.entries));
  for (size_t i = 0; i < part.size(); ++i) part[i] = StartOf(table, process, static_cast<long>(i));
  for (int other = 0; other < table.processes; ++other) {
    for (const Update& update : MakeUpdates(table, other, count)) {
      if (update.owner == process) part[static_cast<size_t>(update.offset)] += update.value;
    }
  }
  return part;
}

// Some updates in the order of their owners: those of `owner` are begin[owner]..begin[owner+1]-1.
class ByOwner {
 public:
  ByOwner(int processes, long most) : begin_(static_cast<size_t>(processes) + 1), sorted_(static_cast<size_t>(most)) {}

  // At most as many as were said.
  void Sort(const Update* first, const Update* end) {
    std::fill(begin_.begin(), begin_.end(), 0);
    for (const Update* update = first; update != end; ++update) ++begin_[static_cast<size_t>(update->owner) + 1];
    for (size_t owner = 1; owner < begin_.size(); ++owner) begin_[owner] += begin_[owner - 1];
    next_ = begin_;
    for (const Update* update = first; update != end; ++update) {
      sorted_[static_cast<size_t>(next_[static_cast<size_t>(update->owner)]++)] = *update;
    }
  }

  long begin(int owner) const { return begin_[static_cast<size_t>(owner)]; }
  long end(int owner) const { return begin_[static_cast<size_t>(owner) + 1]; }
  const Update& operator[](long i) const { return sorted_[static_cast<size_t>(i)]; }

 private:
  std::vector<long> begin_;
  std::vector<long> next_;
  std::vector<Update> sorted_;
};

}  // namespace armci::bench

#endif  // ARMCI_BENCH_KERNELS_UPDATES_H_
