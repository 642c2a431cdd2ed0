"""The install test: the tool installs the library, each build system links programs against the installed files, and
armci-run exchanges the library when a program starts. Then the installation is moved and removed."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Callable, Iterator, Sequence

from armci_tool import bazel, debian_package, documented, launch, scratch_folders, settings_page
from armci_tool.install import descriptions, layout
from armci_tool.installed import EXAMPLE, PROCESSES, Place, Word, case, case_of
from armci_tool.repository import ROOT
from armci_tool.results import Case

# For launchers that are started without the options of launch.py: as root, and with more processes than cores.
_ALLOWED = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1"}
_CLIENT = ROOT / "integration" / "cmake"
_LIKE_GLOBAL_ARRAYS = _CLIENT / "global_arrays"
_CXX_CLIENT = ROOT / "integration" / "clients" / "cpp.cc"

Note = Callable[[str], None]


def run(names: Sequence[str], configuration: bazel.Configuration, note: Note) -> Sequence[Case]:
    """Installs, then links and loads in every way with each implementation."""
    with scratch_folders.make() as scratch:
        root = scratch / "installed"
        note("installing")
        # Not the one that would be the default anyway.
        default = next(name for name in reversed(names) if name != layout.USUAL_DEFAULT)
        layout.install(root, names, default, configuration, on_progress=note)
        sources = scratch / "examples"
        shutil.copytree(ROOT / "examples", sources)
        place = Place(root, sources, configuration.mpi, tuple(names), default)
        cases = [_whole(names, configuration), *_links(place, note), *_loads(place, note), *_pages(place), *documented.run(place, _ALLOWED),
                 *debian_package.of_installed(root, names, configuration.mpi, note), *_moved_and_removed(place, note)]
    if configuration.mpi == launch.DEFAULT_MPI:
        page = settings_page.PAGE.read_text() if settings_page.PAGE.is_file() else ""
        cases.append(case("docs/environment.md says what the libraries say",
                          "" if page == settings_page.current(configuration) else f"next: {settings_page.COMMAND}"))
    return cases


def _whole(names: Sequence[str], configuration: bazel.Configuration) -> Case:
    """Whether Bazel's target stands for everything that is copied."""
    labels = {label.removeprefix("//").replace(":", "/") for label in bazel.query(f"deps({layout.ALL}, 3)")}
    folders = (ROOT, bazel.folder("bazel-bin", configuration))
    copied = {str(path.relative_to(folder)) for path in layout.sources(names, configuration)
              for folder in folders if path.is_relative_to(folder)}
    missing = ", ".join(sorted(copied - labels)) if copied else "anything"
    return case(f"{layout.ALL} is all that is copied", f"not in it: {missing}" if missing else "")


def _links(place: Place, note: Note) -> Iterator[Case]:
    """By name, and as the default."""
    launcher, (c, cxx) = place.launcher(), place.wrappers()
    path = f"PKG_CONFIG_PATH={place.package_path()['PKG_CONFIG_PATH']}"
    for name in (*place.names, ""):
        title, runs_on = name or "default", name or place.default
        note(f"linking with {title}")
        yield place.starts(f"make, {title}", runs_on, "make", f"ARMCI={place.root}", f"IMPL={name}", f"MPICC={c}",
                           f"MPICXX={cxx}", f"MPIRUN={launcher[0]}", f"MPIRUN_FLAGS={' '.join(launcher[1:])}",
                           f"NP={PROCESSES}", "CFLAGS=-O0", "CXXFLAGS=-O0", "clean", "all", "check")
        # All programs once: one of them is in C++.
        yield place.does(f"pkg-config, {title}", "make", "-f", "pkg-config.mk", path, f"IMPL={name}", "clean",
                         EXAMPLE if name else "all")
        yield place.runs(f"pkg-config, {title}, runs", runs_on, place.sources / EXAMPLE)
        yield from _cmake(place, f"CMake, {title}", runs_on, place.sources, f"-DIMPL={name}", program=EXAMPLE)
        if name:
            yield from _static(place, name)
            yield from _classic(place, name)
    # The line of the documentation, for the default.
    library, program = place.root / "lib", place.sources / "plain"
    yield place.compiles("plain -larmci", program, f"-L{library}", f"-Wl,-rpath,{library}", "-larmci")
    yield place.runs("plain -larmci, runs", place.default, program)
    yield from _cmake_refusals(place)
    hook = place.root / descriptions.CMAKE / "GlobalArrays.cmake"
    yield from _cmake(place, "CMake of Global Arrays", place.names[0], _LIKE_GLOBAL_ARRAYS, f"-DARMCI_COMPONENT={place.names[0]}",
                      f"-DCMAKE_PROJECT_GlobalArrays_INCLUDE={hook}", f"-DSOURCE={place.sources / EXAMPLE}.c")
    yield from _cmake(place, "CMake, a project of C++ alone", place.default, _CLIENT, "-DLANGUAGES=CXX",
                      "-DTARGET=ARMCI::armci", f"-DSOURCE={_CXX_CLIENT}", "-DCMAKE_CXX_STANDARD=20", says="cpp: PASS")


def _configure(place: Place, title: str, project: Path, *options: str, mpi: str = "") -> list[str]:
    """CMake's command; its third word is the folder it builds in."""
    c, cxx = place.wrappers(mpi)
    return ["cmake", "-B", str(place.sources / f"build-{re.sub('[^a-z-]+', '-', title.lower())}"),
            f"-DCMAKE_PREFIX_PATH={place.root}", f"-DMPI_C_COMPILER={c}", f"-DMPI_CXX_COMPILER={cxx}", *options,
            str(project)]


def _cmake(place: Place, title: str, runs_on: str, project: Path, *options: str, program: str = "program",
           says: str = f"{EXAMPLE}: PASS") -> Iterator[Case]:
    command = _configure(place, title, project, *options)
    yield place.does(title, *command)
    yield place.does(f"{title}, builds", "cmake", "--build", command[2], "--target", program)
    yield place.runs(f"{title}, runs", runs_on, Path(command[2], program), says=says)


def _cmake_refusals(place: Place) -> Iterator[Case]:
    for title, sentence, project, option, mpi in (
            ("CMake with another MPI library", "was built with", place.sources, "-DIMPL=", _other(place.mpi)),
            ("CMake and what is not installed", "has no nothing", place.sources, "-DIMPL=nothing", ""),
            ("CMake, a project of Fortran alone", "enable C", _CLIENT, "-DLANGUAGES=Fortran", "")):
        yield place.refuses(title, sentence, *_configure(place, title, project, option, mpi=mpi))


def _classic(place: Place, name: str) -> Iterator[Case]:
    """As build systems do that are given one folder."""
    folder, program = place.root / layout.CLASSIC / name, place.sources / f"classic-{name}"
    yield place.does(f"one folder, {name}", place.wrappers()[0], f"{EXAMPLE}.c", "-o", program, f"-I{folder}/include",
                     f"-L{folder}/lib", f"-Wl,-rpath,{folder}/lib", "-larmci")
    yield place.runs(f"one folder, {name}, runs", name, program)


def _static(place: Place, name: str) -> Iterator[Case]:
    program = place.sources / f"static-{name}"
    besides = descriptions.static_libs(place.root, name).split()
    yield place.compiles(f"static, {name}", program, place.library(name) / layout.STATIC_NAME, *besides)
    yield place.runs(f"static, {name}, runs", name, program)
    flags = place.flags(f"armci-{name}-static", "--cflags", "--libs")
    yield case_of(f"static by pkg-config, {name}, does not name the shared library", flags,
               flags.ok and "-larmci" not in flags.output)
    yield place.does(f"static by pkg-config, {name}", "gcc", f"{EXAMPLE}.c", "-o", program, *flags.output.split())
    yield place.runs(f"static by pkg-config, {name}, runs", name, program)
    yield from _cmake(place, f"static by CMake, {name}", name, _CLIENT, f"-DTARGET=ARMCI::{name}-static",
                      f"-DSOURCE={place.sources / EXAMPLE}.c")


def _loads(place: Place, note: Note) -> Iterator[Case]:
    """One binary, every implementation; and what cannot work is refused with a sentence."""
    note("one program on every implementation")
    program, first = place.sources / EXAMPLE, place.names[0]
    forgetful = place.sources / "forgetful-launcher"
    forgetful.write_text(f"#!/bin/sh\nexec env -u LD_LIBRARY_PATH {' '.join(place.launcher())} \"$@\"\n")
    forgetful.chmod(0o755)
    for name in place.names:
        yield place.runs(f"armci-run --impl {name}", name, *place.armci_run("--impl", name), program)
        yield _info(f"armci_info on {name}", place, name, *place.armci_run("--impl", name))
        starts = ("--impl", name, "-n", str(PROCESSES), program)
        yield place.starts(f"armci-run --impl {name} -n", name, *place.armci_run(*starts), environment=_ALLOWED)
        yield place.starts(f"armci-run --impl {name} with a launcher that forgets variables", name,
                           *place.armci_run("--launcher", forgetful, *starts))
    yield _info("armci_info by itself is on the default", place, place.default)
    yield place.runs("armci-run without a name", place.default, *place.armci_run(), place.sources / "plain")
    yield place.runs("armci-run --no-check and a script", first,
                     *place.armci_run("--impl", first, "--no-check"), "sh", "-c", 'exec "$0"', program)
    yield place.refuses("armci-run and what is not installed", "use one of",
                        *place.armci_run("--impl", "nothing", program))
    yield place.refuses("armci-run with no program", "no program given", *place.armci_run("-n", "2"))
    yield place.refuses("armci-run with a static program", "needs no libarmci.so.1",
                        *place.armci_run(place.sources / f"static-{first}"))
    yield from _with_another_mpi(place)
    yield from _that_insist(place)


def _info(title: str, place: Place, name: str, *before: Word) -> Case:
    shown = place.job(*before, place.root / "bin" / "armci_info", processes=1)
    return case_of(title, shown, shown.ok and f"implementation  {name} " in shown.output)


def _that_insist(place: Place) -> Iterator[Case]:
    """Programs that would not get what armci-run chooses, and do not get anything else."""
    first, last = place.names[0], place.names[-1]
    program, folder = place.sources / "with-rpath", place.library(first)
    yield place.compiles("a program with an RPATH", program, f"-L{folder}", f"-Wl,--disable-new-dtags,-rpath,{folder}",
                         "-larmci")
    yield place.runs("runs on what that names", first, *place.armci_run("--impl", first), program)
    if first != last:
        yield place.refuses("and is refused on another", "it has an RPATH", *place.armci_run("--impl", last, program))
    later, program, source = (place.sources / file for file in ("libarmci.so.2", "of-another-abi", "empty.c"))
    yield place.does("a library of another ABI", "gcc", "-shared", "-fPIC", "-x", "c", "/dev/null", "-o", later,
                     "-Wl,-soname,libarmci.so.2")
    source.write_text("int main(void) { return 0; }\n")
    yield place.does("and a program of it", "gcc", source, "-Wl,--no-as-needed", later, "-o", program)
    yield place.refuses("which is refused", "linked with another ABI", *place.armci_run("--impl", last, program))


def _with_another_mpi(place: Place) -> Iterator[Case]:
    other = _other(place.mpi)
    program, folder = place.sources / "of-another-mpi", place.library(place.names[0])
    yield place.compiles("a program of another MPI library", program, f"-L{folder}",
                         f"-Wl,-rpath,{folder},--allow-shlib-undefined", "-larmci", compiler=place.wrappers(other)[0])
    yield place.refuses("is refused before it starts", "do not have the same MPI library", *place.armci_run(program))
    job = launch.Launch((str(program),), 1, other)
    yield place.refuses("and when it starts by itself", "this library was built with", *job.command_line())


def _pages(place: Place) -> Iterator[Case]:
    for page in sorted((place.root / "share" / "man").glob("*/*")):
        yield place.does(f"manual page {page.name}", "mandoc", "-T", "lint", "-W", "warning", page)


def _moved_and_removed(place: Place, note: Note) -> Iterator[Case]:
    note("moving, and removing")
    root = place.root.with_name("moved")
    place.root.rename(root)
    moved, name = replace(place, root=root), place.names[0]
    yield moved.runs("moved to another folder", name, *moved.armci_run("--impl", name), place.sources / EXAMPLE)
    flags = moved.flags(f"armci-{name}", "--cflags")
    is_right = flags.ok and str(root) in flags.output and str(place.root) not in flags.output
    yield case_of("pkg-config there", flags, is_right)
    yield from _cmake(moved, "CMake there", moved.default, _CLIENT, "-DTARGET=ARMCI::armci",
                      f"-DSOURCE={place.sources / EXAMPLE}.c")
    yield _info("armci_info there", moved, moved.default)
    stranger = root / "lib" / "of-another-package"
    stranger.write_text("")
    layout.uninstall(root)
    left = [path for path in root.rglob("*") if not path.is_dir()]
    yield case("uninstalled, and nothing else", "" if left == [stranger] else f"left: {left}")


def _other(mpi: str) -> str:
    return next(name for name in launch.MPI_LIBRARIES if name != mpi)
