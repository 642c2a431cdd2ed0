"""The results of an application's programs on each library: for the screen, and as a folder of files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Mapping, Sequence

from armci_tool import console, pages, results
from armci_tool.applications.armci import BASELINE
from armci_tool.applications.run import LibraryStep
from armci_tool.results import FAILED, KNOWN, PASSED, Case

FILES = ("table.txt", "results.json", "junit.xml", "index.html")


def ratio(cases: Mapping[str, Case], of_baseline: Mapping[str, Case]) -> float:
    """How many times as long the programs took that passed on both; 0 where there are none."""
    both = [name for name, case in cases.items()
            if case.outcome == PASSED and name in of_baseline and of_baseline[name].outcome == PASSED]
    baseline = sum(of_baseline[name].seconds for name in both)
    return sum(cases[name].seconds for name in both) / baseline if baseline else 0.0


def rows(steps: Sequence[LibraryStep]) -> list[list[str]]:
    """A line for each library and place: passed, failed, known, time, and the ratio of times to the baseline."""
    by_place: dict[str, dict[str, LibraryStep]] = {}
    for step in steps:
        by_place.setdefault(step.where, {})[step.library] = step
    made = []
    for place, of_library in by_place.items():
        baseline = of_library.get(BASELINE)
        of_baseline = {case.name: case for case in baseline.cases} if baseline else {}
        for library, step in of_library.items():
            times = ratio({case.name: case for case in step.cases}, of_baseline)
            made.append([library, place, *(str(step.count(outcome)) for outcome in (PASSED, FAILED, KNOWN)),
                         console.duration(step.seconds), f"{times:.2f}" if times and library != BASELINE else "-"])
    return made


def rates(steps: Sequence[LibraryStep]) -> list[list[str]]:
    """The rates that programs print: the names of the programs with the unit, then a line for each run."""
    columns = list(dict.fromkeys((case.name, unit) for step in steps for case in step.cases for unit, _ in case.facts))
    made = [[f"{name}, {unit}" for name, unit in columns]]
    for step in steps:
        found = {(case.name, unit): value for case in step.cases for unit, value in case.facts}
        made.append([step.name, *(found.get(column, "-") for column in columns)])
    return made if columns else []


HEADER = ("library", "where", "passed", "failed", "known", "time", f"time / {BASELINE}")


def screen(steps: Sequence[LibraryStep]) -> str:
    """The table, and what failed."""
    lines = [console.table(HEADER, rows(steps), numeric_from=2)]
    if rated := rates(steps):
        lines += ["", console.table(("library, where", *rated[0]), rated[1:])]
    for step in steps:
        for case in step.failures():
            lines.append(f"FAILED {case.name} on {step.name}: {case.detail.splitlines()[0] if case.detail else ''}")
    return "\n".join(lines)


def write(folder: Path, title: str, steps: Sequence[LibraryStep], environment: Mapping[str, str]) -> None:
    """Writes the files of the report."""
    text, data, junit, page = (folder / name for name in FILES)
    _replace(text, screen(steps) + "\n")
    content = {"title": title, "environment": dict(environment), "runs": [
        {"name": step.name, "seconds": step.seconds, "rerun": step.rerun,
         "programs": [{"name": case.name, "outcome": case.outcome, "seconds": case.seconds, "detail": case.detail,
                      "facts": dict(case.facts)}
                      for case in step.cases]} for step in steps]}
    _replace(data, json.dumps(content, indent=1) + "\n")
    results.write_junit(junit, steps)
    template = pages.environment().get_template("application.html.j2")
    failures = [(step, case) for step in steps for case in step.cases if case.outcome in (FAILED, KNOWN)]
    _replace(page, template.render(title=title, header=HEADER, rows=rows(steps), steps=steps, failures=failures, rates=rates(steps),
                                    programs=list(dict.fromkeys(case.name for step in steps for case in step.cases)),
                                    by_step=[{case.name: case for case in step.cases} for step in steps],
                                    environment=environment))


def _replace(path: Path, text: str) -> None:
    """An interrupted run leaves the file as it was before."""
    made = path.with_name(f".{path.name}")
    made.write_text(text, encoding="utf-8")
    try:
        made.replace(path)
    except OSError:
        made.unlink()
        raise
