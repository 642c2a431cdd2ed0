// What do strided transfers cost over RDMA, against calls for each row, and against contiguous transfers?
//
// Between dense rows in registered memory here and rows three times as far apart in rank 1, on another node and asleep:
//   put, get strided, calls        64 and 512 rows of 16 B to 4 KiB, complete at the target, against as many contiguous
//                                  non-blocking calls that are waited for together
//   put, get strided, contiguous   the same, against one contiguous transfer of as many bytes; one RDMA write or read
//                                  is given as context
#include <cstring>

#include "armci.h"
#include "bench/baseline/verbs_peer.h"
#include "bench/common/report.h"
#include "bench/session/session.h"

namespace armci::bench {
namespace {

constexpr int kTarget = 1;
constexpr int kSpread = 3;
constexpr int kRowsMost = 512;
constexpr int kRowLongest = 4096;
constexpr int kRateFrom = 1024;  // bytes of the shortest rows that are to be nearly as fast as contiguous memory
constexpr size_t kLocalBytes = size_t{kRowsMost} * kRowLongest;
constexpr size_t kRemoteBytes = kLocalBytes * kSpread;
constexpr double kSample = 0.5e-3;  // short, so that few samples have a pause of the machine in them

struct Sides {
  char* local;
  char* remote;
  char* image;  // here, for what is in the memory of rank 1
  const VerbsPeer* raw;
};

struct Shape {
  Rdma kind;
  int rows;
  int row;

  bool put() const { return kind == Rdma::kWrite; }
  int bytes() const { return rows * row; }
  int here(int i) const { return i * row; }
  int there(int i) const { return i * row * kSpread; }
};

void Strided(const Shape& shape, const Sides& at) {
  int count[2] = {shape.row, shape.rows};
  int dense[1] = {shape.row};
  int spread[1] = {kSpread * shape.row};
  if (shape.put()) {
    ARMCI_PutS(at.local, dense, at.remote, spread, count, 1, kTarget);
    ARMCI_Fence(kTarget);
  } else {
    ARMCI_GetS(at.remote, spread, at.local, dense, count, 1, kTarget);
  }
}

void Calls(const Shape& shape, const Sides& at) {
  for (int i = 0; i < shape.rows; ++i) {
    char* const here = at.local + shape.here(i);
    char* const there = at.remote + shape.there(i);
    if (shape.put()) {
      ARMCI_NbPut(here, there, shape.row, kTarget, nullptr);
    } else {
      ARMCI_NbGet(there, here, shape.row, kTarget, nullptr);
    }
  }
  ARMCI_WaitAll();
  if (shape.put()) ARMCI_Fence(kTarget);
}

void Contiguous(const Shape& shape, const Sides& at) {
  if (shape.put()) {
    ARMCI_Put(at.local, at.remote, shape.bytes(), kTarget);
    ARMCI_Fence(kTarget);
  } else {
    ARMCI_Get(at.remote, at.local, shape.bytes(), kTarget);
  }
}

// From bytes that are not zero here and zeros there, or the other way round; looks into the gaps as well.
std::string Verify(const Shape& shape, const Sides& at) {
  const int span = shape.there(shape.rows);
  for (int i = 0; i < span; ++i) at.image[i] = shape.put() ? 0 : static_cast<char>(i % 251 + 1);
  for (int i = 0; i < shape.bytes(); ++i) at.local[i] = shape.put() ? static_cast<char>(i % 241 + 1) : 0;
  ARMCI_Put(at.image, at.remote, span, kTarget);
  ARMCI_Fence(kTarget);
  Strided(shape, at);
  ARMCI_Get(at.remote, at.image, span, kTarget);
  for (int i = 0; i < shape.rows; ++i) {
    const char* const row = at.image + shape.there(i);
    if (std::memcmp(row, at.local + shape.here(i), static_cast<size_t>(shape.row)) != 0) {
      return "row " + std::to_string(i) + " differs";
    }
    for (int gap = shape.row; shape.put() && gap < kSpread * shape.row; ++gap) {
      if (row[gap] != 0) return "the gap behind row " + std::to_string(i) + " was written";
    }
  }
  return "";
}

Case Rows(const Shape& shape, const Sides& at, bool against_calls) {
  const auto actions = [=]() -> std::vector<Action> {
    const auto strided = [=] { Strided(shape, at); };
    std::vector<Action> all = {Loop(shape.put() ? "ARMCI_PutS, ARMCI_Fence" : "ARMCI_GetS", Role::kSubject, strided)};
    if (against_calls) {
      const char* name = shape.put() ? "ARMCI_NbPut" : "ARMCI_NbGet";
      all.push_back(OfTheLibrary(Loop(name, Role::kBaseline, [=] { Calls(shape, at); })));
      return all;
    }
    const char* name = shape.put() ? "ARMCI_Put" : "ARMCI_Get";
    all.push_back(OfTheLibrary(Loop(name, Role::kBaseline, [=] { Contiguous(shape, at); })));
    all.push_back({shape.put() ? "RDMA write" : "RDMA read", Role::kContext, [=](long iterations) {
                     return at.raw->Transfers(shape.kind, static_cast<size_t>(shape.bytes()), 1, iterations);
                   }});
    return all;
  };
  const std::string name = shape.put() ? "put strided" : "get strided";
  const std::string size = std::to_string(shape.rows) + " x " + FormatBytes(static_cast<size_t>(shape.row));
  CaseLabel label = {name + ", calls", size, "verbs_rows"};
  if (!against_calls) {
    label = {name + ", contiguous", size, shape.row >= kRateFrom ? "verbs_rows_rate" : "",
             static_cast<double>(shape.bytes())};
  }
  return {label, Crew::kAlone, actions, [=] { return Verify(shape, at); }, kSample};
}

std::vector<Case> Cases(bool quick, const Sides& at) {
  std::vector<Case> cases;
  for (Rdma kind : {Rdma::kWrite, Rdma::kRead}) {
    for (bool against_calls : {true, false}) {
      for (int rows : {64, kRowsMost}) {
        if (quick && rows == kRowsMost) continue;
        for (int row : {16, 64, 256, 1024, kRowLongest}) cases.push_back(Rows({kind, rows, row}, at, against_calls));
      }
    }
  }
  return cases;
}

}  // namespace
}  // namespace armci::bench

int main(int argc, char** argv) {
  using namespace armci::bench;
  Session session(argc, argv, {"verbs_rows", "strided transfers over RDMA", 2, /*between_nodes=*/true, /*apart=*/true});
  {
    Region region(session, kRemoteBytes);
    const RegisteredBuffer local(kLocalBytes);
    const LocalBuffer image(kRemoteBytes);
    std::memset(region.on(session.rank()), 0, kRemoteBytes);
    const VerbsPeer raw(MPI_COMM_WORLD, kTarget, kLocalBytes);
    session.Run(Cases(session.options().quick, {local.data(), region.on(kTarget), image.data(), &raw}));
  }
  return session.Finish();
}
