// Pairs of small programs for the detector of data races (ARMCI_CHECK=race): one with a race and one that differs from
// it by what orders the accesses, or by what they access. Three processes: 0 accesses first, 2 second, 1 has the memory
// or passes messages on.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "armci.h"
#include "armcix.h"
#include "message.h"

namespace armci_race {

inline constexpr int kProcesses = 3;
inline constexpr int kFirst = 0;
inline constexpr int kThird = 1;
inline constexpr int kSecond = 2;
inline constexpr int kRegionBytes = 4096;

// The memory and the place of a process in a program.
struct Job {
  int me = 0;
  void* base[kProcesses] = {};
  void* other_base[kProcesses] = {};
  armci_hdl_t handle{};
  alignas(8) char buffer[kRegionBytes] = {};

  char* at(int owner, int offset = 0) const { return static_cast<char*>(base[owner]) + offset; }
  char* other_at(int owner, int offset = 0) const { return static_cast<char*>(other_base[owner]) + offset; }
  template <class Value>
  Value* word(int owner, int offset) const {
    return reinterpret_cast<Value*>(at(owner, offset));
  }
  bool first() const { return me == kFirst; }
  bool second() const { return me == kSecond; }
  bool third() const { return me == kThird; }
};

struct Pair {
  std::string name;
  std::function<void(Job&, bool racy)> run;
};

// An access of 8 bytes, complete locally when it returns.
struct Access {
  const char* name;
  void (*run)(Job&, int owner, int offset);
};
extern const Access kPut, kPutStrided, kPutVector, kPutValue, kNbPut, kAcc, kAccStrided, kGet, kGetStrided, kGetVector,
    kGetValue, kNbGet, kRmw;

// The parts of the list.
void add_synchronised(std::vector<Pair>* pairs);  // between processes
void add_signalled(std::vector<Pair>* pairs);     // by flags, signals and atomics
void add_ordered(std::vector<Pair>* pairs);       // in one process: waits and fences, local buffers
void add_mixed(std::vector<Pair>* pairs);         // several things at once
void add_placed(std::vector<Pair>* pairs);        // which bytes, which kinds of accesses

}  // namespace armci_race
