#include "impl/ucx/allgather.h"

#include <climits>
#include <cstddef>
#include <cstdint>

namespace armci::ucx {

Status allgather_strings(MPI_Comm comm, const std::string& mine, std::vector<std::string>* all) {
  int size = 0;
  ARMCI_MPI(MPI_Comm_size(comm, &size));
  const int length = static_cast<int>(mine.size());
  std::vector<int> lengths(static_cast<std::size_t>(size));
  ARMCI_MPI(MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, comm));
  std::vector<int> places;
  std::int64_t end = 0;
  for (const int one : lengths) {
    places.push_back(static_cast<int>(end));
    end += one;
    if (end > INT_MAX) {
      return fail(Code::kLayerBelow, nullptr,
                  "%d processes have more than 2 GiB of addresses or keys; start fewer processes", size);
    }
  }
  std::string joined(static_cast<std::size_t>(end), '\0');
  ARMCI_MPI(
      MPI_Allgatherv(mine.data(), length, MPI_BYTE, joined.data(), lengths.data(), places.data(), MPI_BYTE, comm));
  all->clear();
  for (std::size_t r = 0; r < lengths.size(); ++r) {
    all->push_back(joined.substr(static_cast<std::size_t>(places[r]), static_cast<std::size_t>(lengths[r])));
  }
  return kSuccess;
}

}  // namespace armci::ucx
