// What do strided and vector transfers cost, against the better of MPI's datatypes and one call of MPI per segment?
//
// Cases, between dense rows here and rows three times as far apart in rank 1, which is inside MPI_Recv unless
// --target-sleeps is given:
//   put, get, acc strided   16, 128 and 1024 rows of 64 B, 1 KiB and 8 KiB
//   put, get, acc vector    16, 128 and 1024 segments of 64 B and 1 KiB, here twice as far apart as they are long
//
// The baselines: one MPI_Put, MPI_Get or MPI_Accumulate with a vector or an indexed datatype, made beforehand; and one
// of them per segment; each completed once. Datatypes that give wrong data are no baseline; stderr names them.
#include <cstring>

#include "armci.h"
#include "bench/baseline/mpi_window.h"
#include "bench/common/report.h"
#include "bench/session/session.h"

namespace armci::bench {
namespace {

constexpr int kTarget = 1;
constexpr int kLocalSpread = 2;  // of vectors
constexpr int kSpread = 3;       // remote
constexpr size_t kRowsMost = 1024;
constexpr size_t kRowLargest = 8192;
constexpr size_t kRegionBytes = kRowsMost * kRowLargest * kSpread;
constexpr size_t kLocalBytes = kRowsMost * kRowLargest;
constexpr double kSample = 1e-3;

// Two private buffers of doubles and the memory of rank 1. The raw calls go to windows of the same size, one for each
// way: memory that is visited more often is nearer to the core.
struct Sides {
  char* local;
  char* result;
  char* remote;
  const MpiWindow* window;
};

// Where the rows lie; a vector is the same to ARMCI's vector calls, with rows apart here as well.
struct Shape {
  Kind kind;
  bool vector;
  int rows;
  int row;

  int here(int i) const { return i * row * (vector ? kLocalSpread : 1); }
  int there(int i) const { return i * row * kSpread; }
  size_t local_bytes() const { return static_cast<size_t>(here(rows)); }
  size_t remote_bytes() const { return static_cast<size_t>(there(rows)); }
  int elements(int bytes) const { return kind == Kind::kAccumulate ? bytes / static_cast<int>(sizeof(double)) : bytes; }
  MPI_Datatype element() const { return kind == Kind::kAccumulate ? MPI_DOUBLE : MPI_BYTE; }
};

char* LocalOf(const Shape& shape, const Sides& at) { return shape.kind == Kind::kGet ? at.result : at.local; }

// --- ARMCI ---

void CallStrided(const Shape& shape, const Sides& at) {
  int count[2] = {shape.row, shape.rows};
  int dense[1] = {shape.row};
  int spread[1] = {kSpread * shape.row};
  double one = 1;
  switch (shape.kind) {
    case Kind::kPut:
      ARMCI_PutS(at.local, dense, at.remote, spread, count, 1, kTarget);
      break;
    case Kind::kGet:
      ARMCI_GetS(at.remote, spread, at.result, dense, count, 1, kTarget);
      break;
    case Kind::kAccumulate:
      ARMCI_AccS(ARMCI_ACC_DBL, &one, at.local, dense, at.remote, spread, count, 1, kTarget);
      break;
  }
}

struct Pointers {
  std::vector<void*> local;
  std::vector<void*> remote;
};

Pointers PointersOf(const Shape& shape, const Sides& at) {
  Pointers to;
  for (int i = 0; i < shape.rows; ++i) {
    to.local.push_back(LocalOf(shape, at) + shape.here(i));
    to.remote.push_back(at.remote + shape.there(i));
  }
  return to;
}

void CallVector(const Shape& shape, Pointers& to) {
  const bool get = shape.kind == Kind::kGet;
  armci_giov_t vector = {};
  vector.src_ptr_array = get ? to.remote.data() : to.local.data();
  vector.dst_ptr_array = get ? to.local.data() : to.remote.data();
  vector.bytes = shape.row;
  vector.ptr_array_len = shape.rows;
  double one = 1;
  switch (shape.kind) {
    case Kind::kPut:
      ARMCI_PutV(&vector, 1, kTarget);
      break;
    case Kind::kGet:
      ARMCI_GetV(&vector, 1, kTarget);
      break;
    case Kind::kAccumulate:
      ARMCI_AccV(ARMCI_ACC_DBL, &one, &vector, 1, kTarget);
      break;
  }
}

const char* SubjectName(const Shape& shape) {
  if (shape.vector) {
    return shape.kind == Kind::kPut ? "ARMCI_PutV" : shape.kind == Kind::kGet ? "ARMCI_GetV" : "ARMCI_AccV";
  }
  return shape.kind == Kind::kPut ? "ARMCI_PutS" : shape.kind == Kind::kGet ? "ARMCI_GetS" : "ARMCI_AccS";
}

Action Subject(const Shape& shape, const Sides& at) {
  return {SubjectName(shape), Role::kSubject, [=, to = PointersOf(shape, at)](long iterations) mutable {
            const double start = NowSeconds();
            for (long i = 0; i < iterations; ++i) {
              if (shape.vector) {
                CallVector(shape, to);
              } else {
                CallStrided(shape, at);
              }
            }
            const double seconds = NowSeconds() - start;
            ARMCI_Fence(kTarget);
            return seconds;
          }};
}

// --- MPI ---

// Lives until MPI ends: a case uses it as long as it is measured.
MPI_Datatype SpreadType(const Shape& shape, int stride) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  const int length = shape.elements(shape.row);
  if (shape.vector) {
    std::vector<int> lengths(static_cast<size_t>(shape.rows), length);
    std::vector<MPI_Aint> places;
    for (int i = 0; i < shape.rows; ++i) places.push_back(MPI_Aint{i} * stride);
    MPI_Type_create_hindexed(shape.rows, lengths.data(), places.data(), shape.element(), &type);
  } else {
    MPI_Type_vector(shape.rows, length, shape.elements(stride), shape.element(), &type);
  }
  MPI_Type_commit(&type);
  return type;
}

using Issue = std::function<void()>;

Issue ByDatatypes(const Shape& shape, const Sides& at) {
  const Layout dense = {shape.elements(shape.rows * shape.row), shape.element()};
  const Layout here = shape.vector ? Layout{1, SpreadType(shape, kLocalSpread * shape.row)} : dense;
  const Layout there = {1, SpreadType(shape, kSpread * shape.row)};
  return [=] { at.window->Start(shape.kind, LocalOf(shape, at), here, 0, there); };
}

Issue BySegments(const Shape& shape, const Sides& at) {
  const Layout row = {shape.elements(shape.row), shape.element()};
  return [=] {
    char* local = LocalOf(shape, at);
    for (int i = 0; i < shape.rows; ++i) {
      at.window->Start(shape.kind, local + shape.here(i), row, shape.there(i), row);
    }
  };
}

Action Raw(const char* name, const Shape& shape, const Sides& at, const Issue& issue) {
  return {name, Role::kBaseline, [=](long iterations) {
            const double start = NowSeconds();
            for (long i = 0; i < iterations; ++i) {
              issue();
              at.window->CompleteLocally(shape.kind);
            }
            const double seconds = NowSeconds() - start;
            at.window->Flush();
            return seconds;
          }};
}

// --- Whether the data is right ---

// The steps of a side: contiguous transfers to prepare and to check, which have tests of their own, and the operation.
struct Way {
  std::function<void(void* local, size_t bytes)> put;
  std::function<void(void* local, size_t bytes)> get;
  std::function<void()> operate;
};

// The rows of `at.local`, `times` over, where they belong here or there, and zeros in between.
std::vector<double> Expected(const Shape& shape, const Sides& at, bool there, double times) {
  std::vector<double> all((there ? shape.remote_bytes() : shape.local_bytes()) / sizeof(double), 0.0);
  const int numbers = shape.row / static_cast<int>(sizeof(double));
  for (int i = 0; i < shape.rows; ++i) {
    const auto* from = reinterpret_cast<const double*>(at.local + shape.here(i));
    double* to = all.data() + static_cast<size_t>(there ? shape.there(i) : shape.here(i)) / sizeof(double);
    for (int j = 0; j < numbers; ++j) to[j] = times * from[j];
  }
  return all;
}

// From zeros, by two operations, of which only accumulate tells the second. Looks into the gaps as well.
std::string Fault(const Shape& shape, const Sides& at, const Way& way) {
  const bool get = shape.kind == Kind::kGet;
  std::vector<double> remote = Expected(shape, at, true, get ? 1 : 0);
  std::memset(at.result, 0, shape.local_bytes());
  way.put(remote.data(), shape.remote_bytes());
  way.operate();
  way.operate();
  if (!get) way.get(remote.data(), shape.remote_bytes());
  const std::vector<double> right = Expected(shape, at, !get, shape.kind == Kind::kAccumulate ? 2 : 1);
  const double* made = get ? reinterpret_cast<const double*>(at.result) : remote.data();
  for (size_t i = 0; i < right.size(); ++i) {
    if (made[i] != right[i]) return "byte " + std::to_string(i * sizeof(double)) + " differs";
  }
  return "";
}

Way RawWay(const Shape& shape, const Sides& at, const Issue& issue) {
  const MpiWindow* window = at.window;
  const auto contiguous = [=](Kind kind) {
    return [=](void* local, size_t bytes) {
      const Layout all = {static_cast<int>(bytes), MPI_BYTE};
      window->Start(kind, local, all, 0, all);
      window->Flush();
    };
  };
  return {contiguous(Kind::kPut), contiguous(Kind::kGet), [=] {
            issue();
            window->CompleteLocally(shape.kind);
            window->Flush();
          }};
}

Way ArmciWay(const Shape& shape, const Sides& at) {
  const auto put = [=](void* local, size_t bytes) {
    ARMCI_Put(local, at.remote, static_cast<int>(bytes), kTarget);
    ARMCI_Fence(kTarget);
  };
  const auto get = [=](void* local, size_t bytes) { ARMCI_Get(at.remote, local, static_cast<int>(bytes), kTarget); };
  return {put, get, [=] { Subject(shape, at).seconds_for(1); }};
}

// --- Cases ---

std::vector<Action> Actions(const Shape& shape, const Sides& at, const Sides& at_segments) {
  std::vector<Action> all = {Subject(shape, at)};
  const Issue datatypes = ByDatatypes(shape, at);
  const std::string fault = Fault(shape, at, RawWay(shape, at, datatypes));
  if (fault.empty()) {
    all.push_back(Raw(shape.vector ? "indexed type" : "vector type", shape, at, datatypes));
  } else {
    std::fprintf(stderr, "bench: MPI's datatypes give wrong data and are no baseline here (%s)\n", fault.c_str());
  }
  all.push_back(Raw("segments", shape, at_segments, BySegments(shape, at_segments)));
  return all;
}

Case Transfer(const Shape& shape, const Sides& at, const Sides& at_segments) {
  const std::string kind = shape.kind == Kind::kPut ? "put" : shape.kind == Kind::kGet ? "get" : "acc";
  return {{kind + (shape.vector ? " vector" : " strided"),
           std::to_string(shape.rows) + " x " + FormatBytes(static_cast<size_t>(shape.row)), "rma_shape"},
          Crew::kServed,
          [=] { return Actions(shape, at, at_segments); },
          [=] { return Fault(shape, at, ArmciWay(shape, at)); },
          kSample};
}

std::vector<Case> Cases(bool quick, const Sides& at, const Sides& at_segments) {
  std::vector<Case> cases;
  for (bool vector : {false, true}) {
    for (Kind kind : {Kind::kPut, Kind::kGet, Kind::kAccumulate}) {
      for (int rows : {16, 128, 1024}) {
        for (int row : {64, 1024, 8192}) {
          if ((vector && row == 8192) || (quick && (rows == 128 || row == 8192))) continue;
          cases.push_back(Transfer({kind, vector, rows, row}, at, at_segments));
        }
      }
    }
  }
  return cases;
}

}  // namespace
}  // namespace armci::bench

int main(int argc, char** argv) {
  using namespace armci::bench;
  Session session(argc, argv,
                  {"rma_shapes", "strided and vector transfers against the raw one-sided calls of MPI", 2,
                   /*between_nodes=*/true});
  {
    Region region(session, kRegionBytes);
    MpiWindow window(MPI_COMM_WORLD, kRegionBytes, kTarget);
    MpiWindow window_of_segments(MPI_COMM_WORLD, kRegionBytes, kTarget);
    LocalBuffer local(kLocalBytes);
    LocalBuffer result(kLocalBytes);
    auto* numbers = reinterpret_cast<double*>(local.data());
    for (size_t i = 0; i < kLocalBytes / sizeof(double); ++i) numbers[i] = static_cast<double>(i % 1000 + 1);
    std::memset(region.on(session.rank()), 0, kRegionBytes);
    ARMCI_Barrier();
    const Sides at = {local.data(), result.data(), region.on(kTarget), &window};
    Sides at_segments = at;
    at_segments.window = &window_of_segments;
    session.Run(Cases(session.options().quick, at, at_segments));
  }
  return session.Finish();
}
