// What does it matter where a local buffer comes from?
//
// put + fence and get of 1 KiB to 4 MiB between the last rank, which sleeps, and
//   ARMCI_Malloc        our part of the region
//   ARMCI_Malloc_local  memory that the library may have made known to the network
//   MPI_Alloc_mem       memory of another library
//   malloc              the same all the time, so that the library may remember it
//   fresh               memory that is mapped anew for each transfer and given back after it, outside of the time
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
constexpr double kFreshSample = 20e-6;  // short, as mapping takes far longer than what is timed

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
  explicit Fresh(size_t bytes) : bytes_(bytes) { Map(); }
  ~Fresh() { munmap(data_, bytes_); }
  Fresh(const Fresh&) = delete;
  Fresh& operator=(const Fresh&) = delete;

  char* data() const { return data_; }
  void Renew() {
    munmap(data_, bytes_);
    Map();
  }

 private:
  void Map() {
    void* const mapped = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    Require(mapped != MAP_FAILED, "mmap");
    data_ = static_cast<char*>(mapped);
    std::memset(data_, 0, bytes_);
  }

  size_t bytes_;
  char* data_ = nullptr;
};

std::string Verify(const Transfer& transfer, char* local) {
  const Mirror mirror = MirrorOf(local, transfer.remote, static_cast<size_t>(transfer.bytes), transfer.target);
  return (transfer.is_put ? VerifyPut : VerifyGet)(mirror, [&] { transfer(local); });
}

Case Of(const char* source, const Transfer& transfer, const std::function<Action()>& subject,
        const std::function<std::string()>& verify) {
  CaseLabel label = {std::string(transfer.is_put ? "put + fence, " : "get, ") + source,
                     FormatBytes(static_cast<size_t>(transfer.bytes)), ""};
  label.bytes = transfer.bytes;
  return {label, Crew::kAlone, [=]() -> std::vector<Action> { return {subject()}; }, verify};
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
    const auto body = [transfer, local = local] { transfer(local); };
    cases.push_back(Of(
        name, transfer, [body] { return Loop("ARMCI", Role::kSubject, body); },
        [transfer, local = local] { return Verify(transfer, local); }));
  }
  const auto bytes = static_cast<size_t>(transfer.bytes);
  const auto renewed = [transfer, bytes] {
    const auto fresh = std::make_shared<Fresh>(bytes);
    return LoopWithBreaks(
        "ARMCI", Role::kSubject, 1, [=] { transfer(fresh->data()); }, [=] { fresh->Renew(); });
  };
  cases.push_back(Of("fresh", transfer, renewed, [=] { return Verify(transfer, Fresh(bytes).data()); }));
  cases.back().sample_s = kFreshSample;
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
