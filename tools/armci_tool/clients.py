"""Programs of other people's kinds above our libraries: of Global Arrays, which Debian brings ready made, in Fortran and C++,
and such as mix MPI with ARMCI. They are compiled once for each MPI library and run on every implementation."""

from __future__ import annotations

import math
import os
import re
import shutil
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Iterator, Optional, Sequence

from armci_tool import bazel, launch, process, repository, trace
from armci_tool.errors import ToolError
from armci_tool.install import layout
from armci_tool.placement import Placement, with_device
from armci_tool.repository import ROOT, device_of
from armci_tool.results import FAILED, PASSED, SKIPPED, Case

FOLDERS = (ROOT / "integration" / "ga", ROOT / "integration" / "clients")
_TIME_LIMIT_S = 180.0
_CLOCKS_APART_S = 1000
# Messages between processes that share cores say no more.
_CLOCKS_WRONG_S = 1.0
# In the checkout, where nodes and guests see it too.
_SCRATCH_PREFIX = ".armci-clients-"
_ASSIGNED = re.compile(r"^(\w*PROGRAMS) = (.*)$", re.MULTILINE)
_REFERENCE = re.compile(r"\$\((\w+)\)")

Note = Callable[[str], None]


def programs(folder: Path) -> list[str]:
    """Names, as the Makefile lists them."""
    lists: dict[str, str] = dict(_ASSIGNED.findall((folder / "Makefile").read_text()))
    return _REFERENCE.sub(lambda found: lists[found.group(1)], lists["PROGRAMS"]).split()


@dataclass(frozen=True)
class Workshop:
    """All implementations for one MPI library, installed, and the programs linked with the default one. Made once."""

    folder: tempfile.TemporaryDirectory[str]  # goes with this process
    root: Path
    programs: tuple[Path, ...]
    fault: Optional[Case] = None

    def named(self, name: str) -> Path:
        """A program."""
        return next(program for program in self.programs if program.name == name)


_workshops: dict[bazel.Configuration, Workshop] = {}


def _workshop(configuration: bazel.Configuration, note: Note) -> Workshop:
    if configuration not in _workshops:
        _workshops[configuration] = _equip(configuration, note)
    return _workshops[configuration]


def _equip(configuration: bazel.Configuration, note: Note) -> Workshop:
    folder = tempfile.TemporaryDirectory(prefix=_SCRATCH_PREFIX, dir=ROOT)
    root = Path(folder.name) / "installed"
    layout.install(root, repository.implementations(), "", configuration, on_progress=note)
    built: list[Path] = []
    for source in FOLDERS:
        note(f"compiling {source.name}")
        sources = Path(folder.name) / source.name
        shutil.copytree(source, sources)
        made = process.run(["make", f"ARMCI={root}", f"MPI={configuration.mpi}"], cwd=sources, timeout_s=_TIME_LIMIT_S)
        if not made.ok:
            return Workshop(folder, root, (), Case(f"make in {source.name}", FAILED, made.seconds, made.tail(30)))
        built += [sources / name for name in programs(source)]
    return Workshop(folder, root, tuple(built))


def run(names: Sequence[str], counts: Sequence[int], configuration: bazel.Configuration, placement: Placement,
        note: Note) -> Sequence[Case]:
    """Each program with each implementation and number of processes, there; each has to find its own results right."""
    made = _workshop(configuration, note)
    if made.fault is not None:
        return [made.fault]
    cases = [_run(program, name, processes, made.root, configuration.mpi, placement, note)
             for name in names for processes in counts for program in made.programs]
    return cases


def observe(configuration: bazel.Configuration, note: Note) -> Sequence[Case]:
    """What is told of a program whose calls are known: it starts ARMCI three times, and puts four times of four bytes in the
    last."""
    made = _workshop(configuration, note)
    if made.fault is not None:
        return [made.fault]
    with tempfile.TemporaryDirectory(prefix=_SCRATCH_PREFIX, dir=ROOT) as scratch:
        return [*_profiled(made, repository.implementations()[-1], configuration.mpi),
                _traced(made, Path(scratch), configuration.mpi),
                _traced_each_start(made, Path(scratch), configuration.mpi),
                _traced_to_a_device(made, Path(scratch), configuration.mpi),
                _traced_by_two_clocks(made, Path(scratch), configuration.mpi)]


def _run(program: Path, name: str, processes: int, root: Path, mpi: str, placement: Placement, note: Note) -> Case:
    title = f"{program.name}, {name}, {processes} processes"
    note(title)
    library = root / layout.LIBRARIES / name
    # The library says which one it is: without that, all might have run on the one that they were linked with.
    job = launch.Launch((str(program),), processes, mpi, {"LD_LIBRARY_PATH": str(library), "ARMCI_VERBOSE": "1"},
                        placement=with_device(placement, device_of(name)))
    made = launch.start(job, timeout_s=_TIME_LIMIT_S * placement.deadline_factor)
    fault = _fault(made, program.name)
    if not fault and f"armci: {name}: " not in made.output:
        fault = f"it did not run on {name}\n{made.tail(30)}"
    return Case(title, FAILED if fault else PASSED, detail=fault or "")


def _profiled(workshop: Workshop, name: str, mpi: str) -> Iterator[Case]:
    program = str(workshop.named("twice"))
    run, prof = (str(workshop.root / "bin" / command) for command in ("armci-run", "armci-prof"))
    # Children of the program get what counts as well, and most have nothing to do with ARMCI.
    with_children = ("--no-check", "sh", "-c", 'ls / | grep -q . && exec "$0"', program)
    for title, words, is_chosen in (("by armci-prof", (prof, program), False),
                                    ("by armci-run", (run, "--impl", name, "--prof", program), True),
                                    ("in a script", (run, "--impl", name, "--prof", *with_children), True)):
        made = launch.start(launch.Launch(words, 2, mpi, {"ARMCI_VERBOSE": "1"}), timeout_s=_TIME_LIMIT_S)
        rows = [line.split() for line in made.output.splitlines() if line.startswith("ARMCI_Put ")]
        # What each puts to the other, and gets of itself.
        matrix = ["0 8 B 8 B", "1 8 B 8 B"]
        last = [" ".join(line.split()) for line in made.output[made.output.rfind("bytes from (down)"):].splitlines()]
        is_right = made.ok and made.output.count("armci-prof: 2 processes") == 3 and len(rows) == 6 and (
            rows[-2][1:4] == ["4", "16", "B"] and rows[-1][1] == "4") and last[1:3] == matrix and "1 8.19 kB 16 B" in last
        is_right = is_right and (not is_chosen or f"armci: {name}: 2 processes" in made.output)
        yield Case(f"calls are counted {title}", PASSED if is_right else FAILED, made.seconds,
                   "" if is_right else made.tail(60))


def _traced(workshop: Workshop, scratch: Path, mpi: str) -> Case:
    """The same program: each time it starts ARMCI, its file is that of the time before no more."""
    def fault(timeline: trace.Timeline) -> str:
        puts = [one for one in timeline.events if one.name == "ARMCI_Put"]
        is_right = (timeline.processes == 2 and sorted((one.process, one.peer) for one in puts) == [
            (0, 1), (0, 1), (1, 0), (1, 0)] and all(one.bytes == 4 for one in puts)
            and all(one.start_us >= 0 for one in timeline.events))
        return "" if is_right else str(puts)
    return _timeline_case("a timeline has what was called", (str(workshop.named("twice")),), scratch, mpi, fault)


def _traced_each_start(workshop: Workshop, scratch: Path, mpi: str) -> Case:
    """A file for each time, where the name has room for it; and nothing beside them."""
    folder = scratch / "each"
    folder.mkdir()
    made = launch.start(launch.Launch((str(workshop.named("twice")),), 2, mpi, {"ARMCI_TRACE": str(folder / "%n-%p.json")}),
                        timeout_s=_TIME_LIMIT_S)
    files = sorted(folder.iterdir())
    is_right = made.ok and [path.name.partition("-")[0] for path in files] == ["1", "2", "3"]
    is_right = is_right and all(trace.read(path).processes == 2 for path in files)
    return Case("a timeline of each start", PASSED if is_right else FAILED, made.seconds,
                "" if is_right else f"{files}\n{made.tail(30)}")


def _traced_to_a_device(workshop: Workshop, scratch: Path, mpi: str) -> Case:
    """It is written to, and never replaced by a file."""
    title = "a timeline to a device"
    if os.geteuid() != 0:
        return Case(title, SKIPPED, detail="devices are made by root")
    device = scratch / "null"
    os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    made = launch.start(launch.Launch((str(workshop.named("twice")),), 2, mpi, {"ARMCI_TRACE": str(device)}),
                        timeout_s=_TIME_LIMIT_S)
    is_right = made.ok and stat.S_ISCHR(device.lstat().st_mode)
    return Case(title, PASSED if is_right else FAILED, made.seconds, "" if is_right else made.tail(30))


def _traced_by_two_clocks(workshop: Workshop, scratch: Path, mpi: str) -> Case:
    """The clocks of the processes are a quarter of an hour apart, as those of two machines may be: nobody leaves a barrier
    before all are in it, by the corrected times as well."""
    title = "a timeline of two clocks"
    if os.geteuid() != 0:
        return Case(title, SKIPPED, detail="time namespaces need root")

    def fault(timeline: trace.Timeline) -> str:
        of_each = [[one for one in timeline.events if one.name == "ARMCI_Barrier" and one.process == process]
                   for process in range(2)]
        pairs = list(zip(*of_each))
        apart_us = max((abs(one.start_us + one.duration_us - other.start_us - other.duration_us)
                        for one, other in pairs), default=math.inf)
        wrong = len(pairs) < 2 or apart_us > _CLOCKS_WRONG_S * 1e6
        return f"ends of {len(pairs)} barriers are {apart_us} us apart" if wrong else ""

    set_clock = f"exec unshare --time --monotonic $((${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}} * {_CLOCKS_APART_S})) \"$0\""
    command = ("sh", "-c", set_clock, str(workshop.named("twice")))
    return _timeline_case(title, command, scratch, mpi, fault)


def _timeline_case(title: str, command: Sequence[str], scratch: Path, mpi: str,
                   fault: Callable[[trace.Timeline], str]) -> Case:
    file = scratch / "trace.json"
    file.unlink(missing_ok=True)
    made = launch.start(launch.Launch(tuple(command), 2, mpi, {"ARMCI_TRACE": str(file)}), timeout_s=_TIME_LIMIT_S)
    try:
        found = fault(trace.read(file)) if made.ok else f"status {made.status}"
    except ToolError as error:
        found = error.render()
    return Case(title, FAILED if found else PASSED, made.seconds, f"{found}\n{made.tail(30)}" if found else "")


def _fault(made: process.Result, name: str) -> Optional[str]:
    if made.ok and f"{name}: PASS" in made.output:
        return None
    return f"status {made.status}\n{made.tail(30)}"
