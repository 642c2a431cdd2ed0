// Which rank plays which part of a litmus program.
#ifndef CONFORMANCE_LITMUS_PLACES_H_
#define CONFORMANCE_LITMUS_PLACES_H_

#include <string>
#include <vector>

#include "conformance/litmus/program.h"

namespace conformance::litmus {

// One way to place the targets, and how readers on their nodes look.
struct Place {
  std::vector<int> host;  // rank of each letter
  bool by_load = false;
  std::string text;  // "P0=2 P1=0 A=0, by load"
};

// The rank of each thread, at random, the same on all ranks.
std::vector<int> DrawThreads(int threads);
// Places that differ in the target of each rank: the rank itself, on the same node, on another one. At most `most`,
// drawn at random, reads by get and by load in turn; the same on all ranks (collective).
std::vector<Place> DrawPlaces(const Program& program, const std::vector<int>& threads, bool loads, std::size_t most);

}  // namespace conformance::litmus

#endif  // CONFORMANCE_LITMUS_PLACES_H_
