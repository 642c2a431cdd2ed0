"""How each application is built on an ARMCI, and which programs it brings to be run."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Mapping, Sequence

from armci_tool import process
from armci_tool.applications import sources
from armci_tool.applications.armci import REFERENCE_SOURCE, Armci
from armci_tool.applications.sources import Note
from armci_tool.errors import ToolError
from armci_tool.repository import ROOT


@dataclass(frozen=True)
class Program:
    """What is started: a file, and what it says when it is right, besides its status."""

    name: str
    path: Path
    arguments: tuple[str, ...] = ()
    says: str = ""
    # What the compiler said where it could not be built.
    refused: str = ""


@dataclass(frozen=True)
class Recipe:
    """An application."""

    name: str
    title: str
    # Of its archive, where it is not given.
    pattern: str
    # Changes when `build` does.
    version: str
    # source tree, folder to build in, what it is built on
    build: Callable[[Path, Path, Armci, Note], None]
    # Of a folder that was built on the one of that name: by what they are built on.
    programs: Callable[[Path, str], Mapping[str, Sequence[Program]]]
    process_counts: tuple[int, ...]
    # Of one program.
    time_limit_s: float
    # Whether it is built on the reference too.
    has_reference: bool = True
    # Sources of ours that are built with it.
    own_sources: tuple[Path, ...] = ()

    def built_on(self, armci: Armci, source: Path, note: Note) -> Path:
        """The folder of the application, which is built if it was not."""
        key = sources.digest(self.version, armci.key, sources.content(source), *map(sources.content, self.own_sources))

        def build(folder: Path) -> None:
            note(f"unpacking {source.name}")
            sources.unpack(source, folder / "source")
            self.build(folder / "source", folder / "build", armci, note)
        return sources.once(f"{self.name}-{armci.name}-{armci.mpi}", key, build)


def _build_global_arrays(tree: Path, folder: Path, armci: Armci, note: Note) -> None:
    # Its autogen.sh would download.
    note("making the configure of Global Arrays")
    sources.must(["autoreconf", "-fi"], tree, "cannot make the configure of Global Arrays", note)
    folder.mkdir()
    flags = {"CFLAGS": "-O2 -g", "FFLAGS": "-O2 -g -fallow-argument-mismatch", **armci.compilers}
    note("configuring Global Arrays")
    sources.must([str(tree / "configure"), "--with-mpi", f"--with-armci={armci.prefix}", "--enable-i8", "--with-blas4=-lopenblas",
                  "--with-lapack=-lopenblas", f"--with-scalapack=-lscalapack-{armci.mpi}",
                  *(f"{name}={value}" for name, value in flags.items())], folder, "cannot configure Global Arrays", note)
    for target in ("all", "checkprogs"):
        note(f"building Global Arrays: {target}")
        sources.must(["make", f"-j{os.cpu_count()}", target], folder, "cannot build Global Arrays", note,
                     LIBRARY_PATH=str(armci.prefix / "lib"))


def _executables(folder: Path, pattern: str) -> list[Path]:
    found = [path for path in folder.glob(pattern) if path.is_file() and os.access(path, os.X_OK)]
    if not found:
        raise ToolError(f"{folder} has no programs", where=f"looked for {pattern}", next_step=f"remove {folder} to build it anew")
    return sorted(found)


def _global_arrays_programs(folder: Path, built_on: str) -> Mapping[str, Sequence[Program]]:
    root = folder / "build"
    # Several folders have a program of one name. What is serial has no library below it.
    return {built_on: [Program(str(path.relative_to(root).with_suffix("")), path) for path in _executables(root, "**/*.x")
                       if path.relative_to(root).parts[0] != "ma"]}


PRK = ROOT / "integration" / "prk"
# Folder of the originals, and arguments that take seconds: of ours, and of the originals where theirs are others.
_KERNELS = {"p2p": ("Synch_p2p", ("20", "1024", "1024"), None), "stencil": ("Stencil", ("20", "1024"), None),
            "transpose": ("Transpose", ("20", "1024"), None), "random": ("Random", ("16", "4", "64"), ("4", "16")),
            "sparse": ("Sparse", ("20", "10", "4"), None)}
# What else the archive has of them, by folder: the title in the table.
_MODELS = {"MPI1": "MPI messages", "MPIRMA": "MPI one-sided", "SHMEM": "OpenSHMEM"}
_VALIDATES = "Solution validates"


def _build_kernels(tree: Path, folder: Path, armci: Armci, note: Note) -> None:
    note("building the kernels on ARMCI")
    shutil.copytree(PRK, folder)
    sources.must(["make", "-B", f"ARMCI={armci.prefix.parents[1]}", f"MPI={armci.mpi}"], folder, "cannot build the kernels on ARMCI", note)
    # Its own documents ask for this file.
    (tree / "common" / "make.defs").write_text(f"CC=gcc -std=c11\nMPICC=mpicc.{armci.mpi}\nSHMEMCC=oshcc\nDEFAULT_OPT_FLAGS=-O2\n")
    for model in _MODELS:
        if model == "SHMEM" and armci.mpi != "openmpi":
            continue  # OpenSHMEM comes with Open MPI
        for program, (kernel, _, _) in _KERNELS.items():
            if (tree / model / kernel).is_dir():
                note(f"building {model}/{kernel}")
                sources.must(["make", "-B", program], tree / model / kernel, f"cannot build {model}/{kernel}", note)


def _kernel_programs(folder: Path, built_on: str) -> Mapping[str, Sequence[Program]]:
    made = {built_on: [Program(name, folder / "build" / name, arguments, _VALIDATES)
                       for name, (_, arguments, _) in _KERNELS.items()]}
    for model, title in _MODELS.items():
        made[title] = [Program(name, folder / "source" / model / kernel / name, theirs or arguments, _VALIDATES)
                       for name, (kernel, arguments, theirs) in _KERNELS.items() if (folder / "source" / model / kernel / name).is_file()]
    return made


# Of ARMCI-MPI's own programs: those of MPI alone and of its insides say nothing about another library.
_NOT_ARMCI = ("tests/mpi/", "tests/ctree/")
_REFUSED = ".refused"


def _sources_of_tests(tree: Path) -> dict[str, list[str]]:
    """Programs and their sources, as its Makefiles list them."""
    text = "\n".join(file.read_text() for file in sorted(tree.rglob("Makefile.mk"))).replace("\\\n", " ")
    names = [name for listed in re.findall(r"^check_PROGRAMS \+=(.*)$", text, re.MULTILINE) for name in listed.split("#")[0].split()]
    given = {name: words.split() for name, words in re.findall(r"^(\w+)_SOURCES = (.*)$", text, re.MULTILINE)}
    return {name: given.get(re.sub(r"\W", "_", name), [f"{name}.c"]) for name in names if not name.startswith(_NOT_ARMCI)}


def _build_tests(tree: Path, folder: Path, armci: Armci, note: Note) -> None:
    """Each by itself: one that does not compile is told when it is to be run."""
    folder.mkdir()
    for name, files in _sources_of_tests(tree).items():
        note(f"compiling {name}")
        program = folder / Path(name).name
        made = process.run([armci.compilers["CC"], "-O2", "-w", f"-I{armci.prefix}/include", f"-I{tree}/tests", *files, "-o", str(program),
                            f"-L{armci.prefix}/lib", "-larmci", "-lm"], cwd=tree)
        if not made.ok:
            program.with_suffix(_REFUSED).write_text(made.output)
    if all(path.suffix == _REFUSED for path in folder.iterdir()):
        raise ToolError("none of the programs of ARMCI-MPI compiles", where=made.tail(15), next_step="mend the first error above")


def _test_programs(folder: Path, built_on: str) -> Mapping[str, Sequence[Program]]:
    return {built_on: [Program(path.stem, path, refused=path.read_text() if path.suffix == _REFUSED else "")
                       for path in sorted((folder / "build").iterdir())
                       if path.suffix == _REFUSED or path.is_file() and os.access(path, os.X_OK)]}


RECIPES: Mapping[str, Recipe] = {recipe.name: recipe for recipe in (
    Recipe("ga", "Global Arrays", "ga-5*.tar.*", "1", _build_global_arrays, _global_arrays_programs, (4,), 60.0),
    Recipe("prk", "Parallel Research Kernels", "prk-*.tar.*", "1", _build_kernels, _kernel_programs, (2, 4), 120.0,
           has_reference=False, own_sources=(PRK,)),
    Recipe("armci-mpi", "Programs of ARMCI-MPI", REFERENCE_SOURCE, "1", _build_tests, _test_programs, (2, 4), 120.0),
)}
