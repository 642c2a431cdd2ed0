"""Programs of Global Arrays, which Debian brings ready made, above our libraries: compiled once for each MPI library, run
on every implementation."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Callable, Optional, Sequence

from armci_tool import bazel, launch, process
from armci_tool.install import layout
from armci_tool.placement import Placement, with_device
from armci_tool.repository import ROOT, device_of
from armci_tool.results import FAILED, PASSED, Case

FOLDER = ROOT / "integration" / "ga"
_TIME_LIMIT_S = 180.0
# In the checkout, where nodes and guests see it too.
_SCRATCH_PREFIX = ".armci-ga-"

Note = Callable[[str], None]


def programs() -> list[str]:
    """Names, as the Makefile lists them."""
    lines = (FOLDER / "Makefile").read_text().splitlines()
    return next(line.partition("=")[2].split() for line in lines if line.startswith("C_PROGRAMS")) + ["fortran"]


def run(names: Sequence[str], counts: Sequence[int], configuration: bazel.Configuration, placement: Placement,
        note: Note) -> Sequence[Case]:
    """Each program with each implementation and number of processes, there; each has to find its own results right."""
    with tempfile.TemporaryDirectory(prefix=_SCRATCH_PREFIX, dir=ROOT) as scratch:
        root = Path(scratch) / "installed"
        layout.install(root, names, "", configuration, on_progress=note)
        sources = Path(scratch) / "ga"
        shutil.copytree(FOLDER, sources)
        note("compiling")
        made = process.run(["make", f"ARMCI={root}", f"MPI={configuration.mpi}"], cwd=sources, timeout_s=_TIME_LIMIT_S)
        if not made.ok:
            return [Case("make", FAILED, made.seconds, made.tail(30))]
        return [_run(sources / program, name, processes, root, configuration.mpi, placement, note)
                for name in names for processes in counts for program in programs()]


def _run(program: Path, name: str, processes: int, root: Path, mpi: str, placement: Placement, note: Note) -> Case:
    title = f"{program.name}, {name}, {processes} processes"
    note(title)
    library = root / layout.LIBRARIES / name
    job = launch.Launch((str(program),), processes, mpi, {"LD_LIBRARY_PATH": str(library)},
                        placement=with_device(placement, device_of(name)))
    fault = _fault(launch.start(job, timeout_s=_TIME_LIMIT_S * placement.deadline_factor), program.name)
    return Case(title, FAILED if fault else PASSED, detail=fault or "")


def _fault(made: process.Result, name: str) -> Optional[str]:
    if made.ok and f"{name}: PASS" in made.output:
        return None
    return f"status {made.status}\n{made.tail(30)}"
