#include "conformance/litmus/places.h"

#include <algorithm>
#include <set>

#include "conformance/harness/test.h"

namespace conformance::litmus {
namespace {

// Each node is named by its lowest rank; a number for each rank (collective).
std::vector<int> NodesOfRanks() {
  int lowest = 0;
  while (lowest < Me() && !SameNode(lowest)) ++lowest;
  return OneOfEachRank(lowest);
}

// For each thread and target: itself (s), its node (n), another node (f).
std::string RelationsOf(const std::vector<int>& threads, const std::vector<int>& host, const std::vector<int>& node) {
  std::string relations;
  for (int rank : threads) {
    for (int p : host) {
      const bool near = node[static_cast<std::size_t>(rank)] == node[static_cast<std::size_t>(p)];
      relations += rank == p ? 's' : near ? 'n' : 'f';
    }
  }
  return relations;
}

// Whether some thread reads from a target whose memory it can load.
bool SomeoneLoads(const Program& program, const std::string& relations) {
  for (std::size_t thread = 0; thread < program.threads.size(); ++thread) {
    for (const Step& step : program.threads[thread]) {
      if (step.act != Act::kRead) continue;
      const int letter = program.variables[static_cast<std::size_t>(step.variable)].letter;
      const std::size_t at = thread * static_cast<std::size_t>(program.letters) + static_cast<std::size_t>(letter);
      if (relations[at] != 'f') return true;
    }
  }
  return false;
}

std::string TextOf(const std::vector<int>& threads, const Place& place) {
  std::string text;
  for (std::size_t i = 0; i < threads.size(); ++i) {
    text += "P" + std::to_string(i) + "=" + std::to_string(threads[i]) + " ";
  }
  for (std::size_t i = 0; i < place.host.size(); ++i) {
    text += std::string(1, static_cast<char>('A' + i)) + "=" + std::to_string(place.host[i]) + " ";
  }
  return text + (place.by_load ? "by load" : "by get");
}

}  // namespace

std::vector<int> DrawThreads(int threads) {
  std::vector<int> ranks = AllRanks();
  SharedRng().Shuffle(&ranks);
  ranks.resize(static_cast<std::size_t>(threads));
  return ranks;
}

std::vector<Place> DrawPlaces(const Program& program, const std::vector<int>& threads, bool loads, std::size_t most) {
  // Enough draws to meet the relations of a few ranks; there are too many of many ranks anyway.
  constexpr int kDraws = 60;
  const std::vector<int> node = NodesOfRanks();
  std::set<std::string> known;
  std::vector<Place> by_get;
  std::vector<Place> by_load;
  for (int draw = 0; draw < kDraws; ++draw) {
    Place place{program.letters_are_threads ? threads : DrawThreads(program.letters), false, ""};
    place.host.resize(static_cast<std::size_t>(program.letters));
    const std::string relations = RelationsOf(threads, place.host, node);
    if (!known.insert(relations).second) continue;
    place.text = TextOf(threads, place);
    by_get.push_back(place);
    if (!loads || !SomeoneLoads(program, relations)) continue;
    place.by_load = true;
    place.text = TextOf(threads, place);
    by_load.push_back(place);
  }
  SharedRng().Shuffle(&by_load);
  std::vector<Place> places;
  for (std::size_t i = 0; places.size() < most && (i < by_get.size() || i < by_load.size()); ++i) {
    if (i < by_get.size()) places.push_back(by_get[i]);
    if (i < by_load.size() && places.size() < most) places.push_back(by_load[i]);
  }
  return places;
}

}  // namespace conformance::litmus
