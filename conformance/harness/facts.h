// Facts that tests attach to their results (Report); the ranks' texts come together at rank 0.
#ifndef CONFORMANCE_HARNESS_FACTS_H_
#define CONFORMANCE_HARNESS_FACTS_H_

#include <mpi.h>

#include <string>
#include <utility>
#include <vector>

namespace conformance {

// Key and value, in the order of their first mention.
using Facts = std::vector<std::pair<std::string, std::string>>;

// Keys with this prefix count something: their values are whole numbers and add up, on a rank and over all ranks.
inline constexpr char kCountPrefix[] = "outcome.";

// Adds to a count, or replaces the value that the key had.
void AddFact(Facts* facts, const std::string& key, const std::string& value);
// Collective. On rank 0: the sums over all ranks of the counts, and its own other facts. Elsewhere empty.
Facts GatherFacts(const Facts& mine, MPI_Comm comm);
// Collective. On rank 0: the text of each rank. Elsewhere empty.
std::vector<std::string> GatherTexts(const std::string& mine, MPI_Comm comm);

}  // namespace conformance

#endif  // CONFORMANCE_HARNESS_FACTS_H_
