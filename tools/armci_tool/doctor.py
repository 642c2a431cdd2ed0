"""Faults of an MPI library under one-sided communication: each known fault in a job of its own.

The faults are the rows of impl/mpi-rma/preflight/faults.cc; each has a program in the folder `reproducers` beside it,
which says `control: ok` before it comes to the fault and `fault: present` or `fault: absent` after it. A crash or a
hang harms no other process here, and is a finding like others.

The programs share reproducer.h. The doctor compiles and exports each of them as one file, with the parts of the header
that the program uses in the place of its #include.
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
REPRODUCERS = PREFLIGHT / "reproducers"
# Above the alarm of every reproducer, so that its own word comes first.
DEADLINE_S = 90.0
CHOICES = (*sorted(launch.MPI_LIBRARIES), "all")

PRESENT, ABSENT, UNKNOWN = "present", "absent", "unknown"

_TEXT = r'((?:"[^"]*"\s*)+)'
_ROW = re.compile(r"\{Fault::k\w+,\s*" + _TEXT + r",\s*" + _TEXT + r",\s*" + _TEXT + r",\s*Evidence::k(\w+),\s*(\w+)\}")
_PROCESSES = re.compile(r"mpiexec -n (\d+) ")
_ALARM = re.compile(r"signal 14\b|Alarm clock|EXIT CODE: 14\b", re.IGNORECASE)
_SIGNAL = re.compile(r"(?:exited on signal|EXIT STRING:) *(.+?)(?: \(signal \d+\))?\.?$", re.MULTILINE)
_INCLUDE = '#include "reproducer.h"\n'
_COMMENT = re.compile(r"/\*.*?\*/\s*", re.DOTALL)
_WORD = re.compile(r"\b[A-Za-z_]\w*")
# The declarations of a paragraph of reproducer.h: its lines without indentation, up to the parameters or the value.
_DECLARATION = re.compile(r"^(?:static|enum)\b[^(=;\n]*[(=;]|^typedef .*?\(\*\w+\)|^\} \w+;", re.MULTILINE)
_DECLARED = re.compile(r"(\w+)(?:\[\w*\])?\s*[(=,;)]")
_OWN_WORDS = "there is no such window"
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
        return REPRODUCERS / f"{self.id}.c"

    @property
    def text(self) -> str:
        """The reproducer as one file, which includes none of ours."""
        source = self.source.read_text()
        return source.replace(_INCLUDE, shared_parts(source))

    @property
    def processes(self) -> int:
        """How many its job has."""
        match = _PROCESSES.search(self.source.read_text())
        return int(match[1]) if match else 2


@dataclass(frozen=True)
class Examination:
    """The outcome of a reproducer under one MPI library."""

    fault: Fault
    outcome: str
    evidence: str


def read_faults() -> list[Fault]:
    """The rows, in their order."""
    path = PREFLIGHT / "faults.cc"
    if not path.is_file():
        raise ToolError(f"{path} is missing", next_step="check out the whole repository")
    faults = []
    for *texts, evidence, allowed in _ROW.findall(path.read_text()):
        name, description, method = ("".join(re.findall(r'"([^"]*)"', text)) for text in texts)
        faults.append(Fault(name, description, method, evidence, allowed == "true"))
    return faults


def shared_parts(program: str) -> str:
    """The paragraphs of reproducer.h that `program` uses, directly or through others."""
    used = set(_WORD.findall(_COMMENT.sub("", program)))
    kept: list[str] = []
    for paragraph in reversed((REPRODUCERS / "reproducer.h").read_text().strip().split("\n\n")):
        code = _COMMENT.sub("", paragraph)
        declared = {name for declaration in _DECLARATION.findall(code) for name in _DECLARED.findall(declaration)}
        if code.startswith("#include") or used & declared:
            kept.insert(0, paragraph)
            used.update(_WORD.findall(code))
    return "\n\n".join(kept) + "\n"


def judge(result: process.Result) -> tuple[str, str]:
    """(outcome, how it showed) from the end of a reproducer's job."""
    said = {line.strip() for line in result.output.splitlines()}
    if "control: ok" not in said:
        return UNKNOWN, f"the control fails: {_ending(result)}"
    if "fault: absent" in said and result.ok:
        return ABSENT, "not seen by its program"
    if "fault: present" in said:
        return PRESENT, _OWN_WORDS if _OWN_WORDS in said else "seen by its program"
    return PRESENT, _ending(result)


def _ending(result: process.Result) -> str:
    """How a job came to its end that did not say it."""
    if telling := _TELLING.search(result.output):
        return f"ends the process: {telling[0].strip()[:80]}"
    if result.timed_out or _ALARM.search(result.output):
        return "hangs"
    signal = _SIGNAL.search(result.output)
    return f"ends the process: {signal[1]}" if signal else f"ends with status {result.status}"


def examine_all(faults: Sequence[Fault], mpi: str, placement: Placement, folder: Path,
                note: Callable[[str], None]) -> list[Examination]:
    """Compiles and runs the reproducers in `folder`, one after the other; `note` gets the name of each."""
    made: list[Examination] = []
    compiler = launch.mpi_library(mpi).compiler
    for number, fault in enumerate(faults, 1):
        note(f"{number} of {len(faults)}, {fault.id} ({sum(one.outcome == PRESENT for one in made)} present)")
        program = str(folder / fault.id)
        source = folder / fault.source.name
        source.write_text(fault.text)
        built = process.run([compiler, "-std=gnu99", "-O1", "-o", program, str(source)], timeout_s=120)
        if not built.ok:
            raise ToolError(f"{fault.source.name} does not compile with {compiler}", where=built.tail(20),
                            next_step="run tools/armci setup")
        job = launch.Launch((program,), max(fault.processes, placement.nodes), mpi, placement=placement)
        made.append(Examination(fault, *judge(launch.start(job, timeout_s=DEADLINE_S))))
    return made


def table(examinations: Sequence[Examination]) -> str:
    """A row for each fault: what the library does only where there is something to do."""
    rows = [[one.fault.id, one.outcome + (" (allowed)" if one.fault.allowed and one.outcome == PRESENT else ""),
             one.evidence, one.fault.evidence.lower(), one.fault.safe_method if one.outcome != ABSENT else "-"]
            for one in examinations]
    header = ["fault", "here", "how it showed", "preflight by", "what the library does"]
    return console.table(header, rows, numeric_from=len(header))


def summary(examinations: Sequence[Examination]) -> str:
    """`3 present, 28 absent`."""
    outcomes = [one.outcome for one in examinations]
    return ", ".join(f"{outcomes.count(outcome)} {outcome}" for outcome in (PRESENT, ABSENT, UNKNOWN)
                     if outcome in outcomes or outcome != UNKNOWN)


_README = """\
# One-sided communication: known faults of MPI libraries

Each program is plain MPI and C99, complete in itself, and prints `control: ok`, then `fault: present` or
`fault: absent`. Status 0: absent; 1: present; 2: the control fails. One that crashes or ends by its own
alarm after the control has met the fault.

    mpicc NAME.c -o NAME && mpiexec -n 2 ./NAME

The first comment of each file has its number of processes and what is known of it.
"""


def write_report(folder: Path, sections: Sequence[tuple[str, Sequence[Examination]]]) -> None:
    """The programs and a README, to be sent to the maintainers of the MPI library."""
    for fault in read_faults():
        (folder / fault.source.name).write_text(fault.text)
    parts = [_README]
    for title, examinations in sections:
        present = [f"- `{one.fault.id}.c`: {one.fault.description}" for one in examinations if one.outcome == PRESENT]
        parts.append("\n".join([f"## {title}", "", "```", table(examinations), "```", "", *present]).rstrip() + "\n")
    (folder / "README.md").write_text("\n".join(parts))
