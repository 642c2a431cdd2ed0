"""Programs of other people's kinds above our libraries: of Global Arrays, which Debian brings ready made, in Fortran and C++,
and such as mix MPI with ARMCI. They are compiled once for each MPI library and run on every implementation."""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path
from typing import Callable, Optional, Sequence

from armci_tool import bazel, launch, process
from armci_tool.install import layout
from armci_tool.placement import Placement, with_device
from armci_tool.repository import ROOT, device_of
from armci_tool.results import FAILED, PASSED, Case

FOLDERS = (ROOT / "integration" / "ga", ROOT / "integration" / "clients")
_TIME_LIMIT_S = 180.0
# In the checkout, where nodes and guests see it too.
_SCRATCH_PREFIX = ".armci-clients-"
_ASSIGNED = re.compile(r"^(\w*PROGRAMS) = (.*)$", re.MULTILINE)

Note = Callable[[str], None]


def programs(folder: Path) -> list[str]:
    """Names, as the Makefile lists them."""
    lists: dict[str, str] = dict(_ASSIGNED.findall((folder / "Makefile").read_text()))
    return lists["PROGRAMS"].replace("$(C_PROGRAMS)", lists["C_PROGRAMS"]).split()


def run(names: Sequence[str], counts: Sequence[int], configuration: bazel.Configuration, placement: Placement,
        note: Note) -> Sequence[Case]:
    """Each program with each implementation and number of processes, there; each has to find its own results right."""
    with tempfile.TemporaryDirectory(prefix=_SCRATCH_PREFIX, dir=ROOT) as scratch:
        root = Path(scratch) / "installed"
        layout.install(root, names, "", configuration, on_progress=note)
        built: list[Path] = []
        for folder in FOLDERS:
            note(f"compiling {folder.name}")
            sources = Path(scratch) / folder.name
            shutil.copytree(folder, sources)
            made = process.run(["make", f"ARMCI={root}", f"MPI={configuration.mpi}"], cwd=sources, timeout_s=_TIME_LIMIT_S)
            if not made.ok:
                return [Case(f"make in {folder.name}", FAILED, made.seconds, made.tail(30))]
            built += [sources / name for name in programs(folder)]
        return [_run(program, name, processes, root, configuration.mpi, placement, note)
                for name in names for processes in counts for program in built]


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
