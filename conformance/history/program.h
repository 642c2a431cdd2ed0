// A random program as data: what every rank does, on which cells, and which steps belong together.
//
// All ranks hold the same program. Its steps form one list; a rank carries out its own steps in the order of the list.
// An event that a step waits for (a notification, a message) stands earlier in the list, and nothing waits for another
// rank between lock and unlock, so that no choice of steps can deadlock as long as the steps of a unit stay together.
// That is what lets a failing program be shrunk by leaving units out.
//
// Every store is recognised by the value it leaves (see values below), so a read tells which stores it saw. A *cell* is
// one element of 8 bytes at the same offset in every rank's part; a *location* is a cell at one rank, its host.
#ifndef CONFORMANCE_HISTORY_PROGRAM_H_
#define CONFORMANCE_HISTORY_PROGRAM_H_

#include <cstddef>
#include <string>
#include <vector>

#include "conformance/harness/plan.h"

namespace conformance::history {

// The operations on a cell. Stores of different classes (put, accumulate, RMW) are not atomic against each other, so
// they meet on one cell only where the program orders them.
enum class Role {
  kData,         // puts and gets of any rank
  kSum,          // accumulates and gets of any rank
  kMixed,        // every kind of store, by one rank; gets of any rank
  kGuarded,      // every kind of store and get, by the holder of a mutex
  kCounterLong,  // RMW of any rank, 8 bytes
  kCounterInt,   // RMW of any rank, 4 bytes
};

struct Cell {
  Role role;
  int offset;  // bytes from the start of each rank's part, a multiple of 8

  bool operator==(const Cell&) const = default;
};

enum class Kind {
  kPut,
  kGet,
  kLoad,  // by an ordinary instruction
  kAccumulate,
  kFetchAndAdd,
  kSwap,
  kWait,
  kFence,
  kAllFence,
  kLock,
  kUnlock,
  kNotify,
  kAwait,  // of a notification
  kSend,
  kReceive,
  kBarrier,     // ARMCI_Barrier
  kMpiBarrier,  // MPI_Barrier, which fences nothing
  kPause,
};

inline constexpr int kEveryone = -1;
// Handles of a rank: 0 and 1 are plain, 2 and 3 aggregate; 4 stands for the implicit operations.
inline constexpr int kHandles = 4;
inline constexpr int kImplicitHandle = kHandles;
inline constexpr int kMutexes = 2;

struct Step {
  Kind kind = Kind::kPause;
  int rank = 0;    // the rank that does it, kEveryone for barriers
  int target = 0;  // host of the cells; other side of a notification or message
  Shape shape = Shape::kContiguous;
  Mode mode = Mode::kBlocking;
  int handle = 0;            // of a non-blocking operation, or of a wait
  int row_cells = 1;         // cells in each row of a strided shape
  std::vector<int> cells;    // in the order of the call's segments
  std::vector<long> values;  // for each cell: what is put, swapped in, or added
  int scale = 1;             // of an accumulate: the source holds values / scale
  int number = 0;            // of the mutex; length of a pause
  int unit = 0;              // steps of one unit make sense only together

  bool operator==(const Step&) const = default;
};

struct Program {
  int ranks = 1;
  std::vector<Cell> cells;
  std::vector<Step> steps;

  int Location(int host, int cell) const { return host * static_cast<int>(cells.size()) + cell; }
  int locations() const { return ranks * static_cast<int>(cells.size()); }
  int MutexHost(int mutex) const { return mutex % ranks; }
  bool operator==(const Program&) const = default;
};

bool Reads(Kind kind);
bool Stores(Kind kind);
inline bool IsRmw(Kind kind) { return kind == Kind::kFetchAndAdd || kind == Kind::kSwap; }
inline bool IsCounter(Role role) { return role == Role::kCounterLong || role == Role::kCounterInt; }
// Has an address at the target.
inline bool Accesses(Kind kind) { return Reads(kind) || Stores(kind); }
// Replaces the cell's value whole, where other stores add to it.
inline bool Replaces(Kind kind) { return kind == Kind::kPut || kind == Kind::kSwap; }

// For each step the one that completes it locally: itself if it is blocking, the wait on its handle otherwise; the
// number of steps when only the end of the program does.
std::vector<int> CompletedBy(const Program& program);

// VALUES (of all roles but the counters). A value names the put or swap that wrote it by a number in both of its
// halves, so that a torn element shows; each accumulate or fetch-and-add to a cell adds a bit of its own.
//
//      63      48 47       32 31      16 15        0
//     |  number  | acc bits  |  number  | RMW bits  |
inline constexpr int kBitsPerCell = 16;  // for accumulates, and as many for RMW
inline constexpr int kNumberMax = 0x6FFF;
inline constexpr long kBits = 0x0000FFFF0000FFFF;
// The content of buffers before the program writes them.
inline constexpr char kPoison = 0x7B;

constexpr long ValueOf(int number) { return static_cast<long>(number) << 48 | static_cast<long>(number) << 16; }
// The number in a value, -1 when its halves name different ones.
constexpr int NumberOf(long value) {
  const int high = static_cast<int>(value >> 48 & 0xFFFF);
  return high == static_cast<int>(value >> 16 & 0xFFFF) ? high : -1;
}
// The initial value of a location.
inline long InitialValue(const Program& program, int location) {
  const Role role = program.cells[static_cast<std::size_t>(location) % program.cells.size()].role;
  return IsCounter(role) ? 0 : ValueOf(1 + location);
}

// SHAPES. The transfer of a step: remote offsets count from its first cell, local ones from the local buffer.
Plan PlanOf(const Program& program, const Step& step);
// Where each cell of the step lies in the local buffer, and how long the buffer is.
std::vector<int> LocalOffsets(const Program& program, const Step& step);
int LocalBytes(const Program& program, const Step& step);

// One line, for people.
std::string TextOf(const Program& program, std::size_t step);
std::string TextOf(const Program& program);

}  // namespace conformance::history

#endif  // CONFORMANCE_HISTORY_PROGRAM_H_
