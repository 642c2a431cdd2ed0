// What does it matter where a local buffer comes from?
//
// put + fence and get of 1 KiB to 4 MiB between the last rank, which sleeps, and
//   ARMCI_Malloc        our part of the region
//   ARMCI_Malloc_local  memory that the library may have made known to the network
//   MPI_Alloc_mem       memory of another library
//   malloc              the same all the time, so that the library may remember it
//   fresh               memory that is mapped anew for each transfer and given back after it; mapping is not in the
//   time
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "armci.h"
#include "bench/common/report.h"
#include "bench/session/session.h"

namespace armci::bench {
namespace {

constexpr int kLargest = 4 << 20;

struct Transfer {
  char* remote;
  int bytes;
  int target;
  bool is_put;

  void operator()(char* local) const {
    if (is_put) {
      ARMCI_Put(local, remote, bytes, target);
      ARMCI_Fence(target);
    } else {
      ARMCI_Get(remote, local, bytes, target);
    }
  }
};

// Its pages exist when it is transferred.
class Fresh {
 public:
  Fresh() { Map(); }
  ~Fresh() { munmap(data_, kLargest); }
  Fresh(const Fresh&) = delete;
  Fresh& operator=(const Fresh&) = delete;

  char* data() const { return data_; }
  void Renew() {
    munmap(data_, kLargest);
    Map();
  }

 private:
  void Map() {
    void* const mapped = mmap(nullptr, kLargest, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    Require(mapped != MAP_FAILED, "mmap");
    data_ = static_cast<char*>(mapped);
    std::memset(data_, 0, kLargest);
  }

  char* data_ = nullptr;
};

Case Of(const char* source, const Transfer& transfer, const std::function<Action()>& subject) {
  CaseLabel label = {std::string(transfer.is_put ? "put + fence, " : "get, ") + source,
                     FormatBytes(static_cast<size_t>(transfer.bytes)), ""};
  label.bytes = transfer.bytes;
  return {label, Crew::kAlone, [=]() -> std::vector<Action> { return {subject()}; }};
}

struct Sources {
  char* region;
  char* registered;
  char* of_mpi;
  char* allocated;
};

std::vector<Case> OfTransfer(const Transfer& transfer, const Sources& sources) {
  const std::pair<const char*, char*> kept[] = {{"ARMCI_Malloc", sources.region},
                                                {"ARMCI_Malloc_local", sources.registered},
                                                {"MPI_Alloc_mem", sources.of_mpi},
                                                {"malloc", sources.allocated}};
  std::vector<Case> cases;
  for (const auto& [name, local] : kept) {
    cases.push_back(Of(name, transfer,
                       [transfer, local = local] { return Loop("ARMCI", Role::kSubject, [=] { transfer(local); }); }));
  }
  cases.push_back(Of("fresh", transfer, [transfer] {
    const auto fresh = std::make_shared<Fresh>();
    return LoopWithBreaks(
        "ARMCI", Role::kSubject, 1, [=] { transfer(fresh->data()); }, [=] { fresh->Renew(); });
  }));
  return cases;
}

}  // namespace
}  // namespace armci::bench

int main(int argc, char** argv) {
  using namespace armci::bench;
  Session session(argc, argv, {"buffers", "transfers by where the local buffer comes from", 2, /*between_nodes=*/true});
  {
    const int target = session.size() - 1;
    Region region(session, 2 * kLargest);
    RegisteredBuffer registered(kLargest);
    LocalBuffer allocated(kLargest);
    void* of_mpi = nullptr;
    MPI_Alloc_mem(kLargest, MPI_INFO_NULL, &of_mpi);
    const Sources sources = {region.on(session.rank()) + kLargest, registered.data(), static_cast<char*>(of_mpi),
                             allocated.data()};
    for (char* buffer : {sources.region, sources.registered, sources.of_mpi, sources.allocated}) {
      std::memset(buffer, 0, kLargest);
    }
    std::vector<Case> cases;
    for (int bytes = 1024; bytes <= kLargest; bytes *= session.options().quick ? 16 : 4) {
      for (bool is_put : {true, false}) {
        for (Case& one : OfTransfer({region.on(target), bytes, target, is_put}, sources))
          cases.push_back(std::move(one));
      }
    }
    session.Run(cases);
    MPI_Free_mem(of_mpi);
  }
  return session.Finish();
}
