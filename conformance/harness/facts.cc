#include "conformance/harness/facts.h"

#include <algorithm>
#include <cstdlib>

namespace conformance {
namespace {

bool IsCount(const std::string& key) { return key.rfind(kCountPrefix, 0) == 0; }

}  // namespace

void AddFact(Facts* facts, const std::string& key, const std::string& value) {
  auto known = std::find_if(facts->begin(), facts->end(), [&](const auto& fact) { return fact.first == key; });
  if (known == facts->end()) {
    facts->emplace_back(key, value);
  } else if (IsCount(key)) {
    known->second = std::to_string(std::atoll(known->second.c_str()) + std::atoll(value.c_str()));
  } else {
    known->second = value;
  }
}

Facts GatherFacts(const Facts& mine, MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  // Texts hold no zero byte: Report cuts there.
  std::string text;
  for (const auto& [key, value] : mine) {
    if (rank == 0 || IsCount(key)) text += key + '\0' + value + '\0';
  }
  Facts all;
  for (const std::string& of_rank : GatherTexts(text, comm)) {
    for (const char* at = of_rank.data(); at < of_rank.data() + of_rank.size();) {
      const std::string key(at);
      at += key.size() + 1;
      const std::string value(at);
      at += value.size() + 1;
      AddFact(&all, key, value);
    }
  }
  return all;
}

std::vector<std::string> GatherTexts(const std::string& mine, MPI_Comm comm) {
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int length = static_cast<int>(mine.size());
  std::vector<int> lengths(static_cast<std::size_t>(size), 0);
  MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, comm);
  std::vector<int> offsets(lengths.size() + 1, 0);
  for (std::size_t i = 0; i < lengths.size(); ++i) offsets[i + 1] = offsets[i] + lengths[i];
  std::string all(static_cast<std::size_t>(offsets.back()), ' ');
  MPI_Gatherv(mine.data(), length, MPI_CHAR, all.data(), lengths.data(), offsets.data(), MPI_CHAR, 0, comm);
  std::vector<std::string> texts;
  if (rank != 0) return texts;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    texts.push_back(all.substr(static_cast<std::size_t>(offsets[i]), static_cast<std::size_t>(lengths[i])));
  }
  return texts;
}

}  // namespace conformance
