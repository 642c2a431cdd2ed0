"""Programs of other people's kinds above our libraries: of Global Arrays, which Debian brings ready made, in Fortran
and C++, and such as mix MPI with ARMCI. They are compiled once for each MPI library and run on every implementation."""

from __future__ import annotations

import atexit
import math
import os
import re
import shutil
import stat
import threading
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Iterator, Mapping, Optional, Sequence

from armci_tool import bazel, launch, process, repository, scratch_folders, trace
from armci_tool.errors import ToolError
from armci_tool.install import layout
from armci_tool.installed import case, case_of
from armci_tool.placement import Placement, with_device
from armci_tool.repository import ROOT, device_of
from armci_tool.results import SKIPPED, Case

FOLDERS = (ROOT / "integration" / "ga", ROOT / "integration" / "clients")
_TIME_LIMIT_S = 180.0
_CLOCKS_APART_S = 1000
# Messages between processes that share cores say no more.
_CLOCKS_WRONG_S = 1.0
_ASSIGNED = re.compile(r"^(\w*PROGRAMS) = (.*)$", re.MULTILINE)
# Those that need gigabytes and half a minute each.
_LARGE = "LARGE_PROGRAMS"
_REFERENCE = re.compile(r"\$\((\w+)\)")

Note = Callable[[str], None]


def programs(folder: Path, which: str = "PROGRAMS") -> list[str]:
    """Names of files, as the Makefile lists them."""
    lists: dict[str, str] = dict(_ASSIGNED.findall((folder / "Makefile").read_text()))
    return _REFERENCE.sub(lambda found: lists[found.group(1)], lists.get(which, "")).split()


@dataclass(frozen=True)
class Workshop:
    """All implementations for one MPI library, installed, and the programs linked with the default one. Made once."""

    root: Path
    mpi: str
    programs: tuple[Path, ...]
    large: tuple[Path, ...] = ()
    fault: Optional[Case] = None

    def twice(self, environment: Mapping[str, str], *before: str) -> process.Result:
        """A program whose calls are known, on two processes: it starts ARMCI three times, and puts four times of four
        bytes in the last."""
        program = next(program for program in self.programs if program.name == "twice")
        return launch.start(launch.Launch((*before, str(program)), 2, self.mpi, environment), timeout_s=_TIME_LIMIT_S)


_workshops: dict[bazel.Configuration, Workshop] = {}
_equipping = threading.Lock()


def _workshop(configuration: bazel.Configuration, note: Note) -> Workshop:
    with _equipping:  # steps may run at the same time
        if configuration not in _workshops:
            _workshops[configuration] = _equip(configuration, note)
        return _workshops[configuration]


def _equip(configuration: bazel.Configuration, note: Note) -> Workshop:
    # In the checkout, where nodes and guests see it too.
    stack = ExitStack()
    atexit.register(stack.close)
    root, mpi = stack.enter_context(scratch_folders.make(ROOT)) / "installed", configuration.mpi
    layout.install(root, repository.implementations(), "", configuration, on_progress=note)
    built: list[Path] = []
    large: list[Path] = []
    for source in FOLDERS:
        note(f"compiling {source.name}")
        sources = root.parent / source.name
        shutil.copytree(source, sources)
        made = process.run(["make", f"ARMCI={root}", f"MPI={mpi}"], cwd=sources, timeout_s=_TIME_LIMIT_S)
        if not made.ok:
            return Workshop(root, mpi, (), fault=case_of(f"make in {source.name}", made, False))
        built += [sources / name for name in programs(source)]
        large += [sources / name for name in programs(source, _LARGE)]
    return Workshop(root, mpi, tuple(built), tuple(large))


def run(names: Sequence[str], counts: Sequence[int], configuration: bazel.Configuration, placement: Placement,
        note: Note) -> Sequence[Case]:
    """Each program with each implementation and number of processes, there; each has to find its own results right."""
    made = _workshop(configuration, note)
    if made.fault is not None:
        return [made.fault]
    return [_run(program, name, processes, made, placement, note)
            for name in names for processes in counts for program in made.programs]


def run_large(names: Sequence[str], configuration: bazel.Configuration, placement: Placement, note: Note) -> Sequence[Case]:
    """The programs that need gigabytes, with each implementation on two processes."""
    made = _workshop(configuration, note)
    if made.fault is not None:
        return [made.fault]
    return [_run(program, name, 2, made, placement, note) for name in names for program in made.large]


def observe(configuration: bazel.Configuration, note: Note) -> Sequence[Case]:
    """The reports of the library about a program whose calls are known."""
    made = _workshop(configuration, note)
    if made.fault is not None:
        return [made.fault]
    with scratch_folders.make(ROOT) as folder:
        return [*_profiled(made, repository.implementations()[-1]),
                _timeline_case("a timeline has what was called", made, folder, _wrong_puts),
                *(traced(made, folder) for traced in (_traced_each_start, _traced_to_a_device, _traced_by_two_clocks))]


def _run(program: Path, name: str, processes: int, workshop: Workshop, placement: Placement, note: Note) -> Case:
    title = f"{program.name}, {name}, {processes} processes"
    note(title)
    # The library says which one it is: without that, all might have run on the one that they were linked with.
    settings = {"LD_LIBRARY_PATH": str(workshop.root / layout.LIBRARIES / name), "ARMCI_VERBOSE": "1"}
    job = launch.Launch((str(program),), processes, workshop.mpi, settings,
                        placement=with_device(placement, device_of(name)))
    made = launch.start(job, timeout_s=_TIME_LIMIT_S * placement.deadline_factor)
    fault = "" if made.ok and f"{program.stem}: PASS" in made.output else f"status {made.status}\n{made.tail(30)}"
    if not fault and f"armci: {name}: " not in made.output:
        fault = f"it did not run on {name}\n{made.tail(30)}"
    return case(title, fault)


def _profiled(workshop: Workshop, name: str) -> Iterator[Case]:
    run, prof = (str(workshop.root / "bin" / command) for command in ("armci-run", "armci-prof"))
    # Children of the program get what counts as well, and most have nothing to do with ARMCI.
    with_children = ("--no-check", "sh", "-c", 'ls / | grep -q . && exec "$0"')
    for title, words, is_chosen in (("by armci-prof", (prof,), False),
                                    ("by armci-run", (run, "--impl", name, "--prof"), True),
                                    ("in a script", (run, "--impl", name, "--prof", *with_children), True)):
        made = workshop.twice({"ARMCI_VERBOSE": "1"}, *words)
        rows = [line.split() for line in made.output.splitlines() if line.startswith("ARMCI_Put ")]
        # The bytes that each process puts to the other and gets of itself.
        matrix = ["0 8 B 8 B", "1 8 B 8 B"]
        last = [" ".join(line.split()) for line in made.output[made.output.rfind("bytes from (down)"):].splitlines()]
        is_right = (made.ok and made.output.count("armci-prof: 2 processes") == 3 and len(rows) == 6
                    and rows[-2][1:4] == ["4", "16", "B"] and rows[-1][1] == "4"
                    and last[1:3] == matrix and "1 8.19 kB 16 B" in last
                    and (not is_chosen or f"armci: {name}: 2 processes" in made.output))
        yield case_of(f"calls are counted {title}", made, is_right, lines=60)


def _wrong_puts(timeline: trace.Timeline) -> str:
    """In the file of the last start: it is that of the time before no more."""
    puts = [one for one in timeline.events if one.name == "ARMCI_Put"]
    is_right = (timeline.processes == 2 and all(one.bytes == 4 for one in puts)
                and sorted((one.process, one.peer) for one in puts) == [(0, 1), (0, 1), (1, 0), (1, 0)]
                and all(one.start_us >= 0 for one in timeline.events))
    return "" if is_right else f"{timeline.processes} processes, {puts}"


def _traced_each_start(workshop: Workshop, scratch: Path) -> Case:
    """A file for each time, where the name has room for it; and nothing beside them."""
    folder = scratch / "each"
    folder.mkdir()
    made = workshop.twice({"ARMCI_TRACE": str(folder / "%n-%p.json")})
    files = sorted(folder.iterdir())
    is_right = (made.ok and [path.name.partition("-")[0] for path in files] == ["1", "2", "3"]
                and all(trace.read(path).processes == 2 for path in files))
    return case("a timeline of each start", "" if is_right else f"{files}\n{made.tail(30)}", made.seconds)


def _traced_to_a_device(workshop: Workshop, scratch: Path) -> Case:
    """The library writes to the device, and never replaces it by a file."""
    title = "a timeline to a device"
    if os.geteuid() != 0:
        return Case(title, SKIPPED, detail="devices are made by root")
    device = scratch / "null"
    os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    made = workshop.twice({"ARMCI_TRACE": str(device)})
    return case_of(title, made, made.ok and stat.S_ISCHR(device.lstat().st_mode))


def _traced_by_two_clocks(workshop: Workshop, scratch: Path) -> Case:
    """The clocks of the processes are a quarter of an hour apart, as those of two machines may be: no process leaves a
    barrier before all are in it, by the corrected times as well."""
    title = "a timeline of two clocks"
    if os.geteuid() != 0:
        return Case(title, SKIPPED, detail="time namespaces need root")
    set_clock = f"exec unshare --time --monotonic $((${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}} * {_CLOCKS_APART_S})) \"$0\""
    return _timeline_case(title, workshop, scratch, _barriers_apart, "sh", "-c", set_clock)


def _barriers_apart(timeline: trace.Timeline) -> str:
    of_each = [[one.start_us + one.duration_us for one in timeline.events
                if one.name == "ARMCI_Barrier" and one.process == process] for process in range(2)]
    apart_us = [abs(one - other) for one, other in zip(*of_each)]
    wrong = len(apart_us) < 2 or max(apart_us) > _CLOCKS_WRONG_S * 1e6
    return f"ends of {len(apart_us)} barriers are {max(apart_us, default=math.inf)} us apart" if wrong else ""


def _timeline_case(title: str, workshop: Workshop, scratch: Path, fault: Callable[[trace.Timeline], str],
                   *before: str) -> Case:
    file = scratch / "trace.json"
    file.unlink(missing_ok=True)
    made = workshop.twice({"ARMCI_TRACE": str(file)}, *before)
    try:
        found = fault(trace.read(file)) if made.ok else f"status {made.status}"
    except ToolError as error:
        found = error.render()
    return case(title, f"{found}\n{made.tail(30)}" if found else "", made.seconds)
