"""Whether other people's programs come to the library: installed into a folder, found by each build system, exchanged
when a program starts, moved, taken away."""

from __future__ import annotations

import re
import shutil
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Callable, Iterator, Mapping, Sequence

from armci_tool import bazel, debian_package, launch, process, settings_page
from armci_tool.install import layout
from armci_tool.repository import ROOT
from armci_tool.results import FAILED, PASSED, Case

PROCESSES = 2
_TIME_LIMIT_S = 300.0
_RUN = "nxtval"
# The first process of a job says on what it runs, where it is asked to: a program that is right may still be on another
# implementation than the one it was meant for.
_TELLING = {"ARMCI_VERBOSE": "1"}
_TOLD = re.compile(r"armci: ([\w-]+): \d+ processes")
# A launcher that joins the outputs of processes may put what the library says into the middle of a program's line.
_SAID = re.compile(r"armci: [^\n]*\n")
# For launchers that are started without the options of launch.py: as root, and with more processes than cores.
_ALLOWED = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1"}
_CLIENT = ROOT / "integration" / "cmake"
_CXX_CLIENT = ROOT / "integration" / "clients" / "cpp.cc"

Note = Callable[[str], None]


@dataclass(frozen=True)
class Place:
    """An installation for tests, and the examples beside it."""

    root: Path
    sources: Path
    mpi: str
    names: tuple[str, ...]
    default: str

    @property
    def compiler(self) -> str:
        """The wrapper of the MPI library, for C."""
        return launch.mpi_library(self.mpi).compiler

    def compilers(self, prefix: str = "MPI") -> list[str]:
        """For make: the wrappers of the MPI library."""
        return [f"{prefix}CC={self.compiler}", f"{prefix}CXX={self.compiler.replace('mpicc', 'mpicxx')}"]

    def launcher(self) -> list[str]:
        """Without the number of processes and the program."""
        return launch.Launch((), PROCESSES, self.mpi).command_line()[:-2]

    def armci_run(self, *words: str) -> list[str]:
        """The command that is installed."""
        return [str(self.root / "bin" / "armci-run"), *words]

    def package_path(self) -> dict[str, str]:
        """For pkg-config."""
        return {"PKG_CONFIG_PATH": str(self.root / "lib" / "pkgconfig")}


def run(names: Sequence[str], configuration: bazel.Configuration, note: Note) -> Sequence[Case]:
    """Installs, and goes through every way to link and to load, with each implementation."""
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "installed"
        note("installing")
        # Not the one that would be the default anyway.
        default = next(name for name in reversed(names) if name != layout.USUAL_DEFAULT)
        layout.install(root, names, default, configuration, on_progress=note)
        sources = Path(scratch) / "examples"
        shutil.copytree(ROOT / "examples", sources)
        place = Place(root, sources, configuration.mpi, tuple(names), default)
        cases = [_whole(names, configuration), *_links(place, note), *_loads(place, note), *_pages(place),
                 *debian_package.of_installed(root, names, configuration.mpi, note), *_moved_and_removed(place, note)]
    if configuration.mpi == launch.DEFAULT_MPI:
        cases.append(_reference(configuration))
    return cases


def _whole(names: Sequence[str], configuration: bazel.Configuration) -> Case:
    """Whether Bazel's target stands for everything that is copied."""
    labels = {label.removeprefix("//").replace(":", "/") for label in bazel.query(f"deps({layout.ALL}, 3)")}
    folders = (ROOT, bazel.folder("bazel-bin", configuration))
    copied = {str(path.relative_to(folder)) for path in layout.sources(names, configuration)
              for folder in folders if path.is_relative_to(folder)}
    missing = copied - labels
    return Case(f"{layout.ALL} is all that is copied", FAILED if missing or not copied else PASSED,
                detail=f"not in it: {', '.join(sorted(missing))}" if missing else "")


def _links(place: Place, note: Note) -> Iterator[Case]:
    """By name, and as the default."""
    for name in (*place.names, ""):
        title, runs_on = name or "default", name or place.default
        note(f"linking with {title}")
        launcher = place.launcher()
        variables = [f"ARMCI={place.root}", f"IMPL={name}", *place.compilers(), f"MPIRUN={launcher[0]}",
                     f"MPIRUN_FLAGS={' '.join(launcher[1:])}", f"NP={PROCESSES}"]
        made = _made(place, ["make", *variables, "clean", "all", "check"], _TELLING)
        yield _told(f"make, {title}", made, ran_on(made, runs_on))
        # All programs once: one of them is in C++.
        wanted = _RUN if name else "all"
        path = [f"{key}={value}" for key, value in place.package_path().items()]
        yield _case(f"pkg-config, {title}", place, ["make", "-f", "pkg-config.mk", *path, f"IMPL={name}", "clean", wanted])
        yield _runs(f"pkg-config, {title}, runs", place, runs_on, [], str(place.sources / _RUN))
        yield from _cmake(place, f"CMake, {title}", runs_on, place.sources, f"-DIMPL={name}")
        if name:
            yield from _static(place, name)
    yield from _plain(place)
    yield from _cmake_refusals(place)
    yield from _cmake(place, "CMake, a project of C++ alone", place.default, _CLIENT, "-DLANGUAGES=CXX",
                      "-DTARGET=ARMCI::armci", f"-DSOURCE={_CXX_CLIENT}", "-DCMAKE_CXX_STANDARD=20",
                      program="program", says="cpp: PASS")


def _cmake(place: Place, title: str, runs_on: str, project: Path, *options: str, program: str = _RUN,
           says: str = f"{_RUN}: PASS") -> Iterator[Case]:
    build = _build_folder(place, title)
    yield _case(title, place, ["cmake", "-B", str(build), f"-DCMAKE_PREFIX_PATH={place.root}",
                               *_cmake_compilers(place.mpi), *options, str(project)])
    yield _case(f"{title}, builds", place, ["cmake", "--build", str(build), "--target", program])
    yield _runs(f"{title}, runs", place, runs_on, [], str(build / program), says)


def _cmake_refusals(place: Place) -> Iterator[Case]:
    def refused(title: str, sentence: str, project: Path, *options: str) -> Case:
        return _refused(title, ["cmake", "-B", str(_build_folder(place, title)), f"-DCMAKE_PREFIX_PATH={place.root}",
                                *options, str(project)], sentence)

    here, elsewhere = _cmake_compilers(place.mpi), _cmake_compilers(_other(place.mpi))
    yield refused("CMake with another MPI library", "was built with", place.sources, *elsewhere)
    yield refused("CMake and what is not installed", "has no nothing", place.sources, "-DIMPL=nothing", *here)
    yield refused("CMake, a project of Fortran alone", "enable C", _CLIENT, "-DLANGUAGES=Fortran", *here)


def _build_folder(place: Place, title: str) -> Path:
    return place.sources / f"build-{re.sub('[^a-z-]+', '-', title.lower())}"


def _cmake_compilers(mpi: str) -> list[str]:
    compiler = launch.mpi_library(mpi).compiler
    return [f"-DMPI_C_COMPILER={compiler}", f"-DMPI_CXX_COMPILER={compiler.replace('mpicc', 'mpicxx')}"]


def _plain(place: Place) -> Iterator[Case]:
    """The line of the documentation, for the default."""
    library, program = place.root / "lib", str(place.sources / "plain")
    yield _case("plain -larmci", place, [place.compiler, f"{_RUN}.c", "-o", program, f"-I{place.root / 'include'}",
                                         f"-L{library}", f"-Wl,-rpath,{library}", "-larmci"])
    yield _runs("plain -larmci, runs", place, place.default, [], program)


def _static(place: Place, name: str) -> Iterator[Case]:
    program = place.sources / f"static-{name}"
    package = (place.root / "lib" / "pkgconfig" / f"armci-{name}.pc").read_text()
    besides = next(line for line in package.splitlines() if line.startswith("Libs.private:")).split()[1:]
    yield _case(f"static, {name}", place, [
        place.compiler, f"{_RUN}.c", "-o", str(program), f"-I{place.root / 'include'}",
        str(place.root / layout.LIBRARIES / name / layout.STATIC_NAME), *besides])
    yield _runs(f"static, {name}, runs", place, name, [], str(program))
    flags = process.run(["pkg-config", "--cflags", "--libs", f"armci-{name}-static"], environment=place.package_path())
    yield _told(f"static by pkg-config, {name}, does not name the shared library", flags,
                flags.ok and "-larmci" not in flags.output)
    yield _case(f"static by pkg-config, {name}", place, ["gcc", f"{_RUN}.c", "-o", str(program), *flags.output.split()])
    yield _runs(f"static by pkg-config, {name}, runs", place, name, [], str(program))
    yield from _cmake(place, f"static by CMake, {name}", name, _CLIENT, f"-DTARGET=ARMCI::{name}-static",
                      f"-DSOURCE={place.sources / _RUN}.c", program="program")


def _loads(place: Place, note: Note) -> Iterator[Case]:
    """One binary, every implementation; and what cannot work is refused with a sentence."""
    note("one program on every implementation")
    program = str(place.sources / _RUN)
    forgetful = place.sources / "forgetful-launcher"
    forgetful.write_text(f"#!/bin/sh\nexec env -u LD_LIBRARY_PATH {' '.join(place.launcher())} \"$@\"\n")
    forgetful.chmod(0o755)
    for name in place.names:
        yield _runs(f"armci-run --impl {name}", place, name, place.armci_run("--impl", name), program)
        yield _info(f"armci_info on {name}", place, name, place.armci_run("--impl", name))
        starts = ["--impl", name, "-n", str(PROCESSES), program]
        started = _made(place, place.armci_run(*starts), {**_TELLING, **_ALLOWED})
        yield _told(f"armci-run --impl {name} -n", started, ran_on(started, name))
        started = _made(place, place.armci_run("--launcher", str(forgetful), *starts), _TELLING)
        yield _told(f"armci-run --impl {name} with a launcher that forgets variables", started, ran_on(started, name))
    yield _info("armci_info by itself is on the default", place, place.default, [])
    first = place.names[0]
    yield _runs("armci-run without a name", place, place.default, place.armci_run(), str(place.sources / "plain"))
    yield _runs("armci-run --no-check and a script", place, first, [
        *place.armci_run("--impl", first, "--no-check"), "sh", "-c", 'exec "$0"'], program)
    yield _refused("armci-run and what is not installed", place.armci_run("--impl", "nothing", program), "use one of")
    yield _refused("armci-run with no program", place.armci_run("-n", "2"), "no program given")
    yield _refused("armci-run with a static program", place.armci_run(str(place.sources / f"static-{first}")),
                   "needs no libarmci.so.1")
    yield from _with_another_mpi(place)
    yield from _that_insist(place)


def _info(title: str, place: Place, name: str, before: Sequence[str]) -> Case:
    shown = process.run([*place.launcher(), "-n", "1", *before, str(place.root / "bin" / "armci_info")],
                        timeout_s=_TIME_LIMIT_S)
    return _told(title, shown, shown.ok and f"implementation  {name} " in shown.output)


def _that_insist(place: Place) -> Iterator[Case]:
    """Programs that would not get what armci-run chooses, and do not get anything else."""
    first, last = (place.root / layout.LIBRARIES / name for name in (place.names[0], place.names[-1]))
    program = str(place.sources / "with-rpath")
    yield _case("a program with an RPATH", place, [
        place.compiler, f"{_RUN}.c", "-o", program, f"-I{place.root / 'include'}", f"-L{first}",
        f"-Wl,--disable-new-dtags,-rpath,{first}", "-larmci"])
    yield _runs("runs on what that names", place, first.name, place.armci_run("--impl", first.name), program)
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
    root = place.root.with_name("moved")
    place.root.rename(root)
    moved = replace(place, root=root)
    name = place.names[0]
    yield _runs("moved to another folder", moved, name, moved.armci_run("--impl", name), str(place.sources / _RUN))
    flags = process.run(["pkg-config", "--cflags", f"armci-{name}"], environment=moved.package_path())
    yield _told("pkg-config there", flags,
                flags.ok and str(root) in flags.output and str(place.root) not in flags.output)
    yield from _cmake(moved, "CMake there", moved.default, _CLIENT, "-DTARGET=ARMCI::armci",
                      f"-DSOURCE={place.sources / _RUN}.c", program="program")
    yield _info("armci_info there", moved, moved.default, [])
    stranger = root / "lib" / "of-another-package"
    stranger.write_text("")
    layout.uninstall(root)
    left = sorted(str(path.relative_to(root)) for path in root.rglob("*") if not path.is_dir())
    yield Case("uninstalled, and nothing else", PASSED if left == ["lib/of-another-package"] else FAILED,
               detail="" if left == ["lib/of-another-package"] else f"left: {left}")


def _reference(configuration: bazel.Configuration) -> Case:
    """The page about the environment is made from the tables."""
    is_current = settings_page.PAGE.is_file() and settings_page.PAGE.read_text() == settings_page.current(configuration)
    return Case("docs/environment.md says what the libraries say", PASSED if is_current else FAILED,
                detail="" if is_current else f"next: {settings_page.COMMAND}")


def _other(mpi: str) -> str:
    return next(name for name in launch.MPI_LIBRARIES if name != mpi)


def _made(place: Place, command: Sequence[str], environment: Mapping[str, str] = {}) -> process.Result:
    return process.run(command, cwd=place.sources, environment=environment, timeout_s=_TIME_LIMIT_S)


def _case(name: str, place: Place, command: Sequence[str], environment: Mapping[str, str] = {}) -> Case:
    made = _made(place, command, environment)
    return _told(name, made, made.ok)


def _runs(name: str, place: Place, runs_on: str, before: Sequence[str], program: str,
          says: str = f"{_RUN}: PASS") -> Case:
    made = _made(place, [*place.launcher(), "-n", str(PROCESSES), *before, program], _TELLING)
    return _told(name, made, ran_on(made, runs_on, says))


def ran_on(made: process.Result, name: str, says: str = f"{_RUN}: PASS") -> bool:
    """Whether a program found its result right, on that implementation and on no other."""
    return made.ok and says in _SAID.sub("", made.output) and set(_TOLD.findall(made.output)) == {name}


def _refused(name: str, command: Sequence[str], sentence: str) -> Case:
    made = process.run(command, timeout_s=_TIME_LIMIT_S)
    # CMake breaks lines where it likes.
    return _told(name, made, not made.ok and sentence in " ".join(made.output.split()))


def _told(name: str, made: process.Result, is_right: bool) -> Case:
    return Case(name, PASSED if is_right else FAILED, made.seconds, "" if is_right else made.tail(30))
