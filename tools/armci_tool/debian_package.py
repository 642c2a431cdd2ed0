"""Whether packaging/build-deb makes packages that other people's programs can be built and run with."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Callable, Iterator, Mapping, Sequence

from armci_tool import launch, process
from armci_tool.install import layout
from armci_tool.repository import ROOT, implementations
from armci_tool.results import FAILED, PASSED, Case

BUILD = ROOT / "packaging" / "build-deb"
PROCESSES = 2
_PROGRAM = "nxtval"
_TIME_LIMIT_S = 300.0
# All is compiled anew, with either MPI library.
_BUILD_TIME_LIMIT_S = 7200.0
# What the name of the package begins with that brings the MPI library.
_LIBRARY_PACKAGES = {"openmpi": "libopenmpi", "mpich": "libmpich"}

Note = Callable[[str], None]


def of_installed(root: Path, names: Sequence[str], mpi: str, note: Note) -> Sequence[Case]:
    """The package for one MPI library, of the implementations that have been installed already."""
    note("packing for Debian")
    return _built(names, [mpi], {"DEB_MPIS": mpi, f"INSTALLED_{mpi}": str(root), "DEB_BUILD_OPTIONS": "noautodbgsym"}, note)


def as_it_is(note: Note) -> Sequence[Case]:
    """All packages, from the sources."""
    return _built(implementations(), list(launch.MPI_LIBRARIES), {}, note)


def _built(names: Sequence[str], mpis: Sequence[str], environment: Mapping[str, str], note: Note) -> Sequence[Case]:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        made = process.run([str(BUILD), scratch], environment=environment, timeout_s=_BUILD_TIME_LIMIT_S, on_line=note)
        detail = made.tail(40)
        if made.left_behind:
            detail = "processes left behind: " + ", ".join(made.left_behind)
        cases = [Case("packaging/build-deb", PASSED if made.ok and not made.left_behind else FAILED, made.seconds,
                      "" if made.ok and not made.left_behind else detail)]
        if made.ok:
            for mpi in mpis:
                note(f"the package for {mpi}")
                cases += _package(folder, names, mpi)
    return cases


def _package(folder: Path, names: Sequence[str], mpi: str) -> Iterator[Case]:
    """One file that was made."""
    name = f"armci-{mpi}"
    debs = sorted(folder.glob(f"{name}_*.deb"))
    yield _case(f"{name} is one file", [] if len(debs) == 1 else [f"found: {debs}"])
    if len(debs) != 1:
        return
    needs = process.run(["dpkg-deb", "-f", str(debs[0]), "Depends"]).output
    wrong = [f"no {package}* in: {needs}" for library, package in _LIBRARY_PACKAGES.items()
             if (package in needs) != (library == mpi)]
    yield _case(f"{name} depends on its MPI library and no other", wrong)
    home = Path("usr/lib") / _multiarch() / "armci" / mpi
    unpacked = folder / f"unpacked-{mpi}"
    taken_out = process.run(["dpkg-deb", "-x", str(debs[0]), str(unpacked)])
    yield _case(f"{name} is unpacked", [] if taken_out.ok else [taken_out.tail()])
    yield _case(f"{name} has its files where no other architecture has them", _out_of_place(unpacked, home, name))
    yield from _use(unpacked / home, names, mpi, name, folder)


def _out_of_place(unpacked: Path, home: Path, name: str) -> list[str]:
    """It is Multi-Arch: same."""
    files = [path.relative_to(unpacked) for path in unpacked.rglob("*") if path.is_symlink() or not path.is_dir()]
    documents = Path("usr/share/doc") / name
    wrong = [str(path) for path in files if home not in path.parents and documents not in path.parents]
    # What dpkg installed, tools/armci must not remove.
    return wrong + [str(path) for path in files if path.name == "manifest"] + ([] if files else ["nothing is in it"])


def _use(root: Path, names: Sequence[str], mpi: str, name: str, folder: Path) -> Iterator[Case]:
    """As a program would, from where it was unpacked."""
    run = root / "bin" / "armci-run"
    listed = process.run([str(run), "--list"])
    expected = [f"{mpi}:", *sorted(names)]
    yield _case(f"{name}: armci-run --list", [] if listed.output.split() == expected else [listed.output])
    flags = process.run(["pkg-config", "--cflags", "--libs", "armci"],
                        environment={"PKG_CONFIG_PATH": str(root / "lib" / "pkgconfig")})
    program = folder / f"{_PROGRAM}-{mpi}"
    shutil.copy(ROOT / "examples" / f"{_PROGRAM}.c", folder)
    compiled = process.run(["gcc", str(folder / f"{_PROGRAM}.c"), "-o", str(program), *flags.output.split()])
    yield _case(f"{name}: pkg-config, and the compiler", [] if compiled.ok else [flags.tail(), compiled.tail()])
    if not compiled.ok:
        return
    default = (root / "lib" / layout.SHARED_NAME).resolve().parent.name
    for chosen in sorted({default, *names}):
        words = (str(run), *(["--impl", chosen] if chosen != default else []), str(program))
        started = launch.start(launch.Launch(words, PROCESSES, mpi, {"ARMCI_VERBOSE": "1"}), timeout_s=_TIME_LIMIT_S)
        is_right = started.ok and f"{_PROGRAM}: PASS" in started.output and f"armci: {chosen}: " in started.output
        yield _case(f"{name}: a program runs on {chosen}", [] if is_right else [started.tail()])


def _multiarch() -> str:
    return process.run(["dpkg-architecture", "-qDEB_HOST_MULTIARCH"]).output.strip()


def _case(title: str, problems: Sequence[str]) -> Case:
    return Case(title, FAILED if problems else PASSED, detail="\n".join(problems))
