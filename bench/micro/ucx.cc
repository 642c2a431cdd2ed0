// What does ARMCI cost against raw UCX, with the same completion?
//
// Rank 1 hosts the memory; on a node of its own, ARMCI goes by the network. While ARMCI is measured it sleeps; while
// UCX is, it advances its worker, as the targets of UCX's own tests do.
//   put + fence, get     8 B, 8 KiB, against ucp_put_nbx with a flush of its endpoint, and ucp_get_nbx
//   puts + fence, gets   64 KiB to 1 MiB, a window of non-blocking ones and their end, against a window of as many
//   fetch-and-add        against ucp_atomic_op_nbx
#include <algorithm>
#include <functional>

#include "armci.h"
#include "bench/baseline/ucx_peer.h"
#include "bench/common/report.h"
#include "bench/session/session.h"

namespace armci::bench {
namespace {

constexpr int kTarget = 1;
constexpr int kWord = 8;
constexpr int kWindowMost = 16;
constexpr int kWindowBytesMost = 4 << 20;
constexpr double kSample = 2e-3;

struct Sides {
  char* local;
  char* remote;
  const UcxPeer* raw;
};

// A window of transfers between local memory and that of rank 1. A window of one is blocking.
struct Window {
  Ucp kind;
  char* local;
  char* remote;
  int bytes;
  int count;

  int total() const { return bytes * count; }
};

void Begin(const Window& window, int k) {
  char* const here = window.local + k * window.bytes;
  char* const there = window.remote + k * window.bytes;
  if (window.kind == Ucp::kPut) {
    ARMCI_NbPut(here, there, window.bytes, kTarget, nullptr);
  } else {
    ARMCI_NbGet(there, here, window.bytes, kTarget, nullptr);
  }
}

void Operate(const Window& window) {
  if (window.count > 1) {
    for (int k = 0; k < window.count; ++k) Begin(window, k);
    ARMCI_WaitAll();
  } else if (window.kind == Ucp::kPut) {
    ARMCI_Put(window.local, window.remote, window.bytes, kTarget);
  } else {
    ARMCI_Get(window.remote, window.local, window.bytes, kTarget);
  }
  if (window.kind == Ucp::kPut) ARMCI_Fence(kTarget);
}

// By one operation, and a contiguous one the other way.
std::string Verify(const Window& window) {
  static int salt = 0;
  ++salt;
  const auto byte = [](int i) { return static_cast<char>((7 * i + salt) % 251); };
  for (int i = 0; i < window.total(); ++i) window.local[i] = byte(i);
  if (window.kind == Ucp::kPut) {
    Operate(window);
  } else {
    ARMCI_Put(window.local, window.remote, window.total(), kTarget);
    ARMCI_Fence(kTarget);
  }
  std::fill_n(window.local, window.total(), char{0});
  if (window.kind == Ucp::kGet) {
    Operate(window);
  } else {
    ARMCI_Get(window.remote, window.local, window.total(), kTarget);
  }
  for (int i = 0; i < window.total(); ++i) {
    if (window.local[i] != byte(i)) return "byte " + std::to_string(i) + " differs";
  }
  return "";
}

// Behind one call that is not in the time: the server, which has slept through the raw side's turn, wakes up, as the
// raw side's peer does before its time begins. How long that takes is another question (busy).
Action Awake(const Action& action) {
  return {action.name, action.role, [=](long iterations) {
            ARMCI_Fence(kTarget);
            return action.seconds_for(iterations);
          }};
}

Case Transfer(const CaseLabel& label, const Window& window, const Sides& at) {
  const bool puts = window.kind == Ucp::kPut;
  const auto actions = [=, raw = at.raw]() -> std::vector<Action> {
    return {Awake(Loop(puts ? "ARMCI puts, ARMCI_Fence" : "ARMCI gets", Role::kSubject, [=] { Operate(window); })),
            {puts ? "ucp_put_nbx, flush" : "ucp_get_nbx", Role::kBaseline, [=](long iterations) {
               return raw->Transfers(window.kind, static_cast<size_t>(window.bytes), window.count, iterations);
             }}};
  };
  return {label, Crew::kAlone, actions, [=] { return Verify(window); }, kSample, [raw = at.raw] { raw->Look(); }};
}

std::vector<Case> Singles(const Sides& at) {
  std::vector<Case> cases;
  for (int bytes : {kWord, 8 << 10}) {
    const std::string size = FormatBytes(static_cast<size_t>(bytes));
    cases.push_back(Transfer({"put + fence", size, "ucx_put_get"}, {Ucp::kPut, at.local, at.remote, bytes, 1}, at));
    cases.push_back(Transfer({"get", size, "ucx_put_get"}, {Ucp::kGet, at.local, at.remote, bytes, 1}, at));
  }
  return cases;
}

std::vector<Case> Streams(bool quick, const Sides& at) {
  std::vector<Case> cases;
  for (Ucp kind : {Ucp::kPut, Ucp::kGet}) {
    for (int bytes = 64 << 10; bytes <= 1 << 20; bytes *= quick ? 16 : 4) {
      const int count = std::min(kWindowMost, kWindowBytesMost / bytes);
      const Window window = {kind, at.local, at.remote, bytes, count};
      cases.push_back(Transfer({kind == Ucp::kPut ? "puts + fence" : "gets", FormatBytes(static_cast<size_t>(bytes)),
                                "ucx_stream", static_cast<double>(window.total())},
                               window, at));
    }
  }
  return cases;
}

Case Addition(const Sides& at) {
  const auto add = [remote = at.remote] {
    long before = 0;
    ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &before, remote, 1, kTarget);
  };
  const auto actions = [=, raw = at.raw]() -> std::vector<Action> {
    return {Awake(Loop("ARMCI_Rmw", Role::kSubject, add)),
            {"ucp_atomic_op_nbx", Role::kBaseline, [raw](long iterations) { return raw->Additions(iterations); }}};
  };
  return {{"fetch-and-add", FormatBytes(kWord), "ucx_atomic"}, Crew::kAlone, actions, {}, kSample, [raw = at.raw] {
            raw->Look();
          }};
}

std::vector<Case> Cases(bool quick, const Sides& at) {
  std::vector<Case> all = Singles(at);
  for (const Case& one : Streams(quick, at)) all.push_back(one);
  all.push_back(Addition(at));
  return all;
}

}  // namespace
}  // namespace armci::bench

int main(int argc, char** argv) {
  using namespace armci::bench;
  Session session(argc, argv, {"ucx", "transfers against raw UCX", 2, /*between_nodes=*/true});
  {
    Region region(session, kWindowBytesMost);
    const LocalBuffer local(kWindowBytesMost);
    std::fill_n(region.on(session.rank()), kWindowBytesMost, char{0});
    const UcxPeer raw(MPI_COMM_WORLD, kTarget, kWindowBytesMost);
    Require(raw.MovesData(), "moving data by raw UCX");
    session.Note("ucx", ucp_get_version_string());
    session.Run(Cases(session.options().quick, {local.data(), region.on(kTarget), &raw}));
  }
  return session.Finish();
}
