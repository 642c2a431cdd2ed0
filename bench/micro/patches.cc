// What does a patch of a matrix cost, against as many bytes in one piece and against a call for each row?
//
// Square patches of n x n doubles of the middle of a 2048 x 2048 matrix on the last rank, which sleeps; the local side
// is without gaps.
//   put strided, get strided, acc strided   ARMCI_PutS, ARMCI_GetS, ARMCI_AccS
//   put vector, get vector                  ARMCI_PutV, ARMCI_GetV with a segment for each row
//   put n rows, get n rows                  n non-blocking contiguous calls and ARMCI_WaitAll
//   put one piece, get one piece            one contiguous call with as many bytes
// Puts and accumulates with their fence.
#include <algorithm>

#include "armci.h"
#include "bench/session/session.h"

namespace armci::bench {
namespace {

constexpr int kSide = 2048;
constexpr int kRowBytes = kSide * static_cast<int>(sizeof(double));
constexpr int kPatchMax = 1024;

struct Patch {
  char* local;   // dense
  char* remote;  // of its first row
  int n;
  int target;

  int row_bytes() const { return n * static_cast<int>(sizeof(double)); }
  char* local_row(int i) const { return local + static_cast<ptrdiff_t>(i) * row_bytes(); }
  char* remote_row(int i) const { return remote + static_cast<ptrdiff_t>(i) * kRowBytes; }
};

enum class Way { kStrided, kVector, kRows, kPiece };

void Strided(const Patch& patch, bool is_put) {
  int dense[] = {patch.row_bytes()};
  int spread[] = {kRowBytes};
  int count[] = {patch.row_bytes(), patch.n};
  if (is_put) {
    ARMCI_PutS(patch.local, dense, patch.remote, spread, count, 1, patch.target);
  } else {
    ARMCI_GetS(patch.remote, spread, patch.local, dense, count, 1, patch.target);
  }
}

void Vector(const Patch& patch, bool is_put) {
  std::vector<void*> here;
  std::vector<void*> there;
  for (int i = 0; i < patch.n; ++i) {
    here.push_back(patch.local_row(i));
    there.push_back(patch.remote_row(i));
  }
  armci_giov_t giov = {};
  giov.src_ptr_array = is_put ? here.data() : there.data();
  giov.dst_ptr_array = is_put ? there.data() : here.data();
  giov.bytes = patch.row_bytes();
  giov.ptr_array_len = patch.n;
  (is_put ? ARMCI_PutV : ARMCI_GetV)(&giov, 1, patch.target);
}

void Rows(const Patch& patch, bool is_put) {
  for (int i = 0; i < patch.n; ++i) {
    if (is_put) {
      ARMCI_NbPut(patch.local_row(i), patch.remote_row(i), patch.row_bytes(), patch.target, nullptr);
    } else {
      ARMCI_NbGet(patch.remote_row(i), patch.local_row(i), patch.row_bytes(), patch.target, nullptr);
    }
  }
  ARMCI_WaitAll();
}

void Piece(const Patch& patch, bool is_put) {
  const int bytes = patch.n * patch.row_bytes();
  if (is_put) {
    ARMCI_Put(patch.local, patch.remote, bytes, patch.target);
  } else {
    ARMCI_Get(patch.remote, patch.local, bytes, patch.target);
  }
}

struct Kind {
  const char* put_name;
  const char* get_name;
  void (*transfer)(const Patch& patch, bool is_put);
};

constexpr Kind kKinds[] = {{"put strided", "get strided", Strided},
                           {"put vector", "get vector", Vector},
                           {"put n rows", "get n rows", Rows},
                           {"put one piece", "get one piece", Piece}};

CaseLabel Label(const char* name, int n) {
  CaseLabel label = {name, std::to_string(n) + " x " + std::to_string(n), ""};
  label.bytes = static_cast<double>(n) * n * sizeof(double);
  return label;
}

// What is in the patch there after a put is what a get brings back; what is beside it has not changed.
std::string Verify(const Patch& patch, void (*transfer)(const Patch&, bool)) {
  const auto doubles = static_cast<size_t>(patch.n) * static_cast<size_t>(patch.n);
  auto* const local = reinterpret_cast<double*>(patch.local);
  double beside = -1;
  double beside_after = -1;
  char* const next = patch.remote_row(patch.n - 1) + patch.row_bytes();
  ARMCI_Get(next, &beside, sizeof beside, patch.target);
  for (size_t i = 0; i < doubles; ++i) local[i] = static_cast<double>(i % 1000);
  transfer(patch, true);
  ARMCI_Fence(patch.target);
  std::fill_n(local, doubles, -1.0);
  transfer(patch, false);
  ARMCI_Get(next, &beside_after, sizeof beside_after, patch.target);
  std::string fault = beside == beside_after ? "" : "the word behind the patch has changed";
  for (size_t i = 0; i < doubles && fault.empty(); ++i) {
    if (local[i] != static_cast<double>(i % 1000)) fault = "double " + std::to_string(i) + " of the patch differs";
  }
  std::fill_n(local, doubles, 0.0);
  return fault;
}

std::vector<Case> OfSize(const Patch& patch) {
  std::vector<Case> cases;
  for (const Kind& kind : kKinds) {
    const auto put = [=]() -> std::vector<Action> {
      return {Loop("ARMCI", Role::kSubject, [=] {
        kind.transfer(patch, true);
        ARMCI_Fence(patch.target);
      })};
    };
    const auto get = [=]() -> std::vector<Action> {
      return {Loop("ARMCI", Role::kSubject, [=] { kind.transfer(patch, false); })};
    };
    // A piece lies elsewhere than the patch.
    const bool is_patch = kind.transfer != Piece;
    cases.push_back({Label(kind.put_name, patch.n), Crew::kAlone, put,
                     is_patch ? [=] { return Verify(patch, kind.transfer); } : std::function<std::string()>{}});
    cases.push_back({Label(kind.get_name, patch.n), Crew::kAlone, get});
  }
  const auto add = [=]() -> std::vector<Action> {
    return {Loop("ARMCI", Role::kSubject, [=] {
      double one = 1;
      int dense[] = {patch.row_bytes()};
      int spread[] = {kRowBytes};
      int count[] = {patch.row_bytes(), patch.n};
      ARMCI_AccS(ARMCI_ACC_DBL, &one, patch.local, dense, patch.remote, spread, count, 1, patch.target);
      ARMCI_Fence(patch.target);
    })};
  };
  cases.push_back({Label("acc strided", patch.n), Crew::kAlone, add});
  return cases;
}

std::vector<Case> Cases(bool quick, char* local, char* matrix, int target) {
  std::vector<Case> cases;
  for (int n = quick ? 4 : 2; n <= (quick ? kPatchMax / 4 : kPatchMax); n *= quick ? 8 : 2) {
    char* const remote = matrix + static_cast<ptrdiff_t>(kSide / 4) * (kRowBytes + static_cast<int>(sizeof(double)));
    for (Case& one : OfSize({local, remote, n, target})) cases.push_back(std::move(one));
  }
  return cases;
}

}  // namespace
}  // namespace armci::bench

int main(int argc, char** argv) {
  using namespace armci::bench;
  Session session(argc, argv, {"patches", "patches of a matrix, in several ways", 2, /*between_nodes=*/true});
  {
    Region region(session, static_cast<size_t>(kSide) * kRowBytes);
    LocalBuffer local(static_cast<size_t>(kPatchMax) * kPatchMax * sizeof(double));
    std::fill_n(region.on(session.rank()), static_cast<size_t>(kSide) * kRowBytes, char{0});
    std::fill_n(local.data(), static_cast<size_t>(kPatchMax) * kPatchMax * sizeof(double), char{0});
    MPI_Barrier(MPI_COMM_WORLD);
    const int target = session.size() - 1;
    session.Run(Cases(session.options().quick, local.data(), region.on(target), target));
  }
  return session.Finish();
}
