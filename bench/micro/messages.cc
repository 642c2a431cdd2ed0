// What does ARMCI cost against messages that a program sends and receives by itself?
//
// The memory of rank 1 is the target. While ARMCI is measured rank 1 sleeps; while messages are, it is inside MPI.
//   get, put + fence, fetch-and-add, lock   of 8 bytes, against a round trip of MPI_Send and MPI_Recv of 8 bytes
//   get                                     of 8 KiB, against a round trip that brings as much back
//   nb put                                  until it returns, against the same
//   put, get                                8 non-blocking ones at once and their end, against as many messages
//   strided, accumulate                     rows of 1 KiB, rows three times as far apart in rank 1; the same
#include <algorithm>

#include "armci.h"
#include "bench/baseline/message_peer.h"
#include "bench/common/report.h"
#include "bench/session/session.h"

namespace armci::bench {
namespace {

constexpr int kTarget = 1;
constexpr int kWindow = 8;
constexpr size_t kLargest = size_t{4} << 20;
constexpr int kSpread = 3;
constexpr int kRow = 1024;
constexpr long kInitiated = 16;  // non-blocking puts before their fence
constexpr int kLongerGet = 8192;
constexpr double kSample = 2e-3;

struct Sides {
  char* local;
  char* remote;
  const MessagePeer* peer;
};

Case RoundTrip(const char* name, const char* key, const Sides& at, const Action& subject, int back = 8) {
  const auto actions = [=]() -> std::vector<Action> {
    return {subject, {"MPI_Send, MPI_Recv", Role::kBaseline, [peer = at.peer, back](long iterations) {
                        return peer->RoundTrips(8, back, iterations);
                      }}};
  };
  const std::string size = FormatBytes(static_cast<size_t>(back));
  return {{name, size, key}, Crew::kAlone, actions, {}, kSample, [peer = at.peer] { peer->Look(); }};
}

std::vector<Case> RoundTrips(const Sides& at) {
  const auto get = [=] { ARMCI_Get(at.remote, at.local, 8, kTarget); };
  const auto put = [=] { ARMCI_Put(at.local, at.remote, 8, kTarget); };
  const auto fence = [] { ARMCI_Fence(kTarget); };
  const auto put_fence = [=] {
    put();
    fence();
  };
  const auto add = [=] {
    long before = 0;
    ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &before, at.remote, 1, kTarget);
  };
  const auto longer_get = [=] { ARMCI_Get(at.remote, at.local, kLongerGet, kTarget); };
  const auto nb_put = [=] { ARMCI_NbPut(at.local, at.remote, 8, kTarget, nullptr); };
  const auto lock = [] { ARMCI_Lock(0, kTarget); };
  const auto unlock = [] { ARMCI_Unlock(0, kTarget); };
  return {
      RoundTrip("get", "message_round_trip", at, Loop("ARMCI_Get", Role::kSubject, get)),
      RoundTrip("put + fence", "message_round_trip", at, Loop("ARMCI_Put, ARMCI_Fence", Role::kSubject, put_fence)),
      RoundTrip("fetch-and-add", "message_round_trip_atomic", at, Loop("ARMCI_Rmw", Role::kSubject, add)),
      RoundTrip("lock", "message_round_trip_atomic", at, LoopWithBreaks("ARMCI_Lock", Role::kSubject, 1, lock, unlock)),
      RoundTrip("nb put", "message_initiation", at,
                LoopWithBreaks("ARMCI_NbPut", Role::kSubject, kInitiated, nb_put, fence)),
      RoundTrip("get", "message_round_trip", at, Loop("ARMCI_Get", Role::kSubject, longer_get), kLongerGet)};
}

// --- streams: a window of non-blocking operations, and the end of all of them

struct Stream {
  const char* name;
  const char* key;
  bool to_target;
  bool strided;
  void (*begin)(const Sides& at, int k, int bytes);
};

char* Piece(char* base, int k, int bytes) { return base + static_cast<size_t>(k) * static_cast<size_t>(bytes); }

struct Rows {
  int count[2];
  int dense[1] = {kRow};
  int spread[1] = {kSpread * kRow};

  explicit Rows(int bytes) : count{kRow, bytes / kRow} {}
};

constexpr Stream kStreams[] = {
    {"put", "message_stream", true, false,
     [](const Sides& at, int k, int bytes) {
       ARMCI_NbPut(Piece(at.local, k, bytes), Piece(at.remote, k, bytes), bytes, kTarget, nullptr);
     }},
    {"get", "message_stream", false, false,
     [](const Sides& at, int k, int bytes) {
       ARMCI_NbGet(Piece(at.remote, k, bytes), Piece(at.local, k, bytes), bytes, kTarget, nullptr);
     }},
    {"put strided", "message_stream_strided", true, true,
     [](const Sides& at, int k, int bytes) {
       Rows rows(bytes);
       ARMCI_NbPutS(Piece(at.local, k, bytes), rows.dense, Piece(at.remote, k, kSpread * bytes), rows.spread,
                    rows.count, 1, kTarget, nullptr);
     }},
    {"get strided", "message_stream_strided", false, true,
     [](const Sides& at, int k, int bytes) {
       Rows rows(bytes);
       ARMCI_NbGetS(Piece(at.remote, k, kSpread * bytes), rows.spread, Piece(at.local, k, bytes), rows.dense,
                    rows.count, 1, kTarget, nullptr);
     }},
    {"accumulate", "message_stream_accumulate", true, false,
     [](const Sides& at, int k, int bytes) {
       double one = 1;
       ARMCI_NbAcc(ARMCI_ACC_DBL, &one, Piece(at.local, k, bytes), Piece(at.remote, k, bytes), bytes, kTarget, nullptr);
     }},
};

Case Streaming(const Stream& stream, const Sides& at, int bytes) {
  const auto window = [=, &stream] {
    for (int k = 0; k < kWindow; ++k) stream.begin(at, k, bytes);
    ARMCI_WaitAll();
    if (stream.to_target) ARMCI_Fence(kTarget);
  };
  const auto actions = [=, &stream]() -> std::vector<Action> {
    return {Loop("ARMCI", Role::kSubject, window),
            {"MPI_Isend, MPI_Irecv", Role::kBaseline,
             [=, &stream](long iterations) { return at.peer->Windows(stream.to_target, bytes, kWindow, iterations); }}};
  };
  CaseLabel label = {stream.name, FormatBytes(static_cast<size_t>(bytes)), stream.key};
  label.bytes = static_cast<double>(bytes) * kWindow;
  return {label, Crew::kAlone, actions, {}, kSample, [peer = at.peer] { peer->Look(); }};
}

std::vector<Case> Cases(bool quick, const Sides& at) {
  std::vector<Case> cases = RoundTrips(at);
  for (const Stream& stream : kStreams) {
    for (int bytes = 256 << 10; bytes <= static_cast<int>(kLargest) / 4; bytes *= quick ? 4 : 2) {
      cases.push_back(Streaming(stream, at, bytes));
    }
  }
  return cases;
}

}  // namespace
}  // namespace armci::bench

int main(int argc, char** argv) {
  using namespace armci::bench;
  Session session(argc, argv, {"messages", "transfers against messages of MPI", 2, /*between_nodes=*/true});
  {
    Region region(session, kLargest * 2 * kSpread);
    LocalBuffer local(kLargest * 2);
    MessagePeer peer(MPI_COMM_WORLD, kTarget, kLargest * 2);
    std::fill_n(local.data(), kLargest * 2, char{0});
    Require(ARMCI_Create_mutexes(1) == 0, "ARMCI_Create_mutexes");
    session.Run(Cases(session.options().quick, {local.data(), region.on(kTarget), &peer}));
    Require(ARMCI_Destroy_mutexes() == 0, "ARMCI_Destroy_mutexes");
  }
  return session.Finish();
}
