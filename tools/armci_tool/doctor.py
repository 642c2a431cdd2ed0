"""What an MPI library gets wrong under one-sided communication: each known fault in a job of its own.

The faults are the rows of impl/mpi-rma/preflight/faults.cc; each has a program in the folder `reproducers` beside it, which
says `control: ok` before it comes to the fault and `fault: present` or `fault: absent` after it. A crash or a hang harms
nobody here, and is a finding like others.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Sequence

from armci_tool import console, launch, process
from armci_tool.errors import ToolError
from armci_tool.placement import Placement
from armci_tool.repository import ROOT

PREFLIGHT = ROOT / "impl" / "mpi-rma" / "preflight"
# Above the alarm of every reproducer, so that its own word comes first.
DEADLINE_S = 90.0
CHOICES = (*sorted(launch.MPI_LIBRARIES), "all")

PRESENT, ABSENT, UNKNOWN = "present", "absent", "unknown"

_TEXT = r'((?:"[^"]*"\s*)+)'
_ROW = re.compile(r"\{Fault::k\w+,\s*" + _TEXT + r",\s*" + _TEXT + r",\s*" + _TEXT + r",\s*Evidence::k(\w+),\s*(\w+)\}")
_PROCESSES = re.compile(r"mpiexec -n (\d+) ")
_ALARM = re.compile(r"signal 14\b|Alarm clock|EXIT CODE: 14\b", re.IGNORECASE)
_SIGNAL = re.compile(r"(?:exited on signal|EXIT STRING:) *(.+?)(?: \(signal \d+\))?\.?$", re.MULTILINE)
_TELLING = re.compile(r"(?:Assertion .*failed|Fatal error.*|MPI_ERR_\w+.*|UCX +(?:ERROR|FATAL) .*)")


@dataclass(frozen=True)
class Fault:
    """A row of the table."""

    id: str
    description: str
    safe_method: str
    evidence: str  # Probe, Version or Timing
    allowed: bool

    @property
    def source(self) -> Path:
        """The reproducer."""
        return PREFLIGHT / "reproducers" / f"{self.id}.c"

    @property
    def processes(self) -> int:
        """How many its job has."""
        match = _PROCESSES.search(self.source.read_text())
        return int(match.group(1)) if match else 2


@dataclass(frozen=True)
class Examination:
    """What a reproducer said, under one MPI library."""

    fault: Fault
    outcome: str
    evidence: str
    seconds: float = 0.0


def read_faults(path: Path = PREFLIGHT / "faults.cc") -> list[Fault]:
    """The rows, in their order."""
    if not path.is_file():
        raise ToolError(f"{path} is missing", next_step="check out the whole repository")
    faults = []
    for match in _ROW.finditer(path.read_text()):
        name, description, method = ("".join(re.findall(r'"([^"]*)"', part)) for part in match.groups()[:3])
        faults.append(Fault(name, description, method, match.group(4), match.group(5) == "true"))
    return faults


def judge(result: process.Result) -> tuple[str, str]:
    """(outcome, how it showed) from the end of a reproducer's job."""
    said = {line.strip() for line in result.output.splitlines()}
    if "control: ok" not in said:
        return UNKNOWN, f"the control fails: {_ending(result)}"
    if "fault: absent" in said and result.ok:
        return ABSENT, "not seen by its program"
    if "fault: present" in said:
        return PRESENT, _own_words(said) or "seen by its program"
    return PRESENT, _ending(result)


def _own_words(said: set[str]) -> str:
    own = [line for line in said if line == "there is no such window"]
    return own[0] if own else ""


def _ending(result: process.Result) -> str:
    """How a job came to its end that did not say it."""
    telling = _TELLING.search(result.output)
    if telling:
        return f"ends the process: {telling.group(0).strip()[:80]}"
    if result.timed_out or _ALARM.search(result.output):
        return "hangs"
    signal = _SIGNAL.search(result.output)
    return f"ends the process: {signal.group(1)}" if signal else f"ends with status {result.status}"


def compile_reproducer(fault: Fault, mpi: str, folder: Path) -> Path:
    """The program, in `folder`."""
    program = folder / fault.id
    compiler = launch.mpi_library(mpi).compiler
    result = process.run([compiler, "-std=gnu99", "-O1", "-o", str(program), str(fault.source)], timeout_s=120)
    if not result.ok:
        raise ToolError(f"{fault.source.name} does not compile with {compiler}", where=result.tail(20),
                        next_step="run tools/armci setup")
    return program


def examine(fault: Fault, mpi: str, placement: Placement, folder: Path) -> Examination:
    """Compiles and runs the reproducer of one fault."""
    program = compile_reproducer(fault, mpi, folder)
    processes = max(fault.processes, placement.nodes)
    job = launch.Launch((str(program),), processes, mpi, placement=placement)
    result = launch.start(job, timeout_s=DEADLINE_S)
    return Examination(fault, *judge(result), result.seconds)


def examine_all(faults: Sequence[Fault], mpi: str, placement: Placement, folder: Path,
                note: Callable[[str], None]) -> list[Examination]:
    """One after the other; `note` is told which."""
    made: list[Examination] = []
    for number, fault in enumerate(faults, 1):
        present = sum(one.outcome == PRESENT for one in made)
        note(f"{number} of {len(faults)}, {fault.id} ({present} present)")
        made.append(examine(fault, mpi, placement, folder))
    return made


def table(examinations: Sequence[Examination]) -> str:
    """A row for each fault: what the library does only where there is something to do."""
    rows = [[one.fault.id, one.outcome + (" (allowed)" if one.fault.allowed and one.outcome == PRESENT else ""),
             one.evidence, one.fault.evidence.lower(),
             one.fault.safe_method if one.outcome != ABSENT else "-"] for one in examinations]
    return console.table(["fault", "here", "how it showed", "preflight by", "what the library does"], rows, numeric_from=5)


def summary(examinations: Sequence[Examination]) -> str:
    """`3 present, 28 absent`."""
    counts = {outcome: sum(one.outcome == outcome for one in examinations) for outcome in (PRESENT, ABSENT, UNKNOWN)}
    return ", ".join(f"{count} {outcome}" for outcome, count in counts.items() if count or outcome != UNKNOWN)


def write_report(folder: Path, sections: Sequence[tuple[str, Sequence[Examination]]]) -> None:
    """The programs and a README, to be sent to the maintainers of the MPI library."""
    for fault in read_faults():
        (folder / fault.source.name).write_text(fault.source.read_text())
    lines = ["# One-sided communication: known faults of MPI libraries", "",
             "Each program is plain MPI and C99, complete in itself, and prints `control: ok`, then `fault: present` or",
             "`fault: absent`. Status 0: absent; 1: present; 2: the control fails. One that crashes or ends by its own",
             "alarm after the control has met the fault.", "",
             "    mpicc NAME.c -o NAME && mpiexec -n 2 ./NAME", "",
             "The first comment of each file has its number of processes and what is known of it.", ""]
    for title, examinations in sections:
        lines += [f"## {title}", "", "```", table(examinations), "```", ""]
        lines += [f"- `{one.fault.id}.c`: {one.fault.description}" for one in examinations if one.outcome == PRESENT]
        lines.append("")
    (folder / "README.md").write_text("\n".join(lines).rstrip() + "\n")
