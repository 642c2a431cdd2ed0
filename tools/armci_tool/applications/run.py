"""Runs the programs of an application on libraries that are exchanged when they start."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Iterator, Mapping, Optional, Sequence

from armci_tool import launch, process, scratch_folders
from armci_tool.applications.armci import OWN, BASELINE, Candidate
from armci_tool.applications.recipe import Program
from armci_tool.errors import ToolError
from armci_tool.installed import SAID
from armci_tool.placement import Placement, with_device
from armci_tool.repository import device_of
from armci_tool.results import FAILED, PASSED, Case, Step

_TAIL_LINES = 30
# Kernels print unit and number so.
_RATE = re.compile(r"Rate \(([^)]+)\): ([\d.]+)")
# armci-prof prints the share of the time inside ARMCI so.
_SHARE = re.compile(r"armci-prof: [^\n]* ([\d.]+) % of it in ARMCI")
_LONG_FACTOR = 10.0
_ENTER = 'mkdir -p "$0" && cd "$0" && exec "$@"'


@dataclass(frozen=True)
class Where:
    """Number of processes, MPI library and placement of a run."""

    processes: int
    mpi: str
    placement: Placement = Placement()
    # armci-prof, which then starts the programs that were built on ours.
    profiler: Optional[Path] = None

    @property
    def label(self) -> str:
        """Text for titles."""
        count = f"{self.processes} process{'es' if self.processes > 1 else ''}"
        return ", ".join(part for part in (count, self.placement.label, self.mpi) if part)


def program_case(program: Program, candidate: Candidate, where: Where, limit_s: float) -> Case:
    """Runs one program on one library. The program passes when its job ends with status 0, on that library, with the output that
    it has to give."""
    if program.refused:
        return Case(program.name, FAILED, detail=f"the program does not compile\n{program.refused}")
    profiler = [str(where.profiler)] if where.profiler and candidate.built_on == OWN else []
    command = [*profiler, str(program.path), *program.arguments]
    job = launch.Launch(tuple(command), program.processes or where.processes, where.mpi,
                        {**candidate.environment(), **program.environment},
                        placement=with_device(where.placement, device_of(candidate.name)))
    limit_s *= _LONG_FACTOR if program.is_long else 1
    with _folder(program) as folder:
        # A guest is kept for the next job that starts in the same folder, and does not see a folder that was made later.
        started = replace(job, program=("sh", "-c", _ENTER, str(folder), *command)) if folder else job
        made = launch.start(started, timeout_s=limit_s * job.placement.deadline_factor, cwd=program.folder or program.path.parent)
    fault = _fault(program, candidate, made, limit_s)
    left = [f"left behind: {item}" for item in made.left_behind]
    detail = "\n".join([fault, *left, made.tail(_TAIL_LINES)]) if fault else ""
    rates = _RATE.findall(made.output)[:1] + [("% in ARMCI", share) for share in _SHARE.findall(made.output)[-1:]]
    return Case(program.name, FAILED if fault else PASSED, made.seconds, detail, tuple(rates))


@contextmanager
def _folder(program: Program) -> Iterator[Optional[Path]]:
    """The folder for what it writes, if it does."""
    if not program.writes:
        yield None
        return
    with scratch_folders.make() as folder:
        yield folder


def _fault(program: Program, candidate: Candidate, made: process.Result, limit_s: float) -> str:
    if made.timed_out:
        return f"not over after {limit_s:g} s"
    if not made.ok:
        return f"status {made.status}"
    output = SAID.sub("", made.output)
    if program.says not in output:
        return f"the program did not say {program.says!r}"
    if made.left_behind:
        return "the job left something behind"
    if candidate.built_on == OWN and f"armci: {candidate.name}: " not in made.output:
        return f"the program did not run on {candidate.name}"
    if program.fails_if and (found := re.search(program.fails_if, output)):
        return f"the program said {found.group(0)!r}"
    return next(filter(None, (reference.fault(output) for reference in program.references)), "")


def runs(programs: Mapping[str, Sequence[Program]], candidates: Sequence[Candidate], where: Where, limit_s: float,
         note: process.LineHandler) -> Iterator[tuple[Candidate, Case]]:
    """Each program on one library after the other, so that a busy moment of the machine slows all of them; `programs` by what
    they were built on."""
    for built_on, built in programs.items():
        if len({program.name for program in built}) != len(built):
            raise ToolError(f"two programs of {built_on} have one name", next_step="name them by their folders in its recipe")
    by_name = {built_on: {program.name: program for program in built} for built_on, built in programs.items()}
    names = list(dict.fromkeys(program.name for built in programs.values() for program in built))
    for number, name in enumerate(names, 1):
        for candidate in candidates:
            program = by_name[candidate.built_on].get(name)
            if program is None and candidate.built_on not in (OWN, BASELINE):
                continue  # there is none of that kind
            if program is None:
                yield candidate, Case(name, FAILED, detail=f"the program was not built on {candidate.built_on}")
                continue
            note(f"{number} of {len(names)}, {name} on {candidate.name}")
            yield candidate, program_case(program, candidate, where, limit_s)


@dataclass
class LibraryStep(Step):
    """The programs of an application on one library in one place."""

    library: str = ""
    where: str = ""


def steps(found: Sequence[tuple[Candidate, Case]], where: Where, rerun: str = "") -> list[LibraryStep]:
    """One for each library."""
    made: dict[str, LibraryStep] = {}
    for candidate, case in found:
        name = candidate.name
        step = made.setdefault(name, LibraryStep(f"{name}, {where.label}", rerun=rerun, library=name, where=where.label))
        step.cases.append(case)
        step.seconds += case.seconds
    return list(made.values())
