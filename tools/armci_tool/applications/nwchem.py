"""NWChem on Global Arrays, with inputs of ours and the energies that they have to give."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Mapping, Sequence

from armci_tool.applications import global_arrays, sources
from armci_tool.applications.recipe import Program, Recipe, Reference, Work
from armci_tool.errors import ToolError
from armci_tool.repository import ROOT

INPUTS = ROOT / "integration" / "nwchem"
_SETTINGS = {"NWCHEM_TARGET": "LINUX64", "NWCHEM_MODULES": "nwdft driver stepper mp2_grad ccsd vib property", "USE_MPI": "y", "USE_64TO32": "y"}
_REFERENCE = re.compile(r"^# reference within (\S+): (.+?) = (.+)$", re.MULTILINE)


def _global_arrays(work: Work) -> Path:
    return global_arrays.prefix(work.below[global_arrays.RECIPE.name])


def _environment(work: Work) -> dict[str, str]:
    installed = _global_arrays(work)
    return {"NWCHEM_TOP": str(work.tree), "ARMCI_NETWORK": "ARMCI", **_SETTINGS,
            "EXTERNAL_ARMCI_PATH": str(work.library.prefix), "EXTERNAL_GA_PATH": str(installed),
            "BLASOPT": "-lopenblas", "LAPACK_LIB": "-lopenblas", "BLAS_SIZE": "4",
            "SCALAPACK": f"-lscalapack-{work.library.mpi}", "SCALAPACK_SIZE": "4",
            **{name: compiler for name, compiler in work.library.compilers.items() if name.startswith("MPI")}}


def _build(work: Work) -> None:
    environment = _environment(work)
    # Its makefile replaces the folder of Global Arrays by that of MPI, where the system may have another one.
    libraries = f"LIBPATH=-L{_global_arrays(work)}/lib -L{work.library.prefix}/lib"
    # An archive may hold what a build has left.
    for left in [*work.tree.rglob("dependencies"), *work.tree.rglob("include_stamp")]:
        left.unlink()
    for title, target in (("configuring", ["nwchem_config"]), ("changing the size of integers for BLAS", ["64_to_32"]),
                          ("building", [f"-j{os.cpu_count()}", "FOPTIMIZE=-O1"])):
        sources.must(["make", "FC=gfortran", libraries, *target], work.tree / "src", f"NWChem: {title} failed",
                     sources.stage(f"{title} NWChem", work.note), **environment)
    program = work.tree / "bin" / "LINUX64" / "nwchem"
    if not program.is_file():
        raise ToolError("NWChem's make ended well and made no program", where=str(program), next_step="give another --source")
    program.rename(work.folder / "nwchem")


def references(text: str) -> tuple[Reference, ...]:
    """The numbers that the comments of an input name; ToolError for a comment of this kind that cannot be read."""
    for line in text.splitlines():
        if line.startswith("# reference") and not _REFERENCE.match(line):
            raise ToolError("cannot read a reference of NWChem", where=line, next_step="write '# reference within TOLERANCE: LABEL = NUMBERS'")
    return tuple(Reference(label, tuple(map(float, values.split())), float(tolerance))
                 for tolerance, label, values in _REFERENCE.findall(text))


def _programs(folder: Path, built_on: str) -> Mapping[str, Sequence[Program]]:
    # NWChem reads no path without the slash.
    environment = {"NWCHEM_BASIS_LIBRARY": f"{folder}/source/src/basis/libraries/"}
    return {built_on: [Program(path.stem, folder / "build" / "nwchem", (str(path),), references=references(path.read_text()),
                               environment=environment, writes=True) for path in sorted(INPUTS.glob("*.nw"))]}


RECIPE = Recipe("nwchem", "NWChem", "nwchem-*.tar.*", _build, _programs, (2, 4), 300.0, needs=(global_arrays.RECIPE,),
                debian_package="nwchem", is_long_build=True, has_files=("src/nwchem.F", "src/GNUmakefile"),
                overridden=("NWCHEM_TOP", *_SETTINGS))
