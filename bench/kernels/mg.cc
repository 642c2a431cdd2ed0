// What does a multigrid solver gain by putting its faces where they belong, against messages?
//
// NAS MG, classes S, W and A, and B where it is named (--filter "class B"): whole solutions, with ARMCI_NbPut,
// ARMCI_NbPutS and armci_notify, and with MPI_Isend and MPI_Irecv. The answer is the norm that NASA publishes.
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>

#include "bench/kernels/mg/ghosts.h"
#include "bench/kernels/mg/solver.h"
#include "bench/session/session.h"

namespace armci::bench {
namespace {

using mg::Problem;

constexpr const char* kOnlyIfNamed = "class B";

std::string Fault(const char* whose, const mg::Solver& solver, const Problem& problem) {
  if (std::fabs(solver.norm() - problem.norm) <= mg::kTolerance * problem.norm) return {};
  char text[120];
  std::snprintf(text, sizeof text, "the norm by %s is %.13e and should be %.13e", whose, solver.norm(), problem.norm);
  return text;
}

struct Solvers {
  std::unique_ptr<mg::Solver> by_armci;
  std::unique_ptr<mg::Solver> by_messages;
};

Solvers MakeSolvers(const Session& session, const Problem& problem) {
  const mg::Decomposition parts(session.rank(), session.size());
  const mg::Levels levels(parts, problem.level);
  const mg::Extent finest = parts.Box(problem.level);
  const auto v = std::make_shared<const std::vector<double>>(mg::MakeCharges(MPI_COMM_WORLD, problem, parts));
  const size_t doubles = 2 * levels.points();
  auto armci = mg::MakeArmciGhosts(session, parts, doubles, finest);
  auto messages = mg::MakeMessageGhosts(MPI_COMM_WORLD, parts, doubles, finest);
  return {std::make_unique<mg::Solver>(MPI_COMM_WORLD, problem, levels, v, std::move(armci)),
          std::make_unique<mg::Solver>(MPI_COMM_WORLD, problem, levels, v, std::move(messages))};
}

// Its memory is there while it is measured.
Case Solving(const Session& session, const Problem& problem, Solvers* solvers) {
  const auto actions = [&session, &problem, solvers]() -> std::vector<Action> {
    *solvers = MakeSolvers(session, problem);
    return {session.Whole("ARMCI", Role::kSubject, [solvers] { solvers->by_armci->Solve(); }),
            session.Whole("MPI_Isend, MPI_Irecv", Role::kBaseline, [solvers] { solvers->by_messages->Solve(); })};
  };
  const auto verify = [&problem, solvers] {
    std::string fault = Fault("ARMCI", *solvers->by_armci, problem);
    if (fault.empty()) fault = Fault("messages", *solvers->by_messages, problem);
    *solvers = {};
    return fault;
  };
  return WholeCase({"MG", problem.name, "kernel"}, actions, verify);
}

bool IsWanted(const Options& options, const Problem& problem) {
  if (options.filter.find(kOnlyIfNamed) != std::string::npos) return true;
  return problem.name != std::string(kOnlyIfNamed) && (!options.quick || &problem == mg::kProblems);
}

}  // namespace
}  // namespace armci::bench

int main(int argc, char** argv) {
  using namespace armci::bench;
  Session session(argc, argv, {"mg", "NAS MG by ARMCI against NAS MG by messages", 1, /*between_nodes=*/true});
  if (!mg::Decomposition::Fits(session.size())) session.Refuse("shares its grids among 1, 2, 4 or 8 processes");
  Solvers solvers;
  std::vector<Case> cases;
  for (const mg::Problem& problem : mg::kProblems) {
    if (IsWanted(session.options(), problem)) cases.push_back(Solving(session, problem, &solvers));
  }
  session.Run(cases);
  return session.Finish();
}
