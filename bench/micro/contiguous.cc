// How near do large puts and gets come to the best copy of the same bytes?
//
// Cases: put and get, of 4 KiB to 64 MiB, at relative alignments of local and remote address (given as offsets from a
// page boundary, "16/48"), to and from rank 1, which sleeps. The baseline is the fastest of all copy routines of the
// processor, found anew for every size and alignment.
#include <cstring>

#include "armci.h"
#include "bench/baseline/copies.h"
#include "bench/common/report.h"
#include "bench/session/session.h"

namespace armci::bench {
namespace {

constexpr int kTarget = 1;
constexpr size_t kPage = 4096;
constexpr size_t kLargest = size_t{64} << 20;

struct Alignment {
  size_t local;
  size_t remote;
};

constexpr Alignment kAlignments[] = {{0, 0}, {8, 0}, {1, 0}, {0, 8}, {0, 1}, {16, 48}, {33, 7}, {63, 63}};
constexpr size_t kQuickAlignments = 3;
constexpr size_t kSizes[] = {4096, 16384, 65536, 262144, size_t{1} << 20, size_t{4} << 20, size_t{16} << 20, kLargest};
constexpr size_t kQuickSizes[] = {4096, 65536, size_t{1} << 20, size_t{16} << 20};

char* NextPage(char* base) { return base + (-reinterpret_cast<uintptr_t>(base) & (kPage - 1)); }

std::vector<Action> AgainstBestCopy(const char* name, char* dst, char* src, size_t bytes,
                                    int (*call)(void*, void*, int, int)) {
  const int length = static_cast<int>(bytes);
  std::vector<Action> actions = {Loop(name, Role::kSubject, [=] { call(src, dst, length, kTarget); })};
  for (const CopyRoutine& routine : CopyRoutines()) {
    actions.push_back(Loop(routine.name, Role::kBaseline, [=] { routine.copy(dst, src, bytes); }));
  }
  return actions;
}

Case Transfer(bool put, char* local, char* remote, size_t bytes, Alignment offset) {
  const std::string place = std::to_string(offset.local) + "/" + std::to_string(offset.remote);
  char* dst = put ? remote : local;
  char* src = put ? local : remote;
  const auto actions = [=] {
    return AgainstBestCopy(put ? "ARMCI_Put" : "ARMCI_Get", dst, src, bytes, put ? ARMCI_Put : ARMCI_Get);
  };
  const auto verify = [=]() -> std::string {
    std::memset(dst, 0, bytes);
    const int status = (put ? ARMCI_Put : ARMCI_Get)(src, dst, static_cast<int>(bytes), kTarget);
    return status == 0 && std::memcmp(src, dst, bytes) == 0 ? "" : "the copy differs";
  };
  return {{(put ? "put " : "get ") + place, FormatBytes(bytes), "contiguous", static_cast<double>(bytes)},
          Crew::kAlone,
          actions,
          verify};
}

std::vector<Case> Cases(bool quick, char* local, char* remote) {
  std::vector<size_t> sizes(std::begin(kSizes), std::end(kSizes));
  std::vector<Alignment> alignments(std::begin(kAlignments), std::end(kAlignments));
  if (quick) {
    sizes.assign(std::begin(kQuickSizes), std::end(kQuickSizes));
    alignments.resize(kQuickAlignments);
  }
  std::vector<Case> cases;
  for (bool put : {true, false}) {
    for (size_t bytes : sizes) {
      for (Alignment offset : alignments) {
        cases.push_back(Transfer(put, local + offset.local, remote + offset.remote, bytes, offset));
      }
    }
  }
  return cases;
}

}  // namespace
}  // namespace armci::bench

int main(int argc, char** argv) {
  using namespace armci::bench;
  Session session(argc, argv, {"contiguous", "bandwidth of contiguous put and get against the best copy", 2});
  {
    const size_t bytes = kLargest + 2 * kPage;
    Region region(session, bytes);
    LocalBuffer local(bytes);
    // Non-zero everywhere, since verification starts from zeros.
    for (size_t i = 0; i < bytes; ++i) local.data()[i] = static_cast<char>(i % 251 + 1);
    std::memset(region.on(session.rank()), 'r', bytes);
    session.Run(Cases(session.options().quick, local.data(), NextPage(region.on(kTarget))));
  }
  return session.Finish();
}
