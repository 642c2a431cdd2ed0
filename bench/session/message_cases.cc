#include "bench/session/message_cases.h"

#include <algorithm>
#include <vector>

#include "armci.h"
#include "bench/common/report.h"

namespace armci::bench {
namespace {

constexpr long kInitiated = 16;  // non-blocking puts before their fence
constexpr int kWord = 8;
constexpr int kLongerGet = 8192;
constexpr double kSample = 2e-3;
constexpr int kMessageSpread = 3;  // rows of the target are this many times as far apart

// A window of operations of `bytes` each.
struct Stream {
  const char* name;
  const char* key;  // follows that of the raw layer
  bool to_target;
  int row;  // length of the rows, of which the target has some far apart; 0: contiguous
  int bytes_least;
  int bytes_most;
  int count;
  void (*begin)(const Stream& stream, char* local, char* remote, int target, int k, int bytes);
};

char* Piece(char* base, int k, int bytes) { return base + static_cast<size_t>(k) * static_cast<size_t>(bytes); }

void Put(const Stream&, char* local, char* remote, int target, int k, int bytes) {
  ARMCI_NbPut(Piece(local, k, bytes), Piece(remote, k, bytes), bytes, target, nullptr);
}

void BlockingPut(const Stream&, char* local, char* remote, int target, int k, int bytes) {
  ARMCI_Put(Piece(local, k, bytes), Piece(remote, k, bytes), bytes, target);
}

void Get(const Stream&, char* local, char* remote, int target, int k, int bytes) {
  ARMCI_NbGet(Piece(remote, k, bytes), Piece(local, k, bytes), bytes, target, nullptr);
}

void Accumulate(const Stream&, char* local, char* remote, int target, int k, int bytes) {
  double one = 1;
  ARMCI_NbAcc(ARMCI_ACC_DBL, &one, Piece(local, k, bytes), Piece(remote, k, bytes), bytes, target, nullptr);
}

struct Rows {
  int count[2];
  int dense[1];
  int spread[1];

  Rows(int row, int bytes) : count{row, bytes / row}, dense{row}, spread{kMessageSpread * row} {}
};

void PutRows(const Stream& stream, char* local, char* remote, int target, int k, int bytes) {
  Rows rows(stream.row, bytes);
  ARMCI_NbPutS(Piece(local, k, bytes), rows.dense, Piece(remote, k, kMessageSpread * bytes), rows.spread, rows.count, 1,
               target, nullptr);
}

void GetRows(const Stream& stream, char* local, char* remote, int target, int k, int bytes) {
  Rows rows(stream.row, bytes);
  ARMCI_NbGetS(Piece(remote, k, kMessageSpread * bytes), rows.spread, Piece(local, k, bytes), rows.dense, rows.count, 1,
               target, nullptr);
}

constexpr int kKiB = 1 << 10;
constexpr int kMiB = 1 << 20;
constexpr int kFew = 8;
constexpr int kMany = 64;

constexpr Stream kStreams[] = {
    {"put", "_stream", true, 0, 64 * kKiB, kMiB, kFew, Put},
    {"get", "_stream", false, 0, 64 * kKiB, kMiB, kFew, Get},
    {"accumulate", "_stream_accumulate", true, 0, 64 * kKiB, kMiB, kFew, Accumulate},
    {"put", "_stream_short", true, 0, 4 * kKiB, 4 * kKiB, kMany, Put},
    {"blocking put", "_stream_short", true, 0, 4 * kKiB, 4 * kKiB, kMany, BlockingPut},
    {"get", "_stream_short", false, 0, 4 * kKiB, 16 * kKiB, kMany, Get},
    {"put rows", "_stream_rows", true, kKiB, 256 * kKiB, kMiB, kFew, PutRows},
    {"get rows", "_stream_rows", false, kKiB, 256 * kKiB, kMiB, kFew, GetRows},
    {"put rows", "_stream_rows", true, 128, 256 * kKiB, 256 * kKiB, kFew, PutRows},
    {"get rows", "_stream_rows", false, 128, 256 * kKiB, 256 * kKiB, kFew, GetRows},
    {"put rows", "_stream_rows_short", true, 16, 256 * kKiB, 256 * kKiB, kFew, PutRows},
    {"get rows", "_stream_rows_short", false, 16, 256 * kKiB, 256 * kKiB, kFew, GetRows},
};

Case Streaming(const Stream& stream, const RawMessages& raw, char* local, char* remote, int target, int bytes) {
  const auto window = [=, &stream] {
    for (int k = 0; k < stream.count; ++k) stream.begin(stream, local, remote, target, k, bytes);
    ARMCI_WaitAll();
    if (stream.to_target) ARMCI_Fence(target);
  };
  const auto actions = [=, &stream]() -> std::vector<Action> {
    return {Awake(Loop("ARMCI", Role::kSubject, window), window),
            {raw.name, Role::kBaseline,
             [=, &stream](long iterations) { return raw.windows(stream.to_target, bytes, stream.count, iterations); }}};
  };
  std::string size = FormatBytes(static_cast<size_t>(bytes));
  if (stream.row > 0) size += " in " + FormatBytes(static_cast<size_t>(stream.row));
  return {{stream.name, size, raw.key + stream.key, static_cast<double>(bytes) * stream.count},
          Crew::kAlone,
          actions,
          {},
          kSample,
          raw.look};
}

Case RoundTrip(const RawMessages& raw, const char* name, const char* key, const Action& subject, int back = kWord) {
  const auto actions = [=]() -> std::vector<Action> {
    return {subject, {raw.name, Role::kBaseline, [=](long iterations) { return raw.round_trips(back, iterations); }}};
  };
  return {{name, FormatBytes(static_cast<size_t>(back)), raw.key + key}, Crew::kAlone, actions, {}, kSample, raw.look};
}

// The least that a store and its fence cost, or a lock right after an unlock, where both are messages.
Case TwoMessages(const RawMessages& raw) {
  Case made = RoundTrip(raw, "two messages, a reply", "", {"two messages", Role::kSubject, [=](long iterations) {
                                                             return raw.windows(true, kWord, 2, iterations);
                                                           }});
  made.label.target_key.clear();
  return made;
}

std::vector<Case> RoundTripCases(const RawMessages& raw, char* local, char* remote, int target) {
  const auto get = [=] { ARMCI_Get(remote, local, kWord, target); };
  const auto put = [=] { ARMCI_Put(local, remote, kWord, target); };
  const auto fence = [=] { ARMCI_Fence(target); };
  const auto put_fence = [=] {
    put();
    fence();
  };
  const auto add = [=] {
    long before = 0;
    ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &before, remote, 1, target);
  };
  const auto longer_get = [=] { ARMCI_Get(remote, local, kLongerGet, target); };
  const auto nb_put = [=] { ARMCI_NbPut(local, remote, kWord, target, nullptr); };
  const auto lock = [=] { ARMCI_Lock(0, target); };
  const auto unlock = [=] { ARMCI_Unlock(0, target); };
  return {
      RoundTrip(raw, "get", "_round_trip", Loop("ARMCI_Get", Role::kSubject, get)),
      RoundTrip(raw, "put + fence", "_round_trip", Loop("ARMCI_Put, ARMCI_Fence", Role::kSubject, put_fence)),
      RoundTrip(raw, "fetch-and-add", "_round_trip_atomic", Loop("ARMCI_Rmw", Role::kSubject, add)),
      RoundTrip(raw, "lock", "_round_trip_atomic", LoopWithBreaks("ARMCI_Lock", Role::kSubject, 1, lock, unlock)),
      TwoMessages(raw),
      RoundTrip(raw, "nb put", "_initiation", LoopWithBreaks("ARMCI_NbPut", Role::kSubject, kInitiated, nb_put, fence)),
      RoundTrip(raw, "get", "_round_trip", Loop("ARMCI_Get", Role::kSubject, longer_get), kLongerGet)};
}

std::vector<Case> MessageCases(bool quick, const RawMessages& raw, char* local, char* remote, int target) {
  std::vector<Case> cases = RoundTripCases(raw, local, remote, target);
  for (const Stream& stream : kStreams) {
    for (int bytes = stream.bytes_least; bytes <= stream.bytes_most; bytes *= quick ? 4 : 2) {
      cases.push_back(Streaming(stream, raw, local, remote, target, bytes));
    }
  }
  return cases;
}

}  // namespace

void RunMessageCases(Session* session, const RawMessages& raw, int target) {
  const Region region(*session, kMessagesMost * kMessageSpread);
  const LocalBuffer local(kMessagesMost);
  std::fill_n(local.data(), kMessagesMost, char{0});
  Require(ARMCI_Create_mutexes(1) == 0, "ARMCI_Create_mutexes");
  session->Run(MessageCases(session->options().quick, raw, local.data(), region.on(target), target));
  Require(ARMCI_Destroy_mutexes() == 0, "ARMCI_Destroy_mutexes");
}

}  // namespace armci::bench
