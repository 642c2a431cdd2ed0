// What do gets and puts cost a sparse matrix-vector product, against messages that both sides know of?
//
// Rows are distributed by blocks. Each process needs elements of x of others. It fetches them in runs of adjacent ones:
// by one ARMCI_NbGet for each, or the same under an aggregate handle. Or the owner packs them, and pushes them by one
// put and a notification, or sends one message of MPI.
//   SpMV   x' = x0 + A x / |A|, so many times
//   CG     conjugate gradients, so many iterations
// each aggregated against unaggregated, and aggregated and pushed against MPI. BENCH_MATRIX names a file with a matrix
// (see matrix_file.h); without it, the matrix is a plate of finite elements. CG needs a symmetric positive definite
// one.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "bench/kernels/matrix_file.h"
#include "bench/kernels/plate.h"
#include "bench/kernels/vector_exchange.h"
#include "bench/session/session.h"

namespace armci::bench {
namespace {

constexpr long kQuickUnknowns = 5136;
constexpr double kAlike = 1e-8;
constexpr double kAstray = 100;
constexpr double kNothing = 1e-28;  // of the square of the first residual

using Numbers = std::vector<double>;

struct Problem {
  SparseMatrix matrix;
  RowShare share;
  double scale = 1;
  int products = 0;
  int iterations = 0;  // of CG
};

double StartAt(long index) { return 1 + static_cast<double>(index % 7) / 8; }

Numbers OwnStart(const RowShare& share) {
  Numbers start;
  for (long i = 0; i < share.owned(); ++i) start.push_back(StartAt(share.blocks.begin(share.part) + i));
  return start;
}

// The rows of another process come in the same order, and then the results are alike bit by bit.
Numbers SerialProducts(const Problem& problem) {
  const RowShare whole = ShareOf(problem.matrix, 0, 1);
  const Numbers start = OwnStart(whole);
  Numbers x = start;
  Numbers y(x.size());
  for (int i = 0; i < problem.products; ++i) {
    Multiply(problem.matrix, x.data(), y.data());
    for (size_t k = 0; k < x.size(); ++k) x[k] = start[k] + problem.scale * y[k];
  }
  return x;
}

Numbers Products(const Problem& problem, VectorExchange& exchange) {
  const Numbers start = OwnStart(problem.share);
  Numbers y(start.size());
  int now = 0;
  std::copy(start.begin(), start.end(), exchange.vector(now));
  for (int i = 0; i < problem.products; ++i) {
    exchange.Synchronize();
    exchange.Fetch(now);
    Multiply(problem.share.rows, exchange.vector(now), y.data());
    // Others may still read this vector; all have read the other one.
    now = 1 - now;
    double* next = exchange.vector(now);
    for (size_t k = 0; k < y.size(); ++k) next[k] = start[k] + problem.scale * y[k];
  }
  return {exchange.vector(now), exchange.vector(now) + start.size()};
}

double Dot(const double* a, const double* b, size_t length) {
  double sum = 0;
  for (size_t i = 0; i < length; ++i) sum += a[i] * b[i];
  return sum;
}

double DotBackwards(const double* a, const double* b, size_t length) {
  double sum = 0;
  for (size_t i = length; i-- > 0;) sum += a[i] * b[i];
  return sum;
}

struct Solution {
  Numbers x;
  double residual_squared = 0;  // as the iteration has it
  bool definite = true;         // whether the matrix was found positive definite in all directions looked at
};

// Conjugate gradients for A x = b from x = 0, b being StartAt; p is in memory that `multiply` knows.
template <typename Multiplication, typename Product>
Solution Solve(const Numbers& b, int iterations, double* p, Multiplication multiply, Product dot) {
  const size_t length = b.size();
  Solution solution = {Numbers(length, 0)};
  Numbers r = b;
  Numbers q(length);
  std::copy(b.begin(), b.end(), p);
  double rr = dot(r.data(), r.data(), length);
  const double nothing = kNothing * rr;
  for (int i = 0; i < iterations; ++i) {
    multiply(q.data());
    const double pq = dot(p, q.data(), length);
    const bool going_on = rr > nothing;  // else what is left is rounding, and only the work is still done
    if (going_on && pq <= 0) solution.definite = false;
    const double alpha = going_on && pq > 0 ? rr / pq : 0;
    for (size_t k = 0; k < length; ++k) solution.x[k] += alpha * p[k];
    for (size_t k = 0; k < length; ++k) r[k] -= alpha * q[k];
    const double before = rr;
    rr = dot(r.data(), r.data(), length);
    const double beta = before > 0 ? rr / before : 0;
    // That all have fetched p is sure: all have added to the sums since.
    for (size_t k = 0; k < length; ++k) p[k] = r[k] + beta * p[k];
  }
  solution.residual_squared = rr;
  return solution;
}

Solution SolveTogether(const Problem& problem, VectorExchange& exchange) {
  double* p = exchange.vector(0);
  const auto multiply = [&](double* q) {
    exchange.Synchronize();
    exchange.Fetch(0);
    Multiply(problem.share.rows, p, q);
  };
  const auto dot = [](const double* a, const double* b, size_t length) {
    double sum = Dot(a, b, length);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
  };
  return Solve(OwnStart(problem.share), problem.iterations, p, multiply, dot);
}

template <typename Product>
Solution SolveSerially(const Problem& problem, Product dot) {
  const Numbers b = OwnStart(ShareOf(problem.matrix, 0, 1));
  Numbers p(b.size());
  const auto multiply = [&](double* q) { Multiply(problem.matrix, p.data(), q); };
  return Solve(b, problem.iterations, p.data(), multiply, dot);
}

Numbers Gathered(const RowShare& share, const Numbers& mine) {
  Numbers whole(static_cast<size_t>(share.blocks.total));
  std::vector<int> lengths;
  std::vector<int> places;
  for (int part = 0; part < share.blocks.parts; ++part) {
    lengths.push_back(static_cast<int>(share.blocks.size(part)));
    places.push_back(static_cast<int>(share.blocks.begin(part)));
  }
  MPI_Allgatherv(mine.data(), static_cast<int>(mine.size()), MPI_DOUBLE, whole.data(), lengths.data(), places.data(),
                 MPI_DOUBLE, MPI_COMM_WORLD);
  return whole;
}

double Norm(const Numbers& numbers) { return std::sqrt(Dot(numbers.data(), numbers.data(), numbers.size())); }

Numbers Difference(const Numbers& a, const Numbers& b) {
  Numbers difference(a.size());
  for (size_t i = 0; i < a.size(); ++i) difference[i] = a[i] - b[i];
  return difference;
}

// The reference of a solution. Sums in another order differ a little, and a lot for a matrix that
// is nearly singular: as far as two serial solves from each other.
struct Expectation {
  Solution solution;
  double astray = 0;
};

Expectation Expect(const Problem& problem) {
  const Solution forwards = SolveSerially(problem, Dot);
  const Solution backwards = SolveSerially(problem, DotBackwards);
  return {forwards, Norm(Difference(forwards.x, backwards.x))};
}

// Why there is nothing to compare, for a matrix that conjugate gradients are not for; null for others. A solve that
// goes nowhere shows one that is singular.
const char* ObstacleToSolver(const Problem& problem, const Expectation& expected) {
  if (expected.solution.x.empty()) return "the matrix is not symmetric";
  if (!expected.solution.definite) return "the matrix is not positive definite";
  const double start = Norm(OwnStart(ShareOf(problem.matrix, 0, 1)));
  return std::sqrt(expected.solution.residual_squared) < start ? nullptr : "the matrix is too near to a singular one";
}

std::string FaultOfSolution(const Problem& problem, const Solution& together, const Expectation& expected) {
  const Numbers x = Gathered(problem.share, together.x);
  const Numbers& serial = expected.solution.x;
  const double away = Norm(Difference(x, serial));
  const bool near = away <= kAlike * Norm(serial) + kAstray * expected.astray;
  if (!near) return "the solution is not that of the serial solve";
  const Numbers b = OwnStart(ShareOf(problem.matrix, 0, 1));
  Numbers product(x.size());
  Multiply(problem.matrix, x.data(), product.data());
  const double gap = Norm(Difference(b, product)) - std::sqrt(together.residual_squared);
  const bool closed = std::abs(gap) <= kAlike * (Norm(b) + Norm(x) / problem.scale);
  return closed ? "" : "the residual is not b - A x";
}

// A way of fetching, and what the programs gave that used it last.
struct Way {
  const char* name;
  Layer layer;
  std::unique_ptr<VectorExchange> exchange;
  Numbers product = {};
  Solution solution = {};
};

class Kernels {
 public:
  Kernels(const Session& session, const Problem& problem, const Expectation& expected)
      : session_(session), problem_(problem), expected_(expected) {
    const RowShare& share = problem.share;
    aggregated_ = {"aggregated gets", Layer::kLibrary, MakeGetExchange(session, share, true)};
    unaggregated_ = {"ARMCI_NbGet", Layer::kLibrary, MakeGetExchange(session, share, false)};
    pushed_ = {"ARMCI_NbPut, armci_notify", Layer::kLibrary, MakePushExchange(session, share)};
    messages_ = {"MPI_Isend, MPI_Irecv", Layer::kRaw, MakeMpiExchange(share)};
  }

  std::vector<Case> Cases(bool with_solver) {
    const bool with_push = LibraryHas("armci_notify");
    std::vector<Case> cases = {ProductCase("SpMV, aggregated", {&aggregated_, &unaggregated_}),
                               ProductCase("SpMV", {&aggregated_, &messages_, &unaggregated_})};
    if (with_push) cases.push_back(ProductCase("SpMV, pushed", {&pushed_, &messages_}));
    if (with_solver) {
      cases.push_back(SolutionCase("CG, aggregated", {&aggregated_, &unaggregated_}));
      cases.push_back(SolutionCase("CG", {&aggregated_, &messages_, &unaggregated_}));
      if (with_push) cases.push_back(SolutionCase("CG, pushed", {&pushed_, &messages_}));
    }
    return cases;
  }

 private:
  // The first is the subject, the second its baseline.
  using Ways = std::vector<Way*>;

  template <typename Body>
  std::vector<Action> Actions(const Ways& ways, Body body) const {
    std::vector<Action> actions;
    for (Way* way : ways) {
      const Role role = actions.empty() ? Role::kSubject : actions.size() == 1 ? Role::kBaseline : Role::kContext;
      actions.push_back(session_.Whole(way->name, role, [=] { body(*way); }));
      actions.back().layer = way->layer;
    }
    return actions;
  }

  Case MakeCase(const char* name, std::function<std::vector<Action>()> actions,
                std::function<std::string()> verify) const {
    const std::string size = std::to_string(problem_.matrix.rows()) + " rows";
    return WholeCase({name, size, ""}, std::move(actions), std::move(verify));
  }

  Case ProductCase(const char* name, const Ways& ways) {
    const auto actions = [=, this] {
      return Actions(ways, [this](Way& way) { way.product = Products(problem_, *way.exchange); });
    };
    const auto verify = [=, this]() -> std::string {
      if (serial_product_.empty()) serial_product_ = SerialProducts(problem_);
      const Numbers expected(serial_product_.begin() + problem_.share.blocks.begin(session_.rank()),
                             serial_product_.begin() + problem_.share.blocks.begin(session_.rank() + 1));
      for (const Way* way : ways) {
        if (way->product != expected) return std::string(way->name) + ": not the product that is computed serially";
      }
      return "";
    };
    return MakeCase(name, actions, verify);
  }

  Case SolutionCase(const char* name, const Ways& ways) {
    const auto actions = [=, this] {
      return Actions(ways, [this](Way& way) { way.solution = SolveTogether(problem_, *way.exchange); });
    };
    const auto verify = [=, this]() -> std::string {
      std::string fault;
      for (const Way* way : ways) {
        // All ways on all processes, as the call is collective.
        const std::string one = FaultOfSolution(problem_, way->solution, expected_);
        if (!one.empty()) fault = std::string(way->name) + ": " + one;
      }
      return fault;
    };
    return MakeCase(name, actions, verify);
  }

  const Session& session_;
  const Problem& problem_;
  const Expectation& expected_;
  Way aggregated_;
  Way unaggregated_;
  Way pushed_;
  Way messages_;
  Numbers serial_product_;
};

template <typename T>
void Spread(std::vector<T>* values, MPI_Datatype type) {
  auto length = static_cast<long>(values->size());
  MPI_Bcast(&length, 1, MPI_LONG, 0, MPI_COMM_WORLD);
  values->resize(static_cast<size_t>(length));
  Require(length <= 0x7fffffff, "a broadcast of so many entries");
  MPI_Bcast(values->data(), static_cast<int>(length), type, 0, MPI_COMM_WORLD);
}

// Rank 0 alone needs the file, and says what is wrong with it. False everywhere then.
bool ReadTogether(const Session& session, const char* path, SparseMatrix* matrix) {
  const std::string fault = session.root() ? ReadMatrix(path, matrix) : "";
  int good = fault.empty() ? 1 : 0;
  if (good == 0) std::fprintf(stderr, "bench: %s\n", fault.c_str());
  MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (good == 0) return false;
  MPI_Bcast(&matrix->columns, 1, MPI_LONG, 0, MPI_COMM_WORLD);
  Spread(&matrix->row_begin, MPI_LONG);
  Spread(&matrix->column, MPI_INT);
  Spread(&matrix->value, MPI_DOUBLE);
  return true;
}

bool MakeProblem(Session& session, Problem* problem) {
  const bool quick = session.options().quick;
  const char* path = std::getenv("BENCH_MATRIX");
  if (path != nullptr) {
    if (!ReadTogether(session, path, &problem->matrix)) return false;
  } else {
    problem->matrix = MakePlate({quick ? kQuickUnknowns : Plate().unknowns});
  }
  problem->share = ShareOf(problem->matrix, session.rank(), session.size());
  const double norm = RowSumNorm(problem->matrix);
  problem->scale = norm > 0 ? 1 / norm : 0;
  problem->products = quick ? 100 : 300;
  problem->iterations = quick ? 50 : 100;
  session.Note("matrix", path != nullptr ? path : "a plate of finite elements");
  session.Note("entries", std::to_string(problem->matrix.entries()));
  session.Note("runs of adjacent elements fetched by rank 0", std::to_string(problem->share.stretches.size()));
  return true;
}

}  // namespace
}  // namespace armci::bench

int main(int argc, char** argv) {
  using namespace armci::bench;
  Session session(argc, argv, {"spmv", "sparse products and conjugate gradients", 1, /*between_nodes=*/true});
  Problem problem;
  if (!MakeProblem(session, &problem)) return 1;
  const Expectation expected = IsSymmetric(problem.matrix) ? Expect(problem) : Expectation();
  const char* obstacle = ObstacleToSolver(problem, expected);
  if (obstacle != nullptr && session.root()) std::printf("spmv: %s: without conjugate gradients\n", obstacle);
  {
    Kernels kernels(session, problem, expected);
    session.Run(kernels.Cases(obstacle == nullptr));
  }
  return session.Finish();
}
