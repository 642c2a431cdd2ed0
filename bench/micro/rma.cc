// What does ARMCI cost against the raw one-sided calls of MPI, with the same completion?
//
// Cases, to and from rank 1, which is inside MPI_Recv unless --target-sleeps is given:
//   put, accumulate      8 B to 4 MiB; ready when the local buffer may be used; the baseline is MPI_Put or
//                        MPI_Accumulate with MPI_Win_flush_local. ARMCI orders blocking puts to one process, MPI does
//                        not; what the next put may not overtake costs MPI_Win_flush.
//   nb put + wait        as put, and unordered as MPI has it
//   the same + fence     ready when the target has the data: MPI_Win_flush
//   get                  MPI_Get with MPI_Win_flush_local, or MPI_Win_flush where the local one is not enough
//   fetch-and-add        int and long, against MPI_Fetch_and_op with MPI_Win_flush
//
// Other ways of MPI are measured as context, and written to the JSON file: a put that the next one may not overtake, by
// MPI_Win_flush or as an accumulate with MPI_REPLACE; a get as an accumulate with MPI_NO_OP.
//
// Operations that a sample left pending are completed before the next one, outside of the time.
#include <algorithm>

#include "armci.h"
#include "bench/baseline/mpi_window.h"
#include "bench/common/report.h"
#include "bench/session/session.h"

namespace armci::bench {
namespace {

constexpr int kTarget = 1;
constexpr size_t kLargest = size_t{4} << 20;
constexpr double kSample = 1e-3;

// Two private buffers of doubles and the memory of rank 1. The raw calls go to windows of the same size, one for the
// baseline and one for the other ways: memory that is visited more often is nearer to the core.
struct Sides {
  double* local;
  double* result;
  char* remote;
  const MpiWindow* window;
  const MpiWindow* others;
};

struct Operation {
  const char* name;
  Kind kind;
  bool nonblocking;
  bool fence;
  const char* subject;
  const char* raw;
};

constexpr Operation kOperations[] = {
    {"put", Kind::kPut, false, false, "ARMCI_Put", "MPI_Put"},
    {"nb put + wait", Kind::kPut, true, false, "ARMCI_NbPut, ARMCI_Wait", "MPI_Put"},
    {"put + fence", Kind::kPut, false, true, "ARMCI_Put, ARMCI_Fence", "MPI_Put, flush"},
    {"get", Kind::kGet, false, false, "ARMCI_Get", "MPI_Get"},
    {"accumulate", Kind::kAccumulate, false, false, "ARMCI_Acc", "MPI_Accumulate"},
    {"accumulate + fence", Kind::kAccumulate, false, true, "ARMCI_Acc, ARMCI_Fence", "MPI_Accumulate, flush"},
};

template <typename Body, typename Drain>
Action Drained(const char* name, Role role, Body body, Drain drain) {
  return {name, role, [body, drain](long iterations) {
            const double start = NowSeconds();
            for (long i = 0; i < iterations; ++i) body();
            const double seconds = NowSeconds() - start;
            drain();
            return seconds;
          }};
}

void Call(Kind kind, const Sides& at, int bytes) {
  double one = 1;
  switch (kind) {
    case Kind::kPut:
      ARMCI_Put(at.local, at.remote, bytes, kTarget);
      break;
    case Kind::kGet:
      ARMCI_Get(at.remote, at.result, bytes, kTarget);
      break;
    case Kind::kAccumulate:
      ARMCI_Acc(ARMCI_ACC_DBL, &one, at.local, at.remote, bytes, kTarget);
      break;
  }
}

void PutAndWait(const Sides& at, int bytes) {
  armci_hdl_t handle;
  ARMCI_INIT_HANDLE(&handle);
  ARMCI_NbPut(at.local, at.remote, bytes, kTarget, &handle);
  ARMCI_Wait(&handle);
}

Action Subject(const Operation& operation, const Sides& at, int bytes) {
  const Kind kind = operation.kind;
  const auto drain = [] { ARMCI_Fence(kTarget); };
  if (operation.nonblocking) {
    return Drained(
        operation.subject, Role::kSubject, [=] { PutAndWait(at, bytes); }, drain);
  }
  if (!operation.fence) {
    return Drained(
        operation.subject, Role::kSubject, [=] { Call(kind, at, bytes); }, drain);
  }
  return Loop(operation.subject, Role::kSubject, [=] {
    Call(kind, at, bytes);
    ARMCI_Fence(kTarget);
  });
}

Action Raw(const char* name, Role role, Kind kind, bool flush, const Sides& at, int bytes) {
  const MpiWindow* window = role == Role::kBaseline ? at.window : at.others;
  void* local = kind == Kind::kGet ? at.result : at.local;
  const Layout side = kind == Kind::kAccumulate ? Layout{bytes / static_cast<int>(sizeof(double)), MPI_DOUBLE}
                                                : Layout{bytes, MPI_BYTE};
  const auto drain = [=] { window->Flush(); };
  if (!flush) {
    const auto body = [=] {
      window->Start(kind, local, side, 0, side);
      window->CompleteLocally(kind);
    };
    return Drained(name, role, body, drain);
  }
  return Loop(name, role, [=] {
    window->Start(kind, local, side, 0, side);
    window->Flush();
  });
}

// Whole doubles, as accumulates take them to be atomic.
void AddOtherWays(Kind kind, const Sides& at, int bytes, std::vector<Action>* all) {
  const MpiWindow* window = at.others;
  double* result = at.result;
  const double* local = at.local;
  const Layout side = {bytes / static_cast<int>(sizeof(double)), MPI_DOUBLE};
  const auto add = [&](const char* name, auto body) { all->push_back(Loop(name, Role::kContext, body)); };
  if (kind == Kind::kPut) {
    all->push_back(Raw("MPI_Put, flush", Role::kContext, kind, true, at, bytes));
    add("MPI_Accumulate, MPI_REPLACE", [=] { window->PutByAccumulate(local, side); });
  } else if (kind == Kind::kGet) {
    add("MPI_Get_accumulate, MPI_NO_OP", [=] { window->GetByAccumulate(result, side); });
  }
}

// From a target of zeros, by two operations.
std::string Verify(const Operation& operation, const Sides& at, int bytes) {
  const Kind kind = operation.kind;
  const auto operate = [&] { operation.nonblocking ? PutAndWait(at, bytes) : Call(kind, at, bytes); };
  const size_t count = static_cast<size_t>(bytes) / sizeof(double);
  std::fill_n(at.result, count, 0.0);
  ARMCI_Put(kind == Kind::kGet ? at.local : at.result, at.remote, bytes, kTarget);
  ARMCI_Fence(kTarget);
  operate();
  operate();
  ARMCI_Fence(kTarget);
  if (kind != Kind::kGet) ARMCI_Get(at.remote, at.result, bytes, kTarget);
  const double times = kind == Kind::kAccumulate ? 2 : 1;
  for (size_t i = 0; i < count; ++i) {
    if (at.result[i] != times * at.local[i]) return "element " + std::to_string(i) + " differs";
  }
  return "";
}

Case Transfer(const Operation& operation, const Sides& at, size_t size) {
  const int bytes = static_cast<int>(size);
  const auto actions = [=, &operation] {
    std::vector<Action> all = {Subject(operation, at, bytes)};
    all.push_back(Raw(operation.raw, Role::kBaseline, operation.kind, operation.fence, at, bytes));
    if (!operation.fence && !operation.nonblocking) AddOtherWays(operation.kind, at, bytes, &all);
    return all;
  };
  return {{operation.name, FormatBytes(size), "rma_transfer"},
          Crew::kServed,
          actions,
          [=, &operation] { return Verify(operation, at, bytes); },
          kSample};
}

template <typename Integer>
Case FetchAdd(const char* name, int operation, MPI_Datatype type, const Sides& at) {
  auto* location = reinterpret_cast<Integer*>(at.remote);
  const MpiWindow* window = at.window;
  const auto add = [=](Integer value) {
    Integer before = 0;
    ARMCI_Rmw(operation, &before, location, static_cast<int>(value), kTarget);
    return before;
  };
  const auto actions = [=]() -> std::vector<Action> {
    return {
        Loop("ARMCI_Rmw", Role::kSubject, [=] { add(1); }),
        Loop("MPI_Fetch_and_op, flush", Role::kBaseline, [=] { window->FetchAdd(type, 0, Integer{1}); }),
    };
  };
  const auto verify = [=]() -> std::string {
    const Integer before = add(5);
    return add(0) == before + 5 ? "" : "fetch-and-add lost its value";
  };
  return {{name, FormatBytes(sizeof(Integer)), "rma_fetch_add"}, Crew::kServed, actions, verify, kSample};
}

std::vector<Case> Cases(bool quick, const Sides& at) {
  std::vector<Case> cases;
  for (const Operation& operation : kOperations) {
    for (size_t bytes = 8; bytes <= kLargest; bytes *= quick ? 64 : 8) cases.push_back(Transfer(operation, at, bytes));
    if (!quick) cases.push_back(Transfer(operation, at, kLargest));
  }
  cases.push_back(FetchAdd<int>("fetch-and-add int", ARMCI_FETCH_AND_ADD, MPI_INT, at));
  cases.push_back(FetchAdd<long>("fetch-and-add long", ARMCI_FETCH_AND_ADD_LONG, MPI_LONG, at));
  return cases;
}

}  // namespace
}  // namespace armci::bench

int main(int argc, char** argv) {
  using namespace armci::bench;
  Session session(argc, argv, {"rma", "transfers against the raw one-sided calls of MPI", 2, /*between_nodes=*/true});
  {
    Region region(session, kLargest);
    MpiWindow window(MPI_COMM_WORLD, kLargest, kTarget);
    MpiWindow others(MPI_COMM_WORLD, kLargest, kTarget);
    LocalBuffer local(kLargest);
    LocalBuffer result(kLargest);
    auto* numbers = reinterpret_cast<double*>(local.data());
    for (size_t i = 0; i < kLargest / sizeof(double); ++i) numbers[i] = static_cast<double>(i % 1000 + 1);
    std::fill_n(region.on(session.rank()), kLargest, char{0});
    ARMCI_Barrier();
    session.Run(Cases(session.options().quick,
                      {numbers, reinterpret_cast<double*>(result.data()), region.on(kTarget), &window, &others}));
  }
  return session.Finish();
}
