// How do the time and the rate of transfers grow with their length?
//
// The memory of the last rank is the target; while ARMCI is measured it sleeps.
//   put, put + fence, get, acc,        8 B to 64 MiB; put + fence and get against a round trip of messages that carries
//   nb put + wait, nb put + fence,     as much, and on one node beside memcpy of as much
//   nb get + wait
//   put rate                           64 non-blocking puts of 8 B and their fence, against as many messages
#include <algorithm>
#include <cstring>

#include "armci.h"
#include "bench/baseline/message_peer.h"
#include "bench/common/report.h"
#include "bench/common/transfer_cases.h"
#include "bench/session/session.h"

namespace armci::bench {
namespace {

struct Sides {
  char* local;
  char* remote;
  int target;
  bool is_near;  // on one node
  const MessagePeer* peer;
};

struct Operation {
  const char* name;
  void (*perform)(const Sides& at, int bytes);
  enum { kNone, kOut, kBack } messages;
  std::string (*verify)(const Mirror& mirror, const std::function<void()>& transfer);
};

void NbPut(const Sides& at, int bytes) {
  armci_hdl_t handle;
  ARMCI_INIT_HANDLE(&handle);
  ARMCI_NbPut(at.local, at.remote, bytes, at.target, &handle);
  ARMCI_Wait(&handle);
}

constexpr Operation kOperations[] = {
    {"put", [](const Sides& at, int bytes) { ARMCI_Put(at.local, at.remote, bytes, at.target); }, Operation::kNone,
     VerifyPut},
    {"put + fence",
     [](const Sides& at, int bytes) {
       ARMCI_Put(at.local, at.remote, bytes, at.target);
       ARMCI_Fence(at.target);
     },
     Operation::kOut, VerifyPut},
    {"get", [](const Sides& at, int bytes) { ARMCI_Get(at.remote, at.local, bytes, at.target); }, Operation::kBack,
     VerifyGet},
    {"acc",
     [](const Sides& at, int bytes) {
       double one = 1;
       ARMCI_Acc(ARMCI_ACC_DBL, &one, at.local, at.remote, bytes, at.target);
     },
     Operation::kNone, VerifyAccumulate},
    {"nb put + wait", NbPut, Operation::kNone, VerifyPut},
    {"nb put + fence",
     [](const Sides& at, int bytes) {
       NbPut(at, bytes);
       ARMCI_Fence(at.target);
     },
     Operation::kNone, VerifyPut},
    {"nb get + wait",
     [](const Sides& at, int bytes) {
       armci_hdl_t handle;
       ARMCI_INIT_HANDLE(&handle);
       ARMCI_NbGet(at.remote, at.local, bytes, at.target, &handle);
       ARMCI_Wait(&handle);
     },
     Operation::kNone, VerifyGet},
};

Case Transfer(const Operation& operation, const Sides& at, int bytes) {
  const auto actions = [=, &operation] {
    std::vector<Action> all = {Loop("ARMCI", Role::kSubject, [=, &operation] { operation.perform(at, bytes); })};
    if (operation.messages == Operation::kNone) return all;
    const bool is_out = operation.messages == Operation::kOut;
    all.push_back({"MPI_Send, MPI_Recv", Role::kBaseline, [=](long iterations) {
                     return at.peer->RoundTrips(is_out ? bytes : 0, is_out ? 0 : bytes, iterations);
                   }});
    if (at.is_near) {
      char* const to = is_out ? at.remote : at.local;
      const char* const from = is_out ? at.local : at.remote;
      all.push_back(Loop("memcpy", Role::kContext, [=] { std::memcpy(to, from, static_cast<size_t>(bytes)); }));
    }
    return all;
  };
  const auto verify = [=, &operation] {
    return operation.verify(MirrorOf(at.local, at.remote, static_cast<size_t>(bytes), at.target),
                            [&] { operation.perform(at, bytes); });
  };
  return {{operation.name, FormatBytes(static_cast<size_t>(bytes)), ""},
          Crew::kAlone,
          actions,
          verify,
          0.5e-3,
          [peer = at.peer] { peer->Look(); }};
}

Case PutRate(const Sides& at) {
  const auto window = [=] {
    for (size_t k = 0; k < kRatePuts; ++k) {
      ARMCI_NbPut(at.local + k * kRateBytes, at.remote + k * kRateBytes, kRateBytes, at.target, nullptr);
    }
    ARMCI_WaitAll();
    ARMCI_Fence(at.target);
  };
  const auto actions = [=]() -> std::vector<Action> {
    return {Loop("ARMCI", Role::kSubject, window), {"MPI_Isend, MPI_Irecv", Role::kBaseline, [=](long iterations) {
                                                      return at.peer->Windows(true, kRateBytes, kRatePuts, iterations);
                                                    }}};
  };
  const auto verify = [=] {
    return VerifyPut(MirrorOf(at.local, at.remote, kRatePuts * kRateBytes, at.target), window);
  };
  return {RateLabel(), Crew::kAlone, actions, verify, 0.5e-3, [peer = at.peer] { peer->Look(); }};
}

std::vector<Case> Cases(bool quick, const Sides& at) {
  std::vector<Case> cases;
  for (const Operation& operation : kOperations) {
    for (size_t bytes : TransferLengths(quick)) {
      cases.push_back(Transfer(operation, at, static_cast<int>(bytes)));
    }
  }
  cases.push_back(PutRate(at));
  return cases;
}

}  // namespace
}  // namespace armci::bench

int main(int argc, char** argv) {
  using namespace armci::bench;
  Session session(argc, argv, {"transfers", "time of contiguous transfers by their length", 2, /*between_nodes=*/true});
  {
    const int target = session.size() - 1;
    Region region(session, kLongestTransfer);
    LocalBuffer local(kLongestTransfer);
    MessagePeer peer(MPI_COMM_WORLD, target, kLongestTransfer);
    // Zeros, so that accumulates stay numbers.
    std::fill_n(local.data(), kLongestTransfer, char{0});
    std::fill_n(region.on(session.rank()), kLongestTransfer, char{0});
    const bool is_near = armci_domain_same_id(ARMCI_DOMAIN_SMP, target) != 0;
    session.Run(Cases(session.options().quick, {local.data(), region.on(target), target, is_near, &peer}));
  }
  return session.Finish();
}
