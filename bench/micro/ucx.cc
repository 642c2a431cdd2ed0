// What does ARMCI cost against raw UCX, with the same completion?
//
// Rank 1 hosts the memory; on a node of its own, ARMCI goes by the network. While ARMCI is measured it sleeps; while
// UCX is, it advances its worker, as the targets of UCX's own tests do.
//   put + fence, get     8 B, 8 KiB, against ucp_put_nbx with a flush of its endpoint, and ucp_get_nbx
//   puts + fence, gets   64 KiB to 1 MiB, a window of non-blocking ones and their end, against a window of as many
//   fetch-and-add        against ucp_atomic_op_nbx
#include <algorithm>

#include "armci.h"
#include "bench/baseline/ucx_peer.h"
#include "bench/common/report.h"
#include "bench/session/session.h"
#include "bench/session/window.h"

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

Case Against(const CaseLabel& label, const Window& window, const Sides& at) {
  const bool puts = window.is_put;
  const Ucp kind = puts ? Ucp::kPut : Ucp::kGet;
  const auto actions = [=, raw = at.raw]() -> std::vector<Action> {
    const auto fence = [] { ARMCI_Fence(kTarget); };
    return {
        Awake(Loop(puts ? "ARMCI puts, ARMCI_Fence" : "ARMCI gets", Role::kSubject, [=] { Transfer(window); }), fence),
        {puts ? "ucp_put_nbx, flush" : "ucp_get_nbx", Role::kBaseline, [=](long iterations) {
           return raw->Transfers(kind, static_cast<size_t>(window.bytes), window.count, iterations);
         }}};
  };
  return {label, Crew::kAlone, actions, [=] { return Verify(window); }, kSample, [raw = at.raw] { raw->Look(); }};
}

std::vector<Case> Singles(const Sides& at) {
  std::vector<Case> cases;
  for (int bytes : {kWord, 8 << 10}) {
    const std::string size = FormatBytes(static_cast<size_t>(bytes));
    cases.push_back(Against({"put + fence", size, "ucx_put_get"}, {true, at.local, at.remote, bytes, 1, kTarget}, at));
    cases.push_back(Against({"get", size, "ucx_put_get"}, {false, at.local, at.remote, bytes, 1, kTarget}, at));
  }
  return cases;
}

std::vector<Case> Streams(bool quick, const Sides& at) {
  std::vector<Case> cases;
  for (bool is_put : {true, false}) {
    for (int bytes = 64 << 10; bytes <= 1 << 20; bytes *= quick ? 16 : 4) {
      const int count = std::min(kWindowMost, kWindowBytesMost / bytes);
      const Window window = {is_put, at.local, at.remote, bytes, count, kTarget};
      cases.push_back(Against({is_put ? "puts + fence" : "gets", FormatBytes(static_cast<size_t>(bytes)), "ucx_stream",
                               static_cast<double>(window.total())},
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
    return {Awake(Loop("ARMCI_Rmw", Role::kSubject, add), add),
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
