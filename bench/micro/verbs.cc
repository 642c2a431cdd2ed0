// What does ARMCI cost against raw RDMA, with the same completion?
//
// Rank 1, on another node, hosts the memory and sleeps; while raw messages are measured it polls for them.
//   put + fence, get         8 B, from and to registered memory (ARMCI_Malloc_local) and other memory, against one RDMA
//                            write or read and the poll of its completion
//   puts + fence, gets       64 KiB to 1 MiB, a window of non-blocking ones and their end, against a window of as many
//                            RDMA writes or reads. Memory that is not registered is the same in each window, so that
//                            registrations may be kept.
//   put + notify             8 B and a notification behind it, against an RDMA write of 8 B for which the other side
//                            polls: half of there and back. Both processes take part.
//   fetch-and-add, lock      against a round trip of sends of 16 bytes, behind one that wakes the server. Of the lock
//                            by itself, and half of a lock and its unlock.
#include <algorithm>
#include <memory>

#include "armci.h"
#include "bench/baseline/verbs_peer.h"
#include "bench/common/report.h"
#include "bench/session/notification.h"
#include "bench/session/session.h"
#include "bench/session/window.h"

namespace armci::bench {
namespace {

constexpr int kTarget = 1;
constexpr int kPair = 2;
constexpr int kWord = 8;
constexpr int kMessage = 16;
constexpr int kWindowMost = 16;
constexpr int kWindowBytesMost = 4 << 20;
constexpr double kSample = 0.5e-3;  // short, so that few samples have a pause of the machine in them

struct Sides {
  char* registered;
  char* plain;
  char* remote;  // of the other side
  char* own;
  const VerbsPeer* raw;
};

Case Against(const CaseLabel& label, const Window& window, const Sides& at) {
  const bool write = window.is_put;
  const Rdma kind = write ? Rdma::kWrite : Rdma::kRead;
  const auto actions = [=, raw = at.raw]() -> std::vector<Action> {
    return {Loop(write ? "ARMCI puts, ARMCI_Fence" : "ARMCI gets", Role::kSubject, [=] { Transfer(window); }),
            {write ? "RDMA write" : "RDMA read", Role::kBaseline, [=](long iterations) {
               return raw->Transfers(kind, static_cast<size_t>(window.bytes), window.count, iterations);
             }}};
  };
  return {label, Crew::kAlone, actions, [=] { return Verify(window); }, kSample, [raw = at.raw] { raw->Look(); }};
}

std::vector<Case> Words(const Sides& at) {
  std::vector<Case> cases;
  for (bool is_put : {true, false}) {
    const std::string name = is_put ? "put + fence" : "get";
    const std::string size = FormatBytes(kWord);
    cases.push_back(Against({name, size, "verbs_put_get"}, {is_put, at.plain, at.remote, kWord, 1, kTarget}, at));
    cases.push_back(Against({name + ", registered", size, "verbs_put_get"},
                            {is_put, at.registered, at.remote, kWord, 1, kTarget}, at));
  }
  return cases;
}

std::vector<Case> Streams(bool quick, const Sides& at) {
  std::vector<Case> cases;
  for (bool is_put : {true, false}) {
    for (bool registered : {true, false}) {
      for (int bytes = 64 << 10; bytes <= 1 << 20; bytes *= quick ? 16 : 4) {
        const int count = std::min(kWindowMost, kWindowBytesMost / bytes);
        const Window window = {is_put, registered ? at.registered : at.plain, at.remote, bytes, count, kTarget};
        const std::string name = is_put ? "puts + fence" : "gets";
        cases.push_back(
            Against({name + (registered ? ", registered" : ""), FormatBytes(static_cast<size_t>(bytes)),
                     registered ? "verbs_stream" : "verbs_stream_unregistered", static_cast<double>(window.total())},
                    window, at));
      }
    }
  }
  return cases;
}

Case SendRoundTrip(const char* name, const Sides& at, const Action& subject) {
  const auto actions = [=, raw = at.raw]() -> std::vector<Action> {
    return {subject, {"send, receive", Role::kBaseline, [raw](long iterations) {
                        return raw->RoundTrips(kMessage, iterations);
                      }}};
  };
  return {{name, FormatBytes(kMessage), "verbs_atomic"},
          Crew::kAlone,
          actions,
          {},
          kSample,
          [raw = at.raw] {
            raw->Look(); }};
}

// Half a pair in each iteration, and whole pairs in all: an odd one out is done outside of the time.
Action HalfPairs(void (*first)(), void (*second)()) {
  return {"ARMCI_Lock, ARMCI_Unlock", Role::kSubject, [=](long iterations) {
            const double start = NowSeconds();
            for (long i = 0; i < iterations; ++i) i % 2 == 0 ? first() : second();
            const double seconds = NowSeconds() - start;
            if (iterations % 2 != 0) second();
            return seconds;
          }};
}

std::vector<Case> Requests(const Sides& at) {
  const auto add = [remote = at.remote] {
    long before = 0;
    ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &before, remote, 1, kTarget);
  };
  const auto lock = [] { ARMCI_Lock(0, kTarget); };
  const auto unlock = [] { ARMCI_Unlock(0, kTarget); };
  const auto locks = LoopWithBreaks("ARMCI_Lock", Role::kSubject, 1, lock, unlock);
  return {SendRoundTrip("fetch-and-add", at, Awake(Loop("ARMCI_Rmw", Role::kSubject, add), add)),
          SendRoundTrip("lock", at, Awake(locks, add)),
          SendRoundTrip("lock, unlock: half of both", at, Awake(HalfPairs(lock, unlock), add))};
}

Case Notifications(const Session& session, const Sides& at) {
  const int rank = session.rank();
  const NotifyingSide side = {rank < kPair ? kTarget - rank : -1, rank == 0, at.remote, at.own, at.registered};
  const auto number = std::make_shared<uint64_t>(0);  // never one that was before
  const auto actions = [=, &session]() -> std::vector<Action> {
    return {session.Each("ARMCI_NbPut, armci_notify", Role::kSubject, kPair, [=] { PutNotifyRoundTrip(side, kWord); }),
            session.Each("RDMA write", Role::kBaseline, kPair, [=, raw = at.raw] {
              ++*number;
              RoundTrip(
                  side, [&] { raw->WriteNumber(*number); }, [&] { raw->AwaitNumber(*number); });
            })};
  };
  const auto verify = [=] { return VerifyNotifications(side, kWord, PutNotifyRoundTrip); };
  return {{"put + notify", FormatBytes(kWord), "verbs_notify"}, Crew::kTogether, actions, verify, kSample};
}

std::vector<Case> Cases(const Session& session, const Sides& at) {
  const bool quick = session.options().quick;
  std::vector<Case> all = Words(at);
  for (const Case& one : Streams(quick, at)) all.push_back(one);
  for (const Case& one : Requests(at)) all.push_back(one);
  all.push_back(Notifications(session, at));
  return all;
}

}  // namespace
}  // namespace armci::bench

int main(int argc, char** argv) {
  using namespace armci::bench;
  Session session(argc, argv, {"verbs", "transfers against raw RDMA", 2, /*between_nodes=*/true, /*apart=*/true});
  {
    Region region(session, kWindowBytesMost);
    const RegisteredBuffer registered(kWindowBytesMost);
    const LocalBuffer plain(kWindowBytesMost);
    std::fill_n(region.on(session.rank()), kWindowBytesMost, char{0});
    const VerbsPeer raw(MPI_COMM_WORLD, kTarget, kWindowBytesMost);
    if (session.root()) Require(raw.MovesData(), "moving data by raw RDMA");
    // For a comparison with another tool.
    const VerbsDevice& device = raw.device();
    session.Note("verbs_device", device.name());
    session.Note("verbs_port", std::to_string(device.port_number));
    session.Note("verbs_gid", std::to_string(device.gid_index));
    Require(ARMCI_Create_mutexes(1) == 0, "ARMCI_Create_mutexes");
    const int rank = session.rank();
    session.Run(
        Cases(session, {registered.data(), plain.data(), region.on(rank == 0 ? kTarget : 0), region.on(rank), &raw}));
    Require(ARMCI_Destroy_mutexes() == 0, "ARMCI_Destroy_mutexes");
  }
  return session.Finish();
}
