// Is the direct way to move data ever slower than the roundabout one?
//
// Cases, ARMCI against ARMCI, to and from rank 1, which sleeps:
//   value put          against the blocking put of one long
//   nb + wait          against the blocking call, put and get, 8 B to 64 KiB
//   strided            against one contiguous put or get per row
//   vector             against one contiguous put or get per segment
//   aggregate          of 64 small puts against 64 separate ones
//
// No raw memory is touched: these hold for any implementation and any distance between the processes.
#include <cstring>

#include "armci.h"
#include "bench/common/report.h"
#include "bench/session/session.h"

namespace armci::bench {
namespace {

constexpr int kTarget = 1;
constexpr int kRows = 64;
constexpr int kSpread = 3;
constexpr size_t kLargest = 65536;

struct Sides {
  char* local;
  char* remote;

  char* src(bool put) const { return put ? local : remote; }
  char* dst(bool put) const { return put ? remote : local; }
};

void Move(bool put, void* src, void* dst, int bytes) {
  if (put) {
    ARMCI_Put(src, dst, bytes, kTarget);
  } else {
    ARMCI_Get(src, dst, bytes, kTarget);
  }
}

Case Values(Sides at) {
  const auto actions = [=]() -> std::vector<Action> {
    return {Loop("PutValueLong", Role::kSubject, [=] { ARMCI_PutValueLong(7, at.remote, kTarget); }),
            OfTheLibrary(Loop("Put", Role::kBaseline, [=] { ARMCI_Put(at.local, at.remote, sizeof(long), kTarget); }))};
  };
  return {{"value put", "8 B", "consistency"}, Crew::kAlone, actions};
}

Case NonBlocking(bool put, Sides at, int bytes) {
  const auto actions = [=]() -> std::vector<Action> {
    return {Loop("nb+wait", Role::kSubject,
                 [=] {
                   armci_hdl_t handle;
                   ARMCI_INIT_HANDLE(&handle);
                   if (put) {
                     ARMCI_NbPut(at.src(put), at.dst(put), bytes, kTarget, &handle);
                   } else {
                     ARMCI_NbGet(at.src(put), at.dst(put), bytes, kTarget, &handle);
                   }
                   ARMCI_Wait(&handle);
                 }),
            OfTheLibrary(Loop("blocking", Role::kBaseline, [=] { Move(put, at.src(put), at.dst(put), bytes); }))};
  };
  return {{put ? "nb put + wait" : "nb get + wait", FormatBytes(static_cast<size_t>(bytes)), "consistency"},
          Crew::kAlone,
          actions};
}

// The rows of a dense local patch and of a remote array, one contiguous call each.
void MoveRows(bool put, Sides at, int row) {
  for (int i = 0; i < kRows; ++i) {
    const Sides here = {at.local + i * row, at.remote + kSpread * i * row};
    Move(put, here.src(put), here.dst(put), row);
  }
}

Case Strided(bool put, Sides at, int row) {
  const auto actions = [=]() -> std::vector<Action> {
    return {Loop("strided", Role::kSubject,
                 [=] {
                   int count[2] = {row, kRows};
                   int local_stride[1] = {row};
                   int remote_stride[1] = {kSpread * row};
                   if (put) {
                     ARMCI_PutS(at.local, local_stride, at.remote, remote_stride, count, 1, kTarget);
                   } else {
                     ARMCI_GetS(at.remote, remote_stride, at.local, local_stride, count, 1, kTarget);
                   }
                 }),
            OfTheLibrary(Loop("row by row", Role::kBaseline, [=] { MoveRows(put, at, row); }))};
  };
  return {{put ? "strided put" : "strided get", std::to_string(kRows) + " x " + FormatBytes(static_cast<size_t>(row)),
           "consistency"},
          Crew::kAlone,
          actions};
}

Case Vectors(bool put, Sides at, int segment) {
  std::vector<void*> src;
  std::vector<void*> dst;
  for (int i = 0; i < kRows; ++i) {
    const Sides here = {at.local + i * segment, at.remote + kSpread * i * segment};
    src.push_back(here.src(put));
    dst.push_back(here.dst(put));
  }
  const auto vector_call = [=](long iterations) mutable {
    armci_giov_t vector = {src.data(), dst.data(), segment, kRows};
    const auto call = put ? ARMCI_PutV : ARMCI_GetV;
    const double start = NowSeconds();
    for (long i = 0; i < iterations; ++i) call(&vector, 1, kTarget);
    return NowSeconds() - start;
  };
  const auto actions = [=]() -> std::vector<Action> {
    return {{"vector", Role::kSubject, vector_call},
            OfTheLibrary(Loop("segment by segment", Role::kBaseline, [=] { MoveRows(put, at, segment); }))};
  };
  return {{put ? "vector put" : "vector get", std::to_string(kRows) + " x " + FormatBytes(static_cast<size_t>(segment)),
           "consistency"},
          Crew::kAlone,
          actions};
}

Case Aggregate(Sides at, int bytes) {
  const auto actions = [=]() -> std::vector<Action> {
    return {Loop("aggregate", Role::kSubject,
                 [=] {
                   armci_hdl_t handle;
                   ARMCI_INIT_HANDLE(&handle);
                   ARMCI_SET_AGGREGATE_HANDLE(&handle);
                   for (int i = 0; i < kRows; ++i) {
                     ARMCI_NbPut(at.local + i * bytes, at.remote + kSpread * i * bytes, bytes, kTarget, &handle);
                   }
                   ARMCI_Wait(&handle);
                   ARMCI_UNSET_AGGREGATE_HANDLE(&handle);
                 }),
            OfTheLibrary(Loop("separate", Role::kBaseline, [=] { MoveRows(true, at, bytes); }))};
  };
  return {{"aggregate put", std::to_string(kRows) + " x " + FormatBytes(static_cast<size_t>(bytes)), "consistency"},
          Crew::kAlone,
          actions};
}

std::vector<Case> Cases(Sides at) {
  std::vector<Case> cases = {Values(at)};
  for (bool put : {true, false}) {
    for (int bytes : {8, 1024, 65536}) cases.push_back(NonBlocking(put, at, bytes));
    for (int row : {16, 256, 1024}) cases.push_back(Strided(put, at, row));
    for (int segment : {16, 64, 1024}) cases.push_back(Vectors(put, at, segment));
  }
  cases.push_back(Aggregate(at, 8));
  cases.push_back(Aggregate(at, 1024));
  return cases;
}

}  // namespace
}  // namespace armci::bench

int main(int argc, char** argv) {
  using namespace armci::bench;
  Session session(argc, argv, {"consistency", "the direct way against the roundabout one, ARMCI against ARMCI", 2});
  {
    const size_t bytes = kLargest * kSpread;
    Region region(session, bytes);
    LocalBuffer local(kLargest);
    std::memset(local.data(), 'l', kLargest);
    std::memset(region.on(session.rank()), 'r', bytes);
    session.Run(Cases({local.data(), region.on(kTarget)}));
  }
  return session.Finish();
}
