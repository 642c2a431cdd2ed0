"""Runs the programs of an application on libraries that are exchanged when they start."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Iterator, Mapping, Sequence

from armci_tool import launch, process
from armci_tool.applications.armci import OWN, REFERENCE, Column
from armci_tool.applications.recipes import Program
from armci_tool.errors import ToolError
from armci_tool.placement import Placement, with_device
from armci_tool.repository import device_of
from armci_tool.results import FAILED, PASSED, Case, Step

_TAIL_LINES = 30
# As kernels tell it: unit and number.
_RATE = re.compile(r"Rate \(([^)]+)\): ([\d.]+)")


@dataclass(frozen=True)
class Where:
    """Number of processes, MPI library and placement of a run."""

    processes: int
    mpi: str
    placement: Placement = Placement()

    @property
    def label(self) -> str:
        """For titles."""
        return ", ".join(part for part in (f"{self.processes} processes", self.placement.label, self.mpi) if part)


def program_case(program: Program, column: Column, where: Where, limit_s: float) -> Case:
    """One program on one library; it has passed when its job ends with status 0."""
    if program.refused:
        return Case(program.name, FAILED, detail=f"it does not compile\n{program.refused}")
    job = launch.Launch((str(program.path), *program.arguments), where.processes, where.mpi, column.environment(),
                        placement=with_device(where.placement, device_of(column.name)))
    made = launch.start(job, timeout_s=limit_s * job.placement.deadline_factor, cwd=program.path.parent)
    fault = ""
    if made.timed_out:
        fault = f"not over after {limit_s:g} s"
    elif not made.ok:
        fault = f"status {made.status}"
    elif program.says not in made.output:
        fault = f"it did not say {program.says!r}"
    elif made.left_behind:
        fault = "it left something behind"
    elif column.built_on == OWN and f"armci: {column.name}: " not in made.output:
        fault = f"it did not run on {column.name}"
    left = [f"left behind: {item}" for item in made.left_behind]
    detail = "\n".join([fault, *left, made.tail(_TAIL_LINES)]) if fault else ""
    return Case(program.name, FAILED if fault else PASSED, made.seconds, detail, tuple(_RATE.findall(made.output)[:1]))


def runs(programs: Mapping[str, Sequence[Program]], columns: Sequence[Column], where: Where, limit_s: float,
         note: process.LineHandler) -> Iterator[tuple[Column, Case]]:
    """Each program on one library after the other, so that a busy moment of the machine meets all of them; `programs` by what
    they were built on."""
    for built_on, built in programs.items():
        if len({program.name for program in built}) != len(built):
            raise ToolError(f"two programs of {built_on} have one name", next_step="name them by their folders in recipes.py")
    by_name = {built_on: {program.name: program for program in built} for built_on, built in programs.items()}
    names = list(dict.fromkeys(program.name for built in programs.values() for program in built))
    for number, name in enumerate(names, 1):
        for column in columns:
            program = by_name[column.built_on].get(name)
            if program is None and column.built_on not in (OWN, REFERENCE):
                continue  # there is none of that kind
            if program is None:
                yield column, Case(name, FAILED, detail=f"it was not built on {column.built_on}")
                continue
            note(f"{number} of {len(names)}, {name} on {column.name}")
            yield column, program_case(program, column, where, limit_s)


def steps(found: Sequence[tuple[Column, Case]], where: Where) -> list[Step]:
    """One for each library."""
    made: dict[str, Step] = {}
    for column, case in found:
        step = made.setdefault(column.name, Step(f"{column.name}, {where.label}"))
        step.cases.append(case)
        step.seconds += case.seconds
    return list(made.values())
