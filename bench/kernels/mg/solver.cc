#include "bench/kernels/mg/solver.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bench/kernels/mg/stencil.h"

namespace armci::bench::mg {
namespace {

// Those of all processes.
std::vector<Candidate> Gather(MPI_Comm comm, const std::vector<Candidate>& mine) {
  int processes = 1;
  MPI_Comm_size(comm, &processes);
  std::vector<Candidate> all(static_cast<size_t>(processes) * kChargesOfASign);
  std::vector<int> bytes(static_cast<size_t>(processes));
  std::vector<int> begins(static_cast<size_t>(processes));
  const int own = static_cast<int>(mine.size() * sizeof(Candidate));
  MPI_Allgather(&own, 1, MPI_INT, bytes.data(), 1, MPI_INT, comm);
  int total = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    begins[i] = total;
    total += bytes[i];
  }
  MPI_Allgatherv(mine.data(), own, MPI_BYTE, all.data(), bytes.data(), begins.data(), MPI_BYTE, comm);
  all.resize(static_cast<size_t>(total) / sizeof(Candidate));
  return all;
}

}  // namespace

std::vector<double> MakeCharges(MPI_Comm comm, const Problem& problem, const Decomposition& parts) {
  const Extent box = parts.Box(problem.level);
  const std::array<int, 3> origin = parts.Origin(problem.level);
  const int side = 1 << problem.level;
  const Extremes mine = FindExtremes(box, origin, side);
  Extremes all;
  all.Merge({Gather(comm, mine.largest), Gather(comm, mine.smallest)});
  std::vector<double> v(box.points());
  SetCharges(box, origin, side, all, v.data());
  return v;
}

Solver::Solver(MPI_Comm comm, const Problem& problem, const Levels& levels,
               std::shared_ptr<const std::vector<double>> v, std::unique_ptr<Ghosts> ghosts)
    : comm_(comm), problem_(problem), levels_(levels), v_(std::move(v)), ghosts_(std::move(ghosts)) {}

void Solver::Solve() {
  const int finest = levels_.finest();
  std::fill_n(U(finest), levels_.box(finest).points(), 0.0);
  FindResidual();
  for (int i = 0; i < problem_.cycles; ++i) {
    Cycle();
    FindResidual();
  }
  norm_ = Norm();
}

void Solver::FindResidual() {
  const int finest = levels_.finest();
  Residual(levels_.box(finest), U(finest), v_->data(), R(finest));
  ExchangeR(finest);
}

void Solver::Cycle() {
  const int finest = levels_.finest();
  for (int level = finest - 1; level >= 1; --level) {
    Restrict(levels_.box(level), R(level + 1), levels_.box(level + 1), R(level));
    ExchangeR(level);
  }
  Smooth(levels_.box(1), problem_.smoother, R(1), Store::kSet, U(1));
  ExchangeU(1);
  for (int level = 2; level <= finest; ++level) {
    const Extent& box = levels_.box(level);
    const bool is_finest = level == finest;
    Prolong(levels_.box(level - 1), U(level - 1), box, is_finest ? Store::kAdd : Store::kSet, U(level));
    if (is_finest) {
      FindResidual();
    } else {
      Residual(box, U(level), R(level), R(level));
      ExchangeR(level);
    }
    Smooth(box, problem_.smoother, R(level), Store::kAdd, U(level));
    ExchangeU(level);
  }
}

double Solver::Norm() const {
  const int finest = levels_.finest();
  double sum = SumOfSquares(levels_.box(finest), R(finest));
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, comm_);
  return std::sqrt(sum / std::pow(2.0, 3 * problem_.level));
}

}  // namespace armci::bench::mg
