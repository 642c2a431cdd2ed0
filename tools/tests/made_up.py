"""A result that has every kind of cell, made up for the tests of the report."""

from __future__ import annotations

from dataclasses import replace

from armci_tool import bazel, matrix
from armci_tool.conformance import SuiteRun
from armci_tool.matrix import Matrix, MutantResult, Mutation
from armci_tool.placement import Placement
from armci_tool.results import FAILED, KNOWN, PASSED, SKIPPED, Case
from armci_tool.traceability import Clause

NO_NEEDS: frozenset[str] = frozenset()
CLAUSES = [
    Clause("FAKE-1", 1, NO_NEEDS, "A store with a < b & \"c\" arrives; `ptr[p] <= 0` never does. [here]"),
    Clause("FAKE-2", 2, NO_NEEDS, "Known to fail somewhere."),
    Clause("FAKE-3", 3, NO_NEEDS, "Skipped everywhere."),
    Clause("OTHER-1", 5, frozenset({"nodes"}), "Shows between nodes only. [needs: nodes]"),
    Clause("OTHER-2", 6, NO_NEEDS, "Its tests were left out by the filter."),
    Clause("OTHER-3", 7, NO_NEEDS, "Is quick.", measured="small"),
]
TESTS = {"A.both": ["FAKE-1", "FAKE-2"], "A.one": ["FAKE-1"], "A.three": ["FAKE-3"], "B.two": ["OTHER-2"],
         "L.litmus": ["FAKE-1"]}
FAILURE = "expected <1> & saw \"2\"\n</pre><script>alert(1)</script>"
ENVIRONMENT = {"date": "2000-01-01 00:00 UTC", "commit": "0123456789ab", "MPI: openmpi": "4.1.4",
               "CPU": "Fast <8> & co"}


def run(*cases: Case, mpi: str = "openmpi", processes: int = 2, placement: Placement = Placement(),
        seed: str = "7") -> SuiteRun:
    """One column."""
    return SuiteRun("fake", bazel.Configuration(mpi), processes, cases, 1.5, seed, placement=placement)


def outcomes(**counts: int) -> tuple[tuple[str, str], ...]:
    """Facts as a litmus test reports them."""
    return tuple((f"outcome.{name}.r1={len(name)} r2=0 <{name}>", str(count)) for name, count in counts.items())


def mutation() -> Mutation:
    """One defect found, one not."""
    mutants = (MutantResult(name="late_fence", clause="FAKE-1", description="a fence that < waits & returns",
                            state="killed", killed_by=("A.one", "A.both")),
               MutantResult(name="lost_store", clause="FAKE-2", description="every 255th store is lost",
                            state="survived", killed_by=()))
    return Mutation(mutants=mutants, score=0.5, commit="", part="")


def made_up() -> Matrix:
    """Three runs that differ in all a column can differ in."""
    skipped = Case("A.three", SKIPPED, 0.0, "needs 4 ranks")
    runs = [
        run(Case("A.both", PASSED, 0.25), Case("A.one", PASSED, 0.5), skipped,
            Case("L.litmus", PASSED, 1.0, "", outcomes(forbidden=0, acceptable=90, interesting=10))),
        run(Case("A.both", KNOWN, 0.0, "ticket 12: <slow>"), Case("A.one", FAILED, 0.0, FAILURE), skipped,
            Case("L.litmus", PASSED, 1.0, "", outcomes(acceptable=100)), mpi="mpich", processes=4),
        run(Case("A.both", KNOWN, 0.0, "ticket 12"), Case("A.one", SKIPPED, 0.0, "needs <nodes>"), skipped,
            placement=Placement(simulated_node_size=2), seed=""),
    ]
    runs[1] = replace(runs[1], repeats=4, flaky=("A.both",))
    return matrix.build(runs, CLAUSES, TESTS, ENVIRONMENT, mutation())
