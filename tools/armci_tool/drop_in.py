"""Whether other people's programs come to the library: installed into a folder, found by each build system, exchanged
when a program starts, moved, taken away."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Iterator, Mapping, Sequence

from armci_tool import bazel, launch, process, settings_page
from armci_tool.install import layout
from armci_tool.repository import ROOT
from armci_tool.results import FAILED, PASSED, Case

PROCESSES = 2
_TIME_LIMIT_S = 300.0
_RUN = "nxtval"
_PASS = "nxtval: PASS"

Note = Callable[[str], None]


@dataclass(frozen=True)
class Place:
    """An installation for tests, and the examples beside it."""

    root: Path
    sources: Path
    mpi: str
    names: tuple[str, ...]

    def compilers(self, prefix: str = "MPI") -> list[str]:
        """For make: the wrappers of the MPI library."""
        compiler = launch.mpi_library(self.mpi).compiler
        return [f"{prefix}CC={compiler}", f"{prefix}CXX={compiler.replace('mpicc', 'mpicxx')}"]

    def launcher(self) -> list[str]:
        """Without the number of processes and the program."""
        return launch.Launch((), PROCESSES, self.mpi).command_line()[:-2]

    def armci_run(self, *words: str) -> list[str]:
        """The command that is installed."""
        return [str(self.root / "bin" / "armci-run"), *words]


def run(names: Sequence[str], configuration: bazel.Configuration, note: Note) -> Sequence[Case]:
    """Installs, and goes through every way to link and to load, with each implementation."""
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "installed"
        note("installing")
        layout.install(root, names, "", configuration, on_progress=note)
        sources = Path(scratch) / "examples"
        shutil.copytree(ROOT / "examples", sources)
        place = Place(root, sources, configuration.mpi, tuple(names))
        cases = [*_links(place, note), *_loads(place, note), *_pages(place), *_moved_and_removed(place, note)]
    if configuration.mpi == launch.DEFAULT_MPI:
        cases.append(_reference(configuration))
    return cases


def _links(place: Place, note: Note) -> Iterator[Case]:
    for name in place.names:
        note(f"linking with {name}")
        launcher = place.launcher()
        variables = [f"ARMCI={place.root}", f"IMPL={name}", *place.compilers(), f"MPIRUN={launcher[0]}",
                     f"MPIRUN_FLAGS={' '.join(launcher[1:])}", f"NP={PROCESSES}"]
        yield _case(f"make, {name}", place, ["make", *variables, "clean", "all", "check"])
        yield _case(f"pkg-config, {name}", place, ["make", "-f", "pkg-config.mk", f"IMPL={name}", "clean", _RUN],
                    {"PKG_CONFIG_PATH": str(place.root / "lib" / "pkgconfig")})
        yield _runs(f"pkg-config, {name}, runs", place, [], str(place.sources / _RUN))
        yield from _cmake(place, name)
        yield from _static(place, name)


def _cmake(place: Place, name: str) -> Iterator[Case]:
    build = place.sources / f"build-{name}"
    found = [f"-DCMAKE_PREFIX_PATH={place.root}", *(f"-D{one}" for one in _cmake_compilers(place.mpi))]
    yield _case(f"CMake, {name}", place, ["cmake", "-B", str(build), f"-DIMPL={name}", *found, "."])
    yield _case(f"CMake, {name}, builds", place, ["cmake", "--build", str(build), "--target", _RUN])
    yield _runs(f"CMake, {name}, runs", place, [], str(build / _RUN))
    if name == place.names[0]:
        other = [f"-D{one}" for one in _cmake_compilers(_other(place.mpi))]
        yield _refused("CMake with another MPI library", ["cmake", "-B", str(place.sources / "build-other"), found[0],
                                                          *other, str(place.sources)], "was built with")
        yield _refused("CMake and what is not installed", ["cmake", "-B", str(place.sources / "build-none"),
                                                           "-DIMPL=nothing", *found, str(place.sources)], "has no nothing")


def _cmake_compilers(mpi: str) -> list[str]:
    compiler = launch.mpi_library(mpi).compiler
    return [f"MPI_C_COMPILER={compiler}", f"MPI_CXX_COMPILER={compiler.replace('mpicc', 'mpicxx')}"]


def _static(place: Place, name: str) -> Iterator[Case]:
    package = (place.root / "lib" / "pkgconfig" / f"armci-{name}.pc").read_text()
    besides = next(line for line in package.splitlines() if line.startswith("Libs.private:")).split()[1:]
    program = place.sources / f"static-{name}"
    yield _case(f"static, {name}", place, [
        launch.mpi_library(place.mpi).compiler, f"{_RUN}.c", "-o", str(program), f"-I{place.root / 'include'}",
        str(place.root / layout.LIBRARIES / name / layout.STATIC_NAME), *besides])
    yield _runs(f"static, {name}, runs", place, [], str(program))


def _loads(place: Place, note: Note) -> Iterator[Case]:
    """One binary, every implementation; and what cannot work is refused with a sentence."""
    note("one program on every implementation")
    program = str(place.sources / _RUN)
    for name in place.names:
        yield _runs(f"armci-run --impl {name}", place, place.armci_run("--impl", name), program)
        shown = process.run([*place.launcher(), "-n", "1", *place.armci_run("--impl", name),
                             str(place.root / "bin" / "armci_info")], timeout_s=_TIME_LIMIT_S)
        yield _told(f"armci_info on {name}", shown, shown.ok and f"implementation  {name} " in shown.output)
    started = process.run(place.armci_run("--launcher", " ".join(place.launcher()), "-n", str(PROCESSES), program),
                          timeout_s=_TIME_LIMIT_S)
    yield _told("armci-run -n", started, started.ok and _PASS in started.output)
    yield _refused("armci-run with an unknown implementation", place.armci_run("--impl", "nothing", program), "use one of")
    yield _refused("armci-run with no program", place.armci_run("-n", "2"), "no program given")
    yield _refused("armci-run with a static program", place.armci_run(str(place.sources / f"static-{place.names[0]}")),
                   "needs no libarmci.so.1")
    yield from _with_another_mpi(place)
    yield from _that_insist(place)


def _that_insist(place: Place) -> Iterator[Case]:
    """Programs that would not get what armci-run chooses, and do not get anything else."""
    first, last = (place.root / layout.LIBRARIES / name for name in (place.names[0], place.names[-1]))
    program = str(place.sources / "with-rpath")
    yield _case("a program with an RPATH", place, [
        launch.mpi_library(place.mpi).compiler, f"{_RUN}.c", "-o", program, f"-I{place.root / 'include'}", f"-L{first}",
        f"-Wl,--disable-new-dtags,-rpath,{first}", "-larmci"])
    yield _runs("runs on what that names", place, place.armci_run("--impl", first.name), program)
    if first != last:
        yield _refused("and is refused on another", place.armci_run("--impl", last.name, program), "it has an RPATH")
    later = place.sources / "libarmci.so.2"
    program = str(place.sources / "of-another-abi")
    yield _case("a library of another ABI", place, [
        "gcc", "-shared", "-fPIC", "-x", "c", "/dev/null", "-o", str(later), "-Wl,-soname,libarmci.so.2"])
    source = place.sources / "empty.c"
    source.write_text("int main(void) { return 0; }\n")
    yield _case("and a program of it", place, ["gcc", str(source), "-Wl,--no-as-needed", str(later), "-o", program])
    yield _refused("which is refused", place.armci_run("--impl", last.name, program), "linked with another ABI")


def _with_another_mpi(place: Place) -> Iterator[Case]:
    other = _other(place.mpi)
    program = str(place.sources / "of-another-mpi")
    folder = place.root / layout.LIBRARIES / place.names[0]
    yield _case("a program of another MPI library", place, [
        launch.mpi_library(other).compiler, f"{_RUN}.c", "-o", program, f"-I{place.root / 'include'}", f"-L{folder}",
        f"-Wl,-rpath,{folder},--allow-shlib-undefined", "-larmci"])
    yield _refused("is refused before it starts", place.armci_run(program), "do not have the same MPI library")
    job = launch.Launch((program,), 1, other)
    yield _refused("and when it starts by itself", job.command_line(), "this library was built with")


def _pages(place: Place) -> Iterator[Case]:
    for page in sorted((place.root / "share" / "man").glob("*/*")):
        yield _case(f"manual page {page.name}", place, ["mandoc", "-T", "lint", "-W", "warning", str(page)])


def _moved_and_removed(place: Place, note: Note) -> Iterator[Case]:
    note("moving, and removing")
    moved = place.root.with_name("moved")
    place.root.rename(moved)
    name = place.names[-1]
    run_there = [str(moved / "bin" / "armci-run"), "--impl", name]
    yield _runs("moved to another folder", place, run_there, str(place.sources / _RUN))
    flags = process.run(["pkg-config", "--cflags", f"armci-{name}"],
                        environment={"PKG_CONFIG_PATH": str(moved / "lib" / "pkgconfig")})
    yield _told("pkg-config there", flags, flags.ok and str(moved) in flags.output and str(place.root) not in flags.output)
    stranger = moved / "lib" / "of-another-package"
    stranger.write_text("")
    layout.uninstall(moved)
    left = sorted(str(path.relative_to(moved)) for path in moved.rglob("*") if not path.is_dir())
    yield Case("uninstalled, and nothing else", PASSED if left == ["lib/of-another-package"] else FAILED,
               detail="" if left == ["lib/of-another-package"] else f"left: {left}")


def _reference(configuration: bazel.Configuration) -> Case:
    """The page about the environment is made from the tables."""
    is_current = settings_page.PAGE.is_file() and settings_page.PAGE.read_text() == settings_page.current(configuration)
    return Case("docs/environment.md says what the libraries say", PASSED if is_current else FAILED,
                detail="" if is_current else f"next: {settings_page.COMMAND}")


def _other(mpi: str) -> str:
    return next(name for name in launch.MPI_LIBRARIES if name != mpi)


def _case(name: str, place: Place, command: Sequence[str], environment: Mapping[str, str] = {}) -> Case:
    made = process.run(command, cwd=place.sources, environment=environment, timeout_s=_TIME_LIMIT_S)
    return _told(name, made, made.ok)


def _runs(name: str, place: Place, before: Sequence[str], program: str) -> Case:
    made = process.run([*place.launcher(), "-n", str(PROCESSES), *before, program], timeout_s=_TIME_LIMIT_S)
    return _told(name, made, made.ok and _PASS in made.output)


def _refused(name: str, command: Sequence[str], sentence: str) -> Case:
    made = process.run(command, timeout_s=_TIME_LIMIT_S)
    # CMake breaks lines where it likes.
    return _told(name, made, not made.ok and sentence in " ".join(made.output.split()))


def _told(name: str, made: process.Result, is_right: bool) -> Case:
    return Case(name, PASSED if is_right else FAILED, made.seconds, "" if is_right else made.tail(30))
