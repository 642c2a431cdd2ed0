"""Runs the steps of `tools/armci test` and reports them.

A step is a function that returns its cases. If a build fails or a file is missing, the step has a failed case: no step is
left out in silence. The errors of a build are printed once, by the step
that builds: the other steps of its configuration run as far as their targets can be built.

Steps run at the same time while the sum of their cores allows it (steps.py). They start in the order of the plan; a later step
that fits starts before an earlier one that does not.
"""

from __future__ import annotations

import shutil
import threading
import time
import traceback
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path
from typing import Optional, Sequence

from armci_tool.bazel import Configuration
from armci_tool.console import Progress, duration
from armci_tool.errors import ToolError
from armci_tool.repository import ROOT
from armci_tool.results import FAILED, PASSED, SKIPPED, Case, Step, counts_line
from armci_tool.testing import work
from armci_tool.testing.steps import Note, PlannedStep

# Logs, results and times of the last run.
REPORT = ROOT / "report" / "test"
RESULTS = REPORT / "results.xml"
DETAIL_LINES = 40
NAME_WIDTH = 58
# Said at once, so that the end of the run need not come before it is known what is wrong.
EARLY_FAILURES = 5
GIST_WIDTH = 160
NOT_BUILT = "not run: the build failed"


def log_of(planned: PlannedStep) -> Path:
    """The log file of a step: its lines, and its failures."""
    return REPORT / "logs" / f"{planned.slug}.log"


def run_steps(plan: Sequence[PlannedStep]) -> list[Step]:
    """Runs all steps, printing a line for each; the results have the order of the plan."""
    _clear_logs()
    done: dict[str, Step] = {}
    waiting = list(plan)
    running: dict[Future[Step], PlannedStep] = {}
    unbuilt: set[Optional[Configuration]] = set()
    with ThreadPoolExecutor(max(len(plan), 1)) as pool:
        while waiting or running:
            while (planned := next_step(waiting, list(running.values()))) is not None:
                waiting.remove(planned)
                running[pool.submit(_run_step, planned, planned.configuration in unbuilt)] = planned
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                planned = running.pop(future)
                done[planned.name] = future.result()
                if planned.builds and not done[planned.name].ok:
                    unbuilt.add(planned.configuration)
                _print_step(planned, done[planned.name])
    return [done[planned.name] for planned in plan]


def _clear_logs() -> None:
    """Raises ToolError if the logs of the last run cannot be replaced by those of this one."""
    try:
        with suppress(FileNotFoundError):
            shutil.rmtree(REPORT / "logs")
        (REPORT / "logs").mkdir(parents=True)
    except OSError as error:
        raise ToolError(f"tools/armci test cannot write its logs: {error.strerror}", where=str(REPORT / "logs"),
                        next_step=f"make {REPORT} writable for this user, or run the tests in another checkout") from error


def next_step(waiting: Sequence[PlannedStep], running: Sequence[PlannedStep]) -> Optional[PlannedStep]:
    """The waiting steps that may start now."""
    for number, step in enumerate(waiting):
        if step.alone and (number > 0 or running):
            return None
        unbuilt = any(other.is_build_of(step) for other in [*waiting[:number], *running])
        if not unbuilt and step.fits(running):
            return step
    return None


def _run_step(planned: PlannedStep, build_failed: bool) -> Step:
    start = time.monotonic()
    try:
        cases = _cases(planned, build_failed)
    except OSError:  # its log cannot be written
        cases = [Case(planned.name, FAILED, detail=traceback.format_exc())]
    return Step(planned.name, cases, time.monotonic() - start, planned.rerun)


def _cases(planned: PlannedStep, build_failed: bool) -> list[Case]:
    with Progress(planned.name) as progress, log_of(planned).open("w") as log:
        def note(line: str) -> None:
            progress.note(line)
            print(line, file=log, flush=True)
        try:
            if build_failed and (errors := _build_errors(planned, note)):
                print(errors, file=log)
                cases = [Case(planned.name, FAILED, detail=NOT_BUILT)]
            else:
                cases = list(planned.function(note))
        except ToolError as error:
            cases = [Case(planned.name, FAILED, detail=error.render())]
        except Exception:  # a fault of the tool or of the machine fails this step only
            cases = [Case(planned.name, FAILED, detail=traceback.format_exc())]
        if not cases:
            cases = [Case(planned.name, FAILED, detail="nothing ran: no tests were found for this step")]
        for case in cases:
            if case.outcome == FAILED:
                print(f"\nFAILED {case.name}\n{case.detail}", file=log)
    return cases


def _build_errors(planned: PlannedStep, note: Note) -> str:
    """Why the step's own targets cannot be built, after a failed build of all targets; empty if they can."""
    assert planned.configuration
    try:
        work.build(planned.configuration, planned.targets, note)
    except ToolError as error:
        return error.render()
    return ""


def _print_step(planned: PlannedStep, step: Step) -> None:
    counts = f"{step.count(PASSED):5} passed {step.count(FAILED):4} failed {step.count(SKIPPED):4} skipped"
    if any(case.detail == NOT_BUILT for case in step.cases):
        counts = f"{NOT_BUILT:{len(counts)}}"
    print(f"{'ok  ' if step.ok else 'FAIL'} {step.name:{NAME_WIDTH}} {counts}   {duration(step.seconds):>12}", flush=True)
    failures = [case for case in step.failures() if case.detail != NOT_BUILT]
    for case in failures[:EARLY_FAILURES]:
        print(f"     {case.name}: {_gist(case.detail)}")
        if case.rerun:
            print(f"       rerun: {case.rerun}")
    if len(failures) > EARLY_FAILURES:
        print(f"     and {len(failures) - EARLY_FAILURES} more")
    if failures:
        print(f"     {'the whole step' if any(case.rerun for case in failures) else 'rerun'}: {step.rerun}\n"
              f"     log:   {log_of(planned)}", flush=True)


def _gist(detail: str) -> str:
    """The line that says most: an error of the compiler or of pytest, else the last line of a traceback, else the first."""
    lines = [line.strip() for line in detail.splitlines() if line.strip()]
    if lines and lines[0].startswith("Traceback"):
        lines.reverse()
    errors = [line for line in lines if " error: " in line or line.startswith(("ERROR", "E "))]
    return (errors or lines or ["no details"])[0][:GIST_WIDTH]


def print_report(steps: Sequence[Step]) -> None:
    """The failures once more, with how to repeat them, the reasons of skips, and the counts as the last line."""
    for step in steps:
        for case in step.failures():
            if case.detail == NOT_BUILT:
                print(f"\nFAILED {case.name}: {NOT_BUILT}")
                continue
            print(f"\nFAILED {case.name}  (step: {step.name})")
            lines = case.detail.strip().splitlines()
            for line in lines[-DETAIL_LINES:] if lines and lines[0].startswith("Traceback") else lines[:DETAIL_LINES]:
                print("    " + line)
            print(f"  rerun: {step.rerun_of(case)}")
        if not step.ok and not step.failures():
            print(f"  rerun: {step.rerun}")
    _print_skips(steps)
    print()
    print(counts_line(steps), flush=True)


def _print_skips(steps: Sequence[Step]) -> None:
    reasons: dict[str, int] = {}
    for case in (case for step in steps for case in step.cases if case.outcome == SKIPPED):
        lines = case.detail.strip().splitlines()
        reason = lines[-1].strip() if lines else "no reason given"
        reasons[reason] = reasons.get(reason, 0) + 1
    if reasons:
        print("\nskipped:")
        for reason, number in sorted(reasons.items(), key=lambda item: -item[1]):
            print(f"  {number:4} {reason}")
