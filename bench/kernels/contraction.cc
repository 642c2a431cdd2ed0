// What does a tensor contraction cost whose tasks and blocks are taken one-sidedly, against one that sends blocks
// round?
//
// C += A B, as in the contractions of coupled-cluster programs, the matrices in panels of rows (see panels.h):
//   ARMCI   a task, one tile of C, is taken from a shared counter by ARMCI_Rmw. Tiles of A and B are fetched by
//           ARMCI_NbGetS, the next two while the last two are multiplied; the result is added by ARMCI_AccS.
//   ARMCI, own rows first
//           a task, one column of tiles in the panel of a process, is taken from the counter of that process: first
//           those of the own panel, then those of others. Tiles of B are fetched, the next one while the last is used.
//           Own tiles are used where they are.
//   MPI     every process makes its panel of C; the panels of B go round a ring, the next one while the last is used.
// Each tile of B is fetched once for a tile of C in the first way. In the second it is fetched once for a process, as
// by messages, and once for each column taken from another. The products of tiles are the same, by dgemm in one thread.
// Elements are small integers, so that C is exact.
//
// Counted for each way: its overlap in percent, (transfers alone + products alone - both) / the shorter of the two,
// with the medians of times on the slowest process. The way runs without its products, and without its transfers.
#include <algorithm>
#include <cstring>
#include <map>
#include <memory>

#include "armci.h"
#include "bench/common/clock.h"
#include "bench/common/statistics.h"
#include "bench/kernels/panels.h"
#include "bench/session/session.h"
#include "cblas-openblas.h"

namespace armci::bench {
namespace {

constexpr int kDouble = static_cast<int>(sizeof(double));

struct Problem {
  Panels a;
  Panels b;
  Panels c;
  int rank;
};

Problem MakeProblem(const Session& session) {
  const bool quick = session.options().quick;
  // No multiples of the tile.
  const long m = quick ? 400 : 1500;
  const long n = quick ? 350 : 1400;
  const long k = quick ? 450 : 1600;
  const long tile = quick ? 64 : 128;
  const int parts = session.size();
  return {{m, k, tile, parts}, {k, n, tile, parts}, {m, n, tile, parts}, session.rank()};
}

double ElementOfA(long row, long column) { return static_cast<double>((row * 7 + column * column) % 17 - 8); }
double ElementOfB(long row, long column) { return static_cast<double>((row * row + column * 5) % 13 - 6); }

template <typename Element>
void Fill(const Panels& panels, int part, Element element, double* panel) {
  for (long row = 0; row < panels.panel_rows(part); ++row) {
    for (long column = 0; column < panels.columns; ++column) {
      panel[row * panels.columns + column] = element(panels.first_row(part) + row, column);
    }
  }
}

// One product of tiles: c = a b + beta c; each `ld` is the distance of rows.
struct Tile {
  double* data;
  long ld;
};

void MultiplyTiles(long m, long n, long k, Tile a, Tile b, double beta, Tile c) {
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<blasint>(m), static_cast<blasint>(n),
              static_cast<blasint>(k), 1, a.data, static_cast<blasint>(a.ld), b.data, static_cast<blasint>(b.ld), beta,
              c.data, static_cast<blasint>(c.ld));
}

enum class Part { kAll, kTransfers, kProducts };

// A way of computing C; after all of it c() is the panel of this process.
class Way {
 public:
  virtual ~Way() = default;
  void Compute(Part part = Part::kAll) {
    part_ = part;
    Execute();
  }
  virtual const double* c() const = 0;

 protected:
  virtual void Execute() = 0;
  bool transfers() const { return part_ != Part::kProducts; }
  void Multiply(long m, long n, long k, Tile a, Tile b, double beta, Tile c) const {
    if (part_ != Part::kTransfers) MultiplyTiles(m, n, k, a, b, beta, c);
  }

 private:
  Part part_ = Part::kAll;
};

class Shared {
 public:
  Shared(const Session& session, const Panels& panels)
      : panels_(panels), region_(session, static_cast<size_t>(panels.largest_panel()) * sizeof(double)) {}

  double* panel(int part) const { return reinterpret_cast<double*>(region_.on(part)); }
  double* tile(long i, long j) const { return panel(panels_.owner(i)) + panels_.offset(i, j); }
  const Panels& panels() const { return panels_; }

 private:
  Panels panels_;
  Region region_;
};

// The matrices in regions, a counter of each process, and four buffers for tiles.
class ArmciWay : public Way {
 public:
  ArmciWay(const Session& session, const Problem& problem, long result_elements)
      : rank_(problem.rank),
        a_(session, problem.a),
        b_(session, problem.b),
        c_(session, problem.c),
        result_(static_cast<size_t>(result_elements) * sizeof(double)),
        counter_(session, sizeof(long)),
        fetched_(TileBytes(problem) * 4) {
    Fill(problem.a, rank_, ElementOfA, a_.panel(rank_));
    Fill(problem.b, rank_, ElementOfB, b_.panel(rank_));
    for (size_t i = 0; i < 4; ++i) tiles_[i] = reinterpret_cast<double*>(fetched_.data() + i * TileBytes(problem));
  }

  const double* c() const override { return c_.panel(rank_); }

 protected:
  // Collective.
  void Reset() {
    std::fill_n(c_.panel(rank_), c_.panels().panel_elements(rank_), 0);
    *reinterpret_cast<long*>(counter_.on(rank_)) = 0;
    ARMCI_Barrier();
  }

  // From the counter of `process`.
  long TakeTask(int process) {
    long task = 0;
    ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &task, counter_.on(process), 1, process);
    return task;
  }

  void Get(const Shared& from, long i, long j, int place) {
    if (!transfers()) return;
    int remote_stride[1] = {static_cast<int>(from.panels().columns) * kDouble};
    int local_stride[1] = {static_cast<int>(from.panels().width(j)) * kDouble};
    int count[2] = {local_stride[0], static_cast<int>(from.panels().height(i))};
    ARMCI_INIT_HANDLE(&handles_[place]);
    ARMCI_NbGetS(from.tile(i, j), remote_stride, tiles_[place], local_stride, count, 1, from.panels().owner(i),
                 &handles_[place]);
  }

  Tile Await(const Shared& from, long j, int place) {
    if (transfers()) ARMCI_Wait(&handles_[place]);
    return {tiles_[place], from.panels().width(j)};
  }

  // Adds the result, which has no gaps, to `rows` rows of C.
  void Add(long i, long j, long rows) {
    if (!transfers()) return;
    double one = 1;
    int remote_stride[1] = {static_cast<int>(c_.panels().columns) * kDouble};
    int local_stride[1] = {static_cast<int>(c_.panels().width(j)) * kDouble};
    int count[2] = {local_stride[0], static_cast<int>(rows)};
    ARMCI_AccS(ARMCI_ACC_DBL, &one, result_.data(), local_stride, c_.tile(i, j), remote_stride, count, 1,
               c_.panels().owner(i));
  }

  double* result() { return reinterpret_cast<double*>(result_.data()); }

  static size_t TileBytes(const Problem& problem) {
    return static_cast<size_t>(problem.c.tile * problem.c.tile) * sizeof(double);
  }

  int rank_;
  Shared a_;
  Shared b_;
  Shared c_;

 private:
  RegisteredBuffer result_;
  Region counter_;
  RegisteredBuffer fetched_;
  double* tiles_[4];
  armci_hdl_t handles_[4];
};

class TilesFromACounter : public ArmciWay {
 public:
  TilesFromACounter(const Session& session, const Problem& problem)
      : ArmciWay(session, problem, problem.c.tile * problem.c.tile) {}

  void Execute() override {
    Reset();
    int buffer = 0;
    Step step = FirstOf(TakeTask(0));
    if (step.task < Tasks()) Begin(step, buffer);
    while (step.task < Tasks()) {
      const bool last = step.k + 1 == b_.panels().row_tiles();
      const Step next = last ? FirstOf(TakeTask(0)) : Step{step.task, step.i, step.j, step.k + 1};
      if (next.task < Tasks()) Begin(next, 1 - buffer);
      MultiplyStep(step, buffer);
      if (last) Add(step.i, step.j, c_.panels().height(step.i));
      step = next;
      buffer = 1 - buffer;
    }
    ARMCI_Barrier();
  }

 private:
  struct Step {
    long task;
    long i;
    long j;
    long k;
  };

  long Tasks() const { return c_.panels().row_tiles() * c_.panels().column_tiles(); }

  Step FirstOf(long task) const {
    return {task, task / c_.panels().column_tiles(), task % c_.panels().column_tiles(), 0};
  }

  void Begin(const Step& step, int buffer) {
    Get(a_, step.i, step.k, 2 * buffer);
    Get(b_, step.k, step.j, 2 * buffer + 1);
  }

  void MultiplyStep(const Step& step, int buffer) {
    const Tile a = Await(a_, step.k, 2 * buffer);
    const Tile b = Await(b_, step.j, 2 * buffer + 1);
    const long n = c_.panels().width(step.j);
    Multiply(c_.panels().height(step.i), n, a_.panels().width(step.k), a, b, step.k == 0 ? 0 : 1, {result(), n});
  }
};

class OwnRowsFirst : public ArmciWay {
 public:
  OwnRowsFirst(const Session& session, const Problem& problem)
      : ArmciWay(session, problem, (problem.c.largest_panel() / problem.c.columns) * problem.c.tile) {}

  void Execute() override {
    Reset();
    const int parts = c_.panels().parts;
    for (int turn = 0; turn < parts; ++turn) {
      const int owner = (rank_ + turn) % parts;
      if (c_.panels().panel_rows(owner) == 0) continue;
      for (long j = TakeTask(owner); j < c_.panels().column_tiles(); j = TakeTask(owner)) MakeColumn(owner, j);
    }
    ARMCI_Barrier();
  }

 private:
  static constexpr int kPlaceOfA = 2;

  // The column j of tiles in the panel of `owner`.
  void MakeColumn(int owner, long j) {
    const long depth = b_.panels().row_tiles();
    const long first = c_.panels().first_tile(owner);
    const long n = c_.panels().width(j);
    Begin(b_, 0, j, 0);
    for (long k = 0; k < depth; ++k) {
      const int place = static_cast<int>(k % 2);
      if (k + 1 < depth) Begin(b_, k + 1, j, 1 - place);
      const Tile b = Take(b_, k, j, place);
      for (long i = first; i < c_.panels().first_tile(owner + 1); ++i) {
        Begin(a_, i, k, kPlaceOfA);
        const Tile a = Take(a_, i, k, kPlaceOfA);
        Multiply(c_.panels().height(i), n, b_.panels().height(k), a, b, k == 0 ? 0 : 1,
                 {result() + (i - first) * c_.panels().tile * n, n});
      }
    }
    Add(first, j, c_.panels().panel_rows(owner));
  }

  bool IsOwn(const Shared& of, long i) const { return of.panels().owner(i) == rank_; }
  void Begin(const Shared& of, long i, long j, int place) {
    if (!IsOwn(of, i)) Get(of, i, j, place);
  }
  Tile Take(const Shared& of, long i, long j, int place) {
    return IsOwn(of, i) ? Tile{of.tile(i, j), of.panels().columns} : Await(of, j, place);
  }
};

class MpiWay : public Way {
 public:
  explicit MpiWay(const Problem& problem)
      : problem_(problem),
        a_(static_cast<size_t>(problem.a.panel_elements(problem.rank))),
        b_(static_cast<size_t>(problem.b.panel_elements(problem.rank))),
        c_(static_cast<size_t>(problem.c.panel_elements(problem.rank))) {
    for (auto& panel : passing_) panel.resize(static_cast<size_t>(problem.b.largest_panel()));
    Fill(problem.a, problem.rank, ElementOfA, a_.data());
    Fill(problem.b, problem.rank, ElementOfB, b_.data());
  }

  const double* c() const override { return c_.data(); }

  void Execute() override {
    std::fill(c_.begin(), c_.end(), 0);
    const int parts = problem_.b.parts;
    const int before = (problem_.rank + parts - 1) % parts;
    const int after = (problem_.rank + 1) % parts;
    double* panel = b_.data();
    for (int step = 0; step < parts; ++step) {
      const int owner = (problem_.rank + step) % parts;
      double* next = passing_[step % 2].data();
      MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
      if (step + 1 < parts && transfers()) {
        const long coming = problem_.b.panel_elements((owner + 1) % parts);
        MPI_Irecv(next, static_cast<int>(coming), MPI_DOUBLE, after, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(panel, static_cast<int>(problem_.b.panel_elements(owner)), MPI_DOUBLE, before, 0, MPI_COMM_WORLD,
                  &requests[1]);
      }
      MultiplyPanel(owner, panel);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      panel = next;
    }
  }

 private:
  // Adds to C what the rows of B in the panel of `owner` give.
  void MultiplyPanel(int owner, double* panel) {
    const Panels& a = problem_.a;
    const Panels& b = problem_.b;
    const Panels& c = problem_.c;
    for (long i = c.first_tile(problem_.rank); i < c.first_tile(problem_.rank + 1); ++i) {
      for (long j = 0; j < c.column_tiles(); ++j) {
        for (long k = b.first_tile(owner); k < b.first_tile(owner + 1); ++k) {
          Multiply(c.height(i), c.width(j), b.height(k), {a_.data() + a.offset(i, k), a.columns},
                   {panel + b.offset(k, j), b.columns}, 1, {c_.data() + c.offset(i, j), c.columns});
        }
      }
    }
  }

  Problem problem_;
  std::vector<double> a_;
  std::vector<double> b_;
  std::vector<double> c_;
  std::vector<double> passing_[2];
};

// The expected result for our rows: by one product, and by sums of rows that use no dgemm, A (B w) = C w.
std::string FaultOf(const Problem& problem, const double* c) {
  const Panels whole_b = {problem.b.rows, problem.b.columns, problem.b.tile, 1};
  std::vector<double> a(static_cast<size_t>(problem.a.panel_elements(problem.rank)));
  std::vector<double> b(static_cast<size_t>(whole_b.panel_elements(0)));
  std::vector<double> expected(static_cast<size_t>(problem.c.panel_elements(problem.rank)));
  Fill(problem.a, problem.rank, ElementOfA, a.data());
  Fill(whole_b, 0, ElementOfB, b.data());
  const long rows = problem.c.panel_rows(problem.rank);
  const long n = problem.c.columns;
  const long depth = problem.b.rows;
  if (rows > 0) MultiplyTiles(rows, n, depth, {a.data(), depth}, {b.data(), n}, 0, {expected.data(), n});
  if (!std::equal(expected.begin(), expected.end(), c)) return "an element is not that of the whole product";
  const auto weight = [](long j) { return static_cast<double>(j % 5 - 2); };
  std::vector<double> weighted(static_cast<size_t>(depth));
  for (long k = 0; k < depth; ++k) {
    for (long j = 0; j < n; ++j) weighted[static_cast<size_t>(k)] += b[static_cast<size_t>(k * n + j)] * weight(j);
  }
  for (long row = 0; row < rows; ++row) {
    double difference = 0;
    for (long k = 0; k < depth; ++k) {
      difference += a[static_cast<size_t>(row * depth + k)] * weighted[static_cast<size_t>(k)];
    }
    for (long j = 0; j < n; ++j) difference -= c[row * n + j] * weight(j);
    if (difference != 0) return "the sum of a row is wrong";
  }
  return "";
}

Case Contraction(const Session& session, const Problem& problem, const char* name, Way* one_sided, Way* messages) {
  const auto actions = [=, &session]() -> std::vector<Action> {
    return {session.Whole("gets, accumulates", Role::kSubject, [=] { one_sided->Compute(); }),
            session.Whole("MPI_Isend, MPI_Irecv", Role::kBaseline, [=] { messages->Compute(); })};
  };
  const auto verify = [=, &problem]() -> std::string {
    for (const auto& [name, way] : {std::pair("gets, accumulates", one_sided), std::pair("messages", messages)}) {
      const std::string fault = FaultOf(problem, way->c());
      if (!fault.empty()) return std::string(name) + ": " + fault;
    }
    return "";
  };
  const std::string size = std::to_string(problem.c.rows) + " x " + std::to_string(problem.c.columns) + " x " +
                           std::to_string(problem.b.rows);
  return WholeCase({name, size, ""}, actions, verify);
}

constexpr int kOverlapRounds = 9;

// Collective. The parts take turns, so that a change of the machine's speed meets all of them.
double OverlapOf(Way* way) {
  std::map<Part, std::vector<double>> times;
  for (int round = 0; round < kOverlapRounds; ++round) {
    for (const Part part : {Part::kAll, Part::kTransfers, Part::kProducts}) {
      MPI_Barrier(MPI_COMM_WORLD);
      const double begun = NowSeconds();
      way->Compute(part);
      double spent = NowSeconds() - begun;
      MPI_Allreduce(MPI_IN_PLACE, &spent, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      times[part].push_back(spent);
    }
  }
  const double transfers = Quantile(times[Part::kTransfers], 0.5);
  const double products = Quantile(times[Part::kProducts], 0.5);
  return 100 * (transfers + products - Quantile(times[Part::kAll], 0.5)) / std::min(transfers, products);
}

void CountOverlap(Session* session, const char* name, Way* way) {
  const CaseLabel label = {std::string(name) + ", overlap in %", "", ""};
  if (session->Wants(label)) session->Count(label, OverlapOf(way));
}

}  // namespace
}  // namespace armci::bench

int main(int argc, char** argv) {
  using namespace armci::bench;
  Session session(argc, argv, {"contraction", "block products taken from a counter", 1, /*between_nodes=*/true});
  openblas_set_num_threads(1);
  const Problem problem = MakeProblem(session);
  {
    TilesFromACounter tiles(session, problem);
    OwnRowsFirst own_rows(session, problem);
    MpiWay messages(problem);
    session.Run({Contraction(session, problem, "contraction", &tiles, &messages),
                 Contraction(session, problem, "contraction, own rows first", &own_rows, &messages)});
    CountOverlap(&session, "contraction", &tiles);
    CountOverlap(&session, "contraction, own rows first", &own_rows);
    CountOverlap(&session, "MPI_Isend, MPI_Irecv", &messages);
  }
  return session.Finish();
}
