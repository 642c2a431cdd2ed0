"""Repeats of a suite run with other seeds: which tests pass in some and fail in others."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Callable, Sequence

from armci_tool import console
from armci_tool.conformance import Selection, SuiteRun
from armci_tool.results import FAILED, KNOWN, PASSED, SKIPPED, Case


@dataclass
class Count:
    """How one test ended, over the repeats."""

    passed: int = 0
    skipped: int = 0
    failing_seeds: list[str] = field(default_factory=list)

    @property
    def failed(self) -> int:
        """In how many."""
        return len(self.failing_seeds)

    @property
    def rate(self) -> float:
        """Failures among the repeats in which it ran to a verdict."""
        return self.failed / max(1, self.passed + self.failed)

    @property
    def flaky(self) -> bool:
        """Passed in some, failed in others."""
        return self.passed > 0 and self.failed > 0


def repeat(run_once: Callable[[Selection], SuiteRun], selection: Selection, repeats: int) -> list[SuiteRun]:
    """Runs with seeds S, S+1, ...; the first draws S if none is given. A launch each, so that each is judged in full."""
    runs = [run_once(selection)]
    # A suite that does not get to name a seed has failed; the repeats tell whether it always does.
    first = int(runs[0].seed) if runs[0].seed.isdigit() else 1
    return runs + [run_once(replace(selection, seed=first + number)) for number in range(1, repeats)]


def counts(runs: Sequence[SuiteRun]) -> dict[str, Count]:
    """By test."""
    found: dict[str, Count] = {}
    for run in runs:
        for case in run.cases:
            count = found.setdefault(case.name, Count())
            if case.outcome == FAILED:
                count.failing_seeds.append(run.seed)
            elif case.outcome == SKIPPED:
                count.skipped += 1
            else:
                count.passed += 1
    return found


def combine(runs: Sequence[SuiteRun]) -> SuiteRun:
    """The repeats as one run: a test failed if it failed in any, and says in how many; else it passed if it did in any.
    The seed is the first one that failed, if one did."""
    if len(runs) == 1:
        return runs[0]
    cases: dict[str, Case] = {}
    for run in runs:
        for case in run.cases:
            known = cases.setdefault(case.name, case)
            if _weight(case) > _weight(known):
                cases[case.name] = case
    counted = counts(runs)
    for name, count in counted.items():
        if count.failed:
            text = f"failed in {count.failed} of {len(runs)} runs, with seed {', '.join(count.failing_seeds)}"
            cases[name] = replace(cases[name], detail=f"{text}\n{cases[name].detail}")
    failing = [run.seed for run in runs if any(case.outcome == FAILED for case in run.cases)]
    return replace(runs[0], cases=tuple(cases.values()), seconds=sum(run.seconds for run in runs),
                   seed=failing[0] if failing else runs[0].seed, repeats=len(runs),
                   flaky=tuple(sorted(name for name, count in counted.items() if count.flaky)))


def _weight(case: Case) -> int:
    return (SKIPPED, PASSED, KNOWN, FAILED).index(case.outcome)


def render(runs: Sequence[SuiteRun]) -> str:
    """A table of the tests that failed in any repeat, and the totals."""
    found = counts(runs)
    rows = [[name, str(count.passed), str(count.failed), f"{100 * count.rate:.1f} %", "flaky" if count.flaky else "fails"]
            for name, count in sorted(found.items()) if count.failed]
    flaky = sum(count.flaky for count in found.values())
    total = f"{len(runs)} runs, seeds {runs[0].seed} to {runs[-1].seed}: {flaky} of {len(found)} tests flaky"
    table = console.table(["test", "passed", "failed", "rate", ""], rows) + "\n" if rows else ""
    return f"{runs[0].name}\n{table}{total}"


def as_json(runs: Sequence[SuiteRun]) -> object:
    """For the report: totals, and each test's counts."""
    found = counts(runs)
    first = runs[0]
    return {"implementation": first.implementation, "mpi": first.mpi, "processes": first.processes,
            "placement": first.label, "repeats": len(runs), "seeds": [run.seed for run in runs],
            "flaky": sorted(name for name, count in found.items() if count.flaky),
            "tests": {name: {"passed": count.passed, "failed": count.failed, "skipped": count.skipped,
                             "rate": round(count.rate, 4), "failing_seeds": count.failing_seeds}
                      for name, count in sorted(found.items())}}
