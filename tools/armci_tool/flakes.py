"""Repeats of a suite run with other seeds: which tests pass in some and fail in others."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Callable, Sequence

from armci_tool import console
from armci_tool.conformance import Selection, SuiteRun
from armci_tool.results import FAILED, KNOWN, PASSED, SKIPPED, Case


@dataclass
class Count:
    """How one test ended, over the repeats."""

    passed: int
    skipped: int
    failing_seeds: list[str]

    @property
    def rate(self) -> float:
        """Failures among the repeats in which it ran to a verdict."""
        return len(self.failing_seeds) / max(1, self.passed + len(self.failing_seeds))

    @property
    def flaky(self) -> bool:
        """Passed in some, failed in others."""
        return 0 < self.rate < 1


def repeat(run_once: Callable[[Selection], SuiteRun], selection: Selection, repeats: int) -> list[SuiteRun]:
    """Runs with seeds S, S+1, ...; the first draws S if none is given. Each has a launch, and so is judged in full."""
    runs = [run_once(selection)]
    # A suite that does not get to name a seed has failed; the repeats show whether it always does.
    first = int(runs[0].seed) if runs[0].seed.isdigit() else 1
    return runs + [run_once(replace(selection, seed=first + number)) for number in range(1, repeats)]


def counts(runs: Sequence[SuiteRun]) -> dict[str, Count]:
    """By test."""
    ended: dict[str, list[tuple[str, str]]] = {}
    for run in runs:
        for case in run.cases:
            ended.setdefault(case.name, []).append((case.outcome, run.seed))
    return {name: Count(sum(outcome in (PASSED, KNOWN) for outcome, _ in each),
                        sum(outcome == SKIPPED for outcome, _ in each),
                        [seed for outcome, seed in each if outcome == FAILED]) for name, each in ended.items()}


def combine(runs: Sequence[SuiteRun]) -> SuiteRun:
    """The repeats as one run: a test failed if it failed in any, and says in how many; else it passed if it did in any.
    The seed is the first one that failed, if one did."""
    if len(runs) == 1:
        return runs[0]
    cases: dict[str, Case] = {}
    for case in (case for run in runs for case in run.cases):
        cases[case.name] = max(cases.get(case.name, case), case, key=_weight)
    counted = counts(runs)
    for name, count in counted.items():
        if seeds := count.failing_seeds:
            text = f"failed in {len(seeds)} of {len(runs)} runs, with seed {', '.join(seeds)}"
            cases[name] = replace(cases[name], detail=f"{text}\n{cases[name].detail}")
    failing = [run.seed for run in runs if any(case.outcome == FAILED for case in run.cases)]
    return replace(runs[0], cases=tuple(cases.values()), seconds=sum(run.seconds for run in runs),
                   seed=[*failing, runs[0].seed][0], repeats=len(runs),
                   flaky=tuple(sorted(name for name, count in counted.items() if count.flaky)))


def _weight(case: Case) -> int:
    return (SKIPPED, PASSED, KNOWN, FAILED).index(case.outcome)


def render(runs: Sequence[SuiteRun]) -> str:
    """A table of the tests that failed in any repeat, and the totals."""
    found = counts(runs)
    rows = [[name, str(count.passed), str(len(count.failing_seeds)), f"{100 * count.rate:.1f} %",
             "flaky" if count.flaky else "fails"] for name, count in sorted(found.items()) if count.failing_seeds]
    flaky = sum(count.flaky for count in found.values())
    total = f"{len(runs)} runs, seeds {runs[0].seed} to {runs[-1].seed}: {flaky} of {len(found)} tests flaky"
    table = console.table(["test", "passed", "failed", "rate", ""], rows) + "\n" if rows else ""
    return f"{runs[0].name}\n{table}{total}"


def as_json(runs: Sequence[SuiteRun]) -> object:
    """For the report: totals, and each test's counts."""
    found, first = dict(sorted(counts(runs).items())), runs[0]
    return {"implementation": first.implementation, "mpi": first.mpi, "processes": first.processes,
            "placement": first.label, "repeats": len(runs), "seeds": [run.seed for run in runs],
            "flaky": [name for name, count in found.items() if count.flaky],
            "tests": {name: {**asdict(count), "failed": len(count.failing_seeds), "rate": round(count.rate, 4)}
                      for name, count in found.items()}}
