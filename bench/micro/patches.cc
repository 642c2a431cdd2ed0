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
#include "bench/common/verification.h"
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
  // Filled for each transfer; a program that minds its time keeps the memory of its lists.
  static std::vector<void*> here;
  static std::vector<void*> there;
  here.clear();
  there.clear();
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

void Accumulate(const Patch& patch) {
  double one = 1;
  int dense[] = {patch.row_bytes()};
  int spread[] = {kRowBytes};
  int count[] = {patch.row_bytes(), patch.n};
  ARMCI_AccS(ARMCI_ACC_DBL, &one, patch.local, dense, patch.remote, spread, count, 1, patch.target);
}

using Transfer = void (*)(const Patch& patch, bool is_put);

struct Kind {
  const char* put_name;
  const char* get_name;
  Transfer transfer;
  Transfer other;  // a way to check the result
};

constexpr Kind kKinds[] = {{"put strided", "get strided", Strided, Vector},
                           {"put vector", "get vector", Vector, Strided},
                           {"put n rows", "get n rows", Rows, Strided},
                           {"put one piece", "get one piece", Piece, Piece}};

CaseLabel Label(const char* name, int n) {
  CaseLabel label = {name, std::to_string(n) + " x " + std::to_string(n), ""};
  label.bytes = static_cast<double>(n) * n * sizeof(double);
  return label;
}

// The patch there, reached in another way than the one in question.
Mirror MirrorBy(const Patch& patch, Transfer other) {
  const auto store = [=] {
    other(patch, true);
    ARMCI_Fence(patch.target);
  };
  const auto load = [=] {
    ARMCI_Fence(patch.target);
    other(patch, false);
  };
  return {reinterpret_cast<double*>(patch.local), static_cast<size_t>(patch.n) * static_cast<size_t>(patch.n), store,
          load};
}

// The words behind the rows of the patch, which no process of this benchmark owns.
std::vector<double> Beside(const Patch& patch) {
  std::vector<double> words(static_cast<size_t>(patch.n));
  int dense[] = {sizeof(double)};
  int spread[] = {kRowBytes};
  int count[] = {sizeof(double), patch.n};
  ARMCI_GetS(patch.remote + patch.row_bytes(), spread, words.data(), dense, count, 1, patch.target);
  return words;
}

using Verifier = std::string (*)(const Mirror& mirror, const std::function<void()>& transfer);

// A piece lies over what is beside a patch.
Case Of(const CaseLabel& label, const Patch& patch, Transfer other, Verifier verifier,
        const std::function<void()>& perform) {
  const auto verify = [=] {
    const std::vector<double> before = Beside(patch);
    const std::string fault = verifier(MirrorBy(patch, other), perform);
    if (!fault.empty() || other == Piece || Beside(patch) == before) return fault;
    return std::string("a word behind the patch has changed");
  };
  return {label, Crew::kAlone, [=]() -> std::vector<Action> { return {Loop("ARMCI", Role::kSubject, perform)}; },
          verify};
}

std::vector<Case> OfSize(const Patch& patch) {
  std::vector<Case> cases;
  for (const Kind& kind : kKinds) {
    cases.push_back(Of(Label(kind.put_name, patch.n), patch, kind.other, VerifyPut, [=] {
      kind.transfer(patch, true);
      ARMCI_Fence(patch.target);
    }));
    cases.push_back(
        Of(Label(kind.get_name, patch.n), patch, kind.other, VerifyGet, [=] { kind.transfer(patch, false); }));
  }
  cases.push_back(Of(Label("acc strided", patch.n), patch, Strided, VerifyAccumulate, [=] {
    Accumulate(patch);
    ARMCI_Fence(patch.target);
  }));
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
