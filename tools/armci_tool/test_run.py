"""Runs the steps of `tools/armci test` and reports them.

A step is a function that returns its cases. Whatever keeps a step from running (a build that fails, a file that is
not there) is a failed case of that step: nothing is left out in silence.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import IntEnum
from typing import Callable, Sequence

from armci_tool.console import Progress, duration
from armci_tool.errors import ToolError
from armci_tool.results import FAILED, PASSED, SKIPPED, Case, Step, counts_line

DETAIL_LINES = 40
NAME_WIDTH = 46
# Said at once, so that nobody waits for the end of the run to see what is wrong.
EARLY_FAILURES = 3
GIST_WIDTH = 160

# Gets the progress line to say what is running now.
StepFunction = Callable[[Callable[[str], None]], Sequence[Case]]


class Level(IntEnum):
    """How much is asked for; each level has the steps of those before it."""

    QUICK = 0  # while working
    USUAL = 1  # before a change lands
    FULL = 2  # every combination


@dataclass(frozen=True)
class PlannedStep:
    """A step before it runs; `rerun` is the command that repeats it."""

    name: str
    function: StepFunction
    rerun: str
    level: Level = Level.USUAL


def run_steps(plan: Sequence[PlannedStep]) -> list[Step]:
    """Runs all steps in order, printing a line for each."""
    steps = []
    for planned in plan:
        step = _run_step(planned)
        steps.append(step)
        counts = f"{step.count(PASSED):5} passed {step.count(FAILED):4} failed {step.count(SKIPPED):4} skipped"
        verdict = "ok  " if step.ok else "FAIL"
        print(f"{verdict} {step.name:{NAME_WIDTH}} {counts}   {duration(step.seconds):>12}", flush=True)
        for case in step.failures()[:EARLY_FAILURES]:
            print(f"     {case.name}: {_gist(case.detail)}", flush=True)
    return steps


def _run_step(planned: PlannedStep) -> Step:
    step = Step(planned.name, rerun=planned.rerun)
    start = time.monotonic()
    with Progress(planned.name) as progress:
        try:
            step.cases = list(planned.function(progress.note))
        except ToolError as error:
            step.cases = [Case(planned.name, FAILED, detail=error.render())]
    if not step.cases:
        step.cases = [Case(planned.name, FAILED, detail="nothing ran: no tests were found for this step")]
    step.seconds = time.monotonic() - start
    return step


def _gist(detail: str) -> str:
    """The line that says most: a compiler's error if there is one, else the first."""
    lines = [line.strip() for line in detail.splitlines() if line.strip()]
    errors = [line for line in lines if " error: " in line or line.startswith("ERROR")]
    return (errors or lines or ["no details"])[0][:GIST_WIDTH]


def print_report(steps: Sequence[Step]) -> None:
    """The failures once more, with how to repeat them, the reasons of skips, and the counts as the last line."""
    for step in steps:
        for case in step.failures():
            print(f"\nFAILED {case.name}  (step: {step.name})")
            for line in case.detail.strip().splitlines()[:DETAIL_LINES]:
                print("    " + line)
        if not step.ok:
            print(f"  rerun: {step.rerun}")
    _print_skips(steps)
    print()
    print(counts_line(steps), flush=True)


def _print_skips(steps: Sequence[Step]) -> None:
    reasons: dict[str, int] = {}
    for step in steps:
        for case in step.cases:
            if case.outcome == SKIPPED:
                lines = case.detail.strip().splitlines()
                reason = lines[-1].strip() if lines else "no reason given"
                reasons[reason] = reasons.get(reason, 0) + 1
    if reasons:
        print("\nskipped:")
        for reason, number in sorted(reasons.items(), key=lambda item: -item[1]):
            print(f"  {number:4} {reason}")
