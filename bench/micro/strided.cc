// What do non-contiguous transfers cost, against the plain loop a program would write?
//
// Cases, to and from rank 1, which sleeps:
//   put, get 2-D         64 and 1024 rows of 16 B to 1 KiB between a dense local patch and a remote array with rows
//                        three times as long; the baseline is a loop of copies inlined for the row length
//   put, get collapsed   2-D and 3-D shapes that are dense on both sides; the baseline is the best single copy
//   put, get vector      64 segments of 64 B; the baseline is a loop over the same pointers
#include <cstring>

#include "armci.h"
#include "bench/baseline/copies.h"
#include "bench/baseline/rows.h"
#include "bench/common/report.h"
#include "bench/session/session.h"

namespace armci::bench {
namespace {

constexpr int kTarget = 1;
constexpr int kSpread = 3;  // remote stride over row length; not a power of two, which would pile up in few cache sets
constexpr size_t kRowLargest = 1024;
constexpr size_t kRowsMost = 1024;
constexpr size_t kRegionBytes = kRowLargest * kRowsMost * kSpread;

using StridedCall = int (*)(void*, int*, void*, int*, int*, int, int);

struct Sides {
  char* local;
  char* remote;
};

struct Shape {
  std::vector<int> count;
  std::vector<int> local_stride;
  std::vector<int> remote_stride;

  int levels() const { return static_cast<int>(local_stride.size()); }
  size_t bytes() const {
    size_t product = 1;
    for (int extent : count) product *= static_cast<size_t>(extent);
    return product;
  }
};

// The subject: PutS from local to remote or GetS back. Shapes live as long as the action.
Action StridedAction(bool put, Sides at, Shape shape) {
  return {put ? "ARMCI_PutS" : "ARMCI_GetS", Role::kSubject, [=](long iterations) mutable {
            const StridedCall call = put ? ARMCI_PutS : ARMCI_GetS;
            char* src = put ? at.local : at.remote;
            char* dst = put ? at.remote : at.local;
            int* src_stride = (put ? shape.local_stride : shape.remote_stride).data();
            int* dst_stride = (put ? shape.remote_stride : shape.local_stride).data();
            const double start = NowSeconds();
            for (long i = 0; i < iterations; ++i) {
              call(src, src_stride, dst, dst_stride, shape.count.data(), shape.levels(), kTarget);
            }
            return NowSeconds() - start;
          }};
}

std::string VerifyRows(bool put, Sides at, Shape shape) {
  const size_t row = static_cast<size_t>(shape.count[0]);
  const size_t rows = shape.bytes() / row;
  const auto remote_stride = static_cast<size_t>(shape.remote_stride[0]);
  for (size_t i = 0; i < rows; ++i) std::memset(put ? at.remote + i * remote_stride : at.local + i * row, 0, row);
  StridedAction(put, at, shape).seconds_for(1);
  for (size_t i = 0; i < rows; ++i) {
    if (std::memcmp(at.local + i * row, at.remote + i * remote_stride, row) != 0) {
      return "row " + std::to_string(i) + " differs";
    }
  }
  return "";
}

Case Rows(bool put, Sides at, size_t rows, size_t row) {
  const int length = static_cast<int>(row);
  const Shape shape = {{length, static_cast<int>(rows)}, {length}, {kSpread * length}};
  const auto actions = [=] {
    std::vector<Action> all = {StridedAction(put, at, shape)};
    const auto dense = static_cast<ptrdiff_t>(row);
    const ptrdiff_t spread = kSpread * dense;
    for (const StridedLoop& loop : StridedLoops(row)) {
      all.push_back(
          put ? Loop(loop.name, Role::kBaseline, [=] { loop.copy(at.remote, spread, at.local, dense, rows); })
              : Loop(loop.name, Role::kBaseline, [=] { loop.copy(at.local, dense, at.remote, spread, rows); }));
    }
    return all;
  };
  return {{put ? "put 2-D" : "get 2-D", std::to_string(rows) + " x " + FormatBytes(row), "strided_2d",
           static_cast<double>(shape.bytes())},
          Crew::kAlone,
          actions,
          [=] { return VerifyRows(put, at, shape); }};
}

Case Collapsed(bool put, Sides at, const std::vector<int>& count) {
  Shape shape = {count, {}, {}};
  std::string text = FormatBytes(static_cast<size_t>(count[0]));
  int stride = 1;
  for (size_t level = 0; level + 1 < count.size(); ++level) {
    stride *= count[level];
    shape.local_stride.push_back(stride);
    shape.remote_stride.push_back(stride);
    text = std::to_string(count[level + 1]) + " x " + text;
  }
  const size_t bytes = shape.bytes();
  const auto actions = [=] {
    std::vector<Action> all = {StridedAction(put, at, shape)};
    char* dst = put ? at.remote : at.local;
    const char* src = put ? at.local : at.remote;
    for (const CopyRoutine& routine : CopyRoutines()) {
      all.push_back(Loop(routine.name, Role::kBaseline, [=] { routine.copy(dst, src, bytes); }));
    }
    return all;
  };
  const auto verify = [=]() -> std::string {
    std::memset(put ? at.remote : at.local, 0, bytes);
    StridedAction(put, at, shape).seconds_for(1);
    return std::memcmp(at.local, at.remote, bytes) == 0 ? "" : "the copy differs";
  };
  return {{put ? "put collapsed" : "get collapsed", text, "strided_collapsed", static_cast<double>(bytes)},
          Crew::kAlone,
          actions,
          verify};
}

Case Vector(bool put, Sides at, size_t segments, size_t segment) {
  const auto local = [=](size_t i) -> void* { return at.local + 2 * i * segment; };
  const auto remote = [=](size_t i) -> void* { return at.remote + kSpread * i * segment; };
  std::vector<void*> src;
  std::vector<void*> dst;
  for (size_t i = 0; i < segments; ++i) {
    src.push_back(put ? local(i) : remote(i));
    dst.push_back(put ? remote(i) : local(i));
  }
  auto subject = [=](long iterations) mutable {
    armci_giov_t vector = {src.data(), dst.data(), static_cast<int>(segment), static_cast<int>(segments)};
    const auto call = put ? ARMCI_PutV : ARMCI_GetV;
    const double start = NowSeconds();
    for (long i = 0; i < iterations; ++i) call(&vector, 1, kTarget);
    return NowSeconds() - start;
  };
  const auto actions = [=] {
    std::vector<Action> all = {{put ? "ARMCI_PutV" : "ARMCI_GetV", Role::kSubject, subject}};
    for (const ScatteredLoop& loop : ScatteredLoops(segment)) {
      all.push_back({loop.name, Role::kBaseline, [=](long iterations) {
                       const double start = NowSeconds();
                       for (long i = 0; i < iterations; ++i) loop.copy(dst.data(), src.data(), segments);
                       return NowSeconds() - start;
                     }});
    }
    return all;
  };
  const auto verify = [=]() mutable -> std::string {
    for (void* one : dst) std::memset(one, 0, segment);
    subject(1);
    for (size_t i = 0; i < segments; ++i) {
      if (std::memcmp(src[i], dst[i], segment) != 0) return "segment " + std::to_string(i) + " differs";
    }
    return "";
  };
  return {{put ? "put vector" : "get vector", std::to_string(segments) + " x " + FormatBytes(segment), "vector",
           static_cast<double>(segments * segment)},
          Crew::kAlone,
          actions,
          verify};
}

std::vector<Case> Cases(bool quick, Sides at) {
  std::vector<Case> cases;
  for (bool put : {true, false}) {
    for (size_t rows : {size_t{64}, kRowsMost}) {
      for (size_t row = 16; row <= kRowLargest; row *= quick ? 8 : 2) cases.push_back(Rows(put, at, rows, row));
    }
    for (const std::vector<int>& count : {std::vector<int>{16, 64}, {1024, 64}, {256, 16, 64}}) {
      cases.push_back(Collapsed(put, at, count));
    }
    cases.push_back(Vector(put, at, 64, 64));
  }
  return cases;
}

}  // namespace
}  // namespace armci::bench

int main(int argc, char** argv) {
  using namespace armci::bench;
  Session session(argc, argv, {"strided", "strided and vector transfers against a plain loop", 2});
  {
    Region region(session, kRegionBytes);
    LocalBuffer local(kRegionBytes);
    for (size_t i = 0; i < kRegionBytes; ++i) local.data()[i] = static_cast<char>(i % 251 + 1);
    std::memset(region.on(session.rank()), 'r', kRegionBytes);
    session.Run(Cases(session.options().quick, {local.data(), region.on(kTarget)}));
  }
  return session.Finish();
}
