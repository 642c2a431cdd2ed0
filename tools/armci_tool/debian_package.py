"""Whether packaging/build-deb makes packages that other people's programs can be built and run with."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Callable, Iterator, Mapping, Sequence

from armci_tool import launch, process, scratch_folders
from armci_tool.install import layout
from armci_tool.installed import EXAMPLE, Place, case, case_of
from armci_tool.repository import ROOT, implementations
from armci_tool.results import Case

BUILD = ROOT / "packaging" / "build-deb"
# All is compiled anew, with either MPI library.
_BUILD_TIME_LIMIT_S = 7200.0
# The package that brings the MPI library has a name with this beginning.
_LIBRARY_PACKAGES = {"openmpi": "libopenmpi", "mpich": "libmpich"}

Note = Callable[[str], None]


def of_installed(root: Path, names: Sequence[str], mpi: str, note: Note) -> Sequence[Case]:
    """The package for one MPI library, of the implementations that have been installed already."""
    note("packing for Debian")
    settings = {"DEB_MPIS": mpi, f"INSTALLED_{mpi}": str(root), "DEB_BUILD_OPTIONS": "noautodbgsym"}
    return _built(names, [mpi], settings, note)


def as_it_is(note: Note) -> Sequence[Case]:
    """All packages, from the sources."""
    return _built(implementations(), list(launch.MPI_LIBRARIES), {}, note)


def _built(names: Sequence[str], mpis: Sequence[str], environment: Mapping[str, str], note: Note) -> Sequence[Case]:
    with scratch_folders.make() as folder:
        made = process.run([str(BUILD), str(folder)], environment=environment, timeout_s=_BUILD_TIME_LIMIT_S, on_line=note)
        stayed = "processes left behind: " + ", ".join(made.left_behind) if made.left_behind else ""
        cases = [case("packaging/build-deb", stayed or ("" if made.ok else made.tail(40)), made.seconds)]
        if made.ok:
            for mpi in mpis:
                note(f"the package for {mpi}")
                cases += _package(folder, names, mpi)
    return cases


def _package(folder: Path, names: Sequence[str], mpi: str) -> Iterator[Case]:
    """One file that was made."""
    name = f"armci-{mpi}"
    debs = sorted(folder.glob(f"{name}_*.deb"))
    yield case(f"{name} is one file", "" if len(debs) == 1 else f"found: {debs}")
    if len(debs) != 1:
        return
    needs = process.run(["dpkg-deb", "-f", str(debs[0]), "Depends"]).output
    wrong = [f"no {package}* in: {needs}" if library == mpi else f"{package}* in: {needs}"
             for library, package in _LIBRARY_PACKAGES.items() if (package in needs) != (library == mpi)]
    yield case(f"{name} depends on its MPI library and no other", "\n".join(wrong))
    multiarch = process.run(["dpkg-architecture", "-qDEB_HOST_MULTIARCH"]).output.strip()
    home, unpacked = Path("usr/lib") / multiarch / "armci" / mpi, folder / f"unpacked-{mpi}"
    taken_out = process.run(["dpkg-deb", "-x", str(debs[0]), str(unpacked)])
    yield case_of(f"{name} is unpacked", taken_out, taken_out.ok)
    yield case(f"{name} has its files where no other architecture has them",
               "\n".join(_out_of_place(unpacked, home, name)))
    root, sources = unpacked / home, folder / f"sources-{mpi}"
    sources.mkdir()
    shutil.copy(ROOT / "examples" / f"{EXAMPLE}.c", sources)
    default = (root / "lib" / layout.SHARED_NAME).resolve().parent.name
    yield from _use(Place(root, sources, mpi, tuple(names), default), name)


def _out_of_place(unpacked: Path, home: Path, name: str) -> list[str]:
    """Problems with the places of its files: the package is `Multi-Arch: same`."""
    files = [path.relative_to(unpacked) for path in unpacked.rglob("*") if path.is_symlink() or not path.is_dir()]
    documents = Path("usr/share/doc") / name
    wrong = [str(path) for path in files if home not in path.parents and documents not in path.parents]
    # tools/armci must not remove files that dpkg installed.
    return wrong + [str(path) for path in files if path.name == "manifest"] + ([] if files else ["nothing is in it"])


def _use(place: Place, name: str) -> Iterator[Case]:
    """As a program would, from where it was unpacked."""
    listed = place.made(*place.armci_run("--list"))
    yield case_of(f"{name}: armci-run --list", listed, listed.output.split() == [f"{place.mpi}:", *sorted(place.names)])
    flags, program = place.flags("armci", "--cflags", "--libs"), place.sources / EXAMPLE
    compiled = place.made("gcc", f"{EXAMPLE}.c", "-o", program, *flags.output.split())
    yield case(f"{name}: pkg-config, and the compiler", "" if compiled.ok else f"{flags.tail()}\n{compiled.tail()}")
    for chosen in sorted({place.default, *place.names}) if compiled.ok else ():
        choice = ("--impl", chosen) if chosen != place.default else ()
        yield place.runs(f"{name}: a program runs on {chosen}", chosen, *place.armci_run(*choice, program))
